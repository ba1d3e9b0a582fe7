// run_exchange() plays a scenario: one receiver and its senders, with the machines of
// core/exchange, in simulated time, over a network on which things go wrong. After every event it
// looks from outside whether the exchange keeps what it promises.
//
// Faults: messages are late, with a heavy tail; streams break, and each end notices by
// itself, so that items of an older stream arrive after those of a newer one, and again; answers
// and items are lost with their stream; the two are cut off from each other; receivers open late;
// senders and receivers pause; processes are killed, and the next run of the query begins. Then
// everything heals.
//
// Checks:
//   - the receiver takes the announcement of each sender, then its frames, each once and in order,
//     then its end; nothing of another run; all senders end before the receiver does;
//   - a sender that has finished was heard to the end;
//   - items that were sent and not taken are bounded in number and in bytes, at both ends;
//   - one stream of a sender at a time, one write on it at a time, each item once, in order;
//   - a sender dials again after 50 ms at least and not much more than two seconds;
//   - no sender is at fault, and none is refused for good;
//   - once the world heals, the run ends, and then nothing happens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testing/exchange/scenario.h"

namespace baton::testing {

struct ExchangeRun {
    std::optional<std::string> problem;  // what does not hold; the run ends there
    std::uint64_t fingerprint = 0;       // the same for the same scenario
    std::uint64_t events = 0;
    std::uint64_t taken = 0;       // items
    std::uint64_t doubled = 0;     // items that arrived again
    std::uint64_t late = 0;        // items that arrived on an older stream, for the first time
    std::uint64_t reconnects = 0;  // streams that opened after the first of their sender
    std::uint64_t completed = 0;   // runs
    std::uint64_t told_late = 0;   // senders that heard of their end after the receiver was gone
    std::vector<std::string> story;
};

// The same scenario gives the same run, with its story or without.
[[nodiscard]] ExchangeRun run_exchange(const ExchangeScenario& scenario, bool with_story = false);

}  // namespace baton::testing
