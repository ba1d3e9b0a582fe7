// Desk is where the requests of every door are worked on: threads of its own run the sessions of
// visitors, since a session waits for the disk. Doors have threads for the network, and never wait.
//
// Many threads may wait at once, so that one sync of the disk serves many; only a few work at once,
// since more than there are processors only take them from each other. Who waits says so
// (runtime/waiting.h); where nobody said so and nothing moves for some milliseconds, one more
// works.
//
// A Visitor is one client behind a door: who it is, what it may do, and its session. What it asks
// is run in the order it was asked, one after the other. It is held by shared_ptr: what is being
// run keeps it alive.
//
// Bounded: when too much is waiting, a request is answered with slow_down and nothing has happened.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "front/access.h"
#include "model/wait.h"
#include "runtime/coordinator_runtime.h"
#include "runtime/session.h"
#include "runtime/waiting.h"

namespace baton::front {

struct DeskOptions {
    std::size_t threads = 64;     // how many statements are run at once, those that wait too
    std::size_t working_max = 0;  // that do not wait; 0: as many as there are processors
    // What nobody has said to wait, and does, holds the others up for no longer.
    Duration stall = std::chrono::milliseconds(5);
    std::size_t waiting_max = 10'000;
};

class Visitor;

class Desk : private Waiting::Listener {
public:
    // The coordinator outlives it.
    explicit Desk(CoordinatorRuntime& coordinator, const DeskOptions& options = {});
    // What is being run is finished, what waits is answered with cancelled.
    ~Desk() override;
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    [[nodiscard]] std::shared_ptr<Visitor> visitor(Principal who);
    [[nodiscard]] CoordinatorRuntime& coordinator() { return coordinator_; }

    struct Load {
        std::size_t waiting = 0;
        std::size_t running = 0;
        std::size_t visitors = 0;
    };
    [[nodiscard]] Load load() const;

private:
    friend class Visitor;
    // `run` is told whether it may; false: the desk closes. Refused if too much is waiting.
    using Work = std::function<void(bool)>;
    [[nodiscard]] bool post(Work work);
    [[nodiscard]] Error refusal() const;
    void serve();
    // Waits until there is work that this thread is to do; false: there will be none.
    [[nodiscard]] bool wait_for_work(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool has_room() const { return working_ < working_max_; }
    void waits() override;
    void goes_on() override;

    CoordinatorRuntime& coordinator_;
    const DeskOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<Work> waiting_;
    const std::size_t working_max_;
    std::size_t running_ = 0;
    std::size_t working_ = 0;  // of those, who do not wait
    std::size_t taken_ = 0;    // since the start
    bool watched_ = false;     // a thread sees to it that what waits here does not do so for long
    std::size_t visitors_ = 0;
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

struct Request {
    std::string text;
    std::vector<sql::Literal> parameters;
    Wait wait;
};

class Visitor : public std::enable_shared_from_this<Visitor> {
public:
    Visitor(Desk& desk, Principal who);
    ~Visitor();
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;

    // `done` is called once, on a thread of the desk, or before this returns if it is refused.
    void ask(Request request, std::function<void(Execution)> done);
    // The same for what a text is made of.
    void describe(std::string text, std::function<void(Result<Described>)> done);
    // Other work for this visitor, in its turn; false: it is refused.
    void run(std::function<void(bool)> work) { enqueue(std::move(work)); }
    // What is being run ends as soon as it can, with `cancelled`. What it changed stays.
    void cancel();

    enum class Transaction : std::uint8_t { none, open, failed };
    // As of the last thing that was run; to be asked inside of its `done`.
    [[nodiscard]] Transaction transaction() const;
    [[nodiscard]] const Principal& who() const { return who_; }

private:
    using Work = std::function<void(bool)>;
    // Runs now if nothing else of this visitor is, or when its turn comes.
    void enqueue(Work work);
    void run_next();

    Desk& desk_;
    const Principal who_;
    Session session_;

    std::mutex mutex_;
    std::deque<Work> turns_;
    bool busy_ = false;
};

}  // namespace baton::front
