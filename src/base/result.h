// Result<T> is a T or the Error that prevented it.
//
// The interface is the part of std::expected that GCC 12 and clang-tidy 14 can both see, so that
// one day this file becomes an alias.
#pragma once

#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace baton {

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
    Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool has_value() const { return std::holds_alternative<T>(state_); }
    explicit operator bool() const { return has_value(); }

    const T& operator*() const& { return get(); }
    T& operator*() & { return const_cast<T&>(get()); }
    T operator*() && { return std::move(const_cast<T&>(get())); }  // no reference into a temporary
    const T* operator->() const { return &get(); }
    T* operator->() { return &const_cast<T&>(get()); }

    [[nodiscard]] const Error& error() const {
        CHECK(!has_value());
        return std::get<Error>(state_);
    }

private:
    const T& get() const {
        CHECK(has_value());
        return std::get<T>(state_);
    }

    std::variant<T, Error> state_;
};

// The success of an operation that has nothing to return.
struct Done {
    friend bool operator==(Done, Done) = default;
};

}  // namespace baton

// Gives `name` the value of `expression`, or returns its Error from the enclosing function.
#define TRY_ASSIGN(name, expression)                  \
    auto name##_result = (expression);                \
    if (!name##_result) return name##_result.error(); \
    auto name = *std::move(name##_result)

// Returns the Error of `expression` from the enclosing function, if it has one.
#define TRY(expression)                                                             \
    do {                                                                            \
        if (auto try_result = (expression); !try_result) return try_result.error(); \
    } while (false)
