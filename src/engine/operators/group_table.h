// A GroupTable numbers the groups of rows that are equal in some columns.
//
// NULL is a group of its own, 0 and -0 are one, and so are all NaN.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/columns/batch.h"
#include "engine/operators/text_table.h"
#include "engine/operators/word_table.h"

namespace baton::engine {

class GroupTable {
public:
    explicit GroupTable(std::vector<DataType> types);

    // The group of each of those rows; new ones are made. `groups` has room for them.
    void groups_of(std::span<const ColumnVector> keys, std::span<const std::uint32_t> rows,
                   std::uint32_t* groups);
    // The same for the groups of another table of the same types.
    void groups_of(const GroupTable& other, std::uint32_t* groups);

    [[nodiscard]] std::size_t size() const;
    // One of the columns, for `count` groups from `from` on.
    [[nodiscard]] ColumnVector key(std::size_t column, std::size_t from, std::size_t count) const;
    [[nodiscard]] std::size_t memory() const;

private:
    [[nodiscard]] bool single_text() const { return types_.size() == 1 && is_text(types_[0]); }
    void encode(std::span<const ColumnVector> keys, std::span<const std::uint32_t> rows);

    std::vector<DataType> types_;
    std::size_t words_ = 0;                // one for each column, then bits for their NULLs
    std::vector<TextTable> texts_;         // of each column; unused where it is no text
    WordTable tuples_;                     // unused with no key, or a single text
    bool any_ = false;                     // of no key: there was a row
    std::vector<std::uint64_t> encoded_;   // of the rows at hand
    std::vector<std::uint32_t> all_rows_;  // 0, 1, 2, ..
};

}  // namespace baton::engine
