// Events at the worker's end of control connections. A session is one stream of a coordinator: it
// begins with Greeted, then come its messages in their order, then one HungUp.
#pragma once

#include <cstdint>
#include <variant>

#include "model/control.h"

namespace baton::sessions {

using Session = std::uint64_t;  // of this session alone; grows from session to session

struct Greeted {
    Session session = 0;
    control::Hello hello;
};
struct MessageArrived {
    Session session = 0;
    control::Down message;
};
struct HungUp {
    Session session = 0;
};
using Event = std::variant<Greeted, MessageArrived, HungUp>;

// A refusal ends the session.
using GreetingAnswer = std::variant<control::Welcome, control::Refusal>;

}  // namespace baton::sessions
