#include "engine/operators/accumulators.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/columns/elements.h"
#include "model/aggregate_state.h"

namespace baton::engine {

namespace {

class CountAccumulator : public Accumulator {
public:
    void resize(std::size_t groups) override { counts_.resize(groups); }

    void add(const ColumnVector* argument, const GroupedRows& rows) override {
        std::uint64_t* counts = counts_.data();
        const std::uint8_t* valid = argument == nullptr ? nullptr : argument->valid();
        const std::size_t size = rows.rows.size();
        if (valid == nullptr) {
            for (std::size_t i = 0; i < size; ++i) counts[rows.groups[i]] += 1;
            return;
        }
        for (std::size_t i = 0; i < size; ++i) counts[rows.groups[i]] += valid[rows.rows[i]];
    }
    void add_states(std::span<const ColumnVector> states, const GroupedRows& rows) override {
        const std::uint64_t* more = states[0].data<std::uint64_t>();
        for (std::size_t i = 0; i < rows.rows.size(); ++i) {
            counts_[rows.groups[i]] += more[rows.rows[i]];
        }
    }
    void merge(const Accumulator& other, std::span<const std::uint32_t> to) override {
        const auto& counts = dynamic_cast<const CountAccumulator&>(other).counts_;
        for (std::size_t i = 0; i < to.size(); ++i) counts_[to[i]] += counts[i];
    }
    [[nodiscard]] ColumnVector results(std::size_t from, std::size_t count) const override {
        ColumnVector out(DataType::uint64, count);
        std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>(from), count,
                    out.mutable_data<std::uint64_t>());
        return out;
    }
    void append_states(std::vector<ColumnVector>& columns, std::size_t from,
                       std::size_t count) const override {
        columns.push_back(results(from, count));
    }
    [[nodiscard]] std::size_t memory() const override { return counts_.capacity() * 8; }

private:
    std::vector<std::uint64_t> counts_;
};

// Calls act(group, value) for each row that has a value.
template <class T, class Act>
void each_value(const ColumnVector& column, const GroupedRows& rows, Act act) {
    const T* values = column.data<T>();
    const std::uint8_t* valid = column.valid();
    const std::size_t size = rows.rows.size();
    if (valid == nullptr) {
        for (std::size_t i = 0; i < size; ++i) act(rows.groups[i], values[rows.rows[i]]);
        return;
    }
    for (std::size_t i = 0; i < size; ++i) {
        if (valid[rows.rows[i]] != 0) act(rows.groups[i], values[rows.rows[i]]);
    }
}

// What is computed in a type S by adding or choosing values.
template <class S, class Step>
class FoldAccumulator : public Accumulator {
public:
    explicit FoldAccumulator(DataType type) : type_(type) {}

    void resize(std::size_t groups) override {
        values_.resize(groups, Step::template start<S>());
        seen_.resize(groups);
    }
    void add(const ColumnVector* argument, const GroupedRows& rows) override {
        with_element(argument->type(), [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            if constexpr (std::is_arithmetic_v<T>) {
                S* values = values_.data();
                std::uint8_t* seen = seen_.data();
                each_value<T>(*argument, rows, [=](std::uint32_t group, T value) {
                    values[group] = Step::apply(values[group], static_cast<S>(value));
                    seen[group] = 1;
                });
            }
        });
    }
    void add_states(std::span<const ColumnVector> states, const GroupedRows& rows) override {
        add(states.data(), rows);
    }
    void merge(const Accumulator& other, std::span<const std::uint32_t> to) override {
        const auto& more = dynamic_cast<const FoldAccumulator&>(other);
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (more.seen_[i] == 0) continue;
            values_[to[i]] = Step::apply(values_[to[i]], more.values_[i]);
            seen_[to[i]] = 1;
        }
    }
    [[nodiscard]] ColumnVector results(std::size_t from, std::size_t count) const override {
        ColumnVector out(type_, count);
        with_element(type_, [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            if constexpr (std::is_arithmetic_v<T>) {
                T* to = out.mutable_data<T>();
                for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(values_[from + i]);
            }
        });
        for (std::size_t i = 0; i < count; ++i) {
            if (seen_[from + i] == 0) out.set_null(i);
        }
        return out;
    }
    void append_states(std::vector<ColumnVector>& columns, std::size_t from,
                       std::size_t count) const override {
        columns.push_back(results(from, count));
    }
    [[nodiscard]] std::size_t memory() const override {
        return values_.capacity() * sizeof(S) + seen_.capacity();
    }

protected:
    [[nodiscard]] const std::vector<S>& values() const { return values_; }

private:
    DataType type_;
    std::vector<S> values_;
    std::vector<std::uint8_t> seen_;
};

// Whole numbers wrap around.
struct Sum {
    template <class S>
    static S start() {
        return S{0};
    }
    static double apply(double a, double b) { return a + b; }
    static std::uint64_t apply(std::uint64_t a, std::uint64_t b) { return a + b; }
};

// A NaN is greater than every other number.
template <class S>
bool precedes(S a, S b) {
    if constexpr (std::is_floating_point_v<S>) {
        return std::isnan(b) ? !std::isnan(a) : a < b;
    } else {
        return a < b;
    }
}

struct Least {
    template <class S>
    static S start() {
        if constexpr (std::is_floating_point_v<S>) return std::numeric_limits<S>::quiet_NaN();
        return std::numeric_limits<S>::max();
    }
    template <class S>
    static S apply(S a, S b) {
        return precedes(b, a) ? b : a;
    }
};

struct Most {
    template <class S>
    static S start() {
        if constexpr (std::is_floating_point_v<S>) return -std::numeric_limits<S>::infinity();
        return std::numeric_limits<S>::min();
    }
    template <class S>
    static S apply(S a, S b) {
        return precedes(a, b) ? b : a;
    }
};

class AverageAccumulator : public Accumulator {
public:
    void resize(std::size_t groups) override {
        sums_.resize(groups);
        counts_.resize(groups);
    }
    void add(const ColumnVector* argument, const GroupedRows& rows) override {
        with_element(argument->type(), [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            if constexpr (std::is_arithmetic_v<T>) {
                double* sums = sums_.data();
                std::uint64_t* counts = counts_.data();
                each_value<T>(*argument, rows, [=](std::uint32_t group, T value) {
                    sums[group] += static_cast<double>(value);
                    counts[group] += 1;
                });
            }
        });
    }
    void add_states(std::span<const ColumnVector> states, const GroupedRows& rows) override {
        const double* sums = states[0].data<double>();  // zero where NULL
        const std::uint64_t* counts = states[1].data<std::uint64_t>();
        for (std::size_t i = 0; i < rows.rows.size(); ++i) {
            sums_[rows.groups[i]] += sums[rows.rows[i]];
            counts_[rows.groups[i]] += counts[rows.rows[i]];
        }
    }
    void merge(const Accumulator& other, std::span<const std::uint32_t> to) override {
        const auto& more = dynamic_cast<const AverageAccumulator&>(other);
        for (std::size_t i = 0; i < to.size(); ++i) {
            sums_[to[i]] += more.sums_[i];
            counts_[to[i]] += more.counts_[i];
        }
    }
    [[nodiscard]] ColumnVector results(std::size_t from, std::size_t count) const override {
        return quotients(from, count, true);
    }
    void append_states(std::vector<ColumnVector>& columns, std::size_t from,
                       std::size_t count) const override {
        columns.push_back(quotients(from, count, false));
        ColumnVector counts(DataType::uint64, count);
        std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>(from), count,
                    counts.mutable_data<std::uint64_t>());
        columns.push_back(std::move(counts));
    }
    [[nodiscard]] std::size_t memory() const override { return sums_.capacity() * 16; }

private:
    [[nodiscard]] ColumnVector quotients(std::size_t from, std::size_t count, bool divide) const {
        ColumnVector out(DataType::float64, count);
        double* to = out.mutable_data<double>();
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t of = counts_[from + i];
            if (of == 0) {
                out.set_null(i);
                continue;
            }
            to[i] = divide ? sums_[from + i] / static_cast<double>(of) : sums_[from + i];
        }
        return out;
    }

    std::vector<double> sums_;
    std::vector<std::uint64_t> counts_;
};

template <class Step>
std::unique_ptr<Accumulator> make_choice(DataType type) {
    return with_element(type, [&](auto* none) -> std::unique_ptr<Accumulator> {
        using T = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_arithmetic_v<T>) {
            return std::make_unique<FoldAccumulator<T, Step>>(type);
        } else {
            return nullptr;
        }
    });
}

std::unique_ptr<Accumulator> make_sum(DataType type) {
    if (is_float(type)) return std::make_unique<FoldAccumulator<double, Sum>>(type);
    return std::make_unique<FoldAccumulator<std::uint64_t, Sum>>(type);
}

std::unique_ptr<Accumulator> make_of(const Aggregate& aggregate, DataType of) {
    switch (aggregate.function) {
        case AggregateFunction::count_all:
        case AggregateFunction::count:
            return std::make_unique<CountAccumulator>();
        case AggregateFunction::count_distinct:
            return make_distinct(of);
        case AggregateFunction::sum:
            return is_number(of) ? make_sum(aggregate.type) : nullptr;
        case AggregateFunction::min:
            return is_number(of) ? make_choice<Least>(aggregate.type) : nullptr;
        case AggregateFunction::max:
            return is_number(of) ? make_choice<Most>(aggregate.type) : nullptr;
        case AggregateFunction::avg:
            return is_number(of) ? std::make_unique<AverageAccumulator>() : nullptr;
        case AggregateFunction::median:
            return is_number(of) ? make_median() : nullptr;
        case AggregateFunction::stddev:
        case AggregateFunction::variance:
            if (!is_number(of)) return nullptr;
            return make_spread(aggregate.function == AggregateFunction::stddev);
        case AggregateFunction::first:
        case AggregateFunction::last:
            return make_nth(aggregate.type, aggregate.function == AggregateFunction::last);
    }
    return nullptr;
}

}  // namespace

std::size_t state_width(const Aggregate& aggregate) {
    const auto states = states_of(aggregate, "");
    return states ? states->size() : 0;
}

std::vector<double> reals(const ColumnVector& column, std::span<const std::uint32_t> rows) {
    std::vector<double> result(rows.size());
    with_element(column.type(), [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_arithmetic_v<T>) {
            const T* values = column.data<T>();
            for (std::size_t i = 0; i < rows.size(); ++i) {
                result[i] = static_cast<double>(values[rows[i]]);
            }
        }
    });
    return result;
}

Result<std::unique_ptr<Accumulator>> make_accumulator(const Aggregate& aggregate) {
    const DataType of =
        aggregate.argument.empty() ? aggregate.type : aggregate.argument.front().type;
    const bool needs_argument = aggregate.function != AggregateFunction::count_all;
    const bool has_state = state_width(aggregate) > 0;
    std::unique_ptr<Accumulator> made;
    if (!needs_argument || has_state || !aggregate.argument.empty()) made = make_of(aggregate, of);
    if (made) return made;
    return Error{.code = ErrorCode::not_supported,
                 .message = "the engine does not aggregate values of type " +
                            std::string(to_string(of)) + " so"};
}

}  // namespace baton::engine
