#include "testing/plan_check.h"

#include <algorithm>
#include <optional>

#include "base/overload.h"

namespace baton::testing {

namespace {

bool is_value_of(const Value& value, DataType type) {
    return std::visit(Overload{
                          [](std::monostate) { return true; },
                          [&](bool) { return type == DataType::boolean; },
                          [&](std::int64_t) { return is_signed(type); },
                          [&](std::uint64_t) { return is_integer(type) && !is_signed(type); },
                          [&](double) { return is_number(type) && !is_integer(type); },
                          [&](const std::string&) { return is_text(type); },
                      },
                      value);
}

bool all_of_type(const std::vector<Expression>& expressions, DataType type) {
    return std::all_of(expressions.begin(), expressions.end(),
                       [&](const Expression& each) { return each.type == type; });
}

// Conditions are BOOLEAN, values have the type of the whole.
bool fits_conditional(const std::vector<Expression>& arguments, DataType type) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool value = i % 2 == 1 || i + 1 == arguments.size();
        if (arguments[i].type != (value ? type : DataType::boolean)) return false;
    }
    return arguments.size() >= 3 && arguments.size() % 2 == 1;
}

bool fits(const Call& call, DataType type) {
    const std::vector<Expression>& arguments = call.arguments;
    const std::size_t size = arguments.size();
    if (size == 0) return false;
    const DataType first = arguments.front().type;
    const bool truth = type == DataType::boolean;
    switch (call.function) {
        case Function::add:
        case Function::subtract:
        case Function::multiply:
        case Function::divide:
        case Function::modulo:
            return size == 2 && is_number(type) && all_of_type(arguments, type);
        case Function::negate:
        case Function::abs:
        case Function::ceil:
        case Function::floor:
        case Function::round:
            return size == 1 && is_number(type) && first == type;
        case Function::equal:
        case Function::not_equal:
        case Function::less:
        case Function::less_equal:
        case Function::greater:
        case Function::greater_equal:
            return size == 2 && truth && all_of_type(arguments, first);
        case Function::between:
            return size == 3 && truth && all_of_type(arguments, first);
        case Function::in_list:
            return size >= 2 && truth && all_of_type(arguments, first);
        case Function::logical_and:
        case Function::logical_or:
            return size >= 2 && truth && all_of_type(arguments, type);
        case Function::logical_not:
            return size == 1 && truth && first == type;
        case Function::is_null:
            return size == 1 && truth;
        case Function::is_nan:
            return size == 1 && truth && is_number(first);
        case Function::exp:
        case Function::sqrt:
            return size == 1 && type == DataType::float64 && first == type;
        case Function::pow:
            return size == 2 && type == DataType::float64 && all_of_type(arguments, type);
        case Function::concat:
            return size >= 2 && type == DataType::varsized && all_of_type(arguments, type);
        case Function::char_length:
        case Function::octet_length:
        case Function::cast_to_unix_ts:
            return size == 1 && type == DataType::uint64 && first == DataType::varsized;
        case Function::to_base64:
        case Function::from_base64:
            return size == 1 && type == DataType::varsized && first == type;
        case Function::cast_from_unix_ts:
            return size == 1 && type == DataType::varsized && first == DataType::uint64;
        case Function::day_of:
        case Function::month_of:
        case Function::year_of:
            return size == 1 && type == DataType::uint64 && first == type;
        case Function::conditional:
            return fits_conditional(arguments, type);
        case Function::cast:
            return size == 1;
    }
    return false;
}

std::string in_all(const std::vector<Expression>& expressions, const Schema& input) {
    for (const Expression& each : expressions) {
        std::string wrong = what_is_wrong(each, input);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

Column bound(const char* name) {
    return {.name = name, .type = DataType::uint64, .nullable = false};
}

// The type of the column that is the time of a window, if there is one, is an integer.
bool is_time(const std::optional<std::size_t>& time, const Schema& input) {
    return !time || (*time < input.columns.size() && is_integer(input.columns[*time].type));
}

std::string wrong_aggregation(const WindowAggregate& op, const PlanNode& node) {
    const Schema& input = node.inputs.front().schema;
    if (op.stage != AggregateStage::whole) return {};
    if (op.window.size == 0 || op.window.advance == 0) return "an empty window";
    if (!is_time(op.time, input)) return "no time column";
    std::string wrong = in_all(op.keys, input);
    if (!wrong.empty()) return wrong;
    Schema schema{.columns = {bound("START"), bound("END")}};
    const auto add = [&](DataType type, bool nullable) {
        const std::size_t position = schema.columns.size();
        const bool there = position < node.schema.columns.size();
        schema.columns.push_back({.name = there ? node.schema.columns[position].name : "",
                                  .type = type,
                                  .nullable = nullable});
    };
    for (const Expression& key : op.keys) add(key.type, key.nullable);
    for (const Aggregate& each : op.aggregates) {
        const bool all = each.function == AggregateFunction::count_all;
        if (each.argument.size() != (all ? 0U : 1U)) return "an aggregate of too many or too few";
        wrong = in_all(each.argument, input);
        if (!wrong.empty()) return wrong;
        add(each.type, each.nullable);
    }
    return schema == node.schema ? "" : "the schema of an aggregation";
}

std::string wrong_join(const WindowJoin& op, const PlanNode& node) {
    const Schema& left = node.inputs[0].schema;
    const Schema& right = node.inputs[1].schema;
    if (op.window.size == 0 || op.window.advance == 0) return "an empty window";
    if (!is_time(op.left_time, left) || !is_time(op.right_time, right)) return "no time column";
    Schema both = left;
    both.columns.insert(both.columns.end(), right.columns.begin(), right.columns.end());
    std::string wrong = what_is_wrong(op.predicate, both);
    if (!wrong.empty()) return wrong;
    if (op.predicate.type != DataType::boolean) return "a predicate that is not BOOLEAN";
    Schema schema{.columns = {bound("START"), bound("END")}};
    const auto add = [&](const Schema& side, bool nullable) {
        for (Column column : side.columns) {
            column.nullable = column.nullable || nullable;
            schema.columns.push_back(column);
        }
    };
    add(left, op.sides == JoinSides::right || op.sides == JoinSides::full);
    add(right, op.sides == JoinSides::left || op.sides == JoinSides::full);
    return schema == node.schema ? "" : "the schema of a join";
}

std::string wrong_union(const PlanNode& node) {
    for (const PlanNode& input : node.inputs) {
        if (input.schema.columns.size() != node.schema.columns.size()) return "a UNION's width";
        for (std::size_t i = 0; i < input.schema.columns.size(); ++i) {
            const Column& from = input.schema.columns[i];
            const Column& to = node.schema.columns[i];
            if (from.type != to.type) return "a UNION of different types";
            if (from.nullable && !to.nullable) return "a UNION that hides a NULL";
        }
    }
    return {};
}

// A sink may call the columns otherwise.
std::string wrong_write(const PlanNode& node) {
    const auto& from = node.inputs.front().schema.columns;
    const auto& to = node.schema.columns;
    const bool same = std::equal(from.begin(), from.end(), to.begin(), to.end(),
                                 [](const Column& a, const Column& b) {
                                     return a.type == b.type && a.nullable == b.nullable;
                                 });
    return same ? "" : "a changed schema";
}

std::string wrong_project(const Project& op, const PlanNode& node) {
    std::string wrong = in_all(op.expressions, node.inputs.front().schema);
    if (!wrong.empty()) return wrong;
    if (op.expressions.size() != node.schema.columns.size()) return "the width of a projection";
    for (std::size_t i = 0; i < op.expressions.size(); ++i) {
        const Column& column = node.schema.columns[i];
        const Expression& value = op.expressions[i];
        if (column.type != value.type || column.nullable != value.nullable) {
            return "the schema of a projection";
        }
    }
    return {};
}

std::string wrong_filter(const Filter& op, const PlanNode& node) {
    if (op.predicate.type != DataType::boolean) return "a predicate that is not BOOLEAN";
    if (node.schema != node.inputs.front().schema) return "a filter that changes the schema";
    return what_is_wrong(op.predicate, node.inputs.front().schema);
}

std::size_t inputs_of(const Operator& op) {
    return std::visit(Overload{
                          [](const LogicalScan&) { return 0U; },
                          [](const SourceScan&) { return 0U; },
                          [](const Receive&) { return 0U; },
                          [](const Filter&) { return 1U; },
                          [](const Project&) { return 1U; },
                          [](const WindowAggregate&) { return 1U; },
                          [](const WindowJoin&) { return 2U; },
                          [](const UnionAll&) { return 0U; },  // one or more
                          [](const Send&) { return 1U; },
                          [](const SinkWrite&) { return 1U; },
                      },
                      op);
}

std::string wrong_here(const PlanNode& node) {
    const bool several = std::holds_alternative<UnionAll>(node.op);
    if (several ? node.inputs.empty() : node.inputs.size() != inputs_of(node.op)) {
        return "the number of inputs";
    }
    return std::visit(Overload{
                          [](const LogicalScan&) { return std::string(); },
                          [](const SourceScan&) { return std::string(); },
                          [](const Receive&) { return std::string(); },
                          [&](const Filter& op) { return wrong_filter(op, node); },
                          [&](const Project& op) { return wrong_project(op, node); },
                          [&](const WindowAggregate& op) { return wrong_aggregation(op, node); },
                          [&](const WindowJoin& op) { return wrong_join(op, node); },
                          [&](const UnionAll&) { return wrong_union(node); },
                          [&](const Send&) { return wrong_union(node); },
                          [&](const SinkWrite&) { return wrong_write(node); },
                      },
                      node.op);
}

}  // namespace

std::string what_is_wrong(const PlanNode& root) {
    for (const PlanNode& input : root.inputs) {
        std::string wrong = what_is_wrong(input);
        if (!wrong.empty()) return wrong;
    }
    return wrong_here(root);
}

std::string what_is_wrong(const Expression& expression, const Schema& input) {
    const auto complain = [&](const std::string& what) {
        return what + " in " + to_string(expression, input);
    };
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) {
        if (column->index >= input.columns.size()) return complain("a column that is not there");
        const Column& read = input.columns[column->index];
        if (read.type != expression.type) return complain("a column of another type");
        return read.nullable <= expression.nullable ? "" : complain("a hidden NULL");
    }
    if (const auto* constant = std::get_if<Constant>(&expression.node)) {
        const bool null = std::holds_alternative<std::monostate>(constant->value);
        if (null && !expression.nullable) return complain("a hidden NULL");
        return is_value_of(constant->value, expression.type) ? "" : complain("a constant's type");
    }
    const Call& call = std::get<Call>(expression.node);
    std::string wrong = in_all(call.arguments, input);
    if (!wrong.empty()) return wrong;
    return fits(call, expression.type) ? "" : complain("arguments that do not fit");
}

}  // namespace baton::testing
