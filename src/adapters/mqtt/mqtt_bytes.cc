#include "adapters/mqtt/mqtt_bytes.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/mqtt/mqtt_client.h"

namespace baton::mqtt {

namespace {

constexpr Duration kOpenPatience = std::chrono::seconds(10);
constexpr std::size_t kUnreadBytesMax = std::size_t{16} << 20U;

Error unreachable(const MqttClient& client, const std::string& why) {
    return {.code = ErrorCode::cannot_connect,
            .message = "cannot reach " + client.name() + ": " + why,
            .hint = "see whether the broker is up and lets this client in"};
}

// What source and sink have in common: a client, whether it is connected, and a way to wait.
class Session {
public:
    explicit Session(std::unique_ptr<MqttClient> client) : client_(std::move(client)) {}

    [[nodiscard]] MqttClient& client() { return *client_; }

    void interrupt() {
        {
            const std::lock_guard lock(mutex_);
            interrupted_ = true;
        }
        changed_.notify_all();
    }

    // The client's thread is gone after it.
    void close() {
        interrupt();
        client_.reset();
    }

    // Waits until the first connection is made, or has failed.
    Result<Done> await_opening() {
        std::unique_lock lock(mutex_);
        const bool decided = changed_.wait_for(lock, kOpenPatience,
                                               [this] { return is_open_ || !failure_.empty(); });
        if (is_open_) return Done{};
        const std::string refusal = client_->refusal();
        if (!refusal.empty()) return unreachable(*client_, refusal);
        return unreachable(*client_, decided ? failure_ : "no answer within 10 s");
    }

    void failed(const std::string& why) {
        {
            const std::lock_guard lock(mutex_);
            connected_ = false;
            if (failure_.empty()) failure_ = why;
        }
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool interrupted_ = false;
    bool connected_ = false;
    bool is_open_ = false;  // was connected, and let in
    std::string failure_;   // of the opening

private:
    std::unique_ptr<MqttClient> client_;
};

class MqttSource final : public ByteSource {
public:
    MqttSource(std::unique_ptr<MqttClient> client, const MqttSubscription& subscription)
        : session_(std::move(client)), subscription_(subscription) {}
    MqttSource(const MqttSource&) = delete;
    MqttSource& operator=(const MqttSource&) = delete;
    ~MqttSource() override { session_.close(); }

    Result<Done> open() {
        TRY(session_.client().start(
            {.connected =
                 [this] {
                     if (auto asked = session_.client().subscribe(); !asked) {
                         session_.failed(asked.error().message);
                     }
                 },
             .message = [this](std::string_view topic,
                               std::string_view payload) { receive(topic, payload); },
             .published = [](int) {},
             .subscribed = [this](bool granted) { subscribed(granted); },
             .disconnected = [this](const std::string& why) { session_.failed(why); }},
            UINT16_MAX));
        return session_.await_opening();
    }

    Result<BytesRead> read(std::span<char> into, Duration patience) override {
        std::unique_lock lock(session_.mutex_);
        session_.changed_.wait_for(lock, patience,
                                   [this] { return !unread_.empty() || session_.interrupted_; });
        BytesRead got;
        while (!unread_.empty() && got.count < into.size()) {
            const std::string& message = unread_.front();
            const std::size_t count = std::min(message.size() - read_, into.size() - got.count);
            std::copy_n(message.data() + read_, count, into.data() + got.count);
            got.count += count;
            read_ += count;
            if (read_ < message.size()) break;
            unread_bytes_ -= message.size();
            unread_.pop_front();
            read_ = 0;
        }
        if (got.count == 0) return got;
        got.what = BytesRead::What::bytes;
        // Messages are whole: nothing that was begun is left, but it shall be counted.
        got.reconnected = std::exchange(is_again_, false);
        lock.unlock();
        session_.changed_.notify_all();
        return got;
    }

    void interrupt() override { session_.interrupt(); }

private:
    void subscribed(bool granted) {
        if (!granted) {
            session_.failed("the broker refuses the subscription");
            return;
        }
        {
            const std::lock_guard lock(session_.mutex_);
            is_again_ = session_.is_open_;
            session_.is_open_ = session_.connected_ = true;
        }
        session_.changed_.notify_all();
    }

    // Waits while too much is unread: until then the broker is not told that it arrived.
    void receive(std::string_view topic, std::string_view payload) {
        if (subscription_.log_messages) {
            std::fprintf(stderr, "mqtt: %.*s: %.*s\n", static_cast<int>(topic.size()), topic.data(),
                         static_cast<int>(payload.size()), payload.data());
        }
        std::string message(payload);
        if (!message.ends_with(subscription_.delimiter)) message += subscription_.delimiter;
        std::unique_lock lock(session_.mutex_);
        session_.changed_.wait(
            lock, [this] { return unread_bytes_ < kUnreadBytesMax || session_.interrupted_; });
        if (session_.interrupted_ && unread_bytes_ >= kUnreadBytesMax) return;
        unread_bytes_ += message.size();
        unread_.push_back(std::move(message));
        lock.unlock();
        session_.changed_.notify_all();
    }

    Session session_;
    const MqttSubscription subscription_;
    // Under the session's mutex.
    std::deque<std::string> unread_;
    std::size_t unread_bytes_ = 0;
    std::size_t read_ = 0;  // of the first message
    bool is_again_ = false;
};

class MqttSink final : public ByteSink {
public:
    MqttSink(std::unique_ptr<MqttClient> client, const MqttPublication& publication)
        : session_(std::move(client)), publication_(publication) {}
    MqttSink(const MqttSink&) = delete;
    MqttSink& operator=(const MqttSink&) = delete;
    ~MqttSink() override { session_.close(); }

    Result<Done> open() {
        TRY(session_.client().start(
            {.connected =
                 [this] {
                     {
                         const std::lock_guard lock(session_.mutex_);
                         session_.is_open_ = session_.connected_ = true;
                     }
                     session_.changed_.notify_all();
                 },
             .message = [](std::string_view, std::string_view) {},
             .published = [this](int id) { confirmed(id); },
             .subscribed = [](bool) {},
             .disconnected = [this](const std::string& why) { disconnected(why); }},
            publication_.outstanding_max));
        return session_.await_opening();
    }

    Result<Done> write(std::string_view bytes) override {
        while (true) {
            TRY(await([this] {
                return outstanding_ < publication_.outstanding_max && session_.connected_;
            }));
            // Counted before it is published: the confirmation may be quicker than this thread.
            count(+1);
            auto id = session_.client().publish(bytes, publication_.retained);
            if (id && id->has_value()) return Done{};
            count(-1);
            if (!id) return id.error();
            const std::lock_guard lock(session_.mutex_);
            session_.connected_ = false;
        }
    }

    Result<Done> flush() override {
        return await([this] { return outstanding_ == 0; });
    }
    Result<Done> finish() override { return flush(); }
    void interrupt() override { session_.interrupt(); }

private:
    template <class Condition>
    Result<Done> await(Condition condition) {
        std::unique_lock lock(session_.mutex_);
        session_.changed_.wait(lock, [&] { return condition() || session_.interrupted_; });
        if (condition()) return Done{};
        return Error{
            .code = ErrorCode::cancelled,
            .message = "cannot publish to " + session_.client().name() + ": it was interrupted"};
    }

    void count(int more) {
        const std::lock_guard lock(session_.mutex_);
        if (more > 0) {
            outstanding_ += 1;
        } else if (outstanding_ > 0) {
            outstanding_ -= 1;
        }
    }

    // What was to arrive at most once is not sent again.
    void disconnected(const std::string& why) {
        if (publication_.broker.qos == 0) {
            const std::lock_guard lock(session_.mutex_);
            outstanding_ = 0;
        }
        session_.failed(why);
    }

    void confirmed(int) {
        {
            const std::lock_guard lock(session_.mutex_);
            if (outstanding_ > 0) outstanding_ -= 1;
        }
        session_.changed_.notify_all();
    }

    Session session_;
    const MqttPublication publication_;
    std::size_t outstanding_ = 0;  // under the session's mutex
};

// Whether somebody listens there. The library itself says nothing of an address where nobody does.
bool answers(targets::SocketAddress address) {
    constexpr int kPatienceMs = 3000;
    const int probe =
        ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0) return false;
    const auto* const to = reinterpret_cast<const sockaddr*>(&address.bytes);
    bool good = ::connect(probe, to, address.size) == 0;
    if (!good && errno == EINPROGRESS) {
        pollfd ready{.fd = probe, .events = POLLOUT, .revents = 0};
        int error = 0;
        socklen_t size = sizeof error;
        good = ::poll(&ready, 1, kPatienceMs) == 1 &&
               ::getsockopt(probe, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    }
    ::close(probe);
    return good;
}

// Of the addresses that are allowed, the first at which somebody listens; the first if none does.
template <class Made, class Request>
Result<std::unique_ptr<Made>> open_at_one(const targets::AllowedTargets& targets,
                                          const Request& request) {
    TRY_ASSIGN(place, place_of(request.broker.uri));
    TRY_ASSIGN(addresses, targets.look_up(place.host, place.port));
    auto chosen = addresses.begin();
    if (addresses.size() > 1) {
        chosen = std::find_if(addresses.begin(), addresses.end(), answers);
        if (chosen == addresses.end()) chosen = addresses.begin();
    }
    TRY_ASSIGN(client, MqttClient::make(request.broker, place, chosen->host()));
    auto made = std::make_unique<Made>(std::move(client), request);
    TRY(made->open());
    return made;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> MqttBytes::subscribe(const MqttSubscription& subscription) {
    TRY_ASSIGN(source, open_at_one<MqttSource>(targets_, subscription));
    return std::unique_ptr<ByteSource>(std::move(source));
}

Result<std::unique_ptr<ByteSink>> MqttBytes::publish(const MqttPublication& publication) {
    TRY_ASSIGN(sink, open_at_one<MqttSink>(targets_, publication));
    return std::unique_ptr<ByteSink>(std::move(sink));
}

}  // namespace baton::mqtt
