#include "engine/run/caught.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace baton::engine {

namespace {

Error out_of_memory() {
    return {.code = ErrorCode::out_of_memory,
            .message = "cannot go on with the query: the worker has no memory left for it",
            .hint = "read shorter texts or fewer rows at once, or give the worker more memory"};
}

Error described() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    } catch (const std::length_error&) {
        return out_of_memory();
    } catch (const std::system_error& e) {
        return {.code = ErrorCode::slow_down,
                .message = std::string("cannot start a thread for the query: ") + e.what(),
                .hint = "run fewer queries at once, or allow the worker more threads"};
    } catch (const std::exception& e) {
        return {.code = ErrorCode::defect, .message = std::string("exception: ") + e.what()};
    }
}

}  // namespace

Error error_of_exception() noexcept {
    try {
        return described();
    } catch (...) {
        return {.code = ErrorCode::out_of_memory};  // not even for words
    }
}

}  // namespace baton::engine
