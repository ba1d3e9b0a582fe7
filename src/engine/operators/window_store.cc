#include "engine/operators/window_store.h"

#include <algorithm>

#include "engine/operators/stateless.h"

namespace baton::engine {

Result<AggregateColumns> AggregateColumns::compile(const WindowAggregate& op) {
    AggregateColumns columns;
    TRY_ASSIGN(keys, compiled(op.keys));
    columns.keys = std::move(keys);
    for (const Expression& key : op.keys) columns.key_types.push_back(key.type);
    for (const expressions::CompiledExpression& key : columns.keys)
        columns.can_fail |= key.can_fail();
    columns.aggregates = op.aggregates;
    for (const Aggregate& aggregate : op.aggregates) {
        TRY(make_accumulator(aggregate));  // once, to see whether it can be
        if (aggregate.argument.empty()) {
            columns.arguments.emplace_back();
            continue;
        }
        TRY_ASSIGN(argument, expressions::CompiledExpression::compile(aggregate.argument.front()));
        columns.can_fail |= argument.can_fail();
        columns.arguments.emplace_back(std::move(argument));
    }
    return columns;
}

WindowStore::Groups::Groups(const AggregateColumns& columns) : table(columns.key_types) {
    for (const Aggregate& aggregate : columns.aggregates) {
        auto made = make_accumulator(aggregate);
        CHECK(made.has_value());
        accumulators.push_back(*std::move(made));
    }
}

void WindowStore::Groups::resize() {
    for (const auto& accumulator : accumulators) accumulator->resize(table.size());
}

void WindowStore::Groups::merge(const Groups& other, std::vector<std::uint32_t>& scratch) {
    scratch.resize(other.table.size());
    table.groups_of(other.table, scratch.data());
    resize();
    for (std::size_t i = 0; i < accumulators.size(); ++i) {
        accumulators[i]->merge(*other.accumulators[i], scratch);
    }
}

std::uint64_t WindowStore::Groups::measured() const {
    std::uint64_t bytes = sizeof(Groups) + table.memory();
    for (const auto& accumulator : accumulators) bytes += accumulator->memory();
    return bytes;
}

WindowStore::Groups& WindowStore::slot(std::uint64_t number) {
    const auto found = slots_.find(number);
    if (found != slots_.end()) return found->second;
    const std::uint64_t first = windows_->windows_of(number).first;
    next_ = std::min(next_, windows_->panes() ? std::max(first, done_) : first);
    return slots_.try_emplace(number, *columns_).first->second;
}

void WindowStore::measure(Groups& groups) {
    const std::uint64_t now = groups.measured();
    memory_ += now - groups.memory;
    groups.memory = now;
}

Result<Done> WindowStore::add(const Batch& batch, std::span<const SlotRows> slots,
                              std::uint64_t sequence) {
    std::vector<ColumnVector> keys;
    for (const expressions::CompiledExpression& key : columns_->keys) {
        TRY_ASSIGN(column, key.evaluate(batch));
        keys.push_back(std::move(column));
    }
    std::vector<ColumnVector> arguments;
    for (const auto& argument : columns_->arguments) {
        if (!argument) {
            arguments.emplace_back();
            continue;
        }
        TRY_ASSIGN(column, argument->evaluate(batch));
        arguments.push_back(std::move(column));
    }
    for (const SlotRows& part : slots) {
        TRY(context_->go_on());
        Groups& into = slot(part.slot);
        groups_.resize(std::max(groups_.size(), part.rows.size()));
        into.table.groups_of(keys, part.rows, groups_.data());
        into.resize();
        const GroupedRows rows{.rows = part.rows, .groups = groups_.data(), .sequence = sequence};
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            into.accumulators[i]->add(columns_->arguments[i] ? &arguments[i] : nullptr, rows);
        }
        measure(into);
    }
    return Done{};
}

Result<Done> WindowStore::add_states(const Batch& batch, std::span<const SlotRows> slots) {
    const std::span<const ColumnVector> all(batch.columns);
    const std::size_t key_count = columns_->key_types.size();
    for (const SlotRows& part : slots) {
        TRY(context_->go_on());
        Groups& into = slot(part.slot);
        groups_.resize(std::max(groups_.size(), part.rows.size()));
        into.table.groups_of(all.subspan(2, key_count), part.rows, groups_.data());
        into.resize();
        const GroupedRows rows{.rows = part.rows, .groups = groups_.data(), .sequence = 0};
        std::size_t at = 2 + key_count;
        for (std::size_t i = 0; i < into.accumulators.size(); ++i) {
            const std::size_t width = state_width(columns_->aggregates[i]);
            into.accumulators[i]->add_states(all.subspan(at, width), rows);
            at += width;
        }
        measure(into);
    }
    return Done{};
}

Result<Done> WindowStore::give(std::uint64_t window, const Groups& groups, Give what,
                               BatchCollector& to) const {
    const std::size_t size = groups.table.size();
    for (std::size_t from = 0; from < size; from += kBatchRows) {
        const std::size_t count = std::min(kBatchRows, size - from);
        Batch batch{.rows = count, .columns = {}};
        batch.columns.push_back(repeated(windows_->start_of(window), count));
        batch.columns.push_back(repeated(windows_->end_of(window), count));
        for (std::size_t k = 0; k < columns_->key_types.size(); ++k) {
            batch.columns.push_back(groups.table.key(k, from, count));
        }
        for (const auto& accumulator : groups.accumulators) {
            if (what == Give::states) {
                accumulator->append_states(batch.columns, from, count);
            } else {
                batch.columns.push_back(accumulator->results(from, count));
            }
        }
        TRY(to.add(std::move(batch)));
    }
    return Done{};
}

Result<Done> WindowStore::give_window(std::uint64_t window, Give what, BatchCollector& to) {
    const auto [from, end] = windows_->slots_of(window);
    const auto first = slots_.lower_bound(from);
    if (first == slots_.end() || first->first >= end) return Done{};
    if (!windows_->panes()) return give(window, first->second, what, to);
    Groups whole(*columns_);
    for (auto pane = first; pane != slots_.end() && pane->first < end; ++pane) {
        TRY(context_->go_on());
        whole.merge(pane->second, groups_);
    }
    return give(window, whole, what, to);
}

void WindowStore::forget_below(std::uint64_t closed) {
    while (!slots_.empty()) {
        const auto first = slots_.begin();
        const WindowRange windows = windows_->windows_of(first->first);
        if (windows.last >= closed) {
            next_ = std::max(windows.first, closed);
            return;
        }
        memory_ -= first->second.memory;
        slots_.erase(first);
    }
    next_ = UINT64_MAX;
}

Result<Done> WindowStore::close(std::uint64_t closed, Give what, BatchCollector& to) {
    while (next_ < closed) {
        const std::uint64_t window = next_;
        TRY(context_->go_on());
        TRY(give_window(window, what, to));
        if (window == UINT64_MAX - 1) break;
        forget_below(window + 1);
    }
    done_ = std::max(done_, closed);
    return Done{};
}

}  // namespace baton::engine
