#include "testing/reference/aggregation.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "core/optimizer/evaluate.h"

namespace baton::testing {

namespace {

bool is_null(const Value& value) {
    return std::holds_alternative<std::monostate>(value);
}

std::vector<Value> without_nulls(std::vector<Value> values) {
    std::erase_if(values, is_null);
    return values;
}

double number(const Value& value) {
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        return static_cast<double>(*integer);
    }
    return static_cast<double>(std::get<std::uint64_t>(value));
}

Value sum_of(DataType type, const std::vector<Value>& values) {
    if (values.empty()) return {};
    double real = 0;
    std::int64_t with_sign = 0;
    std::uint64_t plain = 0;
    for (const Value& value : values) {
        real += number(value);
        if (const auto* integer = std::get_if<std::int64_t>(&value)) with_sign += *integer;
        if (const auto* integer = std::get_if<std::uint64_t>(&value)) plain += *integer;
    }
    if (type == DataType::int64) return with_sign;
    if (type == DataType::uint64) return plain;
    return real;
}

Value least(const std::vector<Value>& values, int sign) {
    if (values.empty()) return {};
    return *std::min_element(values.begin(), values.end(), [&](const Value& a, const Value& b) {
        return sign * optimizer::compare(a, b) < 0;
    });
}

struct Moments {
    double count = 0;
    double mean = 0;
    double m2 = 0;
};

Moments moments_of(const std::vector<Value>& values) {
    Moments moments{.count = static_cast<double>(values.size())};
    for (const Value& value : values) moments.mean += number(value) / moments.count;
    for (const Value& value : values) moments.m2 += std::pow(number(value) - moments.mean, 2);
    return moments;
}

// Chan et al.
Moments joined(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count;
    const double difference = b.mean - a.mean;
    return {.count = count,
            .mean = a.mean + difference * b.count / count,
            .m2 = a.m2 + b.m2 + difference * difference * a.count * b.count / count};
}

Value spread(AggregateFunction function, const Moments& moments) {
    if (moments.count < 2) return {};
    const double variance = moments.m2 / (moments.count - 1);
    return function == AggregateFunction::stddev ? std::sqrt(variance) : variance;
}

Value count_of(const std::vector<Value>& values) {
    return static_cast<std::uint64_t>(values.size());
}

Value median_of(std::vector<Value> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end(),
              [](const Value& a, const Value& b) { return optimizer::compare(a, b) < 0; });
    const std::size_t middle = values.size() / 2;
    if (values.size() % 2 == 1) return number(values[middle]);
    return (number(values[middle - 1]) + number(values[middle])) / 2;
}

std::size_t different_in(std::vector<Value> values) {
    std::sort(values.begin(), values.end());
    return static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
}

}  // namespace

Value whole_of(const Aggregate& aggregate, const std::vector<Value>& values) {
    const std::vector<Value> known = without_nulls(values);
    switch (aggregate.function) {
        case AggregateFunction::count_all:
            return count_of(values);
        case AggregateFunction::count:
            return count_of(known);
        case AggregateFunction::count_distinct:
            return static_cast<std::uint64_t>(different_in(known));
        case AggregateFunction::sum:
            return sum_of(aggregate.type, known);
        case AggregateFunction::min:
            return least(known, 1);
        case AggregateFunction::max:
            return least(known, -1);
        case AggregateFunction::avg:
            if (known.empty()) return {};
            return std::get<double>(sum_of(DataType::float64, known)) /
                   static_cast<double>(known.size());
        case AggregateFunction::median:
            return median_of(known);
        case AggregateFunction::stddev:
        case AggregateFunction::variance:
            return spread(aggregate.function, moments_of(known));
        case AggregateFunction::first:
            return values.front();
        case AggregateFunction::last:
            return values.back();
    }
    CHECK(false && "an unknown aggregate");
}

std::vector<Value> state_over(const Aggregate& aggregate, const std::vector<Value>& values) {
    const std::vector<Value> known = without_nulls(values);
    if (aggregate.function == AggregateFunction::avg) {
        return {sum_of(DataType::float64, known), count_of(known)};
    }
    const bool spreads = aggregate.function == AggregateFunction::stddev ||
                         aggregate.function == AggregateFunction::variance;
    if (!spreads) return {whole_of(aggregate, values)};
    if (known.empty()) return {count_of(known), Value(), Value()};
    const Moments moments = moments_of(known);
    return {count_of(known), moments.mean, moments.m2};
}

Value result_of(const Aggregate& aggregate, const std::vector<std::vector<Value>>& states) {
    const auto column = [&](std::size_t index) {
        std::vector<Value> values;
        for (const std::vector<Value>& state : states) values.push_back(state.at(index));
        return without_nulls(values);
    };
    switch (aggregate.function) {
        case AggregateFunction::count_all:
        case AggregateFunction::count:
            return sum_of(DataType::uint64, column(0));
        case AggregateFunction::sum:
            return sum_of(aggregate.type, column(0));
        case AggregateFunction::min:
            return least(column(0), 1);
        case AggregateFunction::max:
            return least(column(0), -1);
        case AggregateFunction::avg: {
            const Value sum = sum_of(DataType::float64, column(0));
            if (is_null(sum)) return {};
            return number(sum) / number(sum_of(DataType::uint64, column(1)));
        }
        case AggregateFunction::stddev:
        case AggregateFunction::variance: {
            Moments all;
            for (const std::vector<Value>& state : states) {
                if (is_null(state.at(1))) continue;
                all = joined(
                    all,
                    {.count = number(state[0]), .mean = number(state[1]), .m2 = number(state[2])});
            }
            return spread(aggregate.function, all);
        }
        case AggregateFunction::count_distinct:
        case AggregateFunction::median:
        case AggregateFunction::first:
        case AggregateFunction::last:
            break;
    }
    CHECK(false && "an aggregate without a state");
}

}  // namespace baton::testing
