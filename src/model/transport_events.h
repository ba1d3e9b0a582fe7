// Events at the coordinator's end of the streams to its workers. A stream is known by the
// number of the attempt that opened it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/id.h"
#include "model/control.h"

namespace baton::transport {

using Attempt = std::uint64_t;

struct Dialled {
    std::string worker;
    Attempt attempt = 0;
    control::Welcome welcome;
};
struct DialFailed {  // also: the worker refused us
    std::string worker;
    Attempt attempt = 0;
    std::string why;
    Epoch highest;         // that the worker has seen, if it refused us for ours; else 0
    bool refused = false;  // the worker answered, and `why` is what it said
};
struct MessageArrived {
    std::string worker;
    Attempt attempt = 0;
    control::Up message;
};
struct Broken {
    std::string worker;
    Attempt attempt = 0;
    std::string why;
};
using Event = std::variant<Dialled, DialFailed, MessageArrived, Broken>;

}  // namespace baton::transport
