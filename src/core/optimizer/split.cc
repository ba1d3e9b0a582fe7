#include "core/optimizer/split.h"

#include <algorithm>
#include <set>

#include "core/optimizer/expressions.h"
#include "model/aggregate_state.h"

namespace baton::optimizer {

namespace {

void collect_workers(const PlanNode& node, std::set<std::string>& workers) {
    if (const auto* scan = std::get_if<SourceScan>(&node.op)) workers.insert(scan->worker);
    for (const PlanNode& input : node.inputs) collect_workers(input, workers);
}

// START, END, the keys and the states.
Schema partial_schema(const WindowAggregate& whole, const Schema& result) {
    Schema schema;
    const std::size_t keys_end = 2 + whole.keys.size();
    schema.columns.assign(result.columns.begin(),
                          result.columns.begin() + static_cast<std::ptrdiff_t>(keys_end));
    for (std::size_t i = 0; i < whole.aggregates.size(); ++i) {
        const std::string& name = result.columns.at(keys_end + i).name;
        const auto states = states_of(whole.aggregates[i], name);
        CHECK(states.has_value());
        schema.columns.insert(schema.columns.end(), states->begin(), states->end());
    }
    return schema;
}

WindowAggregate final_of(const WindowAggregate& whole, const Schema& states) {
    WindowAggregate last = whole;
    last.stage = AggregateStage::final;
    last.time = std::nullopt;
    for (std::size_t i = 0; i < last.keys.size(); ++i) last.keys[i] = column_of(states, 2 + i);
    for (Aggregate& aggregate : last.aggregates) aggregate.argument.clear();
    return last;
}

}  // namespace

bool can_split(const WindowAggregate& aggregate) {
    return std::all_of(aggregate.aggregates.begin(), aggregate.aggregates.end(),
                       [](const Aggregate& each) { return states_of(each, "").has_value(); });
}

PlanNode with_split_aggregates(PlanNode root) {
    for (PlanNode& input : root.inputs) input = with_split_aggregates(std::move(input));
    const auto* whole = std::get_if<WindowAggregate>(&root.op);
    if (whole == nullptr || whole->stage != AggregateStage::whole || !can_split(*whole)) {
        return root;
    }
    PlanNode& all = root.inputs.front();
    std::set<std::string> workers;
    collect_workers(all, workers);
    if (!std::holds_alternative<UnionAll>(all.op) || workers.size() < 2) return root;

    WindowAggregate first = *whole;
    first.stage = AggregateStage::partial;
    const Schema states = partial_schema(*whole, root.schema);
    for (PlanNode& branch : all.inputs) {
        PlanNode partial{.op = first, .inputs = {}, .schema = states};
        partial.inputs.push_back(std::move(branch));
        branch = std::move(partial);
    }
    all.schema = states;
    root.op = final_of(first, states);
    return root;
}

}  // namespace baton::optimizer
