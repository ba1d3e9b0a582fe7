#include "core/optimizer/prune.h"

#include <algorithm>
#include <map>

#include "base/overload.h"
#include "core/optimizer/expressions.h"
#include "core/optimizer/split.h"
#include "core/optimizer/types.h"

namespace baton::optimizer {

namespace {

using Columns = std::set<std::size_t>;

// A plan that gives at least the columns that were asked for, and where they are now.
struct Narrow {
    PlanNode node;
    std::map<std::size_t, std::size_t> position;  // by the old one

    [[nodiscard]] Expression moved(Expression expression) const {
        return baton::optimizer::moved(std::move(expression),
                                       [&](std::size_t i) { return position.at(i); });
    }
};

Narrow narrow(const PlanNode& node, const Columns& needed);

std::map<std::size_t, std::size_t> positions_of(const Columns& kept) {
    std::map<std::size_t, std::size_t> position;
    for (const std::size_t column : kept) position.emplace(column, position.size());
    return position;
}

Schema chosen(const Schema& schema, const Columns& kept) {
    Schema result;
    for (const std::size_t column : kept) result.columns.push_back(schema.columns.at(column));
    return result;
}

// Rows need a column to be counted by: the smallest one.
Columns at_least_one(Columns needed, const Schema& schema) {
    if (!needed.empty()) return needed;
    const auto smallest = std::min_element(schema.columns.begin(), schema.columns.end(),
                                           [](const Column& a, const Column& b) {
                                               return sent_width_of(a.type) < sent_width_of(b.type);
                                           });
    needed.insert(static_cast<std::size_t>(smallest - schema.columns.begin()));
    return needed;
}

// The columns `needed`, and no others.
PlanNode exactly(Narrow from, const Columns& needed) {
    if (from.node.schema.columns.size() == needed.size()) return std::move(from.node);
    PlanNode result{.op = Project{}, .inputs = {}, .schema = {}};
    for (const std::size_t column : needed) {
        const std::size_t now = from.position.at(column);
        std::get<Project>(result.op).expressions.push_back(column_of(from.node.schema, now));
        result.schema.columns.push_back(from.node.schema.columns[now]);
    }
    result.inputs.push_back(std::move(from.node));
    return result;
}

Columns all_of(const Schema& schema) {
    Columns all;
    for (std::size_t i = 0; i < schema.columns.size(); ++i) all.insert(i);
    return all;
}

// An operator that needs all that its inputs give.
Narrow keep_all(const PlanNode& node) {
    Narrow result{.node = node, .position = positions_of(all_of(node.schema))};
    for (PlanNode& input : result.node.inputs) {
        const Columns all = all_of(input.schema);
        input = exactly(narrow(input, all), all);
    }
    return result;
}

Narrow narrow_scan(const PlanNode& node, const Columns& needed) {
    const Columns kept = at_least_one(needed, node.schema);
    Narrow result{.node = node, .position = positions_of(kept)};
    result.node.schema = chosen(node.schema, kept);
    if (auto* scan = std::get_if<SourceScan>(&result.node.op)) {
        std::vector<std::size_t> wanted;
        for (const std::size_t column : kept) wanted.push_back(scan->wanted.at(column));
        scan->wanted = std::move(wanted);
    }
    return result;
}

Narrow narrow_filter(const PlanNode& node, const Filter& filter, Columns needed) {
    collect_columns(filter.predicate, needed);
    Narrow input = narrow(node.inputs.front(), needed);
    Narrow result{.node = {.op = Filter{input.moved(filter.predicate)},
                           .inputs = {},
                           .schema = input.node.schema},
                  .position = input.position};
    result.node.inputs.push_back(std::move(input.node));
    return result;
}

Narrow narrow_project(const PlanNode& node, const Project& project, const Columns& needed) {
    const Columns kept = at_least_one(needed, node.schema);
    Columns read;
    for (const std::size_t column : kept) collect_columns(project.expressions.at(column), read);
    Narrow input = narrow(node.inputs.front(), read);
    Project result;
    for (const std::size_t column : kept) {
        result.expressions.push_back(input.moved(project.expressions[column]));
    }
    return {.node = {.op = std::move(result),
                     .inputs = {std::move(input.node)},
                     .schema = chosen(node.schema, kept)},
            .position = positions_of(kept)};
}

Narrow narrow_aggregate(const PlanNode& node, const WindowAggregate& aggregate,
                        const Columns& needed) {
    if (aggregate.stage != AggregateStage::whole) return keep_all(node);
    const std::size_t keys_end = 2 + aggregate.keys.size();
    Columns kept;
    Columns read;
    WindowAggregate result = aggregate;
    result.aggregates.clear();
    for (const Expression& key : aggregate.keys) collect_columns(key, read);
    if (aggregate.time) read.insert(*aggregate.time);
    for (std::size_t i = 0; i < node.schema.columns.size(); ++i) {
        if (i >= keys_end && !needed.contains(i)) continue;
        kept.insert(i);
        if (i < keys_end) continue;
        result.aggregates.push_back(aggregate.aggregates.at(i - keys_end));
        for (const Expression& e : result.aggregates.back().argument) collect_columns(e, read);
    }
    read = at_least_one(read, node.inputs.front().schema);
    Narrow input = narrow(node.inputs.front(), read);
    if (!can_split(result)) {
        PlanNode exact = exactly(std::move(input), read);
        input = {.node = std::move(exact), .position = positions_of(read)};
    }
    for (Expression& key : result.keys) key = input.moved(std::move(key));
    if (result.time) result.time = input.position.at(*result.time);
    for (Aggregate& each : result.aggregates) {
        for (Expression& e : each.argument) e = input.moved(std::move(e));
    }
    return {.node = {.op = std::move(result),
                     .inputs = {std::move(input.node)},
                     .schema = chosen(node.schema, kept)},
            .position = positions_of(kept)};
}

Narrow narrow_join(const PlanNode& node, const WindowJoin& join, const Columns& needed) {
    const std::size_t left_size = node.inputs[0].schema.columns.size();
    Columns left;
    Columns right;
    const auto read = [&](std::size_t column) {  // counted from the first one of the left side
        if (column < left_size) left.insert(column);
        if (column >= left_size) right.insert(column - left_size);
    };
    for (const std::size_t column : needed) {
        if (column >= 2) read(column - 2);
    }
    for (const std::size_t column : columns_in(join.predicate)) read(column);
    if (join.left_time) left.insert(*join.left_time);
    if (join.right_time) right.insert(*join.right_time);
    left = at_least_one(left, node.inputs[0].schema);
    right = at_least_one(right, node.inputs[1].schema);
    const auto new_left = positions_of(left);
    const auto new_right = positions_of(right);

    WindowJoin result = join;
    result.predicate = moved(std::move(result.predicate), [&](std::size_t column) {
        if (column < left_size) return new_left.at(column);
        return left.size() + new_right.at(column - left_size);
    });
    if (result.left_time) result.left_time = new_left.at(*result.left_time);
    if (result.right_time) result.right_time = new_right.at(*result.right_time);
    Columns kept = {0, 1};
    for (const std::size_t column : left) kept.insert(2 + column);
    for (const std::size_t column : right) kept.insert(2 + left_size + column);
    return {.node = {.op = std::move(result),
                     .inputs = {exactly(narrow(node.inputs[0], left), left),
                                exactly(narrow(node.inputs[1], right), right)},
                     .schema = chosen(node.schema, kept)},
            .position = positions_of(kept)};
}

Narrow narrow_union(const PlanNode& node, const Columns& needed) {
    const Columns kept = at_least_one(needed, node.schema);
    Narrow result{.node = {.op = UnionAll{}, .inputs = {}, .schema = chosen(node.schema, kept)},
                  .position = positions_of(kept)};
    for (const PlanNode& branch : node.inputs) {
        result.node.inputs.push_back(exactly(narrow(branch, kept), kept));
    }
    return result;
}

Narrow narrow(const PlanNode& node, const Columns& needed) {
    return std::visit(
        Overload{
            [&](const LogicalScan&) { return narrow_scan(node, needed); },
            [&](const SourceScan&) { return narrow_scan(node, needed); },
            [&](const Receive&) { return keep_all(node); },
            [&](const Filter& op) { return narrow_filter(node, op, needed); },
            [&](const Project& op) { return narrow_project(node, op, needed); },
            [&](const WindowAggregate& op) { return narrow_aggregate(node, op, needed); },
            [&](const WindowJoin& op) { return narrow_join(node, op, needed); },
            [&](const UnionAll&) { return narrow_union(node, needed); },
            [&](const Send&) { return keep_all(node); },
            [&](const SinkWrite&) { return keep_all(node); },
        },
        node.op);
}

}  // namespace

PlanNode pruned(const PlanNode& root) {
    const Columns all = all_of(root.schema);
    return exactly(narrow(root, all), all);
}

}  // namespace baton::optimizer
