#include "testing/plan_text.h"

#include <array>
#include <string_view>

#include "base/overload.h"
#include "base/text.h"

namespace baton::testing {

namespace {

std::string type_text(DataType type, bool nullable) {
    return std::string(to_string(type)) + (nullable ? "" : " NOT NULL");
}

std::string column_text(const Column& column) {
    return printed_name(column.name) + " " + type_text(column.type, column.nullable);
}

std::string schema_text(const Schema& schema) {
    std::vector<std::string> columns;
    for (const Column& column : schema.columns) columns.push_back(column_text(column));
    return "(" + join(columns, ", ") + ")";
}

std::string window_text(const WindowSpec& window) {
    return "size " + std::to_string(window.size) + " advance " + std::to_string(window.advance);
}

std::string time_text(const std::optional<std::size_t>& time, const Schema& input) {
    return time ? printed_name(input.columns.at(*time).name) : "arrival";
}

std::string aggregate_text(const Aggregate& aggregate, const Schema& input) {
    constexpr std::array<std::string_view, 12> kNames = {
        "COUNT", "COUNT",  "COUNT DISTINCT", "SUM",      "MIN",   "MAX",
        "AVG",   "MEDIAN", "STDDEV",         "VARIANCE", "FIRST", "LAST"};
    const std::string argument =
        aggregate.argument.empty() ? "*" : to_string(aggregate.argument.front(), input);
    return std::string(kNames.at(static_cast<std::size_t>(aggregate.function))) + "(" + argument +
           ")";
}

std::string aggregation_text(const WindowAggregate& node, const Schema& input) {
    std::vector<std::string> keys;
    for (const Expression& key : node.keys) keys.push_back(to_string(key, input));
    std::vector<std::string> aggregates;
    for (const Aggregate& each : node.aggregates) aggregates.push_back(aggregate_text(each, input));
    return "aggregate " + window_text(node.window) + " time " + time_text(node.time, input) +
           " by [" + join(keys, ", ") + "] of [" + join(aggregates, ", ") + "]";
}

std::string join_text(const WindowJoin& node, const PlanNode& whole) {
    constexpr std::array<std::string_view, 4> kSides = {"inner", "left", "right", "full"};
    const Schema& left = whole.inputs.at(0).schema;
    const Schema& right = whole.inputs.at(1).schema;
    Schema both;
    for (const Column& column : left.columns) both.columns.push_back({.name = "L_" + column.name});
    for (const Column& column : right.columns) both.columns.push_back({.name = "R_" + column.name});
    return std::string(kSides.at(static_cast<std::size_t>(node.sides))) + " join " +
           window_text(node.window) + " time " + time_text(node.left_time, left) + ", " +
           time_text(node.right_time, right) + " on " + to_string(node.predicate, both);
}

std::string project_text(const Project& node, const PlanNode& whole) {
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < node.expressions.size(); ++i) {
        columns.push_back(printed_name(whole.schema.columns.at(i).name) + " = " +
                          to_string(node.expressions[i], whole.inputs.at(0).schema));
    }
    return "project " + join(columns, ", ");
}

std::string operator_text(const PlanNode& node) {
    const auto input = [&]() -> const Schema& { return node.inputs.at(0).schema; };
    return std::visit(
        Overload{
            [](const LogicalScan& op) { return "scan " + op.source; },
            [](const SourceScan& op) { return "source " + op.type + " on '" + op.worker + "'"; },
            [](const Receive& op) { return "receive " + std::to_string(op.exchange); },
            [&](const Filter& op) { return "filter " + to_string(op.predicate, input()); },
            [&](const Project& op) { return project_text(op, node); },
            [&](const WindowAggregate& op) { return aggregation_text(op, input()); },
            [&](const WindowJoin& op) { return join_text(op, node); },
            [](const UnionAll&) { return std::string("union"); },
            [](const Send& op) { return "send " + std::to_string(op.exchange); },
            [](const SinkWrite& op) {
                return "sink " + op.name.value_or(op.type + " on '" + op.worker + "'");
            },
        },
        node.op);
}

void print(const PlanNode& node, std::size_t depth, std::string& text) {
    // Those give what they get, or what everybody knows.
    const bool plain = std::holds_alternative<Filter>(node.op) ||
                       std::holds_alternative<SinkWrite>(node.op) ||
                       std::holds_alternative<LogicalScan>(node.op);
    text += std::string(2 * depth, ' ') + operator_text(node) +
            (plain ? "" : " " + schema_text(node.schema)) + "\n";
    for (const PlanNode& input : node.inputs) print(input, depth + 1, text);
}

}  // namespace

std::string plan_text(const PlanNode& root) {
    std::string text;
    print(root, 0, text);
    return text;
}

}  // namespace baton::testing
