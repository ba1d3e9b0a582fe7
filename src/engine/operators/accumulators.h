// Accumulators hold what aggregates remember of the groups of one table, a column for each part.
//
// They see rows (add), states that others made of rows (add_states, see model/aggregate_state.h),
// or what another of their kind holds (merge); and give results or states.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/columns/batch.h"
#include "model/plan.h"

namespace baton::engine {

// Rows of a batch with the group of each.
struct GroupedRows {
    std::span<const std::uint32_t> rows;
    const std::uint32_t* groups = nullptr;
    std::uint64_t sequence = 0;  // of row 0 of the batch: rows have numbers as they arrive
};

class Accumulator {
public:
    virtual ~Accumulator() = default;

    virtual void resize(std::size_t groups) = 0;  // new ones have seen nothing
    // `argument` is null for an aggregate that has none.
    virtual void add(const ColumnVector* argument, const GroupedRows& rows) = 0;
    virtual void add_states(std::span<const ColumnVector> states, const GroupedRows& rows) = 0;
    // Group i of the other, which is of the same kind, goes into group to[i].
    virtual void merge(const Accumulator& other, std::span<const std::uint32_t> to) = 0;

    // `count` groups from `from` on.
    [[nodiscard]] virtual ColumnVector results(std::size_t from, std::size_t count) const = 0;
    virtual void append_states(std::vector<ColumnVector>& columns, std::size_t from,
                               std::size_t count) const = 0;
    [[nodiscard]] virtual std::size_t memory() const = 0;
};

// Fails with not_supported if the function has no meaning for the type of its argument.
[[nodiscard]] Result<std::unique_ptr<Accumulator>> make_accumulator(const Aggregate& aggregate);

// How many columns the state has; 0 if there is none.
[[nodiscard]] std::size_t state_width(const Aggregate& aggregate);

// ---- for make_accumulator -----------------------------------------------------------------------

[[nodiscard]] std::unique_ptr<Accumulator> make_median();
[[nodiscard]] std::unique_ptr<Accumulator> make_distinct(DataType of);
[[nodiscard]] std::unique_ptr<Accumulator> make_nth(DataType type, bool last);
[[nodiscard]] std::unique_ptr<Accumulator> make_spread(bool root);

// A number of any type as FLOAT64.
[[nodiscard]] std::vector<double> reals(const ColumnVector& column,
                                        std::span<const std::uint32_t> rows);

}  // namespace baton::engine
