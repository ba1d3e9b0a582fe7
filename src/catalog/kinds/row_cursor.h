// RowCursor takes the values of a row one after the other, as the types they were stored as: for
// questions of a few columns. The rows of entities are read by their tables (kind_table.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "catalog/kinds/values.h"

namespace baton::kinds {

class RowCursor {
public:
    explicit RowCursor(const SqlRow& row) : row_(row) {}

    // A NULL is an empty text or a zero; columns that may be NULL are asked for as optional.
    template <class T>
    [[nodiscard]] T next() {
        CHECK(at_ < row_.size());
        return value_in<T>(row_[at_++]);
    }
    [[nodiscard]] std::string text() { return next<std::string>(); }
    [[nodiscard]] std::int64_t integer() { return static_cast<std::int64_t>(number()); }
    [[nodiscard]] std::uint64_t number() { return next<std::uint64_t>(); }
    [[nodiscard]] std::optional<std::uint64_t> optional_number() {
        return next<std::optional<std::uint64_t>>();
    }
    [[nodiscard]] std::optional<std::string> optional_text() {
        return next<std::optional<std::string>>();
    }
    template <class State>
    [[nodiscard]] State state() {
        return next<State>();
    }
    [[nodiscard]] WallTime time() { return next<WallTime>(); }
    [[nodiscard]] Revision revision() { return next<Revision>(); }

private:
    const SqlRow& row_;
    std::size_t at_ = 0;
};

}  // namespace baton::kinds
