// Network carries messages between coordinators and the workers' processes, late, twice, or not at
// all. Within a stream the order is kept in each direction.
//
// Streams are numbered by the network: the number is what workers know as a session. A coordinator
// process has a transport of its own, and hears nothing of what was begun by one before it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ports/transport.h"
#include "sim/worker.h"
#include "sim/world.h"

namespace baton::sim {

class Network {
public:
    explicit Network(World& world) : world_(world) {}

    void add(SimWorker& worker);

    // A transport for the coordinator of this number; its streams break when it is gone.
    class Line;
    [[nodiscard]] std::unique_ptr<Line> connect_coordinator(std::size_t number);

    // Cuts the direction to or from a worker; a call with false undoes one with true.
    void cut(const std::string& worker, bool to, bool from, bool is_cut);
    // Cuts a coordinator off from all workers; undone in the same way.
    void cut_off(std::size_t coordinator, bool is_cut);
    // The worker's process is gone, and its end of the streams with it; or it hangs up on
    // all coordinators.
    void worker_died(const std::string& worker);
    // A coordinator from outside this world greets the worker, at once; no coordinator here hears
    // the answer. Returns the session.
    sessions::Session greet_as_stranger(const std::string& worker, const control::Hello& hello);

private:
    using Session = sessions::Session;

    struct Stream {
        std::string worker;
        std::size_t coordinator = 0;
        transport::Attempt attempt = 0;
        std::optional<Incarnation> process;
        Line* line = nullptr;  // none: the coordinator's end is closed
        bool worker_end = true;
        Instant down_free;  // what is sent next arrives after what was sent before
        Instant up_free;
    };
    struct Host {
        SimWorker* process = nullptr;
        int cut_to = 0;
        int cut_from = 0;
    };

    void to_worker(Session session, const worker::station::Event& event, bool reliable);
    void to_coordinator(Session session, transport::Event event, bool reliable);
    void greeted(Session session, const sessions::GreetingAnswer& outcome);
    void close_line(Line& line);
    [[nodiscard]] std::optional<Duration> journey(bool is_cut, Instant& free, bool reliable);

    World& world_;
    std::map<std::string, Host> hosts_;
    std::map<std::size_t, int> cut_off_;  // coordinators
    std::map<Session, Stream> streams_;
    Session next_session_ = 1;
};

class Network::Line final : public Transport {
public:
    Line(Network& network, std::size_t coordinator)
        : network_(network), coordinator_(coordinator) {}
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    ~Line() override { network_.close_line(*this); }

    void listen(Listener listener) override { listener_ = std::move(listener); }
    void dial(const std::string& worker, const std::optional<Address>& address,
              transport::Attempt attempt, const control::Hello& hello) override;
    void send(const std::string& worker, transport::Attempt attempt,
              const control::Down& message) override;
    void hang_up(const std::string& worker, transport::Attempt attempt) override;

    // Sees what the coordinator does, as it does it.
    struct Watcher {
        std::function<void(const control::Hello&)> greeted;
        // `process` is the life of the worker that was welcomed on the stream.
        std::function<void(const std::string& worker, std::optional<Incarnation> process,
                           const control::Command&)>
            commanded;
        std::function<void(const control::Assign&)> assigned;
        std::function<void(const std::string& worker, transport::Attempt, const control::Beat&)>
            beaten;
        std::function<void(const std::string& worker, transport::Attempt)> hung_up;
    };
    void watch(Watcher watcher) { watcher_ = std::move(watcher); }

private:
    friend class Network;
    [[nodiscard]] std::optional<Session> session(const std::string& worker,
                                                 transport::Attempt attempt) const;

    Network& network_;
    const std::size_t coordinator_;
    Listener listener_;
    std::optional<Watcher> watcher_;
    std::map<std::pair<std::string, transport::Attempt>, Session> sessions_;
};

}  // namespace baton::sim
