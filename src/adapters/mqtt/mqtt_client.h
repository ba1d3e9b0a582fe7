// MqttClient is a connection to a broker that is kept up, by a thread of the library.
//
// A lost connection is made again, after 1 s at first and 8 s at most. Waiting callers are woken by
// events, and by interrupt().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/byte_doors.h"

struct mosquitto;

namespace baton::mqtt {

class MqttTls;

// Where a broker is, as its URI says.
struct MqttPlace {
    std::string host;
    std::uint16_t port = 0;
    bool encrypted = false;
};
// Fails with invalid_configuration.
[[nodiscard]] Result<MqttPlace> place_of(const std::string& uri);

class MqttClient {
public:
    // Called on the library's thread, one at a time, with no lock held.
    struct Events {
        std::function<void()> connected;  // also after each reconnect
        std::function<void(std::string_view topic, std::string_view payload)> message;
        std::function<void(int id)> published;  // confirmed as the quality of service asks
        std::function<void(bool granted)> subscribed;
        std::function<void(const std::string& why)> disconnected;
    };

    // Connects to `address`, one of the broker's. Fails with invalid_configuration for options that
    // cannot be.
    static Result<std::unique_ptr<MqttClient>> make(const MqttBroker& broker,
                                                    const MqttPlace& place,
                                                    const std::string& address);
    MqttClient(const MqttClient&) = delete;
    MqttClient& operator=(const MqttClient&) = delete;
    // Events that wait must have been released.
    ~MqttClient();

    // Once: from now on events come.
    Result<Done> start(Events events, std::size_t in_flight_max);
    [[nodiscard]] Result<Done> subscribe();
    // The message's id; none if there is no connection.
    [[nodiscard]] Result<std::optional<int>> publish(std::string_view payload, bool retained);
    // Why the broker's certificate was refused, if it was. From any thread.
    [[nodiscard]] std::string refusal() const;
    // A word for messages: "topic "t" of "tcp://h:1""
    [[nodiscard]] std::string name() const;

private:
    explicit MqttClient(const MqttBroker& broker);
    struct Callbacks;

    MqttBroker broker_;
    std::string address_;
    int port_ = 0;
    std::unique_ptr<MqttTls> tls_;  // none: not encrypted; outlives the handle
    mosquitto* handle_ = nullptr;
    bool started_ = false;
    Events events_;
};

}  // namespace baton::mqtt
