// Forwarder passes what only the leader can do on to it, for a coordinator that follows, and gives
// back what the leader answered.
//
//   - While nobody leads, it waits for who does: nothing was sent, so nothing has happened.
//   - What was certainly not done (not sent; refused by one that does not lead any more; a trial)
//     is tried again with whoever leads then, until the time is over.
//   - What was sent and not answered is never tried again: the answer is unknown_outcome.
//   - It is asked of the leader alone: who is asked and does not lead refuses, so there are no
//     rounds.
// Any thread; who asks waits.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "base/result.h"
#include "catalog/view_query.h"
#include "coordinator/commit/bundle.h"
#include "coordinator/commit/interrupt.h"
#include "coordinator/routing/leader_board.h"
#include "ports/clock.h"
#include "ports/leader_line.h"

namespace baton {

struct ForwarderOptions {
    Duration patience = std::chrono::seconds(15);    // for a leader, and again for its answer
    Duration pause = std::chrono::milliseconds(50);  // between two attempts
    std::size_t bytes_max = std::size_t{60} << 20U;  // of an order
    Duration counts_patience = std::chrono::seconds(1);
    std::size_t errands_max = 1'000;
};

// Nothing was sent: this process has come to lead.
struct LeadsHere {};

class Forwarder {
public:
    // All outlive it.
    Forwarder(LeaderLine& line, LeaderBoard& board, const Clock& clock,
              const ForwarderOptions& options = {});
    // What nobody waits for is given up.
    ~Forwarder();
    Forwarder(const Forwarder&) = delete;
    Forwarder& operator=(const Forwarder&) = delete;

    // Until when a bundle may wait for a leader, since it was asked for.
    [[nodiscard]] Instant deadline(const Bundle& bundle) const {
        return bundle.started + options_.patience;
    }
    [[nodiscard]] std::variant<Outcome, LeadsHere> forward(const Bundle& bundle, Instant deadline);
    // What the leader knows of fragments that run; nothing if it cannot be had soon.
    [[nodiscard]] LiveCounts counts();
    // Later, and nobody waits for it. Something that may be done twice: what could not be done is
    // tried again with the next errand. Lost if there is too much of that.
    void run_errand(Bundle bundle);

private:
    // What an attempt led to; none: nothing happened, and it may be tried again.
    using Attempt = std::optional<Outcome>;
    [[nodiscard]] Attempt attempt(const std::string& address, const std::string& order,
                                  const Bundle& bundle, Error& why_not);
    void run_errands();

    LeaderLine& line_;
    LeaderBoard& board_;
    const Clock& clock_;
    const ForwarderOptions options_;

    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<Bundle> errands_;
    std::vector<Bundle> undone_;  // errands, until there is another
    bool over_ = false;
    Interrupt given_up_;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton
