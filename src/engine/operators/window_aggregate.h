// Window aggregations: whole and final ones, which close windows, and partial ones, which do not.
//
// Rules:
//   - The watermark of the input is that of its slowest live origin. It moves after a frame was
//     taken as a whole, so that rows of one batch are never late to each other.
//   - A window closes once, when the watermark reaches its end or all origins have ended. A row
//     that comes for it later is dropped and counted, or fails with late_row if the query says so.
//   - The output of a whole or final aggregation is one origin, whose rows come in the order of
//     their windows. A partial's origins are those of its input.
//   - A partial knows each origin by itself: it gives the state of a window when the origin has
//     passed its end, and again whenever rows for it come after that.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/operators/push_operator.h"
#include "engine/operators/watermarks.h"
#include "engine/operators/window_store.h"

namespace baton::engine {

// Any stage. Fails with not_supported.
[[nodiscard]] Result<std::unique_ptr<PushOperator>> make_window_aggregate(const WindowAggregate& op,
                                                                          OperatorContext& context,
                                                                          Outlet out);

// Counts rows that came too late. Fails with late_row if the query wants that.
[[nodiscard]] Result<Done> note_late(OperatorContext& context, std::uint64_t rows);

class WindowAggregateOperator : public PushOperator {
public:
    WindowAggregateOperator(const WindowAggregate& op, AggregateColumns columns,
                            OperatorContext& context, Outlet out);

    std::size_t begin(const std::vector<std::size_t>& origins) override;
    Result<Done> push(std::size_t input, Frame frame) override;
    Result<Done> tick() override;
    [[nodiscard]] bool needs_ticks() const override { return by_arrival_; }

private:
    [[nodiscard]] Result<Done> take(const Batch& batch);
    [[nodiscard]] Result<Done> take_states(const Batch& batch);
    [[nodiscard]] Result<Done> move_on();
    [[nodiscard]] std::uint64_t now();

    AggregateColumns columns_;
    Windows windows_;
    bool final_;
    bool by_arrival_;
    std::optional<std::size_t> time_;
    OperatorContext& context_;
    Outlet out_;
    BatchCollector collector_;
    MemoryShare memory_;
    SlotSorter sorter_;
    WindowStore store_;
    Watermarks watermarks_;
    std::size_t origins_ = 0;
    std::uint64_t closed_ = 0;    // windows below it are
    std::uint64_t sequence_ = 0;  // rows so far
    std::uint64_t now_ = 0;       // arrival never goes back
    bool ended_ = false;
};

class PartialAggregateOperator : public PushOperator {
public:
    PartialAggregateOperator(const WindowAggregate& op, AggregateColumns columns,
                             OperatorContext& context, Outlet out);

    std::size_t begin(const std::vector<std::size_t>& origins) override;
    Result<Done> push(std::size_t input, Frame frame) override;
    Result<Done> tick() override;
    [[nodiscard]] bool needs_ticks() const override { return !time_; }

private:
    struct Origin {
        WindowStore store;
        std::uint64_t passed = 0;  // how many windows its watermark has passed
        bool ended = false;
    };

    [[nodiscard]] Result<Done> take(Origin& origin, const Batch& batch);
    // Gives the windows below `closed`, then says how far the origin is.
    [[nodiscard]] Result<Done> give(std::uint32_t origin, std::uint64_t closed, Frame last);
    [[nodiscard]] Result<Done> give_everything();
    [[nodiscard]] std::uint64_t now();

    AggregateColumns columns_;
    Windows windows_;
    std::optional<std::size_t> time_;
    OperatorContext& context_;
    Outlet out_;
    MemoryShare memory_;
    SlotSorter sorter_;
    std::vector<Origin> origins_;
    std::uint64_t sequence_ = 0;
    std::uint64_t now_ = 0;
};

}  // namespace baton::engine
