#include "model/plan_check.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "base/overload.h"
#include "model/aggregate_state.h"

namespace baton {

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

std::string wrong_window(const WindowSpec& window) {
    if (window.size == 0 || window.advance == 0) return "an empty window";
    if (window.size / window.advance > kWindowsPerRowMost) return "too many windows of each row";
    return {};
}

DataType sum_type(DataType type) {
    if (is_float(type)) return type;
    return is_signed(type) ? DataType::int64 : DataType::uint64;
}

// The type of the result follows from the function and, if there is one, its argument; a final has
// none, and then its states have been compared.
bool has_its_type(const Aggregate& aggregate) {
    const bool known = !aggregate.argument.empty();
    const DataType from = known ? aggregate.argument.front().type : aggregate.type;
    switch (aggregate.function) {
        case AggregateFunction::count_all:
        case AggregateFunction::count:
        case AggregateFunction::count_distinct:
            return aggregate.type == DataType::uint64;
        case AggregateFunction::sum:
            return is_number(from) && aggregate.type == sum_type(from);
        case AggregateFunction::min:
        case AggregateFunction::max:
            return is_number(from) && aggregate.type == from;
        case AggregateFunction::avg:
        case AggregateFunction::median:
        case AggregateFunction::stddev:
        case AggregateFunction::variance:
            return (!known || is_number(from)) && aggregate.type == DataType::float64;
        case AggregateFunction::first:
        case AggregateFunction::last:
            return aggregate.type == from;
    }
    return false;
}

bool same_types(const std::vector<Column>& a, const std::vector<Column>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Column& x, const Column& y) {
        return x.type == y.type && x.nullable == y.nullable;
    });
}

// The columns before the aggregates: START, END and the keys.
std::vector<Column> columns_of_keys(const std::vector<Expression>& keys) {
    std::vector<Column> columns = {bound("START"), bound("END")};
    for (const Expression& key : keys) {
        columns.push_back({.name = "", .type = key.type, .nullable = key.nullable});
    }
    return columns;
}

// Appends the states of all aggregates; false if one has none.
bool add_states(const std::vector<Aggregate>& aggregates, std::vector<Column>& columns) {
    for (const Aggregate& each : aggregates) {
        const auto states = states_of(each, "");
        if (!states) return false;
        columns.insert(columns.end(), states->begin(), states->end());
    }
    return true;
}

// Its keys are the columns after START and END, in their order; its input is keys and states.
std::string wrong_final(const WindowAggregate& op, const Schema& input) {
    if (op.time) return "a time where windows are given";
    for (std::size_t i = 0; i < op.keys.size(); ++i) {
        const auto* column = std::get_if<ColumnIndex>(&op.keys[i].node);
        if (column == nullptr || column->index != 2 + i) return "a key that is not its column";
    }
    std::vector<Column> columns = columns_of_keys(op.keys);
    if (!add_states(op.aggregates, columns)) return "an aggregate that has no state";
    return same_types(columns, input.columns) ? "" : "an input that is not its states";
}

std::string wrong_aggregates(const WindowAggregate& op, const Schema& input) {
    for (const Aggregate& each : op.aggregates) {
        const bool none =
            op.stage == AggregateStage::final || each.function == AggregateFunction::count_all;
        if (each.argument.size() != (none ? 0U : 1U)) return "an aggregate of too many or too few";
        std::string wrong = in_all(each.argument, input);
        if (!wrong.empty()) return wrong;
        if (!has_its_type(each)) return "the type of an aggregate";
    }
    return {};
}

std::string wrong_aggregation(const WindowAggregate& op, const PlanNode& node) {
    const Schema& input = node.inputs.front().schema;
    std::string wrong = wrong_window(op.window);
    if (wrong.empty() && !is_time(op.time, input)) wrong = "no time column";
    if (wrong.empty()) wrong = in_all(op.keys, input);
    if (wrong.empty()) wrong = wrong_aggregates(op, input);
    if (wrong.empty() && op.stage == AggregateStage::final) wrong = wrong_final(op, input);
    if (!wrong.empty()) return wrong;
    std::vector<Column> columns = columns_of_keys(op.keys);
    if (op.stage == AggregateStage::partial) {
        if (!add_states(op.aggregates, columns)) return "an aggregate that has no state";
    } else {
        for (const Aggregate& each : op.aggregates) {
            columns.push_back({.name = "", .type = each.type, .nullable = each.nullable});
        }
    }
    return same_types(columns, node.schema.columns) ? "" : "the schema of an aggregation";
}

std::string wrong_join(const WindowJoin& op, const PlanNode& node) {
    const Schema& left = node.inputs[0].schema;
    const Schema& right = node.inputs[1].schema;
    std::string wrong = wrong_window(op.window);
    if (!wrong.empty()) return wrong;
    if (!is_time(op.left_time, left) || !is_time(op.right_time, right)) return "no time column";
    Schema both = left;
    both.columns.insert(both.columns.end(), right.columns.begin(), right.columns.end());
    wrong = what_is_wrong(op.predicate, both);
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
    return same_types(schema.columns, node.schema.columns) ? "" : "the schema of a join";
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
    return same_types(node.inputs.front().schema.columns, node.schema.columns) ? ""
                                                                               : "a changed schema";
}

std::string wrong_scan(const SourceScan& op, const PlanNode& node) {
    if (op.parsed.columns.empty()) return "a source without columns";
    std::vector<Column> columns;
    for (const std::size_t index : op.wanted) {
        if (index >= op.parsed.columns.size()) return "a column that is not there";
        columns.push_back(op.parsed.columns[index]);
    }
    return same_types(columns, node.schema.columns) ? "" : "other columns than are wanted";
}

std::string wrong_receive(const Receive& op) {
    const std::set<std::string_view> different(op.senders.begin(), op.senders.end());
    if (op.senders.empty() || different.size() != op.senders.size()) return "no list of senders";
    return {};
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
                          [&](const SourceScan& op) { return wrong_scan(op, node); },
                          [](const Receive& op) { return wrong_receive(op); },
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

std::string_view name_of(const Operator& op) {
    return std::visit(Overload{
                          [](const LogicalScan&) { return "a logical source"; },
                          [](const SourceScan&) { return "a source"; },
                          [](const Receive&) { return "the receiving end of an exchange"; },
                          [](const Filter&) { return "a filter"; },
                          [](const Project&) { return "a projection"; },
                          [](const WindowAggregate&) { return "an aggregation"; },
                          [](const WindowJoin&) { return "a join"; },
                          [](const UnionAll&) { return "a union"; },
                          [](const Send&) { return "the sending end of an exchange"; },
                          [](const SinkWrite&) { return "a sink"; },
                      },
                      op);
}

bool is_terminal(const Operator& op) {
    return std::holds_alternative<Send>(op) || std::holds_alternative<SinkWrite>(op);
}

// Below a root. The exchanges are those that the fragment receives from.
std::string misplaced(const PlanNode& node, std::set<std::uint64_t>& exchanges) {
    if (is_terminal(node.op) || std::holds_alternative<LogicalScan>(node.op)) {
        return std::string(name_of(node.op)) + " stands within it";
    }
    if (const auto* receive = std::get_if<Receive>(&node.op)) {
        if (!exchanges.insert(receive->exchange).second) return "it receives an exchange twice";
    }
    for (const PlanNode& input : node.inputs) {
        std::string wrong = misplaced(input, exchanges);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

std::string what_is_wrong(const FragmentPlan& plan) {
    std::set<std::uint64_t> received;
    std::set<std::uint64_t> sent;
    for (const PlanNode& root : plan.roots) {
        std::string wrong = what_is_wrong(root);
        if (!wrong.empty()) return wrong;
        if (!is_terminal(root.op)) return std::string(name_of(root.op)) + " is its root";
        const auto* send = std::get_if<Send>(&root.op);
        if (send != nullptr && !sent.insert(send->exchange).second) {
            return "it sends to an exchange twice";
        }
        wrong = misplaced(root.inputs.front(), received);
        if (!wrong.empty()) return wrong;
    }
    return plan.roots.empty() ? "it has no root" : "";
}

// The expression is a client's; an error says no more of it than can be read.
std::string excerpt(const std::string& text) {
    constexpr std::size_t kMost = 200;
    if (text.size() <= kMost) return text;
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) end -= 1;
    return text.substr(0, end) + "..";
}

}  // namespace

std::string what_is_wrong(const PlanNode& root) {
    for (std::size_t i = 0; i < root.inputs.size(); ++i) {
        std::string wrong = what_is_wrong(root.inputs[i]);
        if (!wrong.empty()) return wrong;
    }
    const std::string wrong = wrong_here(root);
    return wrong.empty() ? wrong : std::string(name_of(root.op)) + " has " + wrong;
}

std::size_t leaves_of(const PlanNode& node) {
    if (node.inputs.empty()) return 1;
    std::size_t leaves = 0;
    for (const PlanNode& input : node.inputs) leaves += leaves_of(input);
    return leaves;
}

std::size_t leaves_of(const FragmentPlan& plan) {
    std::size_t leaves = 0;
    for (const PlanNode& root : plan.roots) leaves += leaves_of(root);
    return leaves;
}

Result<Done> check_leaves(const FragmentPlan& plan) {
    const std::size_t leaves = leaves_of(plan);
    if (leaves <= kLeavesMost) return Done{};
    return Error{.code = ErrorCode::too_large,
                 .message = "cannot run the query: worker \"" + plan.worker + "\" would read in " +
                            std::to_string(leaves) + " places at once, but can in " +
                            std::to_string(kLeavesMost),
                 .hint = "name fewer sources in a query, or spread them over more workers"};
}

Result<Done> check_plan(const FragmentPlan& plan) {
    const std::string wrong = what_is_wrong(plan);
    if (wrong.empty()) return Done{};
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "cannot run the plan of a fragment: " + excerpt(wrong),
                 .hint = "run the same version of baton everywhere"};
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

}  // namespace baton
