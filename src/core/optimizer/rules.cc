#include "core/optimizer/rules.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/overload.h"
#include "core/optimizer/expressions.h"
#include "core/optimizer/fold.h"

namespace baton::optimizer {

namespace {

template <class Op>
const Op* as(const PlanNode& node) {
    return std::get_if<Op>(&node.op);
}

// The operator below, if it is of that kind.
template <class Op>
const Op* input_as(const PlanNode& node) {
    return as<Op>(node.inputs.front());
}

PlanNode filtered(PlanNode input, std::vector<Expression> conjuncts) {
    if (conjuncts.empty()) return input;
    Schema schema = input.schema;
    std::vector<PlanNode> inputs;
    inputs.push_back(std::move(input));
    return {.op = Filter{conjunction_of(std::move(conjuncts))},
            .inputs = std::move(inputs),
            .schema = std::move(schema)};
}

bool reads_only(const Expression& expression, std::size_t from, std::size_t end) {
    const std::set<std::size_t> columns = columns_in(expression);
    return std::all_of(columns.begin(), columns.end(),
                       [&](std::size_t column) { return column >= from && column < end; });
}

// Takes those out of `from` that the predicate accepts.
template <class Accepts>
std::vector<Expression> taken(std::vector<Expression>& from, Accepts accepts) {
    std::vector<Expression> accepted;
    std::vector<Expression> left;
    for (Expression& expression : from) {
        (accepts(expression) ? accepted : left).push_back(std::move(expression));
    }
    from = std::move(left);
    return accepted;
}

void shift(std::vector<Expression>& expressions, std::size_t by) {
    for (Expression& expression : expressions) {
        expression = moved(std::move(expression), [by](std::size_t i) { return i - by; });
    }
}

void add(std::vector<Expression>& to, std::vector<Expression> more) {
    std::move(more.begin(), more.end(), std::back_inserter(to));
}

}  // namespace

std::optional<PlanNode> fold_constants(const PlanNode& node) {
    PlanNode result = node;
    const auto fold = [](Expression& expression) { expression = folded(std::move(expression)); };
    std::visit(Overload{
                   [&](Filter& op) { fold(op.predicate); },
                   [&](Project& op) {
                       for (Expression& expression : op.expressions) fold(expression);
                   },
                   [&](WindowAggregate& op) {
                       for (Expression& key : op.keys) fold(key);
                       for (Aggregate& aggregate : op.aggregates) {
                           for (Expression& argument : aggregate.argument) fold(argument);
                       }
                   },
                   [&](WindowJoin& op) { fold(op.predicate); },
                   [](LogicalScan&) {},
                   [](SourceScan&) {},
                   [](Receive&) {},
                   [](UnionAll&) {},
                   [](Send&) {},
                   [](SinkWrite&) {},
               },
               result.op);
    if (result.op == node.op) return std::nullopt;
    return result;
}

std::optional<PlanNode> drop_true_filter(const PlanNode& node) {
    const auto* filter = as<Filter>(node);
    if (filter == nullptr) return std::nullopt;
    const auto* constant = std::get_if<Constant>(&filter->predicate.node);
    if (constant == nullptr || constant->value != Value(true)) return std::nullopt;
    return node.inputs.front();
}

std::optional<PlanNode> merge_filters(const PlanNode& node) {
    const auto* upper = as<Filter>(node);
    if (upper == nullptr || can_fail(upper->predicate)) return std::nullopt;
    const auto* lower = input_as<Filter>(node);
    if (lower == nullptr) return std::nullopt;
    std::vector<Expression> conjuncts = conjuncts_of(lower->predicate);
    add(conjuncts, conjuncts_of(upper->predicate));
    return filtered(node.inputs.front().inputs.front(), std::move(conjuncts));
}

std::optional<PlanNode> push_filter_through_project(const PlanNode& node) {
    const auto* filter = as<Filter>(node);
    if (filter == nullptr) return std::nullopt;
    const auto* project = input_as<Project>(node);
    if (project == nullptr || grows_too_large(filter->predicate, project->expressions)) {
        return std::nullopt;
    }
    PlanNode result = node.inputs.front();
    result.inputs.front() = filtered(std::move(result.inputs.front()),
                                     {substituted(filter->predicate, project->expressions)});
    return result;
}

std::optional<PlanNode> push_filter_through_union(const PlanNode& node) {
    const auto* filter = as<Filter>(node);
    if (filter == nullptr || input_as<UnionAll>(node) == nullptr) return std::nullopt;
    const std::size_t branches = node.inputs.front().inputs.size();
    if (copies_grow_too_large(filter->predicate, branches)) return std::nullopt;
    PlanNode result = node.inputs.front();
    for (PlanNode& branch : result.inputs) {
        branch = filtered(std::move(branch), {filter->predicate});
    }
    return result;
}

std::optional<PlanNode> push_filter_through_aggregate(const PlanNode& node) {
    const auto* filter = as<Filter>(node);
    if (filter == nullptr) return std::nullopt;
    const auto* aggregate = input_as<WindowAggregate>(node);
    if (aggregate == nullptr || aggregate->stage != AggregateStage::whole) return std::nullopt;
    const std::size_t keys_end = 2 + aggregate->keys.size();
    const auto over_keys = [](Expression e) {
        return moved(std::move(e), [](std::size_t column) { return column - 2; });
    };
    // A row may belong to no window, so that its key is never computed.
    const auto movable = [&](const Expression& e) {
        if (!reads_only(e, 2, keys_end)) return false;
        const Expression key = over_keys(e);
        return !grows_too_large(key, aggregate->keys) &&
               !can_fail(substituted(key, aggregate->keys));
    };
    std::vector<Expression> stay = conjuncts_of(filter->predicate);
    std::vector<Expression> go = taken(stay, movable);
    if (go.empty()) return std::nullopt;
    for (Expression& e : go) e = substituted(over_keys(std::move(e)), aggregate->keys);
    PlanNode result = node.inputs.front();
    result.inputs.front() = filtered(std::move(result.inputs.front()), std::move(go));
    return filtered(std::move(result), std::move(stay));
}

std::optional<PlanNode> push_filter_into_join(const PlanNode& node) {
    const auto* filter = as<Filter>(node);
    if (filter == nullptr) return std::nullopt;
    const auto* join = input_as<WindowJoin>(node);
    if (join == nullptr) return std::nullopt;
    PlanNode result = node.inputs.front();
    const std::size_t left_end = 2 + result.inputs[0].schema.columns.size();
    const std::size_t end = left_end + result.inputs[1].schema.columns.size();
    const bool keeps_left = join->sides == JoinSides::inner || join->sides == JoinSides::left;
    const bool keeps_right = join->sides == JoinSides::inner || join->sides == JoinSides::right;
    const auto movable = [&](std::size_t from, std::size_t to) {
        return [from, to](const Expression& e) { return reads_only(e, from, to) && !can_fail(e); };
    };
    std::vector<Expression> stay = conjuncts_of(filter->predicate);
    std::vector<Expression> left;
    std::vector<Expression> right;
    std::vector<Expression> both;
    if (keeps_left) left = taken(stay, movable(2, left_end));
    if (keeps_right) right = taken(stay, movable(left_end, end));
    if (join->sides == JoinSides::inner) both = taken(stay, movable(2, end));
    if (left.empty() && right.empty() && both.empty()) return std::nullopt;
    shift(left, 2);
    shift(right, left_end);
    shift(both, 2);
    result.inputs[0] = filtered(std::move(result.inputs[0]), std::move(left));
    result.inputs[1] = filtered(std::move(result.inputs[1]), std::move(right));
    if (!both.empty()) {
        std::vector<Expression> predicate = conjuncts_of(join->predicate);
        add(predicate, std::move(both));
        std::get<WindowJoin>(result.op).predicate = conjunction_of(std::move(predicate));
    }
    return filtered(std::move(result), std::move(stay));
}

std::optional<PlanNode> push_predicate_into_sides(const PlanNode& node) {
    const auto* join = as<WindowJoin>(node);
    if (join == nullptr) return std::nullopt;
    const std::size_t left_end = node.inputs[0].schema.columns.size();
    const std::size_t end = left_end + node.inputs[1].schema.columns.size();
    const bool into_left = join->sides == JoinSides::inner || join->sides == JoinSides::right;
    const bool into_right = join->sides == JoinSides::inner || join->sides == JoinSides::left;
    const auto movable = [](std::size_t from, std::size_t to) {
        return [from, to](const Expression& e) {
            return !is_constant(e) && reads_only(e, from, to) && !can_fail(e);
        };
    };
    std::vector<Expression> stay = conjuncts_of(join->predicate);
    std::vector<Expression> left;
    std::vector<Expression> right;
    if (into_left) left = taken(stay, movable(0, left_end));
    if (into_right) right = taken(stay, movable(left_end, end));
    if (left.empty() && right.empty()) return std::nullopt;
    shift(right, left_end);
    PlanNode result = node;
    result.inputs[0] = filtered(std::move(result.inputs[0]), std::move(left));
    result.inputs[1] = filtered(std::move(result.inputs[1]), std::move(right));
    std::get<WindowJoin>(result.op).predicate = conjunction_of(std::move(stay));
    return result;
}

namespace {

void count_uses(const Expression& expression, std::vector<std::size_t>& uses) {
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) uses[column->index] += 1;
    if (const auto* call = std::get_if<Call>(&expression.node)) {
        for (const Expression& argument : call->arguments) count_uses(argument, uses);
    }
}

}  // namespace

std::optional<PlanNode> merge_projects(const PlanNode& node) {
    const auto* upper = as<Project>(node);
    if (upper == nullptr) return std::nullopt;
    const auto* lower = input_as<Project>(node);
    if (lower == nullptr) return std::nullopt;
    std::vector<std::size_t> uses(lower->expressions.size());
    for (const Expression& expression : upper->expressions) count_uses(expression, uses);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const bool computed = std::holds_alternative<Call>(lower->expressions[i].node);
        if (computed && uses[i] > 1) return std::nullopt;
    }
    PlanNode result = node;
    for (Expression& expression : std::get<Project>(result.op).expressions) {
        const bool nullable = expression.nullable;
        expression = substituted(std::move(expression), lower->expressions);
        expression.nullable = nullable;
    }
    std::vector<PlanNode> below = std::move(result.inputs.front().inputs);
    result.inputs = std::move(below);
    return result;
}

std::optional<PlanNode> drop_identity_project(const PlanNode& node) {
    const auto* project = as<Project>(node);
    if (project == nullptr || node.schema != node.inputs.front().schema) return std::nullopt;
    for (std::size_t i = 0; i < project->expressions.size(); ++i) {
        const auto* column = std::get_if<ColumnIndex>(&project->expressions[i].node);
        if (column == nullptr || column->index != i) return std::nullopt;
    }
    return node.inputs.front();
}

std::optional<PlanNode> push_project_through_union(const PlanNode& node) {
    const auto* project = as<Project>(node);
    if (project == nullptr || input_as<UnionAll>(node) == nullptr) return std::nullopt;
    const std::size_t branches = node.inputs.front().inputs.size();
    if (copies_grow_too_large(project->expressions, branches)) return std::nullopt;
    PlanNode result{.op = UnionAll{}, .inputs = {}, .schema = node.schema};
    for (const PlanNode& branch : node.inputs.front().inputs) {
        result.inputs.push_back({.op = node.op, .inputs = {branch}, .schema = node.schema});
    }
    return result;
}

std::optional<PlanNode> flatten_union(const PlanNode& node) {
    if (as<UnionAll>(node) == nullptr) return std::nullopt;
    if (node.inputs.size() == 1 && node.inputs.front().schema == node.schema) {
        return node.inputs.front();
    }
    PlanNode result{.op = UnionAll{}, .inputs = {}, .schema = node.schema};
    for (const PlanNode& branch : node.inputs) {
        const bool inner = as<UnionAll>(branch) != nullptr;
        if (!inner) result.inputs.push_back(branch);
        if (inner) {
            std::copy(branch.inputs.begin(), branch.inputs.end(),
                      std::back_inserter(result.inputs));
        }
    }
    if (result.inputs.size() == node.inputs.size()) return std::nullopt;
    return result;
}

std::span<const Rule> all_rules() {
    static constexpr std::array<Rule, 12> kRules = {
        fold_constants,
        flatten_union,
        drop_true_filter,
        merge_filters,
        push_filter_through_project,
        push_filter_through_union,
        push_filter_through_aggregate,
        push_filter_into_join,
        push_predicate_into_sides,
        merge_projects,
        drop_identity_project,
        push_project_through_union,
    };
    return kRules;
}

}  // namespace baton::optimizer
