// A WindowStore holds the groups of open windows, with the memory of their aggregates.
//
// It is the part that all stages of a window aggregation share: rows or states go in by slot,
// batches come out by window. All of it may take long: a query that is stopped is noticed between
// two windows, two panes and two slots, and ends that with cancelled.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/expressions/compiled.h"
#include "engine/operators/accumulators.h"
#include "engine/operators/batches.h"
#include "engine/operators/group_table.h"
#include "engine/operators/push_operator.h"
#include "engine/operators/windows.h"
#include "model/plan.h"

namespace baton::engine {

// The expressions of an aggregation, compiled once.
struct AggregateColumns {
    std::vector<expressions::CompiledExpression> keys;
    std::vector<std::optional<expressions::CompiledExpression>> arguments;  // of each aggregate
    std::vector<DataType> key_types;
    std::vector<Aggregate> aggregates;
    bool can_fail = false;

    // Fails with not_supported.
    [[nodiscard]] static Result<AggregateColumns> compile(const WindowAggregate& op);
};

class WindowStore {
public:
    WindowStore(const AggregateColumns& columns, const Windows& windows,
                const OperatorContext& context)
        : columns_(&columns), windows_(&windows), context_(&context) {}

    // Rows of a batch, sorted into slots. `sequence` is the number of its first row.
    [[nodiscard]] Result<Done> add(const Batch& batch, std::span<const SlotRows> slots,
                                   std::uint64_t sequence);
    // States, as the input of a final stage has them.
    [[nodiscard]] Result<Done> add_states(const Batch& batch, std::span<const SlotRows> slots);

    enum class Give : std::uint8_t { results, states };
    // Gives the windows below `closed`, in their order, and forgets them.
    [[nodiscard]] Result<Done> close(std::uint64_t closed, Give give, BatchCollector& to);
    [[nodiscard]] bool closes_by(std::uint64_t closed) const { return next_ < closed; }

    [[nodiscard]] bool empty() const { return slots_.empty(); }
    [[nodiscard]] std::uint64_t memory() const { return memory_; }

private:
    struct Groups {
        explicit Groups(const AggregateColumns& columns);

        void merge(const Groups& other, std::vector<std::uint32_t>& scratch);
        void resize();
        [[nodiscard]] std::uint64_t measured() const;

        GroupTable table;
        std::vector<std::unique_ptr<Accumulator>> accumulators;
        std::uint64_t memory = 0;  // as last measured
    };

    [[nodiscard]] Groups& slot(std::uint64_t number);
    void measure(Groups& groups);
    [[nodiscard]] Result<Done> give(std::uint64_t window, const Groups& groups, Give give,
                                    BatchCollector& to) const;
    [[nodiscard]] Result<Done> give_window(std::uint64_t window, Give what, BatchCollector& to);
    void forget_below(std::uint64_t closed);

    const AggregateColumns* columns_;
    const Windows* windows_;
    const OperatorContext* context_;
    std::map<std::uint64_t, Groups> slots_;
    std::uint64_t done_ = 0;           // windows below it were given, and panes still have them
    std::uint64_t next_ = UINT64_MAX;  // the first window that has a slot; none if that
    std::uint64_t memory_ = 0;
    std::vector<std::uint32_t> groups_;  // of the rows at hand
};

}  // namespace baton::engine
