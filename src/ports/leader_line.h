// LeaderLine is the way to the coordinator that leads, from one that follows: a text there, a text
// back. Both ends prove who they are. Any thread.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "base/error.h"
#include "base/time.h"

namespace baton {

// It was not sent, or is known not to have been read: nothing has happened.
struct NotSent {
    Error why;
};
// It was sent, and its outcome is not known.
struct NoAnswer {
    Error why;
};
using LineAnswer = std::variant<std::string, NotSent, NoAnswer>;

class LeaderLine {
public:
    virtual ~LeaderLine() = default;

    // `address` is the one that the leader advertises. Waits, at most `patience` in all, and is
    // given up soon after `given_up` says so.
    [[nodiscard]] virtual LineAnswer ask(const std::string& address, const std::string& order,
                                         Duration patience,
                                         const std::function<bool()>& given_up) = 0;
};

}  // namespace baton
