// A window join keeps the rows of both sides until their window closes, and then gives the pairs.
//
// Rules are those of window_aggregate.h: the watermark is that of the slowest live origin of either
// side, late rows are dropped and counted, the output is one origin in the order of windows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/operators/join_match.h"
#include "engine/operators/push_operator.h"
#include "engine/operators/watermarks.h"
#include "engine/operators/windows.h"

namespace baton::engine {

class WindowJoinOperator : public PushOperator {
public:
    // Inputs 0 and 1 are the left and the right side. Fails with not_supported.
    [[nodiscard]] static Result<std::unique_ptr<PushOperator>> make(const WindowJoin& join,
                                                                    const Schema& left,
                                                                    const Schema& right,
                                                                    OperatorContext& context,
                                                                    Outlet out);

    std::size_t begin(const std::vector<std::size_t>& origins) override;
    Result<Done> push(std::size_t input, Frame frame) override;
    Result<Done> tick() override;
    [[nodiscard]] bool needs_ticks() const override;

private:
    struct Side {
        std::optional<std::size_t> time;  // none: by arrival
        Schema schema;
        std::size_t first_origin = 0;
        std::size_t origins = 0;
    };
    struct Slot {
        std::vector<Batch> rows[2];  // of each side
        std::uint64_t memory = 0;
    };

    WindowJoinOperator(const WindowJoin& join, JoinMatch match, OperatorContext& context,
                       Outlet out);

    [[nodiscard]] Result<Done> take(std::size_t input, const Batch& batch);
    void note_arrival();
    [[nodiscard]] Result<Done> move_on();
    [[nodiscard]] Result<Done> give_window(std::uint64_t window);
    [[nodiscard]] Batch rows_of(std::uint64_t window, std::size_t side) const;
    void forget_below(std::uint64_t closed);
    [[nodiscard]] std::uint64_t now();

    JoinMatch match_;
    Windows windows_;
    Side sides_[2];
    OperatorContext& context_;
    Outlet out_;
    BatchCollector collector_;
    MemoryShare memory_;
    SlotSorter sorter_;
    Watermarks watermarks_;
    std::map<std::uint64_t, Slot> slots_;
    std::uint64_t held_ = 0;
    std::uint64_t closed_ = 0;         // windows below it are
    std::uint64_t next_ = UINT64_MAX;  // the first window that has a slot; none if that
    std::uint64_t now_ = 0;
    bool ended_ = false;
};

}  // namespace baton::engine
