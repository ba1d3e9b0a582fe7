// An exception, of the standard library or of one that a connector uses, becomes an error of the
// fragment at the top of each of its threads.
#pragma once

#include "base/result.h"

namespace baton::engine {

// Of the exception that is being handled: out_of_memory, slow_down where a thread could not be
// started, or defect.
[[nodiscard]] Error error_of_exception() noexcept;

template <class Work>
[[nodiscard]] auto caught(const Work& work) -> decltype(work()) {
    try {
        return work();
    } catch (...) {
        return error_of_exception();
    }
}

}  // namespace baton::engine
