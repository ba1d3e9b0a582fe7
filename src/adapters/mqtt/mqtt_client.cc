#include "adapters/mqtt/mqtt_client.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <system_error>
#include <utility>

#include <mosquitto.h>

#include "adapters/mqtt/mqtt_tls.h"
#include "base/check.h"
#include "base/text.h"

namespace baton::mqtt {

namespace {

constexpr std::uint16_t kPortPlain = 1883;
constexpr std::uint16_t kPortEncrypted = 8883;
constexpr int kKeepAliveLeast = 5;  // of the library; 0 is none
constexpr int kKeepAliveMost = 65535;
constexpr std::size_t kPayloadMax = 268435455;  // of the protocol

Error bad_uri(const std::string& uri, const std::string& why) {
    return {.code = ErrorCode::invalid_configuration,
            .message = "option \"SERVER_URI\" cannot be " + baton::in_quotes(uri) + ": " + why,
            .hint = "write tcp://host:port, or ssl://host:port"};
}

Error refused(const std::string& what, int code) {
    const std::string why =
        code == MOSQ_ERR_ERRNO ? std::generic_category().message(errno) : mosquitto_strerror(code);
    return {.code = ErrorCode::cannot_connect, .message = "cannot " + what + ": " + why};
}

void initialise_library() {
    static const int kOnce = mosquitto_lib_init();
    CHECK(kOnce == MOSQ_ERR_SUCCESS);
}

}  // namespace

Result<MqttPlace> place_of(const std::string& uri) {
    MqttPlace place;
    std::string_view rest = uri;
    const std::size_t scheme_end = rest.find("://");
    if (scheme_end != std::string_view::npos) {
        const std::string_view scheme = rest.substr(0, scheme_end);
        place.encrypted =
            equal_ignoring_case(scheme, "ssl") || equal_ignoring_case(scheme, "mqtts");
        if (!place.encrypted && !equal_ignoring_case(scheme, "tcp") &&
            !equal_ignoring_case(scheme, "mqtt")) {
            return bad_uri(uri, "only tcp://, mqtt://, ssl:// and mqtts:// are known");
        }
        rest.remove_prefix(scheme_end + 3);
    }
    while (rest.ends_with('/')) rest.remove_suffix(1);
    place.port = place.encrypted ? kPortEncrypted : kPortPlain;
    std::size_t colon = rest.rfind(':');
    if (rest.ends_with(']')) colon = std::string_view::npos;
    if (colon != std::string_view::npos) {
        const std::string_view port = rest.substr(colon + 1);
        const auto [end, error] =
            std::from_chars(port.data(), port.data() + port.size(), place.port);
        const bool is_port =
            error == std::errc() && end == port.data() + port.size() && place.port > 0;
        if (!is_port) return bad_uri(uri, baton::in_quotes(port) + " is not a port");
        rest = rest.substr(0, colon);
    }
    if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
    if (rest.empty()) return bad_uri(uri, "it names no host");
    place.host = rest;
    return place;
}

struct MqttClient::Callbacks {
    static MqttClient& self(void* client) { return *static_cast<MqttClient*>(client); }
    static void connected(mosquitto*, void* client, int code) {
        if (code == 0) {
            self(client).events_.connected();
        } else {
            self(client).events_.disconnected(mosquitto_connack_string(code));
        }
    }
    static void disconnected(mosquitto*, void* client, int code) {
        self(client).events_.disconnected(mosquitto_strerror(code));
    }
    static void message(mosquitto*, void* client, const mosquitto_message* message) {
        self(client).events_.message(message->topic,
                                     {static_cast<const char*>(message->payload),
                                      static_cast<std::size_t>(message->payloadlen)});
    }
    static void published(mosquitto*, void* client, int id) { self(client).events_.published(id); }
    static void subscribed(mosquitto*, void* client, int, int count, const int* granted) {
        constexpr int kRefused = 128;
        self(client).events_.subscribed(count > 0 && granted[0] < kRefused);
    }
};

Result<std::unique_ptr<MqttClient>> MqttClient::make(const MqttBroker& broker,
                                                     const MqttPlace& place,
                                                     const std::string& address) {
    initialise_library();
    if (!broker.client_id && !broker.clean_session) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "option \"CLEAN_SESSION\" cannot be false without a \"CLIENT_ID\"",
                     .hint = "the broker knows the client by it"};
    }
    std::unique_ptr<MqttClient> client(new MqttClient(broker));
    client->address_ = address;
    client->port_ = place.port;
    const char* const id = broker.client_id ? broker.client_id->c_str() : nullptr;
    client->handle_ = mosquitto_new(id, broker.clean_session, client.get());
    if (client->handle_ == nullptr) return refused("make an MQTT client", MOSQ_ERR_ERRNO);
    if (broker.username) {
        const char* const password = broker.password ? broker.password->c_str() : nullptr;
        const int code =
            mosquitto_username_pw_set(client->handle_, broker.username->c_str(), password);
        if (code != MOSQ_ERR_SUCCESS) return refused("use the user name and password", code);
    }
    if (place.encrypted) {
        TRY_ASSIGN(tls, MqttTls::make(broker, place.host));
        client->tls_ = std::move(tls);
        // The library is to verify nothing by itself: it knows only the address.
        int code = mosquitto_int_option(client->handle_, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0);
        if (code == MOSQ_ERR_SUCCESS) {
            code =
                mosquitto_void_option(client->handle_, MOSQ_OPT_SSL_CTX, client->tls_->context());
        }
        if (code != MOSQ_ERR_SUCCESS) return refused("encrypt the connection", code);
    }
    return client;
}

MqttClient::MqttClient(const MqttBroker& broker) : broker_(broker) {}

MqttClient::~MqttClient() {
    if (handle_ == nullptr) return;
    if (started_) {
        mosquitto_disconnect(handle_);
        mosquitto_loop_stop(handle_, false);
    }
    mosquitto_destroy(handle_);
}

Result<Done> MqttClient::start(Events events, std::size_t in_flight_max) {
    events_ = std::move(events);
    mosquitto_connect_callback_set(handle_, Callbacks::connected);
    mosquitto_disconnect_callback_set(handle_, Callbacks::disconnected);
    mosquitto_message_callback_set(handle_, Callbacks::message);
    mosquitto_publish_callback_set(handle_, Callbacks::published);
    mosquitto_subscribe_callback_set(handle_, Callbacks::subscribed);
    mosquitto_reconnect_delay_set(handle_, 1, 8, true);
    mosquitto_max_inflight_messages_set(
        handle_, static_cast<unsigned>(std::min<std::size_t>(in_flight_max, UINT16_MAX)));
    const int keep_alive =
        broker_.keep_alive_seconds == 0
            ? 0
            : std::clamp(broker_.keep_alive_seconds, kKeepAliveLeast, kKeepAliveMost);
    int code = mosquitto_connect_async(handle_, address_.c_str(), port_, keep_alive);
    if (code != MOSQ_ERR_SUCCESS) {
        Error error = refused("connect to " + baton::in_quotes(broker_.uri), code);
        if (!refusal().empty()) error.message = "cannot reach " + name() + ": " + refusal();
        return error;
    }
    code = mosquitto_loop_start(handle_);
    if (code != MOSQ_ERR_SUCCESS)
        return refused("connect to " + baton::in_quotes(broker_.uri), code);
    started_ = true;
    return Done{};
}

Result<Done> MqttClient::subscribe() {
    const int code = mosquitto_subscribe(handle_, nullptr, broker_.topic.c_str(), broker_.qos);
    if (code != MOSQ_ERR_SUCCESS) return refused("subscribe to " + name(), code);
    return Done{};
}

Result<std::optional<int>> MqttClient::publish(std::string_view payload, bool retained) {
    if (payload.size() > kPayloadMax) {
        return Error{.code = ErrorCode::cannot_write,
                     .message = "cannot publish to " + name() + ": a message of " +
                                std::to_string(payload.size()) + " bytes is too large"};
    }
    int id = 0;
    const int code =
        mosquitto_publish(handle_, &id, broker_.topic.c_str(), static_cast<int>(payload.size()),
                          payload.data(), broker_.qos, retained);
    if (code == MOSQ_ERR_SUCCESS) return std::optional(id);
    if (code == MOSQ_ERR_NO_CONN || code == MOSQ_ERR_CONN_LOST) return std::optional<int>();
    Error error = refused("publish to " + name(), code);
    error.code = ErrorCode::cannot_write;
    return error;
}

std::string MqttClient::refusal() const {
    return tls_ ? tls_->refusal() : std::string();
}

std::string MqttClient::name() const {
    return "topic " + baton::in_quotes(broker_.topic) + " of " + baton::in_quotes(broker_.uri);
}

}  // namespace baton::mqtt
