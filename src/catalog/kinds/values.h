// Between values of the model and those of a row, one pair of functions a type.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "catalog/kinds/encode.h"
#include "model/entities.h"
#include "model/states.h"
#include "ports/sql.h"

namespace baton::kinds {

template <class T>
concept HasStateNames = requires {
    StateNames<T>::kNames;
};

// Ids, revisions and counts are stored as signed numbers, and never come near their limit.
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) [[nodiscard]] SqlValue value_of(T number) {
    return static_cast<std::int64_t>(number);
}
template <std::same_as<bool> T>
[[nodiscard]] SqlValue value_of(T flag) {
    return std::int64_t{flag ? 1 : 0};
}
template <HasStateNames T>
[[nodiscard]] SqlValue value_of(T state) {
    return std::string(to_string(state));
}
template <class Tag>
[[nodiscard]] SqlValue value_of(Id<Tag> id) {
    return value_of(id.value());
}
[[nodiscard]] inline SqlValue value_of(const std::string& text) {
    return text;
}
[[nodiscard]] inline SqlValue value_of(WallTime time) {
    return to_string(time);
}
[[nodiscard]] inline SqlValue value_of(const Address& address) {
    return to_string(address);
}
[[nodiscard]] inline SqlValue value_of(const Schema& schema) {
    return to_json(schema);
}
[[nodiscard]] inline SqlValue value_of(const SqlColumns& columns) {
    return to_json(columns);
}
[[nodiscard]] inline SqlValue value_of(const Config& config) {
    return to_json(config);
}
[[nodiscard]] inline SqlValue value_of(const std::vector<std::string>& texts) {
    return to_json(texts);
}
template <class T>
[[nodiscard]] SqlValue value_of(const std::optional<T>& value) {
    return value ? value_of(*value) : SqlValue();
}

// A NULL is an empty text or a zero; a member that may be absent is an optional. Fails with
// catalog_corrupt for a schema or a configuration that is none. The CHECKs of the tables admit no
// other states than these; a file that was tampered with shows the first one, and `baton check`
// finds it.
inline Result<Done> read_value(const SqlValue& value, std::string& to) {
    const auto* found = std::get_if<std::string>(&value);
    to = found == nullptr ? std::string() : *found;
    return Done{};
}
template <std::unsigned_integral T>
Result<Done> read_value(const SqlValue& value, T& to) {
    const auto* found = std::get_if<std::int64_t>(&value);
    const std::int64_t number = found == nullptr ? 0 : *found;
    if constexpr (std::same_as<T, bool>) {
        to = number != 0;
    } else {
        to = static_cast<T>(number);
    }
    return Done{};
}
template <HasStateNames T>
Result<Done> read_value(const SqlValue& value, T& to) {
    const auto* found = std::get_if<std::string>(&value);
    to = found == nullptr ? T{} : state_of<T>(*found).value_or(T{});
    return Done{};
}
template <class Tag>
Result<Done> read_value(const SqlValue& value, Id<Tag>& to) {
    std::uint64_t number = 0;
    TRY(read_value(value, number));
    to = Id<Tag>(number);
    return Done{};
}
Result<Done> read_value(const SqlValue& value, WallTime& to);
Result<Done> read_value(const SqlValue& value, Schema& to);
Result<Done> read_value(const SqlValue& value, SqlColumns& to);
Result<Done> read_value(const SqlValue& value, Config& to);
Result<Done> read_value(const SqlValue& value, std::vector<std::string>& to);
// Absent also if the text is no address, or no time.
Result<Done> read_value(const SqlValue& value, std::optional<Address>& to);
Result<Done> read_value(const SqlValue& value, std::optional<WallTime>& to);
template <class T>
Result<Done> read_value(const SqlValue& value, std::optional<T>& to) {
    to.reset();
    if (std::holds_alternative<std::monostate>(value)) return Done{};
    return read_value(value, to.emplace());
}

// Of a type of which no value can be damaged.
template <class T>
[[nodiscard]] T value_in(const SqlValue& value) {
    T found{};
    CHECK(read_value(value, found).has_value());
    return found;
}

}  // namespace baton::kinds
