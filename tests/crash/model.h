// What the load asks for, and what must come of it: a model too simple to be wrong.
//
// Every thread of the load owns its names (T2_L0 is of thread 2), so what its requests do depends
// on nobody else. What it owns is a set of facts: L0 a logical source, P0 its physical source, W0 a
// worker, D0 it is draining, K1 a link from worker 1 to worker 0, S0 a sink, Q0 a query, F0 its
// fragment, X0 the query is stopped.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/prng.h"

namespace baton::crash {

inline constexpr int kSlots = 3;

using Facts = std::set<std::string>;

// One statement. As a word: "+L0" creates, "-L0" drops, ">W1" creates a worker with a link, "dW0"
// drains, "rW0" resumes, "xQ0" stops, "?L0" cannot be parsed.
struct Action {
    char verb = '+';
    char kind = 'L';
    int slot = 0;
};
// Several are a bundle: all of them or none.
using Operation = std::vector<Action>;

[[nodiscard]] std::string to_words(const Operation& operation);
[[nodiscard]] Operation from_words(std::string_view words);

[[nodiscard]] std::string statement_of(int thread, const Action& action);

// The facts after it; or, if it has to be refused, the codes it may be refused with.
struct Prediction {
    Facts facts;
    std::vector<ErrorCode> refusal;  // empty: it has to be done
};
[[nodiscard]] Prediction predict(const Facts& facts, const Operation& operation);

// Mostly what can be done; some of it wrong on purpose. Never what changes nothing and succeeds.
[[nodiscard]] Operation random_operation(Prng& prng, const Facts& facts);

}  // namespace baton::crash
