// Putting batches together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/columns/batch.h"
#include "engine/operators/push_operator.h"

namespace baton::engine {

// All rows, one batch after the other; there is at least one. Text is shared.
[[nodiscard]] Batch concatenated(std::span<const Batch> batches);

// The same rows in batches of at most that many.
[[nodiscard]] std::vector<Batch> pieces_of(Batch batch, std::size_t rows);

// The rows with these numbers, with text of their own: nothing else is kept alive.
[[nodiscard]] Batch owned(const Batch& batch, std::span<const std::uint32_t> rows);

inline constexpr std::uint32_t kNoRow = UINT32_MAX;
// The rows with these numbers; NULL for kNoRow.
[[nodiscard]] ColumnVector gather_or_null(const ColumnVector& column,
                                          std::span<const std::uint32_t> rows);

[[nodiscard]] std::size_t memory_of(const Batch& batch);

// A column with the same number in every row.
[[nodiscard]] ColumnVector repeated(std::uint64_t value, std::size_t rows);

// Collects what an operator gives into batches of a good size.
class BatchCollector {
public:
    BatchCollector(Outlet out, std::uint32_t origin) : out_(out), origin_(origin) {}

    // A batch of at most kBatchRows rows.
    [[nodiscard]] Result<Done> add(Batch batch);
    [[nodiscard]] Result<Done> flush();

private:
    Outlet out_;
    std::uint32_t origin_;
    std::vector<Batch> waiting_;
    std::size_t rows_ = 0;
};

}  // namespace baton::engine
