// Desk runs the requests of every door: its threads run the sessions of visitors, since a session
// waits for the disk. The threads of doors serve the network, and never wait.
//
// Many threads may wait at once, so that one sync of the disk serves many; only a few work at once,
// since more threads than processors only slow each other down. A thread that waits announces it
// (threads/waiting.h); if none has and nothing moves for some milliseconds, one more
// works.
//
// A statement that waits for a query is paused and takes no thread; when the query has changed, its
// time is over, or it is cancelled, it goes on. One that only another coordinator can carry out
// goes to threads of its own. Health pages have threads and connections of their own, too, so that
// they answer under any load.
//
// A Visitor is one client behind a door: its name, its rights, and its session. Its requests run in
// their order, one after the other. It is held by shared_ptr: a request that runs keeps it alive.
//
// Bounded: when too much is waiting, a request is answered with slow_down and nothing has happened.
// Users take turns, and none of them may have more than half of the places.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"
#include "doors/desk/access.h"
#include "model/wait.h"
#include "threads/fair_queue.h"
#include "threads/lane.h"
#include "threads/waiting.h"

namespace baton::desk {

struct DeskOptions {
    std::size_t threads = 64;     // how many statements are run at once, those that wait too
    std::size_t working_max = 0;  // that do not wait; 0: as many as there are processors
    // A wait that was not announced holds the others up for no longer.
    Duration stall = std::chrono::milliseconds(5);
    std::size_t waiting_max = 10'000;
    std::size_t standing_max = 20'000;  // statements that stand still
    // That wait for another coordinator, each with a connection to it.
    std::size_t forwarding_max = 16;
};

// Which threads a visitor's work is for.
enum class Line : std::uint8_t {
    statements,
    probes,  // whether the coordinator is well: short, and by few
    pages,   // how it is doing, at length
};

class Visitor;

class Desk : private threads::Waiting::Listener {
public:
    // The coordinator outlives it.
    explicit Desk(coordinator::CoordinatorRuntime& coordinator, const DeskOptions& options = {});
    // Requests that run are finished, requests that wait are answered with cancelled.
    ~Desk() override;
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    [[nodiscard]] std::shared_ptr<Visitor> visitor(Principal who, Line line = Line::statements);
    [[nodiscard]] coordinator::CoordinatorRuntime& coordinator() { return coordinator_; }

    struct Load {
        std::size_t waiting = 0;
        std::size_t running = 0;
        std::size_t visitors = 0;
        std::size_t standing = 0;    // still, for a query
        std::size_t forwarding = 0;  // that wait for a thread that asks who leads
    };
    [[nodiscard]] Load load() const;

private:
    friend class Visitor;
    // `run` gets whether it may run; false: the desk closes. Refused if too much is waiting.
    using Work = std::function<void(bool)>;
    [[nodiscard]] bool post(const std::string& whose, Line line, Work work);
    [[nodiscard]] Error refusal() const;

    // A place for a paused statement. wake() may be called as soon as there is one; settle()
    // decides how it goes on.
    using Place = std::uint64_t;
    [[nodiscard]] std::optional<Place> reserve(const std::string& whose);
    void settle(Place place, std::optional<Instant> until, Work go_on);
    void wake(Place place);
    void move_to_woken(Place place);  // under the lock
    void keep_time();
    void serve();
    // Waits until there is work that this thread is to do; false: there will be none.
    [[nodiscard]] bool wait_for_work(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool has_room() const { return working_ < working_max_; }
    [[nodiscard]] bool has_work() const { return !waiting_.empty() || !woken_.empty(); }
    [[nodiscard]] Work take_work();
    void waits() override;
    void goes_on() override;

    coordinator::CoordinatorRuntime& coordinator_;
    const DeskOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable filled_;
    threads::FairQueue<Work> waiting_;
    std::deque<Work> woken_;  // what stood still and goes on
    const std::size_t working_max_;
    std::size_t running_ = 0;
    std::size_t working_ = 0;  // of those, threads that do not wait
    std::size_t taken_ = 0;    // since the start
    bool watched_ = false;     // a thread sees to it that what waits here does not do so for long
    std::size_t visitors_ = 0;
    bool closing_ = false;

    struct Standing {
        std::string whose;
        std::optional<Instant> until;
        Work go_on;  // none: it is not settled yet
        bool woken = false;
    };
    std::map<Place, Standing> standing_;
    std::map<std::string, std::size_t> standing_of_;  // how many
    std::set<std::pair<Instant, Place>> ends_;
    Place last_place_ = 0;
    std::condition_variable time_changed_;

    threads::Lane forwarding_;
    threads::Lane probes_;
    threads::Lane pages_;
    std::vector<std::thread> threads_;
    std::thread timekeeper_;  // last: it uses everything above
};

struct Request {
    std::string text;
    std::vector<sql::Literal> parameters;
    Wait wait;
    // Of an INSERT, which `text` is then, as Session::begin_insert() has it.
    std::optional<coordinator::Session::InsertedRows> rows = {};
};

class Visitor : public std::enable_shared_from_this<Visitor> {
public:
    Visitor(Desk& desk, Principal who, Line line);
    ~Visitor();
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;

    // `done` is called once, on a thread of the desk, or before this returns if it is refused.
    void ask(Request request, std::function<void(coordinator::Execution)> done);
    // The same for the parts of a text.
    void describe(std::string text, std::function<void(Result<coordinator::Described>)> done);
    // Other work for this visitor, in its turn; false: it is refused.
    void run(std::function<void(bool)> work) {
        enqueue([work = std::move(work)](bool may) {
            work(may);
            return true;
        });
    }
    // The request that runs ends as soon as it can, with `cancelled`. Its changes stay.
    void cancel();

    enum class Transaction : std::uint8_t { none, open, failed };
    // As of the last thing that was run; to be asked inside of its `done`.
    [[nodiscard]] Transaction transaction() const;
    [[nodiscard]] const Principal& who() const { return who_; }
    // Whether what it asked waits for a query. Any thread.
    [[nodiscard]] bool stands_still() const { return standing_; }

private:
    // Gets whether it may run; true: it is done. Otherwise the turn ends with run_next().
    using Turn = std::function<bool(bool)>;
    using Answer = std::function<void(coordinator::Execution)>;
    // Runs now if nothing else of this visitor is, or when its turn comes.
    void enqueue(Turn turn);
    void run_next();
    // Runs what was begun to its end or until it stands still; see Turn.
    [[nodiscard]] bool drive(coordinator::Patience patience, const std::shared_ptr<Answer>& done);
    void stand_still(const std::shared_ptr<Answer>& done);
    void go_on(bool may, coordinator::Patience patience, const std::shared_ptr<Answer>& done);
    [[nodiscard]] coordinator::Patience patience() const {
        return line_ == Line::statements ? coordinator::Patience::none
                                         : coordinator::Patience::leader;
    }

    Desk& desk_;
    const Principal who_;
    const Line line_;
    std::atomic<bool> standing_ = false;
    coordinator::Session session_;

    std::mutex mutex_;
    std::deque<Turn> turns_;
    bool busy_ = false;
};

}  // namespace baton::desk
