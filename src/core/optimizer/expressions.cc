#include "core/optimizer/expressions.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/optimizer/types.h"

namespace baton::optimizer {

Expression column_of(const Schema& schema, std::size_t index) {
    const Column& column = schema.columns.at(index);
    return {.node = ColumnIndex{index}, .type = column.type, .nullable = column.nullable};
}

Expression true_constant() {
    return {.node = Constant{true}, .type = DataType::boolean, .nullable = false};
}

bool is_constant(const Expression& expression) {
    return std::holds_alternative<Constant>(expression.node);
}

bool is_column(const Expression& expression) {
    return std::holds_alternative<ColumnIndex>(expression.node);
}

void collect_columns(const Expression& expression, std::set<std::size_t>& into) {
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) into.insert(column->index);
    if (const auto* call = std::get_if<Call>(&expression.node)) {
        for (const Expression& argument : call->arguments) collect_columns(argument, into);
    }
}

std::set<std::size_t> columns_in(const Expression& expression) {
    std::set<std::size_t> columns;
    collect_columns(expression, columns);
    return columns;
}

Expression moved(Expression expression, const std::function<std::size_t(std::size_t)>& position) {
    if (auto* column = std::get_if<ColumnIndex>(&expression.node)) {
        column->index = position(column->index);
    }
    if (auto* call = std::get_if<Call>(&expression.node)) {
        for (Expression& argument : call->arguments)
            argument = moved(std::move(argument), position);
    }
    return expression;
}

Expression substituted(Expression expression, std::span<const Expression> columns) {
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) {
        return columns[column->index];
    }
    if (auto* call = std::get_if<Call>(&expression.node)) {
        for (Expression& argument : call->arguments) {
            argument = substituted(std::move(argument), columns);
        }
    }
    return expression;
}

namespace {

// Counts nodes until there are too many.
void add_size(const Expression& expression, std::span<const Expression> columns,
              std::size_t& size) {
    size += 1;
    if (size > kSubstitutedMax) return;
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node); column != nullptr) {
        if (!columns.empty()) add_size(columns[column->index], {}, size);
    } else if (const auto* call = std::get_if<Call>(&expression.node)) {
        for (const Expression& argument : call->arguments) add_size(argument, columns, size);
    }
}

}  // namespace

bool grows_too_large(const Expression& expression, std::span<const Expression> columns) {
    std::size_t size = 0;
    add_size(expression, columns, size);
    return size > kSubstitutedMax;
}

bool copies_grow_too_large(std::span<const Expression> expressions, std::size_t copies) {
    std::size_t all = 0;
    for (const Expression& expression : expressions) {
        std::size_t size = 0;
        add_size(expression, {}, size);
        if (size > kSubstitutedMax) return copies > 1;
        all += size;
    }
    return copies > 1 && all * copies > kCopiedMax;
}

bool copies_grow_too_large(const Expression& expression, std::size_t copies) {
    return copies_grow_too_large(std::span(&expression, 1), copies);
}

std::vector<Expression> conjuncts_of(const Expression& predicate) {
    const auto* call = std::get_if<Call>(&predicate.node);
    if (call == nullptr || call->function != Function::logical_and) return {predicate};
    std::vector<Expression> parts;
    for (const Expression& argument : call->arguments) {
        std::vector<Expression> inner = conjuncts_of(argument);
        std::move(inner.begin(), inner.end(), std::back_inserter(parts));
    }
    return parts;
}

Expression conjunction_of(std::vector<Expression> conjuncts) {
    if (conjuncts.empty()) return true_constant();
    if (conjuncts.size() == 1) return std::move(conjuncts.front());
    const bool nullable = std::any_of(conjuncts.begin(), conjuncts.end(),
                                      [](const Expression& e) { return e.nullable; });
    return {.node = Call{Function::logical_and, std::move(conjuncts)},
            .type = DataType::boolean,
            .nullable = nullable};
}

namespace {

bool call_can_fail(const Call& call, DataType type) {
    switch (call.function) {
        case Function::add:
        case Function::subtract:
        case Function::multiply:
        case Function::negate:
            return is_integer(type);  // it may overflow
        case Function::cast:
            return !widens(call.arguments.front().type, type);
        case Function::equal:
        case Function::not_equal:
        case Function::less:
        case Function::less_equal:
        case Function::greater:
        case Function::greater_equal:
        case Function::logical_and:
        case Function::logical_or:
        case Function::logical_not:
        case Function::between:
        case Function::in_list:
        case Function::is_null:
        case Function::is_nan:
        case Function::ceil:
        case Function::floor:
        case Function::round:
        case Function::concat:
        case Function::char_length:
        case Function::octet_length:
        case Function::to_base64:
        case Function::conditional:
            return false;
        case Function::divide:
        case Function::modulo:
        case Function::abs:
        case Function::exp:
        case Function::pow:
        case Function::sqrt:
        case Function::from_base64:
        case Function::cast_to_unix_ts:
        case Function::cast_from_unix_ts:
        case Function::day_of:
        case Function::month_of:
        case Function::year_of:
            return true;
    }
    return true;
}

}  // namespace

bool can_fail(const Expression& expression) {
    const auto* call = std::get_if<Call>(&expression.node);
    if (call == nullptr) return false;
    return call_can_fail(*call, expression.type) ||
           std::any_of(call->arguments.begin(), call->arguments.end(), can_fail);
}

}  // namespace baton::optimizer
