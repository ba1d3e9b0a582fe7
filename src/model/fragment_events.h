// The life of a fragment in the engine of its worker, as the engine reports it.
//
// Preparing ends in Prepared or PrepareFailed. A fragment that was started reports BeganToRun when
// data can flow, and one of the other three when it has ended.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "model/control.h"
#include "model/counts.h"

namespace baton::fragments {

struct Prepared {
    FragmentKey key;
};
struct PrepareFailed {
    FragmentKey key;
    control::Fault fault = control::Fault::transient;
    std::string why;
    std::uint32_t error = 0;  // its number; 0: it has none
};
struct BeganToRun {  // data flows
    FragmentKey key;
};
struct Ended {  // by itself: everything flushed, sinks complete
    FragmentKey key;
    Counts counts = {};  // all that it counted; here and below
};
struct Halted {  // because it was drained or aborted
    FragmentKey key;
    Counts counts = {};
};
struct Broke {
    FragmentKey key;
    control::Fault fault = control::Fault::transient;
    std::string why;
    std::uint32_t error = 0;  // its number; 0: it has none
    Counts counts = {};
};
using Event = std::variant<Prepared, PrepareFailed, BeganToRun, Ended, Halted, Broke>;

[[nodiscard]] inline const FragmentKey& key_of(const Event& event) {
    return std::visit([](const auto& e) -> const FragmentKey& { return e.key; }, event);
}

// The engine does not have it any longer.
[[nodiscard]] inline bool is_end(const Event& event) {
    return !std::holds_alternative<Prepared>(event) && !std::holds_alternative<BeganToRun>(event);
}

}  // namespace baton::fragments
