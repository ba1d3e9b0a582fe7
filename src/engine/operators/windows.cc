#include "engine/operators/windows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/columns/elements.h"

namespace baton::engine {

namespace {

// Of a time that is not before 0.
template <class T>
std::uint64_t time_of(T value) {
    return static_cast<std::make_unsigned_t<T>>(value);
}

// Calls `act` with a null pointer of the type of the times.
template <class Act>
auto with_time(DataType type, Act&& act) {
    return with_element(type, [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        constexpr bool kWhole = std::is_integral_v<T>;
        CHECK(kWhole);
        return act(static_cast<std::conditional_t<kWhole, T, std::uint64_t>*>(nullptr));
    });
}

// The least and the largest of some numbers.
template <class T>
std::pair<T, T> ends_of(const T* values, std::size_t count) {
    T least = values[0];
    T largest = values[0];
    for (std::size_t i = 1; i < count; ++i) {
        least = std::min(least, values[i]);
        largest = std::max(largest, values[i]);
    }
    return {least, largest};
}

// What is NULL is zero underneath: it can only be taken for the largest if no time is larger.
template <class T>
std::optional<std::uint64_t> largest_of(const ColumnVector& times) {
    if (times.size() == 0) return std::nullopt;
    const T* values = times.data<T>();
    const T largest = ends_of(values, times.size()).second;
    if (largest > 0) return time_of(largest);
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (values[i] == 0 && !times.is_null(i)) return 0;
    }
    return std::nullopt;
}

}  // namespace

void SlotSorter::reset() {
    slots_.clear();
    rows_.clear();
    result_.clear();
    sorted_ = true;
    late_ = 0;
    taken_ = 0;
    largest_.reset();
    last_from_ = 1;
    last_to_ = 0;
}

void SlotSorter::add(std::uint64_t slot, std::uint32_t row) {
    sorted_ = sorted_ && (slots_.empty() || slots_.back() <= slot);
    slots_.push_back(slot);
    rows_.push_back(row);
}

void SlotSorter::take(std::uint64_t time, std::uint32_t row, std::uint64_t closed) {
    if (time >= last_from_ && time <= last_to_) {
        slots_.push_back(last_slot_);
        rows_.push_back(row);
        taken_ += 1;
        return;
    }
    const WindowRange windows = windows_->containing(time);
    if (windows.empty()) return;
    if (windows.first < closed) late_ += 1;
    if (windows.last < closed) return;
    taken_ += 1;
    const std::uint64_t slot = windows_->slot_of(time);
    if (windows_->panes()) {
        add(slot, row);
        return;
    }
    for (std::uint64_t window = std::max(windows.first, closed); window <= windows.last; ++window) {
        add(window, row);
    }
    if (windows.first != windows.last) return;
    // A window that no other overlaps with here: the times after this one up to its end, or up to
    // the next start, are of the same kind.
    const std::uint64_t end = windows_->end_of(windows.last);
    const std::uint64_t next = windows_->start_of(windows.last + 1);
    last_slot_ = windows.last;
    last_from_ = time;
    last_to_ = std::min(end, next) - 1;
    if (last_to_ < time) last_to_ = time;  // at the end of all times
}

bool SlotSorter::take_as_one(std::uint64_t least, std::uint64_t largest, std::size_t rows,
                             std::uint64_t closed) {
    const WindowRange windows = windows_->containing(least);
    const WindowRange others = windows_->containing(largest);
    const bool same = windows.first == others.first && windows.last == others.last;
    const bool one = windows_->panes() ? windows_->slot_of(least) == windows_->slot_of(largest)
                                       : windows.first == windows.last;
    if (!same || !one || windows.empty() || windows.first < closed) return false;
    while (all_rows_.size() < rows) {
        all_rows_.push_back(static_cast<std::uint32_t>(all_rows_.size()));
    }
    const std::uint64_t slot = windows_->panes() ? windows_->slot_of(least) : windows.first;
    result_.push_back({.slot = slot, .rows = std::span(all_rows_).first(rows)});
    taken_ = rows;
    largest_ = largest;
    return true;
}

template <class T>
void SlotSorter::take_all(const ColumnVector& times, std::uint64_t closed) {
    const T* values = times.data<T>();
    const std::uint8_t* valid = times.valid();
    const std::size_t count = times.size();
    if (valid == nullptr && count > 0) {
        const auto [least, most] = ends_of(values, count);
        if (std::cmp_greater_equal(least, 0) &&
            take_as_one(time_of(least), time_of(most), count, closed)) {
            return;
        }
    }
    slots_.reserve(count);
    rows_.reserve(count);
    std::uint64_t largest = 0;
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (valid != nullptr && valid[i] == 0) continue;
        if constexpr (std::is_signed_v<T>) {
            if (values[i] < 0) continue;
        }
        const std::uint64_t time = time_of(values[i]);
        largest = std::max(largest, time);
        any = true;
        take(time, static_cast<std::uint32_t>(i), closed);
    }
    if (any) largest_ = largest;
    sorted_ = std::is_sorted(slots_.begin(), slots_.end());
}

std::span<const SlotRows> SlotSorter::finish() {
    if (slots_.empty()) return result_;
    if (!sorted_) {
        std::vector<std::uint32_t> order(slots_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return slots_[a] < slots_[b]; });
        std::vector<std::uint64_t> slots(order.size());
        std::vector<std::uint32_t> rows(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            slots[i] = slots_[order[i]];
            rows[i] = rows_[order[i]];
        }
        slots_ = std::move(slots);
        rows_ = std::move(rows);
    }
    for (std::size_t from = 0; from < slots_.size();) {
        const auto end = std::upper_bound(slots_.begin() + static_cast<std::ptrdiff_t>(from),
                                          slots_.end(), slots_[from]);
        const auto to = static_cast<std::size_t>(end - slots_.begin());
        result_.push_back(
            {.slot = slots_[from], .rows = std::span(rows_).subspan(from, to - from)});
        from = to;
    }
    return result_;
}

std::span<const SlotRows> SlotSorter::sort(const ColumnVector& times, std::uint64_t closed) {
    reset();
    with_time(times.type(),
              [&](auto* none) { take_all<std::remove_pointer_t<decltype(none)>>(times, closed); });
    return finish();
}

std::span<const SlotRows> SlotSorter::sort_all(std::size_t rows, std::uint64_t time) {
    reset();
    if (take_as_one(time, time, rows, 0)) return finish();
    for (std::size_t i = 0; i < rows; ++i) take(time, static_cast<std::uint32_t>(i), 0);
    sorted_ = std::is_sorted(slots_.begin(), slots_.end());
    return finish();
}

std::span<const SlotRows> SlotSorter::sort_by_window(std::span<const std::uint64_t> windows,
                                                     std::uint64_t closed) {
    reset();
    for (std::size_t i = 0; i < windows.size(); ++i) {
        if (windows[i] < closed) {
            late_ += 1;
            continue;
        }
        taken_ += 1;
        add(windows[i], static_cast<std::uint32_t>(i));
    }
    return finish();
}

std::optional<std::uint64_t> largest_time(const ColumnVector& times) {
    return with_time(times.type(), [&](auto* none) {
        return largest_of<std::remove_pointer_t<decltype(none)>>(times);
    });
}

}  // namespace baton::engine
