// LeaderLine is the way to the coordinator that leads, from one that follows: a text there, a text
// back. Both ends prove who they are. Any thread.
#pragma once

#include <functional>
#include <string>

#include "base/time.h"
#include "model/line_answer.h"

namespace baton {

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
