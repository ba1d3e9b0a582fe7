#include "core/tables/prune.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

#include "core/tables/values.h"

namespace baton::tables {

namespace {

using Kind = SqlType::Kind;
using Numbers = Block::Numbers;

// A value that a column is compared with. Of a REAL it may count as it was written, or rounded.
template <class Value>
struct Between {
    Value low;
    Value high;
};

// What is known of the values of one object: none is less than `min`, none greater than `max`.
template <class Value>
struct Known {
    std::optional<Value> min;
    std::optional<Value> max;
    bool has_greater = false;  // values that are greater than any may be there: NaN
};

template <class Value>
bool excludes(Bound::Is is, const Known<Value>& known, const Between<Value>& value) {
    const bool above = known.min && value.high < *known.min;  // all are greater
    const bool at_or_above = known.min && value.high <= *known.min;
    const bool below = known.max && value.low > *known.max;  // all are less
    const bool at_or_below = known.max && value.low >= *known.max;
    switch (is) {
        case Bound::Is::equal:
        case Bound::Is::one_of:
            return above || below;
        case Bound::Is::less:
            return at_or_above;
        case Bound::Is::less_or_equal:
            return above;
        case Bound::Is::greater:
            return at_or_below && !known.has_greater;
        case Bound::Is::greater_or_equal:
            return below && !known.has_greater;
        case Bound::Is::null:
        case Bound::Is::not_null:
            break;
    }
    return false;
}

// A largest text that was cut stands for all texts with its beginning.
bool excludes_text(Bound::Is is, const Known<std::string_view>& known, std::string_view value) {
    if (known.max) {
        const std::string_view certain = certain_part(*known.max);
        if (certain.size() != known.max->size() && value.starts_with(certain)) {
            return excludes<std::string_view>(is, {.min = known.min}, {value, value});
        }
    }
    return excludes<std::string_view>(is, known, {value, value});
}

// One bound, over the objects of all blocks.
class Test {
public:
    Test(const Bound& bound, std::size_t column, const SqlField& field, bool partition)
        : bound_(bound),
          column_(column),
          type_(field.type),
          partition_(partition),
          order_(order_of(field.type)) {
        if (partition_ && order_ == Order::floating) order_ = Order::none;
        compares_ = bound.is != Bound::Is::null && bound.is != Bound::Is::not_null;
        usable_ = !compares_ || (order_ != Order::none && read_values());
        micros_ = type_.kind == Kind::timestamp || type_.kind == Kind::timestamptz;
    }

    [[nodiscard]] bool usable() const { return usable_; }

    [[nodiscard]] bool excludes_object(const Block& block, std::size_t at) const {
        const Numbers& numbers = block.numbers(column_);
        if (at >= numbers.known.size()) return partition_ && excludes_null();
        const std::uint8_t known = numbers.known[at];
        if (partition_) {
            if ((known & Numbers::kMin) == 0) return excludes_null();
            if (!compares_) return bound_.is == Bound::Is::null;
            return excludes_values(block, known | Numbers::kMax, numbers.min[at], numbers.min[at]);
        }
        if ((known & Numbers::kNulls) != 0) {
            const std::uint32_t nulls = numbers.nulls[at];
            if (nulls == 0 && bound_.is == Bound::Is::null) return true;
            const auto rows = block.rows(at);
            if (rows && *rows == nulls && bound_.is != Bound::Is::null) return true;
        }
        if (!compares_) return false;
        return excludes_values(block, known, numbers.min[at], numbers.max[at]);
    }

private:
    // All values are NULL, which only IS NULL finds.
    [[nodiscard]] bool excludes_null() const { return bound_.is != Bound::Is::null; }

    bool read_values() {
        for (const std::string& value : bound_.values) {
            if (order_ == Order::whole) {
                const auto whole = whole_of(type_, value);
                if (!whole) return false;
                wholes_.push_back({*whole, *whole});
            } else if (order_ == Order::floating) {
                const auto exact = floating_of({.kind = Kind::double_precision}, value);
                const auto rounded = floating_of(type_, value);
                if (!exact || !rounded) return false;
                floatings_.push_back({std::min(*exact, *rounded), std::max(*exact, *rounded)});
            }
        }
        return bound_.is == Bound::Is::one_of || bound_.values.size() == 1;
    }

    [[nodiscard]] bool excludes_values(const Block& block, unsigned known, std::uint64_t min,
                                       std::uint64_t max) const {
        const bool has_min = (known & Numbers::kMin) != 0;
        const bool has_max = (known & Numbers::kMax) != 0;
        if (order_ == Order::text) {
            Known<std::string_view> texts;
            if (has_min) texts.min = block.text(min);
            if (has_max) texts.max = block.text(max);
            return std::all_of(
                bound_.values.begin(), bound_.values.end(), [&](const std::string& value) {
                    return partition_ ? excludes<std::string_view>(bound_.is, texts, {value, value})
                                      : excludes_text(bound_.is, texts, value);
                });
        }
        if (order_ == Order::whole) {
            Known<std::int64_t> wholes;
            if (has_min) wholes.min = std::bit_cast<std::int64_t>(min);
            if (has_max) wholes.max = largest(std::bit_cast<std::int64_t>(max));
            return all_excluded(wholes, wholes_);
        }
        // Engines differ in whether NaN counts for a maximum.
        Known<double> floatings{.has_greater = true};
        if (has_min) floatings.min = std::bit_cast<double>(min);
        if (has_max) floatings.max = std::bit_cast<double>(max);
        return all_excluded(floatings, floatings_);
    }

    template <class Value>
    [[nodiscard]] bool all_excluded(const Known<Value>& known,
                                    const std::vector<Between<Value>>& values) const {
        return std::all_of(values.begin(), values.end(), [&](const Between<Value>& value) {
            return excludes<Value>(bound_.is, known, value);
        });
    }

    // Engines cut timestamps in statistics to milliseconds.
    [[nodiscard]] std::int64_t largest(std::int64_t max) const {
        constexpr std::int64_t kCut = 999;
        const bool cut = micros_ && !partition_;
        return cut && max < std::numeric_limits<std::int64_t>::max() - kCut ? max + kCut : max;
    }

    const Bound& bound_;
    std::size_t column_;
    const SqlType& type_;
    bool partition_;
    Order order_;
    bool compares_ = false;
    bool usable_ = false;
    bool micros_ = false;
    std::vector<Between<std::int64_t>> wholes_;
    std::vector<Between<double>> floatings_;
};

}  // namespace

std::vector<ObjectPlace> prune(const Snapshot& snapshot, const std::vector<Bound>& bounds) {
    const Layout& layout = snapshot.layout();
    std::vector<Test> tests;
    tests.reserve(bounds.size());
    for (const Bound& bound : bounds) {
        const SqlField* field = layout.find(bound.column);
        if (field == nullptr) continue;
        const auto column = static_cast<std::size_t>(field - layout.columns.data());
        Test test(bound, column, *field, layout.is_partition(bound.column));
        if (test.usable()) tests.push_back(std::move(test));
    }
    std::vector<ObjectPlace> places;
    const auto& blocks = snapshot.blocks();
    for (std::size_t number = 0; number < blocks.size(); ++number) {
        const Block& block = *blocks[number];
        for (std::size_t at = 0; at < block.size(); ++at) {
            const bool excluded =
                !block.is_live(at) || std::any_of(tests.begin(), tests.end(), [&](const Test& t) {
                    return t.excludes_object(block, at);
                });
            if (excluded) continue;
            places.push_back({.block = static_cast<std::uint32_t>(number),
                              .at = static_cast<std::uint32_t>(at)});
        }
    }
    return places;
}

}  // namespace baton::tables
