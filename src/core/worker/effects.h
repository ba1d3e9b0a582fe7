// The effects of a worker's Station: everything that it asks its driver to do.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/worker/holdings.h"
#include "model/control.h"
#include "model/control_sessions.h"

namespace baton::worker {

// To the engine. Each Prepare is answered by Prepared or PrepareFailed, unless Abort comes first;
// Drain and Abort are answered by Halted, or by whatever end came before they could act.
namespace engine_calls {

struct Prepare {
    FragmentKey key;
    std::string plan;
    friend bool operator==(const Prepare&, const Prepare&) = default;
};
struct Start {
    FragmentKey key;
    friend bool operator==(const Start&, const Start&) = default;
};
struct Drain {
    FragmentKey key;
    friend bool operator==(const Drain&, const Drain&) = default;
};
struct Abort {  // whatever it is at, also preparing
    FragmentKey key;
    friend bool operator==(const Abort&, const Abort&) = default;
};
using EngineCommand = std::variant<Prepare, Start, Drain, Abort>;

}  // namespace engine_calls

namespace duty {

// To the coordinator that is listened to; lost if there is none.
struct Say {
    control::Up message;
    friend bool operator==(const Say&, const Say&) = default;
};
using Effect = std::variant<Say, engine_calls::Prepare, engine_calls::Start, engine_calls::Drain,
                            engine_calls::Abort, holdings::Take, holdings::Release>;
using Effects = std::vector<Effect>;

}  // namespace duty

namespace station {

struct AnswerGreeting {
    sessions::Session session = 0;
    sessions::GreetingAnswer answer;
    friend bool operator==(const AnswerGreeting&, const AnswerGreeting&) = default;
};
// To be durable; answered by Kept or NotKept, and no coordinator is welcomed before.
struct Keep {
    control::Allegiance allegiance;
    friend bool operator==(const Keep&, const Keep&) = default;
};
struct Reply {
    sessions::Session session = 0;
    control::Up message;
    friend bool operator==(const Reply&, const Reply&) = default;
};
using Effect =
    std::variant<AnswerGreeting, Keep, Reply, engine_calls::Prepare, engine_calls::Start,
                 engine_calls::Drain, engine_calls::Abort, holdings::Take, holdings::Release>;

[[nodiscard]] std::string to_string(const Effect& effect);

}  // namespace station
}  // namespace baton::worker
