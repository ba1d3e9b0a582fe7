// LineAnswer is the outcome of forwarding a request to the coordinator that leads.
#pragma once

#include <string>
#include <variant>

#include "base/error.h"

namespace baton {

// The request was not sent, or is known not to have been read: nothing has happened.
struct NotSent {
    Error why;
};
// It was sent, and its outcome is not known.
struct AnswerLost {
    Error why;
};
using LineAnswer = std::variant<std::string, NotSent, AnswerLost>;

}  // namespace baton
