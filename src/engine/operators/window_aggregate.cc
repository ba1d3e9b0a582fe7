#include "engine/operators/window_aggregate.h"

#include <algorithm>

namespace baton::engine {

namespace {

constexpr std::uint64_t kAllWindows = UINT64_MAX;

std::vector<std::uint32_t> rows_in(std::span<const SlotRows> slots) {
    std::vector<std::uint32_t> rows;
    for (const SlotRows& part : slots) rows.insert(rows.end(), part.rows.begin(), part.rows.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

}  // namespace

Result<Done> note_late(OperatorContext& context, std::uint64_t rows) {
    if (rows == 0) return Done{};
    context.late += rows;
    if (!context.late_fails) return Done{};
    return Error{.code = ErrorCode::late_row,
                 .message = "a row came after its window was closed",
                 .hint = "SET ('DROP' AS QUERY.LATE) drops and counts such rows"};
}

Result<std::unique_ptr<PushOperator>> make_window_aggregate(const WindowAggregate& op,
                                                            OperatorContext& context, Outlet out) {
    TRY_ASSIGN(columns, AggregateColumns::compile(op));
    if (op.stage == AggregateStage::partial) {
        return std::unique_ptr<PushOperator>(
            new PartialAggregateOperator(op, std::move(columns), context, out));
    }
    return std::unique_ptr<PushOperator>(
        new WindowAggregateOperator(op, std::move(columns), context, out));
}

// ---- whole and final ----------------------------------------------------------------------------

WindowAggregateOperator::WindowAggregateOperator(const WindowAggregate& op,
                                                 AggregateColumns columns, OperatorContext& context,
                                                 Outlet out)
    : columns_(std::move(columns)),
      windows_(op.window, op.stage == AggregateStage::final ? Windows::Slots::windows
                                                            : Windows::Slots::panes_where_useful),
      final_(op.stage == AggregateStage::final),
      by_arrival_(!final_ && !op.time),
      time_(op.time),
      context_(context),
      out_(out),
      collector_(out, 0),
      memory_(context),
      sorter_(windows_),
      store_(columns_, windows_, context) {}

std::size_t WindowAggregateOperator::begin(const std::vector<std::size_t>& origins) {
    origins_ = origins.at(0);
    watermarks_.begin(origins_);
    return 1;
}

std::uint64_t WindowAggregateOperator::now() {
    now_ = std::max(now_, context_.wall_ms());
    return now_;
}

Result<Done> WindowAggregateOperator::take(const Batch& batch) {
    const std::span<const SlotRows> slots = by_arrival_
                                                ? sorter_.sort_all(batch.rows, now())
                                                : sorter_.sort(batch.columns[*time_], closed_);
    TRY(note_late(context_, sorter_.late()));
    const std::uint64_t sequence = sequence_;
    sequence_ += batch.rows;
    if (slots.empty()) return Done{};
    if (!columns_.can_fail || sorter_.taken() == batch.rows) {
        return store_.add(batch, slots, sequence);
    }
    // Rows that belong to no window are not computed with.
    const std::vector<std::uint32_t> rows = rows_in(slots);
    const Batch some = gather(batch, rows);
    const std::span<const SlotRows> again = by_arrival_
                                                ? sorter_.sort_all(some.rows, now_)
                                                : sorter_.sort(some.columns[*time_], closed_);
    return store_.add(some, again, sequence);
}

Result<Done> WindowAggregateOperator::take_states(const Batch& batch) {
    const std::uint64_t* starts = batch.columns[0].data<std::uint64_t>();
    std::vector<std::uint64_t> numbers(batch.rows);
    for (std::size_t i = 0; i < batch.rows; ++i) numbers[i] = windows_.number_of(starts[i]);
    const std::span<const SlotRows> slots = sorter_.sort_by_window(numbers, closed_);
    TRY(note_late(context_, sorter_.late()));
    return store_.add_states(batch, slots);
}

Result<Done> WindowAggregateOperator::push(std::size_t, Frame frame) {
    std::optional<std::uint64_t> passed = frame.watermark;
    if (frame.batch.rows > 0) {
        if (!passed && time_) passed = largest_time(frame.batch.columns[*time_]);
        for (const Batch& piece : pieces_of(std::move(frame.batch), windows_.rows_at_once())) {
            TRY(context_.go_on());
            TRY(final_ ? take_states(piece) : take(piece));
            TRY(memory_.hold(store_.memory()));
        }
    }
    if (!by_arrival_ && passed) watermarks_.advance(frame.origin, *passed);
    if (frame.end) watermarks_.end(frame.origin);
    return move_on();
}

Result<Done> WindowAggregateOperator::tick() {
    if (!by_arrival_ || ended_) return Done{};
    return move_on();
}

Result<Done> WindowAggregateOperator::move_on() {
    if (ended_) return Done{};
    const bool all_ended = watermarks_.all_ended();
    std::uint64_t closed = closed_;
    if (all_ended) {
        closed = kAllWindows;
    } else if (by_arrival_) {
        closed = std::max(closed, windows_.closed_by(now()));
    } else if (const auto passed = watermarks_.passed()) {
        closed = std::max(closed, windows_.closed_by(*passed));
    }
    closed_ = closed;
    const bool gives = store_.closes_by(closed);
    TRY(store_.close(closed, WindowStore::Give::results, collector_));
    if (gives) {
        TRY(memory_.hold(store_.memory()));
        TRY(collector_.flush());
    }
    if (!all_ended) return Done{};
    ended_ = true;
    return out_.push({.origin = 0, .batch = {}, .watermark = {}, .end = true});
}

// ---- partial ------------------------------------------------------------------------------------

PartialAggregateOperator::PartialAggregateOperator(const WindowAggregate& op,
                                                   AggregateColumns columns,
                                                   OperatorContext& context, Outlet out)
    : columns_(std::move(columns)),
      windows_(op.window, Windows::Slots::windows),
      time_(op.time),
      context_(context),
      out_(out),
      memory_(context),
      sorter_(windows_) {}

std::size_t PartialAggregateOperator::begin(const std::vector<std::size_t>& origins) {
    for (std::size_t i = 0; i < origins.at(0); ++i) {
        origins_.push_back({.store = WindowStore(columns_, windows_, context_)});
    }
    return origins.at(0);
}

std::uint64_t PartialAggregateOperator::now() {
    now_ = std::max(now_, context_.wall_ms());
    return now_;
}

Result<Done> PartialAggregateOperator::take(Origin& origin, const Batch& batch) {
    const auto sort = [&](const Batch& rows) {
        return time_ ? sorter_.sort(rows.columns[*time_], 0) : sorter_.sort_all(rows.rows, now_);
    };
    std::span<const SlotRows> slots = sort(batch);
    const std::uint64_t sequence = sequence_;
    sequence_ += batch.rows;
    if (slots.empty()) return Done{};
    if (!columns_.can_fail || sorter_.taken() == batch.rows) {
        return origin.store.add(batch, slots, sequence);
    }
    const Batch some = gather(batch, rows_in(slots));
    slots = sort(some);
    return origin.store.add(some, slots, sequence);
}

Result<Done> PartialAggregateOperator::give(std::uint32_t number, std::uint64_t closed,
                                            Frame last) {
    Origin& origin = origins_[number];
    const bool anything = origin.store.closes_by(closed);
    if (anything) {
        BatchCollector collector(out_, number);
        TRY(origin.store.close(closed, WindowStore::Give::states, collector));
        TRY(collector.flush());
    }
    const bool news = closed > origin.passed || last.end;
    origin.passed = std::max(origin.passed, closed);
    if (!news) return Done{};
    return out_.push(std::move(last));
}

Result<Done> PartialAggregateOperator::push(std::size_t, Frame frame) {
    Origin& origin = origins_.at(frame.origin);
    std::optional<std::uint64_t> passed = frame.watermark;
    if (!time_) passed = now();
    if (frame.batch.rows > 0) {
        if (!passed) passed = largest_time(frame.batch.columns[*time_]);
        for (const Batch& piece : pieces_of(std::move(frame.batch), windows_.rows_at_once())) {
            TRY(context_.go_on());
            TRY(take(origin, piece));
        }
    }
    std::uint64_t closed = origin.passed;
    if (passed) closed = std::max(closed, windows_.closed_by(*passed));
    if (frame.end) closed = kAllWindows;
    origin.ended = frame.end;
    TRY(give(frame.origin, closed,
             {.origin = frame.origin, .batch = {}, .watermark = passed, .end = frame.end}));
    std::uint64_t held = 0;
    for (const Origin& each : origins_) held += each.store.memory();
    if (held > context_.partial_memory_most) {
        TRY(give_everything());
        held = 0;
    }
    return memory_.hold(held);
}

Result<Done> PartialAggregateOperator::give_everything() {
    for (std::size_t i = 0; i < origins_.size(); ++i) {
        BatchCollector collector(out_, static_cast<std::uint32_t>(i));
        TRY(origins_[i].store.close(kAllWindows, WindowStore::Give::states, collector));
        TRY(collector.flush());
    }
    return Done{};
}

Result<Done> PartialAggregateOperator::tick() {
    if (time_) return Done{};
    const std::uint64_t passed = now();
    for (std::uint32_t i = 0; i < origins_.size(); ++i) {
        if (origins_[i].ended) continue;
        TRY(give(i, std::max(origins_[i].passed, windows_.closed_by(passed)),
                 {.origin = i, .batch = {}, .watermark = passed, .end = false}));
    }
    return Done{};
}

}  // namespace baton::engine
