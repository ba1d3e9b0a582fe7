// Between values of ours and those of a row. RowCursor takes the values of a row one after the
// other, as the types they were stored as.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "base/time.h"
#include "model/entities.h"
#include "model/states.h"
#include "ports/sql.h"

namespace baton {

// Ids, revisions and counts are stored as signed numbers, and never come near their limit.
[[nodiscard]] inline SqlValue value_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number);
}

class RowCursor {
public:
    explicit RowCursor(const SqlRow& row) : row_(row) {}

    // A NULL is an empty text or a zero; columns that may be NULL are asked for as optional.
    [[nodiscard]] std::string text() {
        const SqlValue& value = next();
        const auto* found = std::get_if<std::string>(&value);
        return found == nullptr ? std::string() : *found;
    }
    [[nodiscard]] std::int64_t integer() {
        const SqlValue& value = next();
        const auto* found = std::get_if<std::int64_t>(&value);
        return found == nullptr ? 0 : *found;
    }
    [[nodiscard]] std::uint64_t number() { return static_cast<std::uint64_t>(integer()); }
    [[nodiscard]] std::optional<std::uint64_t> optional_number() {
        const SqlValue& value = next();
        const auto* found = std::get_if<std::int64_t>(&value);
        if (found == nullptr) return std::nullopt;
        return static_cast<std::uint64_t>(*found);
    }
    [[nodiscard]] std::optional<std::string> optional_text() {
        const SqlValue& value = next();
        const auto* found = std::get_if<std::string>(&value);
        if (found == nullptr) return std::nullopt;
        return *found;
    }
    // The tables' CHECKs admit no other state; a file that was tampered with shows as the first one
    // and is what `baton check` finds.
    template <class State>
    [[nodiscard]] State state() {
        return state_of<State>(text()).value_or(State{});
    }
    [[nodiscard]] WallTime time() { return wall_time_of(text()).value_or(WallTime{}); }
    [[nodiscard]] std::optional<WallTime> optional_time() {
        const auto text = optional_text();
        return text ? wall_time_of(*text) : std::nullopt;
    }
    [[nodiscard]] Revision revision() { return Revision(number()); }
    [[nodiscard]] std::optional<Address> optional_address() {
        const auto whole = optional_text();
        if (!whole) return std::nullopt;
        const std::size_t colon = whole->rfind(':');
        if (colon == std::string::npos) return std::nullopt;
        return Address{.host = whole->substr(0, colon),
                       .port = static_cast<std::uint16_t>(std::atoi(whole->c_str() + colon + 1))};
    }

private:
    const SqlValue& next() {
        CHECK(at_ < row_.size());
        return row_[at_++];
    }

    const SqlRow& row_;
    std::size_t at_ = 0;
};

}  // namespace baton
