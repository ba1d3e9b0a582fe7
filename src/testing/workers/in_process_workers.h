// InProcessWorkers is a transport to workers that live in this process: the workers' own machine
// with a DoubleEngine each. Messages arrive at once; a test can kill workers and cut them off.
//
// Thread-safe. It has no thread of its own: the listener is called on the threads of callers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/worker/station.h"
#include "ports/transport.h"
#include "testing/workers/double_engine.h"

namespace baton::testing {

class InProcessWorkers : public Transport {
public:
    void listen(Listener listener) override;
    void dial(const std::string& name, const std::optional<Address>& address,
              transport::Attempt attempt, const control::Hello& hello) override;
    void send(const std::string& name, transport::Attempt attempt,
              const control::Down& message) override;
    void hang_up(const std::string& name, transport::Attempt attempt) override;

    // Starts a worker's process: a new incarnation that has nothing. Kills the one before it.
    void start(const std::string& name);
    // The process is gone: its stream breaks, dials fail.
    void kill(const std::string& name);
    // Messages are lost in both directions, without an error at either end; dials fail.
    void cut(const std::string& name);
    void mend(const std::string& name);

    // Does something to the worker's engine and passes on what it reports.
    void with_engine(const std::string& name,
                     const std::function<DoubleEngine::Reports(DoubleEngine&)>& act);

    [[nodiscard]] std::map<FragmentKey, control::FragmentStatus> held(
        const std::string& name) const;
    [[nodiscard]] std::set<FragmentKey> running(const std::string& name) const;
    // Commands that reached workers, in order: "EDGE register 3/1/7".
    [[nodiscard]] std::vector<std::string> commands() const;

private:
    struct Process {
        worker::Station machine;
        DoubleEngine engine;
        std::optional<transport::Attempt> stream;  // the present one
        sessions::Session session = 0;             // its number here: coordinators count anew
        Process(Incarnation incarnation, const control::Allegiance& kept)
            : machine(incarnation, kept) {}
    };
    struct Worker {
        std::unique_ptr<Process> process;  // none: not running
        bool cut = false;
        control::Allegiance kept;  // over restarts
    };

    // All under the lock.
    void step(const std::string& name, Worker& worker, const worker::station::Event& event);
    void perform(const std::string& name, Worker& worker, const worker::station::Effect& effect,
                 std::vector<worker::station::Event>& next);
    void tell(transport::Event event);
    void stop(const std::string& name, Worker& worker);

    mutable std::mutex mutex_;
    Listener listener_;
    std::map<std::string, Worker> workers_;
    std::uint64_t next_incarnation_ = 1;
    std::vector<std::string> commands_;
};

}  // namespace baton::testing
