// LeadershipDriver carries out the election's verdict: it starts a term on the CoordinatorRuntime
// while this process holds the lease, and ends it otherwise. It also gives up the lease of a leader
// whose commits fail again and again, unless the database's disk is full.
//
// Starting and ending a term waits for the database, so a thread of its own does it, in the order
// of the verdicts; a term that was over before it was started is not started. When a term has ended
// and its last work is done, the election releases the lease.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <variant>

#include "coordinator/coordinator_runtime.h"
#include "coordinator/term/leadership.h"
#include "ports/log.h"

namespace baton::coordinator {

class LeadershipDriver final : private LeadershipListener {
public:
    // All outlive it; `database` is the catalog's, for connections of the election's own. The owner
    // of the options is the text of a LeaseOwner.
    LeadershipDriver(const LeadershipOptions& options, SqlDatabase& database, const Clock& clock,
                     CoordinatorRuntime& coordinator, Log& log);
    ~LeadershipDriver() override;
    LeadershipDriver(const LeadershipDriver&) = delete;
    LeadershipDriver& operator=(const LeadershipDriver&) = delete;

    // Gives up a lease that is held, and waits for that so long.
    void leave(Duration at_most);
    [[nodiscard]] election::ElectionStatus status() const { return leadership_.status(); }

private:
    using Verdict = std::variant<election::Lead, election::StepDown>;

    void lead(Epoch epoch) override;
    void step_down(Epoch epoch, election::Reason reason, const std::string& why) override;
    void leader_changed() override;
    void troubled(const std::string& why) override;
    void left() override;

    void run();
    void obey(const election::Lead& verdict);
    void obey(const election::StepDown& verdict);
    void tell_who_leads();
    void look_after_term();

    CoordinatorRuntime& coordinator_;
    Log& log_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Verdict> verdicts_;
    bool left_ = false;
    bool heard_ = false;   // of another leader
    std::string trouble_;  // to be written to the log
    bool over_ = false;
    Leadership leadership_;  // its thread calls us
    std::thread thread_;     // last: it uses everything above
};

}  // namespace baton::coordinator
