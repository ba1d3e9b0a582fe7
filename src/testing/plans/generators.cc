#include "testing/plans/generators.h"

#include <rapidcheck.h>

#include "testing/plans/builders.h"

namespace baton::testing {

namespace {

std::size_t up_to(std::size_t most) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, most + 1));
}

bool one_in(std::size_t n) {
    return up_to(n - 1) == 0;
}

Schema table_schema() {
    return {.columns = {{.name = "TS", .type = DataType::uint64, .nullable = false},
                        {.name = "A", .type = DataType::int64, .nullable = true},
                        {.name = "B", .type = DataType::int64, .nullable = false},
                        {.name = "C", .type = DataType::varsized, .nullable = true}}};
}

Row any_row() {
    static const std::vector<std::string> kTexts = {"x", "y", "zz"};
    Row row = {std::uint64_t{up_to(30)}, Value(), static_cast<std::int64_t>(up_to(4)) - 1, Value()};
    if (!one_in(4)) row[1] = static_cast<std::int64_t>(up_to(4)) - 1;
    if (!one_in(4)) row[3] = kTexts[up_to(2)];
    return row;
}

// The columns of a type.
std::vector<std::size_t> columns_with(const Schema& schema, DataType type) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
        if (schema.columns[i].type == type) found.push_back(i);
    }
    return found;
}

Expression constant_of(DataType type) {
    if (one_in(8)) return null_of(type);
    Expression result{.node = Constant{}, .type = type, .nullable = false};
    auto& value = std::get<Constant>(result.node).value;
    if (type == DataType::int64) value = static_cast<std::int64_t>(up_to(4)) - 1;
    if (type == DataType::uint64) value = std::uint64_t{up_to(20)};
    if (type == DataType::float64) value = static_cast<double>(up_to(4));
    if (type == DataType::boolean) value = one_in(2);
    if (type == DataType::varsized) value = std::string(one_in(2) ? "x" : "zz");
    return result;
}

Expression any_expression(const Schema& schema, DataType type, std::size_t depth) {
    const std::vector<std::size_t> columns = columns_with(schema, type);
    if (type == DataType::int64 && depth > 0 && one_in(3)) {
        static constexpr Function kFunctions[] = {Function::add, Function::subtract,
                                                  Function::multiply, Function::divide,
                                                  Function::modulo};
        return call(kFunctions[up_to(4)], {any_expression(schema, type, depth - 1),
                                           any_expression(schema, type, depth - 1)});
    }
    if (depth > 0 && one_in(8)) {
        return call(Function::conditional,
                    {any_predicate(schema, depth - 1), any_expression(schema, type, depth - 1),
                     any_expression(schema, type, depth - 1)});
    }
    if (columns.empty() || one_in(5)) return constant_of(type);
    return column(schema, columns[up_to(columns.size() - 1)]);
}

DataType any_type_in(const Schema& schema) {
    const DataType type = schema.columns[up_to(schema.columns.size() - 1)].type;
    return type == DataType::boolean ? DataType::int64 : type;
}

WindowSpec any_window() {
    const std::uint64_t size = 5 + up_to(10);
    if (one_in(2)) return {.size = size, .advance = size};
    return {.size = size, .advance = 1 + up_to(2 * size)};
}

std::optional<std::size_t> any_time(const Schema& schema) {
    const std::vector<std::size_t> columns = columns_with(schema, DataType::uint64);
    if (columns.empty() || one_in(6)) return std::nullopt;
    return columns[up_to(columns.size() - 1)];
}

PlanNode any_node(std::size_t depth);

PlanNode any_project(std::size_t depth) {
    PlanNode input = any_node(depth - 1);
    std::vector<Expression> expressions;
    for (std::size_t i = 0; i <= up_to(3); ++i) {
        expressions.push_back(any_expression(input.schema, any_type_in(input.schema), 2));
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < expressions.size(); ++i) names.push_back("P" + std::to_string(i));
    return project(std::move(input), std::move(expressions), std::move(names));
}

PlanNode any_aggregate(std::size_t depth) {
    static constexpr AggregateFunction kOfNumbers[] = {
        AggregateFunction::count,  AggregateFunction::sum,      AggregateFunction::min,
        AggregateFunction::max,    AggregateFunction::avg,      AggregateFunction::median,
        AggregateFunction::stddev, AggregateFunction::variance, AggregateFunction::count_distinct,
    };
    PlanNode input = any_node(depth - 1);
    std::vector<Expression> keys;
    for (std::size_t i = up_to(2); i > 0; --i) {
        keys.push_back(any_expression(input.schema, any_type_in(input.schema), 1));
    }
    std::vector<Aggregate> aggregates;
    for (std::size_t i = up_to(2); i > 0; --i) {
        if (one_in(3)) {
            aggregates.push_back(aggregate(AggregateFunction::count_all));
        } else {
            aggregates.push_back(
                aggregate(kOfNumbers[up_to(8)], any_expression(input.schema, DataType::int64, 1)));
        }
    }
    const auto time = any_time(input.schema);
    return window_aggregate(std::move(input), any_window(), time, std::move(keys),
                            std::move(aggregates));
}

PlanNode any_join(std::size_t depth) {
    PlanNode left = any_node(depth - 1);
    PlanNode right = any_node(depth - 1);
    Schema both = left.schema;
    both.columns.insert(both.columns.end(), right.schema.columns.begin(),
                        right.schema.columns.end());
    JoinOn on{.sides = static_cast<JoinSides>(up_to(3)),
              .predicate = any_predicate(both, 2),
              .window = any_window(),
              .left_time = any_time(left.schema),
              .right_time = any_time(right.schema)};
    return window_join(std::move(left), std::move(right), std::move(on));
}

// Both branches are cut down to columns of the same types.
PlanNode any_union(std::size_t depth) {
    std::vector<PlanNode> branches;
    const std::vector<DataType> types = {DataType::int64, DataType::uint64};
    for (std::size_t i = 0; i < 2; ++i) {
        PlanNode input = any_node(depth - 1);
        std::vector<Expression> expressions;
        for (const DataType type : types) {
            expressions.push_back(any_expression(input.schema, type, 1));
        }
        branches.push_back(project(std::move(input), std::move(expressions), {"U", "V"}));
    }
    return union_all(std::move(branches));
}

PlanNode any_node(std::size_t depth) {
    if (depth == 0) return logical_scan(one_in(2) ? "S" : "T", table_schema());
    switch (up_to(7)) {
        case 0:
            return any_node(0);
        case 1:
        case 2:
            return any_project(depth);
        case 3:
            return any_aggregate(depth);
        case 4:
            return any_join(depth);
        case 5:
            return any_union(depth);
        default: {
            PlanNode input = any_node(depth - 1);
            Expression predicate = any_predicate(input.schema, 2);
            return filter(std::move(input), std::move(predicate));
        }
    }
}

}  // namespace

Expression any_predicate(const Schema& schema, std::size_t depth) {
    if (depth > 0 && !one_in(3)) {
        if (one_in(5)) return call(Function::logical_not, {any_predicate(schema, depth - 1)});
        std::vector<Expression> parts;
        for (std::size_t i = 0; i < 2 + up_to(1); ++i) {
            parts.push_back(any_predicate(schema, depth - 1));
        }
        return call(one_in(3) ? Function::logical_or : Function::logical_and, std::move(parts));
    }
    const DataType type = any_type_in(schema);
    switch (up_to(6)) {
        case 3:
            return call(Function::between, {any_expression(schema, type, depth), constant_of(type),
                                            any_expression(schema, type, depth)});
        case 0:
            return call(Function::is_null, {any_expression(schema, type, depth)});
        case 1:
            return call(Function::in_list, {any_expression(schema, type, depth), constant_of(type),
                                            constant_of(type)});
        case 2:
            return constant_of(DataType::boolean);
        default: {
            const auto first = static_cast<std::size_t>(Function::equal);
            return call(static_cast<Function>(first + up_to(5)),
                        {any_expression(schema, type, depth), any_expression(schema, type, depth)});
        }
    }
}

PlanNode any_plan(std::size_t depth) {
    return sink(any_node(depth));
}

World any_world() {
    World world;
    std::uint64_t id = 0;
    for (const char* name : {"S", "T"}) {
        world.logical[name] = {.name = name, .schema = table_schema(), .revision = Revision(1)};
        for (std::size_t i = 1 + up_to(2); i > 0; --i) {
            const PhysicalSourceId source(++id);
            world.physical.push_back({.id = source,
                                      .logical = name,
                                      .worker = "W" + std::to_string(1 + up_to(3)),
                                      .type = "File",
                                      .source = {},
                                      .format = {},
                                      .revision = Revision(1)});
            TestTable table{.logical = name, .schema = table_schema(), .rows = {}};
            for (std::size_t row = up_to(3); row > 0; --row) table.rows.push_back(any_row());
            world.tables.emplace(source, std::move(table));
        }
    }
    return world;
}

}  // namespace baton::testing
