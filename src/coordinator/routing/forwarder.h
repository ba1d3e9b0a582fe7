// Forwarder takes those steps of a request that go beyond this coordinator while it follows: it
// writes the order, sends it to the coordinator that leads, returns the answer, and waits for news
// of the leader. Route (core/routing) decides which step is next, and which may be sent again.
//
// Errands are requests whose outcome no caller waits for. The forwarder has a thread of its own
// that takes them along their routes, which lead to the leader alone.
// Any thread; a step keeps the thread until it is over.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/result.h"
#include "catalog/views/view_query.h"
#include "coordinator/commit/bundle.h"
#include "coordinator/commit/interrupt.h"
#include "coordinator/routing/leader_board.h"
#include "core/routing/route.h"
#include "ports/clock.h"
#include "ports/leader_line.h"
#include "threads/mailbox.h"

namespace baton::coordinator {

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
    // Errands that are not done yet are given up.
    ~Forwarder();
    Forwarder(const Forwarder&) = delete;
    Forwarder& operator=(const Forwarder&) = delete;

    [[nodiscard]] routing::Request request_for(const Bundle& bundle, routing::Reach reach) const {
        return {
            .reach = reach, .trial = !bundle.keep, .deadline = bundle.started + options_.patience};
    }
    [[nodiscard]] routing::Timing timing() const {
        return {.answer = options_.patience, .pause = options_.pause};
    }

    struct Delivery {
        const Bundle& bundle;
        std::string order = {};
        std::optional<Outcome> outcome = {};  // as the last step gave it
    };
    // Takes the step and returns its result.
    [[nodiscard]] routing::Event take(const routing::There& step, Delivery& delivery);

    // The whole way of a bundle that is for the leader alone.
    [[nodiscard]] std::variant<Outcome, LeadsHere> forward(const Bundle& bundle, Instant deadline);
    // The leader's counts of fragments that run; empty if they cannot be had soon.
    [[nodiscard]] views::LiveCounts counts();
    // Carries out the bundle later, without a waiting caller. The bundle may be carried out twice:
    // if it fails it is tried again with the next errand. It is lost if too many are waiting.
    void run_errand(Bundle bundle);

private:
    [[nodiscard]] routing::Event take_one(const routing::WriteOrder& step,
                                          Delivery& delivery) const;
    [[nodiscard]] routing::Event take_one(const routing::Forward& step, Delivery& delivery) const;
    [[nodiscard]] routing::Event take_one(const routing::Wait& step, Delivery& delivery) const;
    void run_errands();

    LeaderLine& line_;
    LeaderBoard& board_;
    const Clock& clock_;
    const ForwarderOptions options_;

    threads::Mailbox<Bundle> errands_;
    std::mutex mutex_;
    std::vector<Bundle> undone_;  // errands, until there is another
    Interrupt given_up_;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::coordinator
