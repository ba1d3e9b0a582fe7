// ControlLoop is the decision thread: it runs a Controller on a CoordinatorRuntime's catalog.
//
// The mailbox before it holds the events that other threads post:
//   - An answer to something that the controller asked for is always accepted. The number of such
//     answers is bounded by the number of questions.
//   - A pulse that was not asked for is dropped when too much is waiting: the answer to the next
//     beat repeats it.
//   - Changes of the catalog are keys, and each key is there once.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/time.h"
#include "coordinator/commit/commit_loop.h"
#include "coordinator/commit/feed.h"
#include "coordinator/commit/term_guard.h"
#include "coordinator/control/catalog_door.h"
#include "coordinator/control/controller.h"
#include "coordinator/control/guarded_transport.h"
#include "coordinator/reading/readers.h"
#include "ports/clock.h"
#include "ports/transport.h"
#include "threads/mailbox.h"

namespace baton::coordinator {

// The catalog of a CoordinatorRuntime, seen through its readers and changed through its commit
// loop.
class CommitLoopDoor : public CatalogDoor {
public:
    CommitLoopDoor(CommitLoop& commits, Readers& readers, const Clock& clock)
        : commits_(commits), readers_(readers), clock_(clock) {}

    [[nodiscard]] Result<CatalogLook> look(const CatalogWanted& wanted) override;
    void submit(Ticket ticket, std::vector<catalog::Request> requests,
                WhenWritten written) override;

private:
    CommitLoop& commits_;
    Readers& readers_;
    const Clock& clock_;
};

// The mailbox outlives the loop, in the hands of threads that may still post. Anything posted after
// close() is ignored.
class ControlMailbox {
public:
    explicit ControlMailbox(std::size_t unasked_max) : unasked_max_(unasked_max) {}

    void post(ControlEvent event);
    void changed(const std::set<EntityKey>& keys);
    // The events that are waiting, in the order in which they came, the changes of the catalog
    // last. Waits at most so long for the first event; without a time, for ever. It may return
    // nothing before that, and a change may overtake an event that was posted before it.
    [[nodiscard]] std::vector<ControlEvent> take(std::optional<Duration> at_most);
    void close();
    [[nodiscard]] bool closed() const { return events_.closed(); }

private:
    const std::size_t unasked_max_;
    threads::Mailbox<ControlEvent> events_;
    std::mutex mutex_;
    std::set<EntityKey> changed_;
};

class ControlLoop {
public:
    struct World {
        CommitLoop& commits;
        Readers& readers;
        Feed& feed;
        Transport& transport;
        const Clock& clock;
        TermGuard guard;
    };

    // Everything in `world` outlives the loop. Submitted requests may be answered after it is gone.
    ControlLoop(const ControllerOptions& options, const World& world);
    // Ends the thread. Workers go on as they are.
    ~ControlLoop();
    ControlLoop(const ControlLoop&) = delete;
    ControlLoop& operator=(const ControlLoop&) = delete;

    [[nodiscard]] const CounterBoard& counters() const { return controller_.counters(); }

private:
    void run();
    [[nodiscard]] bool start();
    [[nodiscard]] std::optional<Duration> until_wake() const;

    GuardedTransport transport_;
    const Clock& clock_;
    std::shared_ptr<ControlMailbox> mailbox_;
    CommitLoopDoor door_;
    Controller controller_;
    Feed::Registration registration_;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::coordinator
