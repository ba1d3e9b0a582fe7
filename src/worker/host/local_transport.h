// LocalTransport joins a coordinator to the worker in its own process: a Transport at one end and
// Sessions at the other. Dials with an address go to another transport, if there is one.
//
// It has no thread of its own: a call at one end calls the listener at the other end, on the same
// thread. This is why listeners may not call back.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "ports/sessions.h"
#include "ports/transport.h"

namespace baton::worker {

class LocalTransport final {
public:
    // `remote` outlives it; none: only the embedded worker can be reached.
    explicit LocalTransport(Transport* remote = nullptr);
    ~LocalTransport();
    LocalTransport(const LocalTransport&) = delete;
    LocalTransport& operator=(const LocalTransport&) = delete;

    // The two ends. They live as long as this.
    [[nodiscard]] Transport& transport() { return near_; }
    [[nodiscard]] Sessions& sessions() { return far_; }

private:
    class Near final : public Transport {
    public:
        explicit Near(LocalTransport& owner) : owner_(owner) {}
        void listen(Listener listener) override;
        void dial(const std::string& worker, const std::optional<Address>& address,
                  transport::Attempt attempt, const control::Hello& hello) override;
        void send(const std::string& worker, transport::Attempt attempt,
                  const control::Down& message) override;
        void hang_up(const std::string& worker, transport::Attempt attempt) override;

    private:
        LocalTransport& owner_;
    };
    class Far final : public Sessions {
    public:
        explicit Far(LocalTransport& owner) : owner_(owner) {}
        void listen(Listener listener) override;
        void welcome(sessions::Session session, const sessions::GreetingAnswer& outcome) override;
        void send(sessions::Session session, const control::Up& message) override;
        void hang_up(sessions::Session session) override;

    private:
        LocalTransport& owner_;
    };
    struct Stream {
        std::string worker;
        transport::Attempt attempt = 0;
        bool welcomed = false;
    };

    // Under the lock.
    void tell(transport::Event event) const;
    [[nodiscard]] std::optional<sessions::Session> find(const std::string& worker,
                                                        transport::Attempt attempt) const;
    // Ends the stream; the coordinator gets the reason.
    void end(sessions::Session session, const std::string& why, Epoch highest,
             bool refused = false);

    Transport* const remote_;
    Near near_;
    Far far_;
    std::mutex mutex_;  // held while listeners are called
    Transport::Listener coordinator_;
    Sessions::Listener worker_;
    std::map<sessions::Session, Stream> streams_;
    sessions::Session last_ = 0;
};

}  // namespace baton::worker
