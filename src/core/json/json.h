// Value is a JSON text as a tree, for reading text that a machine wrote: strict, bounded, without
// comments or trailing commas. Bytes of strings are taken as they are, escapes are decoded.
//
// Objects keep the order of their fields. Numbers without fraction or exponent are whole; those
// beyond 64 bits are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace baton::json {

struct Field;
struct Value;
using Array = std::vector<Value>;
using Object = std::vector<Field>;  // in the order written, no key twice

struct Value {
    // A number without fraction or exponent is an integer; one below zero is signed.
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
                 Object>
        value;

    friend bool operator==(const Value&, const Value&);
};

struct Field {
    std::string key;
    Value value;

    friend bool operator==(const Field&, const Field&);
};

inline bool operator==(const Field& a, const Field& b) {
    return a.key == b.key && a.value == b.value;
}
inline bool operator==(const Value& a, const Value& b) {
    return a.value == b.value;
}

struct Limits {
    std::size_t bytes = 0;
    std::size_t depth = 0;
    ErrorCode damaged = ErrorCode::catalog_corrupt;  // of a text that cannot be read
};

// The error says at which byte and why, never what stands there: it may be a secret.
[[nodiscard]] Result<Value> parse(std::string_view text, const Limits& limits);

// On one line, without spaces. Reading it gives the same value.
[[nodiscard]] std::string to_text(const Value& value);

// The value of a key; null if this is no object, or has no such key.
[[nodiscard]] const Value* find(const Value& object, std::string_view key);
[[nodiscard]] Value* find(Value& object, std::string_view key);

void append_number(std::string& to, double value);  // "NaN", "Infinity", "-Infinity" as text

}  // namespace baton::json
