#include "testing/plans/builders.h"

#include <algorithm>

namespace baton::testing {

Expression column(const Schema& schema, std::size_t index) {
    const Column& found = schema.columns.at(index);
    return {.node = ColumnIndex{index}, .type = found.type, .nullable = found.nullable};
}

Expression column(const PlanNode& of, std::size_t index) {
    return column(of.schema, index);
}

Expression join_column(const PlanNode& left, const PlanNode& right, std::size_t index) {
    Schema both = left.schema;
    both.columns.insert(both.columns.end(), right.schema.columns.begin(),
                        right.schema.columns.end());
    return column(both, index);
}

Expression number(std::int64_t value) {
    return {.node = Constant{value}, .type = DataType::int64, .nullable = false};
}

Expression truth(bool value) {
    return {.node = Constant{value}, .type = DataType::boolean, .nullable = false};
}

Expression null_of(DataType type) {
    return {.node = Constant{}, .type = type, .nullable = true};
}

Expression call(Function function, std::vector<Expression> arguments) {
    const bool boolean = function >= Function::equal && function <= Function::is_nan;
    const bool nullable =
        function != Function::is_null &&
        std::any_of(arguments.begin(), arguments.end(), [](const auto& e) { return e.nullable; });
    const DataType type = boolean ? DataType::boolean : arguments.back().type;
    return {.node = Call{function, std::move(arguments)}, .type = type, .nullable = nullable};
}

Expression cast_to(DataType type, Expression argument) {
    const bool nullable = argument.nullable;
    return {
        .node = Call{Function::cast, {std::move(argument)}}, .type = type, .nullable = nullable};
}

PlanNode logical_scan(const std::string& source, const Schema& schema) {
    return {.op = LogicalScan{source}, .inputs = {}, .schema = schema};
}

PlanNode source_scan(std::uint64_t id, const std::string& logical, const std::string& worker,
                     const Schema& schema) {
    SourceScan scan{.id = PhysicalSourceId(id),
                    .logical = logical,
                    .worker = worker,
                    .type = "File",
                    .source = {},
                    .format = {},
                    .parsed = schema,
                    .wanted = {}};
    for (std::size_t i = 0; i < schema.columns.size(); ++i) scan.wanted.push_back(i);
    return {.op = std::move(scan), .inputs = {}, .schema = schema};
}

PlanNode filter(PlanNode input, Expression predicate) {
    Schema schema = input.schema;
    return {.op = Filter{std::move(predicate)}, .inputs = {std::move(input)}, .schema = schema};
}

PlanNode project(PlanNode input, std::vector<Expression> expressions,
                 std::vector<std::string> names) {
    Schema schema;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
        const auto* source = std::get_if<ColumnIndex>(&expressions[i].node);
        std::string name = "C" + std::to_string(i);
        if (source != nullptr) name = input.schema.columns.at(source->index).name;
        if (i < names.size()) name = names[i];
        schema.columns.push_back(
            {.name = name, .type = expressions[i].type, .nullable = expressions[i].nullable});
    }
    return {.op = Project{std::move(expressions)}, .inputs = {std::move(input)}, .schema = schema};
}

Aggregate aggregate(AggregateFunction function, std::optional<Expression> argument) {
    Aggregate result{.function = function};
    result.nullable = true;
    switch (function) {
        case AggregateFunction::count_all:
        case AggregateFunction::count:
        case AggregateFunction::count_distinct:
            result.nullable = false;
            break;
        case AggregateFunction::sum:
        case AggregateFunction::min:
        case AggregateFunction::max:
        case AggregateFunction::first:
        case AggregateFunction::last:
            result.type = argument->type;
            break;
        case AggregateFunction::avg:
        case AggregateFunction::median:
        case AggregateFunction::stddev:
        case AggregateFunction::variance:
            result.type = DataType::float64;
            break;
    }
    if (argument) result.argument.push_back(*std::move(argument));
    return result;
}

namespace {

Schema window_columns() {
    return {.columns = {{.name = "START", .type = DataType::uint64, .nullable = false},
                        {.name = "END", .type = DataType::uint64, .nullable = false}}};
}

}  // namespace

PlanNode window_aggregate(PlanNode input, WindowSpec window, std::optional<std::size_t> time,
                          std::vector<Expression> keys, std::vector<Aggregate> aggregates) {
    Schema schema = window_columns();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        schema.columns.push_back({.name = "KEY" + std::to_string(i),
                                  .type = keys[i].type,
                                  .nullable = keys[i].nullable});
    }
    for (std::size_t i = 0; i < aggregates.size(); ++i) {
        schema.columns.push_back({.name = "AGG" + std::to_string(i),
                                  .type = aggregates[i].type,
                                  .nullable = aggregates[i].nullable});
    }
    return {.op = WindowAggregate{.stage = AggregateStage::whole,
                                  .window = window,
                                  .time = time,
                                  .keys = std::move(keys),
                                  .aggregates = std::move(aggregates)},
            .inputs = {std::move(input)},
            .schema = std::move(schema)};
}

PlanNode window_join(PlanNode left, PlanNode right, JoinOn on) {
    Schema schema = window_columns();
    const bool no_left = on.sides == JoinSides::right || on.sides == JoinSides::full;
    const bool no_right = on.sides == JoinSides::left || on.sides == JoinSides::full;
    for (Column c : left.schema.columns) {
        c.nullable = c.nullable || no_left;
        schema.columns.push_back(std::move(c));
    }
    for (Column c : right.schema.columns) {
        c.nullable = c.nullable || no_right;
        schema.columns.push_back(std::move(c));
    }
    return {.op = WindowJoin{.sides = on.sides,
                             .predicate = std::move(on.predicate),
                             .window = on.window,
                             .left_time = on.left_time,
                             .right_time = on.right_time},
            .inputs = {std::move(left), std::move(right)},
            .schema = std::move(schema)};
}

PlanNode union_all(std::vector<PlanNode> inputs) {
    Schema schema = inputs.front().schema;
    for (const PlanNode& input : inputs) {
        for (std::size_t i = 0; i < schema.columns.size(); ++i) {
            schema.columns[i].nullable |= input.schema.columns.at(i).nullable;
        }
    }
    return {.op = UnionAll{}, .inputs = std::move(inputs), .schema = std::move(schema)};
}

PlanNode sink(PlanNode input, const std::string& worker) {
    Schema schema = input.schema;
    return {
        .op = SinkWrite{.name = "K", .worker = worker, .type = "Void", .sink = {}, .format = {}},
        .inputs = {std::move(input)},
        .schema = std::move(schema)};
}

}  // namespace baton::testing
