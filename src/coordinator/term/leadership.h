// Leadership keeps this process in the election: it runs the machine of core/election on a thread,
// makes its calls to the lock service, and reports to a listener when to lead.
//
// The thread that decides makes no call of the database, so it ends a term in time while every call
// hangs. Code that acts as the leader asks acting() just before: it reads the clock itself and
// waits for no thread. The clock goes on while the machine is suspended.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/id.h"
#include "base/prng.h"
#include "coordinator/term/lease_callers.h"
#include "core/election/election.h"
#include "ports/clock.h"
#include "ports/sql.h"
#include "threads/mailbox.h"

namespace baton::coordinator {

// Called on the thread that decides, one at a time: to note and to post, not to wait.
class LeadershipListener {
public:
    virtual ~LeadershipListener() = default;

    virtual void lead(Epoch epoch) = 0;
    // Nothing more is begun under this epoch. Say Leadership::drained() when what was begun has
    // ended.
    virtual void step_down(Epoch epoch, election::Reason reason, const std::string& why) = 0;
    // The leader in status() is another than before; the end of a lease is not reported.
    virtual void leader_changed() {}
    // The store could not be asked, or refused a call, such as an acquisition. Called once for each
    // reason, and again after a minute.
    virtual void troubled(const std::string& /*why*/) {}
    // After leave(): the lease is released, or will end by itself. The last call.
    virtual void left() = 0;
};

struct LeadershipOptions {
    election::ElectionTimers timers;
    std::string lock;   // its name
    std::string owner;  // of this process alone, also after a restart; see LeaseOwner
    std::uint64_t seed = 0;
};

class Leadership {
public:
    // All outlive it. The lock service gets connections of its own. Nothing happens before start().
    Leadership(const LeadershipOptions& options, SqlDatabase& database, const Clock& clock,
               LeadershipListener& listener);
    // Ends the threads, and waits for a call that is under way. A lease that is held then ends by
    // itself: leave() first, and wait for left().
    ~Leadership();
    Leadership(const Leadership&) = delete;
    Leadership& operator=(const Leadership&) = delete;

    void start();

    // From any thread. The epoch under which an action may begin now; none: this process does not
    // lead.
    [[nodiscard]] std::optional<Epoch> acting() const;
    [[nodiscard]] election::ElectionStatus status() const;

    void drained(Epoch epoch);            // of a term that is over
    void heard_of(Epoch epoch);           // that a worker has obeyed
    void hint();                          // the lock may be free
    void unable(const std::string& why);  // to do its work: another one should lead
    void leave();

private:
    void post(election::Event event) { events_.post(std::move(event)); }
    void run();
    // How long to wait for an event until it is time to look again.
    [[nodiscard]] Duration patience() const;
    void step(const election::Event& event);
    void tell_trouble(const std::string& trouble);
    void perform(const election::Effect& effect);

    const Clock& clock_;
    LeadershipListener& listener_;
    Prng prng_;

    mutable std::mutex machine_mutex_;  // held for moments only
    election::Election machine_;
    Epoch heard_leader_;  // of the leader that was reported last
    std::string told_trouble_;
    Instant told_trouble_at_{};

    threads::Mailbox<election::Event> events_;
    LeaseCallers callers_;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::coordinator
