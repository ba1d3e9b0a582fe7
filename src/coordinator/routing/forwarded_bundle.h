// An order is a bundle of a client as a text, which a coordinator that does not lead forwards to
// the leader of the same catalog. The answer is its outcome as a text.
//
// A step travels as the text that the client wrote, with its parameters. The leader parses and
// binds it again, so that the answer, and the place of an error, are those that the client would
// have got there. Permissions are not checked again: the coordinator that the client is connected
// to has checked them. Only a coordinator that leads carries out an order; it never forwards one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "coordinator/commit/bundle.h"

namespace baton::coordinator {

// The coordinator that carries out what another one forwarded.
struct BundleExecutor {
    std::function<Outcome(Bundle)> execute;
    std::function<views::LiveCounts()> own_counts;
    Instant now{};
};

// Fails with fenced if a step does not carry its text.
[[nodiscard]] Result<std::string> order_of(const Bundle& bundle);
// The other kind of order: it asks for the leader's counts of fragments that run.
[[nodiscard]] std::string order_for_counts();

// The bundle that an order asks for, begun now; or the refusal of an order that cannot be read.
[[nodiscard]] std::variant<Bundle, Refused> bundle_in(std::string_view order, Instant now);
[[nodiscard]] std::string answer_of(const Outcome& outcome);

// Carries out the order and returns its answer, which may be that the order could not be read.
[[nodiscard]] std::string carry_out(const BundleExecutor& executor, std::string_view order);

// The outcome of `bundle` from the answer of carry_out(), with the places of errors in the text
// that the client wrote. Fails with malformed_message.
[[nodiscard]] Result<Outcome> outcome_of(std::string_view answer, const Bundle& bundle);
[[nodiscard]] Result<views::LiveCounts> counts_of(std::string_view answer);

}  // namespace baton::coordinator
