#include "engine/run/pipeline.h"

#include <algorithm>

#include "base/overload.h"
#include "engine/operators/stateless.h"
#include "engine/operators/window_aggregate.h"
#include "engine/operators/window_join.h"
#include "model/plan_check.h"
#include "model/table_sink.h"

namespace baton::engine {

namespace {

// Lets one thread at a time into an operator, and into what comes after it.
class Guarded : public PushOperator {
public:
    explicit Guarded(PushOperator& op) : op_(op) {}

    std::size_t begin(const std::vector<std::size_t>& origins) override {
        const std::lock_guard lock(mutex_);
        return op_.begin(origins);
    }
    Result<Done> push(std::size_t input, Frame frame) override {
        return once([&] { return op_.push(input, std::move(frame)); });
    }
    Result<Done> tick() override {
        return once([&] { return op_.tick(); });
    }
    [[nodiscard]] bool needs_ticks() const override { return op_.needs_ticks(); }

private:
    // After an error, or an exception, the operator is left alone: the other leaves are told soon.
    template <class Call>
    Result<Done> once(const Call& call) {
        const std::lock_guard lock(mutex_);
        if (std::exchange(broken_, true)) return Done{};
        const Result<Done> result = call();
        broken_ = !result;
        return result;
    }

    std::mutex mutex_;
    PushOperator& op_;
    bool broken_ = false;
};

// Where the column comes from, one operator further down; none if it is computed.
std::optional<std::size_t> traced(std::optional<std::size_t> column, const PlanNode& through) {
    if (!column) return std::nullopt;
    if (const auto* project = std::get_if<Project>(&through.op)) {
        const auto* from = std::get_if<ColumnIndex>(&project->expressions.at(*column).node);
        if (from == nullptr) return std::nullopt;
        return from->index;
    }
    const bool passes =
        std::holds_alternative<Filter>(through.op) || std::holds_alternative<UnionAll>(through.op);
    return passes ? column : std::nullopt;
}

}  // namespace

class Pipeline::Builder {
public:
    Builder(Pipeline& pipeline, const FragmentKey& key, const FragmentPlan& plan,
            OperatorContext& context, ConnectorPorts doors)
        : pipeline_(pipeline), key_(key), plan_(plan), context_(context), doors_(doors) {}

    Result<Done> build() {
        for (const PlanNode& root : plan_.roots) {
            TRY_ASSIGN(terminal, open_terminal(root));
            Way way{.out = {}, .time = {}, .root = pipeline_.roots_.size(), .operators = {}};
            way.out = {.to = guarded(std::move(terminal), root, way), .input = 0};
            pipeline_.roots_.push_back({.terminal = terminal_, .stage = {.op = way.out.to}});
            TRY_ASSIGN(stage, build(root.inputs.at(0), way));
            pipeline_.roots_.back().stage.inputs.push_back(std::move(stage));
        }
        return open_leaves();
    }

private:
    // From an input to the root.
    struct Way {
        Outlet out;
        std::optional<std::size_t> time;  // the column that the next window asks for
        std::size_t root = 0;
        std::vector<PushOperator*> operators;  // from the root
    };

    std::string next_name() { return plan_.worker + "#" + std::to_string(++names_); }

    Result<std::unique_ptr<PushOperator>> open_terminal(const PlanNode& root) {
        std::unique_ptr<Terminal> made;
        if (const auto* send = std::get_if<Send>(&root.op)) {
            const ExchangeKey key{.query = key_.query, .run = key_.run, .exchange = send->exchange};
            TRY_ASSIGN(sender, doors_.exchanges.open_sender(key, plan_.worker, send->to,
                                                            send->address, root.schema));
            made = std::make_unique<SendTerminal>(std::move(sender), context_);
        } else if (const auto* write = std::get_if<SinkWrite>(&root.op)) {
            TRY_ASSIGN(sink, write->type == kTableSink
                                 ? doors_.connectors.open_table(key_, *write, root.schema)
                                 : doors_.connectors.open_sink(*write, root.schema));
            made = std::make_unique<SinkTerminal>(std::move(sink), context_);
        } else {
            return Error{.code = ErrorCode::not_supported,
                         .message = "the root of a fragment is neither a sink nor an exchange"};
        }
        terminal_ = made.get();
        return std::unique_ptr<PushOperator>(std::move(made));
    }

    // Adds the operator, behind a lock if several leaves meet in it.
    PushOperator* guarded(std::unique_ptr<PushOperator> op, const PlanNode& node, Way& way) {
        PushOperator* entry = op.get();
        pipeline_.operators_.push_back(std::move(op));
        if (leaves_of(node) > 1) {
            pipeline_.operators_.push_back(std::make_unique<Guarded>(*entry));
            entry = pipeline_.operators_.back().get();
        }
        way.operators.push_back(entry);
        return entry;
    }

    PushOperator* unguarded(std::unique_ptr<PushOperator> op) {
        pipeline_.operators_.push_back(std::move(op));
        return pipeline_.operators_.back().get();
    }

    Result<Stage> build(const PlanNode& node, Way way) {
        using R = Result<Stage>;
        return std::visit(
            Overload{
                [&](const SourceScan&) -> R { return add_leaf(node, way); },
                [&](const Receive&) -> R { return add_leaf(node, way); },
                [&](const Filter& op) -> R {
                    TRY_ASSIGN(made, FilterOperator::make(op, way.out));
                    return build_stateless(node, std::move(made), way);
                },
                [&](const Project& op) -> R {
                    TRY_ASSIGN(made, ProjectOperator::make(op, way.out));
                    return build_stateless(node, std::move(made), way);
                },
                [&](const UnionAll&) -> R {
                    return build_stateless(node, std::make_unique<UnionOperator>(way.out), way);
                },
                [&](const WindowAggregate& op) -> R { return build_aggregate(node, op, way); },
                [&](const WindowJoin& op) -> R { return build_join(node, op, way); },
                [&](const LogicalScan&) -> R { return misplaced("a logical source"); },
                [&](const Send&) -> R { return misplaced("an exchange"); },
                [&](const SinkWrite&) -> R { return misplaced("a sink"); },
            },
            node.op);
    }

    static Error misplaced(const char* what) {
        return Error{.code = ErrorCode::not_supported,
                     .message = std::string(what) + " stands within a fragment"};
    }

    Result<Stage> build_inputs(const PlanNode& node, PushOperator* entry, const Way& way,
                               std::vector<std::optional<std::size_t>> times) {
        Stage stage{.op = entry};
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            Way further = way;
            further.out = {.to = entry, .input = i};
            further.time = times.at(i);
            TRY_ASSIGN(input, build(node.inputs[i], further));
            stage.inputs.push_back(std::move(input));
        }
        return stage;
    }

    Result<Stage> build_stateless(const PlanNode& node, std::unique_ptr<PushOperator> op,
                                  const Way& way) {
        const auto time = traced(way.time, node);
        return build_inputs(node, unguarded(std::move(op)), way,
                            std::vector<std::optional<std::size_t>>(node.inputs.size(), time));
    }

    Result<Stage> build_aggregate(const PlanNode& node, const WindowAggregate& op, Way way) {
        const std::string name = next_name();
        TRY_ASSIGN(made, make_window_aggregate(op, context_, way.out));
        PushOperator* entry = guarded(std::move(made), node, way);
        TRY_ASSIGN(stage, build_inputs(node, entry, way, {op.time}));
        if (op.stage != AggregateStage::partial) stage.own_origin = name;
        return stage;
    }

    Result<Stage> build_join(const PlanNode& node, const WindowJoin& op, Way way) {
        const std::string name = next_name();
        TRY_ASSIGN(made, WindowJoinOperator::make(op, node.inputs.at(0).schema,
                                                  node.inputs.at(1).schema, context_, way.out));
        PushOperator* entry = guarded(std::move(made), node, way);
        TRY_ASSIGN(stage, build_inputs(node, entry, way, {op.left_time, op.right_time}));
        stage.own_origin = name;
        return stage;
    }

    Result<Stage> add_leaf(const PlanNode& node, const Way& way) {
        auto leaf = std::make_unique<Leaf>();
        leaf->out = way.out;
        leaf->way.assign(way.operators.rbegin(), way.operators.rend());
        leaf->terminal = pipeline_.roots_.at(way.root).terminal;
        leaf->root = way.root;
        for (const PushOperator* op : leaf->way) leaf->needs_ticks |= op->needs_ticks();
        if (std::holds_alternative<SourceScan>(node.op)) {
            leaf->time = way.time;
            leaf->origins = {next_name()};
        }
        unopened_.push_back(&node);
        pipeline_.leaves_.push_back(std::move(leaf));
        return Stage{.op = nullptr, .leaf = pipeline_.leaves_.back().get()};
    }

    // Receivers first, so that nobody waits for them while sources are being opened.
    Result<Done> open_leaves() {
        for (std::size_t i = 0; i < unopened_.size(); ++i) {
            const auto* receive = std::get_if<Receive>(&unopened_[i]->op);
            if (receive == nullptr) continue;
            const ExchangeKey key{
                .query = key_.query, .run = key_.run, .exchange = receive->exchange};
            TRY_ASSIGN(receiver, doors_.exchanges.open_receiver(key, plan_.worker, receive->senders,
                                                                unopened_[i]->schema));
            pipeline_.leaves_[i]->receiver = std::move(receiver);
            pipeline_.leaves_[i]->senders = receive->senders.size();
        }
        for (std::size_t i = 0; i < unopened_.size(); ++i) {
            const auto* scan = std::get_if<SourceScan>(&unopened_[i]->op);
            if (scan == nullptr) continue;
            TRY_ASSIGN(source, doors_.connectors.open_source(*scan));
            pipeline_.leaves_[i]->source = std::move(source);
        }
        return Done{};
    }

    Pipeline& pipeline_;
    const FragmentKey& key_;
    const FragmentPlan& plan_;
    OperatorContext& context_;
    ConnectorPorts doors_;
    Terminal* terminal_ = nullptr;  // the last one
    std::vector<const PlanNode*> unopened_;
    std::size_t names_ = 0;
};

Result<std::unique_ptr<Pipeline>> Pipeline::open(const FragmentKey& key, const FragmentPlan& plan,
                                                 OperatorContext& context, ConnectorPorts doors) {
    auto pipeline = std::make_unique<Pipeline>();
    TRY(Builder(*pipeline, key, plan, context, doors).build());
    return pipeline;
}

std::vector<std::string> Pipeline::begin(const Stage& stage) {
    if (stage.leaf != nullptr) return stage.leaf->origins;
    std::vector<std::string> names;
    std::vector<std::size_t> counts;
    for (const Stage& input : stage.inputs) {
        const std::vector<std::string> some = begin(input);
        names.insert(names.end(), some.begin(), some.end());
        counts.push_back(some.size());
    }
    const std::size_t given = stage.op->begin(counts);
    if (!stage.own_origin.empty()) names = {stage.own_origin};
    CHECK(names.size() == given);
    return names;
}

Result<Done> Pipeline::begin() {
    std::vector<std::vector<std::string>> names;
    for (const Root& root : roots_) names.push_back(begin(root.stage));
    for (std::size_t i = 0; i < roots_.size(); ++i) TRY(roots_[i].terminal->announce(names[i]));
    return Done{};
}

void Pipeline::interrupt_leaves() {
    for (const auto& leaf : leaves_) {
        if (leaf->source) leaf->source->interrupt();
        if (leaf->receiver) leaf->receiver->interrupt();
    }
}

void Pipeline::interrupt_everything() {
    interrupt_leaves();
    for (const Root& root : roots_) root.terminal->interrupt();
}

void Pipeline::count(Counts& into) const {
    for (const auto& leaf : leaves_) {
        if (leaf->source) {
            const SourceCounts counts = leaf->source->counts();
            into.rows_in += counts.rows;
            into.bytes_in += counts.bytes;
            into.skipped += counts.skipped;
        } else {
            const ExchangeCounts counts = leaf->receiver->counts();
            into.rows_in += counts.rows;
            into.bytes_in += counts.bytes;
        }
    }
    for (const Root& root : roots_) root.terminal->count(into);
}

}  // namespace baton::engine
