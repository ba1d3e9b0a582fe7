#include "core/analysis/aggregates.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/text.h"
#include "core/analysis/functions.h"
#include "core/analysis/types.h"

namespace baton::analysis {

namespace {

constexpr std::size_t kBounds = 2;  // START and END

struct AggregateEntry {
    std::string_view name;
    AggregateFunction function;
};

constexpr std::array kAggregates = {
    AggregateEntry{"COUNT", AggregateFunction::count},
    AggregateEntry{"SUM", AggregateFunction::sum},
    AggregateEntry{"MIN", AggregateFunction::min},
    AggregateEntry{"MAX", AggregateFunction::max},
    AggregateEntry{"AVG", AggregateFunction::avg},
    AggregateEntry{"MEDIAN", AggregateFunction::median},
    AggregateEntry{"STDDEV", AggregateFunction::stddev},
    AggregateEntry{"VARIANCE", AggregateFunction::variance},
    AggregateEntry{"FIRST", AggregateFunction::first},
    AggregateEntry{"LAST", AggregateFunction::last},
};

bool needs_number(AggregateFunction function) {
    switch (function) {
        case AggregateFunction::sum:
        case AggregateFunction::min:
        case AggregateFunction::max:
        case AggregateFunction::avg:
        case AggregateFunction::median:
        case AggregateFunction::stddev:
        case AggregateFunction::variance:
            return true;
        case AggregateFunction::count_all:
        case AggregateFunction::count:
        case AggregateFunction::count_distinct:
        case AggregateFunction::first:
        case AggregateFunction::last:
            return false;
    }
    return false;
}

DataType sum_type(DataType type) {
    if (is_float(type)) return type;
    return is_signed(type) ? DataType::int64 : DataType::uint64;
}

// An aggregate of an argument of that type.
Aggregate aggregate_of(AggregateFunction function, Expression argument) {
    Aggregate aggregate{.function = function, .nullable = argument.nullable};
    switch (function) {
        case AggregateFunction::count_all:
        case AggregateFunction::count:
        case AggregateFunction::count_distinct:
            aggregate.type = DataType::uint64;
            aggregate.nullable = false;
            break;
        case AggregateFunction::sum:
            aggregate.type = sum_type(argument.type);
            break;
        case AggregateFunction::avg:
        case AggregateFunction::median:
            aggregate.type = DataType::float64;
            break;
        case AggregateFunction::stddev:
        case AggregateFunction::variance:
            aggregate.type = DataType::float64;
            aggregate.nullable = true;
            break;
        case AggregateFunction::min:
        case AggregateFunction::max:
        case AggregateFunction::first:
        case AggregateFunction::last:
            aggregate.type = argument.type;
            break;
    }
    aggregate.argument.push_back(std::move(argument));
    return aggregate;
}

}  // namespace

std::span<const std::string_view> aggregate_names() {
    static const auto kNames = [] {
        std::array<std::string_view, kAggregates.size()> names;
        std::transform(kAggregates.begin(), kAggregates.end(), names.begin(),
                       [](const AggregateEntry& entry) { return entry.name; });
        return names;
    }();
    return kNames;
}

bool is_aggregate(std::string_view function) {
    return std::any_of(kAggregates.begin(), kAggregates.end(),
                       [&](const AggregateEntry& entry) { return entry.name == function; });
}

Result<Aggregate> make_aggregate(const sql::Expr& whole, std::vector<Operand> arguments) {
    const auto& written = std::get<sql::Call>(whole.node);
    const auto* entry =
        std::find_if(kAggregates.begin(), kAggregates.end(),
                     [&](const AggregateEntry& each) { return each.name == written.function; });
    CHECK(entry != kAggregates.end());
    if (written.star && entry->function == AggregateFunction::count) return Aggregate{};
    if (written.star || arguments.size() != 1) return wrong_arity(whole, 1, 1);
    if (needs_number(entry->function) && !arguments.front().untyped &&
        !is_number(arguments.front().value.type)) {
        return Error{.code = ErrorCode::type_mismatch,
                     .message = written.function + " needs a number, but has " +
                                described(arguments.front()),
                     .at = arguments.front().written->at,
                     .hint = "COUNT, FIRST and LAST take anything"};
    }
    TRY_ASSIGN(argument, typed(std::move(arguments.front())));
    return aggregate_of(written.distinct ? AggregateFunction::count_distinct : entry->function,
                        std::move(argument));
}

Grouping::Grouping(const Scope& input, std::vector<Expression> keys)
    : input_(input), before_(input), keys_(std::move(keys)) {
    forget_window(before_);
    for (ScopeColumn& bound : window_columns()) before_.columns.push_back(std::move(bound));
}

Expression Grouping::column_of(Aggregate aggregate, const sql::Call& written) {
    const DataType type = aggregate.type;
    const bool nullable = aggregate.nullable;
    const auto found = std::find(aggregates_.begin(), aggregates_.end(), aggregate);
    const auto position = static_cast<std::size_t>(found - aggregates_.begin());
    if (found == aggregates_.end()) {
        aggregates_.push_back(std::move(aggregate));
        if (written.star) {
            names_.push_back(written.function);
        } else if (const auto* column =
                       std::get_if<sql::ColumnRef>(&written.arguments.front().node)) {
            names_.push_back(column->parts.back() + "_" + written.function);
        } else {
            names_.push_back("_AGG_INPUT_" + std::to_string(computed_++) + "_" + written.function);
        }
    }
    return {
        .node = ColumnIndex{before_.columns.size() + position}, .type = type, .nullable = nullable};
}

bool Grouping::is_grouped(const Expression& expression) const {
    const auto* column = std::get_if<ColumnIndex>(&expression.node);
    if (column != nullptr && column->index >= input_.columns.size()) return true;
    return std::find(keys_.begin(), keys_.end(), expression) != keys_.end();
}

Result<Expression> Grouping::after_grouping(const Expression& expression) const {
    const auto at = [&](std::size_t index) {
        return Expression{
            .node = ColumnIndex{index}, .type = expression.type, .nullable = expression.nullable};
    };
    const auto key = std::find(keys_.begin(), keys_.end(), expression);
    if (key != keys_.end()) return at(kBounds + static_cast<std::size_t>(key - keys_.begin()));
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) {
        const std::size_t inputs = input_.columns.size();
        if (column->index >= inputs + kBounds) return at(column->index - inputs + keys_.size());
        if (column->index >= inputs) return at(column->index - inputs);
        const std::string name = full_name(input_.columns[column->index]);
        return Error{.code = ErrorCode::schema,
                     .message = "column " + in_quotes(name) +
                                " has no single value in a group: it stands neither in GROUP BY "
                                "nor in an aggregate",
                     .at = outside_.at(column->index),
                     .hint = "add it to GROUP BY, or write an aggregate such as MAX(" + name + ")"};
    }
    const auto* written = std::get_if<Call>(&expression.node);
    if (written == nullptr) return expression;
    Expression result{.node = Call{.function = written->function},
                      .type = expression.type,
                      .nullable = expression.nullable};
    auto& arguments = std::get<Call>(result.node).arguments;
    arguments.reserve(written->arguments.size());
    for (std::size_t i = 0; i < written->arguments.size();) {
        if (const auto within = key_within(*written, i)) {
            const Expression& part = keys_[*within];
            arguments.push_back({.node = ColumnIndex{kBounds + *within},
                                 .type = part.type,
                                 .nullable = part.nullable});
            i += std::get<Call>(part.node).arguments.size();
            continue;
        }
        TRY_ASSIGN(rewritten, after_grouping(written->arguments[i]));
        arguments.push_back(std::move(rewritten));
        i += 1;
    }
    return result;
}

std::optional<std::size_t> Grouping::key_within(const Call& chain, std::size_t from) const {
    const bool chains =
        chain.function == Function::logical_and || chain.function == Function::logical_or;
    if (!chains) return std::nullopt;
    const auto begin = chain.arguments.begin() + static_cast<std::ptrdiff_t>(from);
    const auto left = static_cast<std::size_t>(chain.arguments.end() - begin);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        const auto* key = std::get_if<Call>(&keys_[i].node);
        if (key == nullptr || key->function != chain.function) continue;
        const bool fits = key->arguments.size() <= left;
        if (fits && std::equal(key->arguments.begin(), key->arguments.end(), begin)) return i;
    }
    return std::nullopt;
}

}  // namespace baton::analysis
