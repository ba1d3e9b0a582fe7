// Orders are what one coordinator asks of another of the same catalog, which leads: a bundle of a
// client that came to the wrong one, as a text, and what became of it.
//
// A step travels as what the client wrote, with its parameters, and is parsed and bound again where
// it is carried out: so the answer, and the place of an error, are those that the client would have
// got there. What was judged on the way is not judged again: who may do what is said by the
// coordinator that the client came to. An order is carried out by who leads, never passed on.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "coordinator/commit/bundle.h"

namespace baton {

// The coordinator that carries out what another one forwarded.
struct BundleExecutor {
    std::function<Outcome(Bundle)> execute;
    std::function<LiveCounts()> own_counts;
    Instant now{};
};

// Fails with fenced if a step does not say how it was written.
[[nodiscard]] Result<std::string> order_of(const Bundle& bundle);
// What is asked for beside changes: what the leader knows of fragments that run.
[[nodiscard]] std::string order_for_counts();

// The bundle that an order asks for, begun now; or the refusal of one that cannot be read.
[[nodiscard]] std::variant<Bundle, Refused> bundle_in(std::string_view order, Instant now);
[[nodiscard]] std::string answer_of(const Outcome& outcome);

// Does what the order says and returns what became of it, or why it could not be read.
[[nodiscard]] std::string carry_out(const BundleExecutor& executor, std::string_view order);

// The outcome of `bundle` as carry_out() told it, with the places of errors in what the client
// wrote. Fails with malformed_message.
[[nodiscard]] Result<Outcome> outcome_of(std::string_view answer, const Bundle& bundle);
[[nodiscard]] Result<LiveCounts> counts_of(std::string_view answer);

}  // namespace baton
