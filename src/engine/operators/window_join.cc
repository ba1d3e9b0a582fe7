#include "engine/operators/window_join.h"

#include <algorithm>

#include "engine/operators/window_aggregate.h"

namespace baton::engine {

namespace {

// Makes batches of pairs: START, END, the left columns, the right columns.
class PairWriter : public JoinMatch::Taker {
public:
    PairWriter(const Batch& left, const Batch& right, std::pair<std::uint64_t, std::uint64_t> ends,
               const OperatorContext& context, BatchCollector& to)
        : left_(left), right_(right), ends_(ends), context_(context), to_(to) {}

    Result<Done> take(std::span<const std::uint32_t> left,
                      std::span<const std::uint32_t> right) override {
        TRY(context_.go_on());
        if (left.empty()) return Done{};
        Batch batch{.rows = left.size(), .columns = {}};
        batch.columns.push_back(repeated(ends_.first, left.size()));
        batch.columns.push_back(repeated(ends_.second, left.size()));
        for (const ColumnVector& column : left_.columns) {
            batch.columns.push_back(gather_or_null(column, left));
        }
        for (const ColumnVector& column : right_.columns) {
            batch.columns.push_back(gather_or_null(column, right));
        }
        return to_.add(std::move(batch));
    }

private:
    const Batch& left_;
    const Batch& right_;
    std::pair<std::uint64_t, std::uint64_t> ends_;
    const OperatorContext& context_;
    BatchCollector& to_;
};

}  // namespace

Result<std::unique_ptr<PushOperator>> WindowJoinOperator::make(const WindowJoin& join,
                                                               const Schema& left,
                                                               const Schema& right,
                                                               OperatorContext& context,
                                                               Outlet out) {
    TRY_ASSIGN(match, JoinMatch::compile(join, left.columns.size()));
    std::unique_ptr<WindowJoinOperator> made(
        new WindowJoinOperator(join, std::move(match), context, out));
    made->sides_[0].schema = left;
    made->sides_[1].schema = right;
    return std::unique_ptr<PushOperator>(std::move(made));
}

WindowJoinOperator::WindowJoinOperator(const WindowJoin& join, JoinMatch match,
                                       OperatorContext& context, Outlet out)
    : match_(std::move(match)),
      windows_(join.window, Windows::Slots::panes_where_useful),
      context_(context),
      out_(out),
      collector_(out, 0),
      memory_(context),
      sorter_(windows_) {
    sides_[0].time = join.left_time;
    sides_[1].time = join.right_time;
}

std::size_t WindowJoinOperator::begin(const std::vector<std::size_t>& origins) {
    sides_[0].origins = origins.at(0);
    sides_[1].origins = origins.at(1);
    sides_[1].first_origin = origins.at(0);
    watermarks_.begin(origins.at(0) + origins.at(1));
    return 1;
}

bool WindowJoinOperator::needs_ticks() const {
    return !sides_[0].time || !sides_[1].time;
}

std::uint64_t WindowJoinOperator::now() {
    now_ = std::max(now_, context_.wall_ms());
    return now_;
}

Result<Done> WindowJoinOperator::take(std::size_t input, const Batch& batch) {
    const Side& side = sides_[input];
    const std::span<const SlotRows> slots = side.time
                                                ? sorter_.sort(batch.columns[*side.time], closed_)
                                                : sorter_.sort_all(batch.rows, now());
    TRY(note_late(context_, sorter_.late()));
    for (const SlotRows& part : slots) {
        const WindowRange windows = windows_.windows_of(part.slot);
        if (windows.last < closed_) continue;  // by arrival, after the other side was ahead
        next_ = std::min(next_, std::max(windows.first, closed_));
        Slot& slot = slots_[part.slot];
        slot.rows[input].push_back(owned(batch, part.rows));
        const std::uint64_t more = memory_of(slot.rows[input].back());
        slot.memory += more;
        held_ += more;
    }
    return memory_.hold(held_);
}

Result<Done> WindowJoinOperator::push(std::size_t input, Frame frame) {
    const Side& side = sides_[input];
    std::optional<std::uint64_t> passed = frame.watermark;
    if (frame.batch.rows > 0) {
        if (!passed && side.time) passed = largest_time(frame.batch.columns[*side.time]);
        // A row may belong to many windows: not all of a batch is sorted into slots at once.
        for (const Batch& piece : pieces_of(std::move(frame.batch), windows_.rows_at_once())) {
            TRY(context_.go_on());
            TRY(take(input, piece));
        }
    }
    const std::size_t origin = side.first_origin + frame.origin;
    if (side.time && passed) watermarks_.advance(origin, *passed);
    if (frame.end) watermarks_.end(origin);
    return move_on();
}

Result<Done> WindowJoinOperator::tick() {
    if (!needs_ticks()) return Done{};
    return move_on();
}

void WindowJoinOperator::note_arrival() {
    for (const Side& side : sides_) {
        for (std::size_t i = 0; !side.time && i < side.origins; ++i) {
            watermarks_.advance(side.first_origin + i, now());
        }
    }
}

Result<Done> WindowJoinOperator::move_on() {
    if (ended_) return Done{};
    note_arrival();
    const bool all_ended = watermarks_.all_ended();
    if (all_ended) {
        closed_ = UINT64_MAX;
    } else if (const auto passed = watermarks_.passed()) {
        closed_ = std::max(closed_, windows_.closed_by(*passed));
    }
    if (next_ < closed_) {
        while (next_ < closed_) {
            TRY(context_.go_on());
            TRY(give_window(next_));
            forget_below(next_ + 1);
        }
        TRY(memory_.hold(held_));
        TRY(collector_.flush());
    }
    if (!all_ended) return Done{};
    ended_ = true;
    return out_.push({.origin = 0, .batch = {}, .watermark = {}, .end = true});
}

Batch WindowJoinOperator::rows_of(std::uint64_t window, std::size_t side) const {
    const auto [from, end] = windows_.slots_of(window);
    std::vector<Batch> batches;
    for (auto slot = slots_.lower_bound(from); slot != slots_.end() && slot->first < end; ++slot) {
        const auto& rows = slot->second.rows[side];
        batches.insert(batches.end(), rows.begin(), rows.end());
    }
    if (!batches.empty()) return concatenated(batches);
    Batch none;
    for (const Column& column : sides_[side].schema.columns) {
        none.columns.emplace_back(column.type, 0);
    }
    return none;
}

Result<Done> WindowJoinOperator::give_window(std::uint64_t window) {
    const Batch left = rows_of(window, 0);
    const Batch right = rows_of(window, 1);
    PairWriter writer(left, right, {windows_.start_of(window), windows_.end_of(window)}, context_,
                      collector_);
    return match_.run(left, right, writer);
}

void WindowJoinOperator::forget_below(std::uint64_t closed) {
    while (!slots_.empty()) {
        const auto first = slots_.begin();
        const WindowRange windows = windows_.windows_of(first->first);
        if (windows.last >= closed) {
            next_ = std::max(windows.first, closed);
            return;
        }
        held_ -= first->second.memory;
        slots_.erase(first);
    }
    next_ = UINT64_MAX;
}

}  // namespace baton::engine
