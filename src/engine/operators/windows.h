// Which windows a time belongs to, and in which slots its rows are kept until they close.
//
// Windows have numbers: window k is [k * advance, k * advance + size). A slot is either a window,
// or a pane: a piece of time that every window contains as a whole or not at all. With panes a row
// is kept once, however many windows it belongs to, and a window is put together when it closes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/columns/batch.h"
#include "model/plan.h"

namespace baton::engine {

struct WindowRange {  // from first to last, both included; empty if first > last
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    [[nodiscard]] bool empty() const { return first > last; }
};

class Windows {
public:
    enum class Slots : std::uint8_t { panes_where_useful, windows };

    explicit Windows(WindowSpec spec, Slots slots) : spec_(spec), pane_(spec.advance) {
        constexpr std::uint64_t kPanesMost = 64;
        const std::uint64_t common = std::gcd(spec.size, spec.advance);
        const std::uint64_t panes = spec.size / common;  // of a window
        panes_ = slots == Slots::panes_where_useful && spec.size > spec.advance &&
                 (panes <= kPanesMost || panes / 8 <= windows_per_time());
        if (panes_) pane_ = common;
    }

    [[nodiscard]] bool panes() const { return panes_; }
    [[nodiscard]] std::uint64_t start_of(std::uint64_t window) const {
        return window * spec_.advance;
    }
    [[nodiscard]] std::uint64_t end_of(std::uint64_t window) const {
        return start_of(window) + spec_.size;
    }
    [[nodiscard]] std::uint64_t number_of(std::uint64_t start) const {
        return start / spec_.advance;
    }

    // How many windows contain a time, at most.
    [[nodiscard]] std::uint64_t windows_per_time() const { return 1 + spec_.size / spec_.advance; }
    // How many rows can be sorted into slots at once without taking much room.
    [[nodiscard]] std::size_t rows_at_once() const {
        constexpr std::uint64_t kPlacesMost = std::uint64_t{1} << 18U;
        if (panes_) return kBatchRows;
        return std::max<std::size_t>(1, kPlacesMost / windows_per_time());
    }

    // Those that contain the time.
    [[nodiscard]] WindowRange containing(std::uint64_t time) const {
        return {.first = time < spec_.size ? 0 : (time - spec_.size) / spec_.advance + 1,
                .last = time / spec_.advance};
    }
    // How many windows, from 0 on, end at or before the watermark.
    [[nodiscard]] std::uint64_t closed_by(std::uint64_t watermark) const {
        return watermark < spec_.size ? 0 : (watermark - spec_.size) / spec_.advance + 1;
    }

    [[nodiscard]] std::uint64_t slot_of(std::uint64_t time) const { return time / pane_; }
    [[nodiscard]] std::uint64_t slot_size() const { return pane_; }
    // The windows that a slot is part of.
    [[nodiscard]] WindowRange windows_of(std::uint64_t slot) const {
        return panes_ ? containing(slot * pane_) : WindowRange{.first = slot, .last = slot};
    }
    // The slots that a window is made of; the last is not one of them.
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> slots_of(std::uint64_t window) const {
        if (!panes_) return {window, window + 1};
        return {start_of(window) / pane_, end_of(window) / pane_};
    }

private:
    WindowSpec spec_;
    std::uint64_t pane_;  // of slots that are windows: the advance
    bool panes_ = false;
};

// Rows of one slot.
struct SlotRows {
    std::uint64_t slot = 0;
    std::span<const std::uint32_t> rows;
};

// Sorts the rows of a batch into slots.
class SlotSorter {
public:
    explicit SlotSorter(const Windows& windows) : windows_(&windows) {}

    // Rows with no time or one before 0 belong nowhere. `closed`: windows below it take no rows.
    // The result is valid until the next call.
    [[nodiscard]] std::span<const SlotRows> sort(const ColumnVector& times, std::uint64_t closed);
    [[nodiscard]] std::span<const SlotRows> sort_all(std::size_t rows, std::uint64_t time);
    // By the numbers of windows, row by row.
    [[nodiscard]] std::span<const SlotRows> sort_by_window(std::span<const std::uint64_t> windows,
                                                           std::uint64_t closed);

    // Of the last call.
    [[nodiscard]] std::uint64_t late() const { return late_; }
    [[nodiscard]] std::size_t taken() const { return taken_; }  // rows that have a slot
    [[nodiscard]] std::optional<std::uint64_t> largest_time() const { return largest_; }

private:
    void add(std::uint64_t slot, std::uint32_t row);
    void take(std::uint64_t time, std::uint32_t row, std::uint64_t closed);
    std::span<const SlotRows> finish();
    template <class T>
    void take_all(const ColumnVector& times, std::uint64_t closed);
    // Whether all of these times belong to one slot and none is late; then that is the result.
    bool take_as_one(std::uint64_t least, std::uint64_t largest, std::size_t rows,
                     std::uint64_t closed);
    void reset();

    const Windows* windows_;
    std::vector<std::uint64_t> slots_;  // of each of rows_
    std::vector<std::uint32_t> rows_;
    std::vector<SlotRows> result_;
    std::vector<std::uint32_t> all_rows_;  // 0, 1, 2, ..
    bool sorted_ = true;
    std::uint64_t late_ = 0;
    std::size_t taken_ = 0;
    std::optional<std::uint64_t> largest_;
    // The slot of the last row, and the times that belong to it and are not late.
    std::uint64_t last_slot_ = 0;
    std::uint64_t last_from_ = 1;
    std::uint64_t last_to_ = 0;
};

// The largest time in a column, if there is one that is not before 0.
[[nodiscard]] std::optional<std::uint64_t> largest_time(const ColumnVector& times);

}  // namespace baton::engine
