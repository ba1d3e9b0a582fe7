#include "core/placement/cut.h"

#include <algorithm>

#include "base/overload.h"
#include "core/optimizer/types.h"

namespace baton::placement {

namespace {

// A stream that some worker gives.
struct Placed {
    PlanNode tree;
    std::string worker;
    // Projections above the tree that make its rows larger, from below; they run wherever it is
    // used.
    std::vector<PlanNode> floating = {};
};

PlanNode above(PlanNode node, PlanNode input) {
    node.inputs.clear();
    node.inputs.push_back(std::move(input));
    return node;
}

PlanNode settled(Placed placed) {
    for (PlanNode& project : placed.floating) {
        placed.tree = above(std::move(project), std::move(placed.tree));
    }
    return std::move(placed.tree);
}

PlanNode without_inputs(const PlanNode& node) {
    return {.op = node.op, .inputs = {}, .schema = node.schema};
}

class Cutter {
public:
    Cutter(const Routes& routes, const Config& settings) : routes_(routes), settings_(settings) {}

    std::vector<FragmentPlan> cut(const PlanNode& root) {
        PlanNode all = gathered(place(root.inputs.front()), routes_.sink());
        fragment_of(routes_.sink()).roots.push_back(above(without_inputs(root), std::move(all)));
        std::vector<FragmentPlan> result;
        for (auto& [worker, fragment] : fragments_) result.push_back(std::move(fragment));
        return result;
    }

private:
    Placed place(const PlanNode& node) {
        return std::visit(
            Overload{
                [&](const SourceScan& op) { return Placed{.tree = node, .worker = op.worker}; },
                [&](const Filter&) { return place_with_input(node); },
                [&](const Project&) { return place_project(node); },
                [&](const WindowAggregate&) { return place_with_input(node); },
                [&](const WindowJoin&) { return place_join(node); },
                [&](const UnionAll&) { return place_union(node); },
                [](const LogicalScan&) -> Placed { CHECK(false && "not expanded"); },
                [](const Receive&) -> Placed { CHECK(false && "cut already"); },
                [](const Send&) -> Placed { CHECK(false && "cut already"); },
                [](const SinkWrite&) -> Placed { CHECK(false && "a sink below another"); },
            },
            node.op);
    }

    Placed place_with_input(const PlanNode& node) {
        Placed input = place(node.inputs.front());
        const std::string worker = input.worker;
        return {.tree = above(without_inputs(node), settled(std::move(input))), .worker = worker};
    }

    Placed place_project(const PlanNode& node) {
        Placed input = place(node.inputs.front());
        input.floating.push_back(without_inputs(node));
        if (optimizer::sent_width_of(node.schema) > optimizer::sent_width_of(input.tree.schema))
            return input;
        const std::string worker = input.worker;
        return {.tree = settled(std::move(input)), .worker = worker};
    }

    Placed place_join(const PlanNode& node) {
        Placed left = place(node.inputs[0]);
        Placed right = place(node.inputs[1]);
        const std::string where = routes_.meeting_point({left.worker, right.worker});
        PlanNode join = without_inputs(node);
        join.inputs.push_back(gathered(std::move(left), where));
        join.inputs.push_back(gathered(std::move(right), where));
        return {.tree = std::move(join), .worker = where};
    }

    Placed place_union(const PlanNode& node) {
        std::vector<Placed> branches;
        std::set<std::string> workers;
        for (const PlanNode& input : node.inputs) {
            branches.push_back(place(input));
            workers.insert(branches.back().worker);
        }
        Placed result{.tree = {}, .worker = routes_.meeting_point(workers)};
        Schema schema = node.schema;
        if (all_float_alike(branches)) {
            result.floating = branches.front().floating;
            result.floating.back().schema = schema;
            for (Placed& branch : branches) branch.floating.clear();
            schema = common_schema(branches);
        }
        std::map<std::string, std::vector<PlanNode>> trees;
        for (Placed& branch : branches) {
            std::vector<PlanNode>& there = trees[branch.worker];
            there.push_back(settled(std::move(branch)));
        }
        result.tree = gathered(std::move(trees), result.worker, schema);
        return result;
    }

    // Whether every branch ends in the same projections over columns of the same types.
    static bool all_float_alike(const std::vector<Placed>& branches) {
        const Placed& first = branches.front();
        const auto same = [](const auto& a, const auto& b) { return a.type == b.type; };
        return !first.floating.empty() &&
               std::all_of(branches.begin(), branches.end(), [&](const Placed& branch) {
                   const auto& columns = branch.tree.schema.columns;
                   const auto& wanted = first.tree.schema.columns;
                   return branch.floating == first.floating &&
                          std::equal(columns.begin(), columns.end(), wanted.begin(), wanted.end(),
                                     same);
               });
    }

    static Schema common_schema(const std::vector<Placed>& branches) {
        Schema schema = branches.front().tree.schema;
        for (const Placed& branch : branches) {
            for (std::size_t i = 0; i < schema.columns.size(); ++i) {
                schema.columns[i].nullable |= branch.tree.schema.columns[i].nullable;
            }
        }
        return schema;
    }

    PlanNode gathered(Placed stream, const std::string& where) {
        std::map<std::string, std::vector<PlanNode>> trees;
        const Schema schema = stream.tree.schema;
        trees[stream.worker].push_back(std::move(stream.tree));
        stream.tree = gathered(std::move(trees), where, schema);
        return settled(std::move(stream));
    }

    // The union of these streams, by worker, brought to one place. On the way, what comes together
    // at a worker goes on as one.
    PlanNode gathered(std::map<std::string, std::vector<PlanNode>> trees, const std::string& where,
                      const Schema& schema) {
        std::map<std::string, Receive> incoming;
        while (true) {
            const std::string worker = farthest(trees, incoming);
            std::vector<PlanNode> parts = std::move(trees[worker]);
            trees.erase(worker);
            if (const auto found = incoming.find(worker); found != incoming.end()) {
                parts.push_back({.op = found->second, .inputs = {}, .schema = schema});
                incoming.erase(found);
            }
            PlanNode stream = united(std::move(parts), schema);
            if (worker == where) return stream;
            send(worker, std::move(stream), schema, incoming);
        }
    }

    // Under the names that the receiver knows the columns by: those of a branch may be others.
    void send(const std::string& from, PlanNode stream, const Schema& schema,
              std::map<std::string, Receive>& incoming) {
        const std::string& to = routes_.next_of(from);
        Receive& receive = incoming[to];
        if (receive.senders.empty()) receive.exchange = ++exchanges_;
        receive.senders.push_back(from);
        std::sort(receive.senders.begin(), receive.senders.end());
        PlanNode root{.op = Send{.exchange = receive.exchange,
                                 .to = to,
                                 .address = routes_.data_address_of(to)},
                      .inputs = {},
                      .schema = schema};
        fragment_of(from).roots.push_back(above(std::move(root), std::move(stream)));
    }

    // The first worker, in the order of the alphabet, of those with the longest way to go.
    template <class Trees, class Incoming>
    std::string farthest(const Trees& trees, const Incoming& incoming) const {
        std::set<std::string> workers;
        for (const auto& [worker, ignored] : trees) workers.insert(worker);
        for (const auto& [worker, ignored] : incoming) workers.insert(worker);
        return *std::max_element(workers.begin(), workers.end(),
                                 [&](const std::string& a, const std::string& b) {
                                     return routes_.steps_from(a) < routes_.steps_from(b);
                                 });
    }

    static PlanNode united(std::vector<PlanNode> parts, const Schema& schema) {
        if (parts.size() == 1) return std::move(parts.front());
        return {.op = UnionAll{}, .inputs = std::move(parts), .schema = schema};
    }

    FragmentPlan& fragment_of(const std::string& worker) {
        FragmentPlan& fragment = fragments_[worker];
        fragment.worker = worker;
        fragment.settings = settings_;
        return fragment;
    }

    const Routes& routes_;
    const Config& settings_;
    std::uint64_t exchanges_ = 0;
    std::map<std::string, FragmentPlan> fragments_;
};

void collect_sources(const PlanNode& node, std::vector<Pinned>& sources) {
    if (const auto* scan = std::get_if<SourceScan>(&node.op)) {
        sources.push_back({.worker = scan->worker,
                           .what = scan->id ? "physical source " + to_string(*scan->id)
                                            : std::string("the inline source")});
    }
    for (const PlanNode& input : node.inputs) collect_sources(input, sources);
}

}  // namespace

PinnedPlaces pinned_in(const PlanNode& root) {
    const auto& sink = std::get<SinkWrite>(root.op);
    PinnedPlaces places;
    places.sink = {.worker = sink.worker, .what = sink.name ? "the sink" : "the inline sink"};
    collect_sources(root, places.sources);
    return places;
}

std::vector<FragmentPlan> cut(const PlanNode& root, const Routes& routes, const Config& settings) {
    return Cutter(routes, settings).cut(root);
}

}  // namespace baton::placement
