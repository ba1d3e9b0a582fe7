// How fast rows move through the engine, beside loops written by hand over the same memory.
//
//   filter     a third of the rows pass a comparison; all columns of those go on
//   tumbling   count and sum for each of 1,000 keys in windows of 10 s
//   sliding    count for each of 1,000 keys in windows of 10 s every 2 s
//   yahoo      rows whose event is "view" are counted for each of 100 campaigns in windows of 10 s;
//              the campaign is a number, or a text of 36 characters
//
// Rows are in memory as batches, and results go nowhere. Rates are rows per second of processor
// time, threads of the engine included. The targets are half of the loop for the filter, a third of
// it for the keyed ones.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <unordered_map>

#include "adapters/system/system_clock.h"
#include "base/prng.h"
#include "bench/measure.h"
#include "core/plan_format/plan_format.h"
#include "engine/run/fragment_engine.h"

namespace baton::bench {
namespace {

enum Columns : std::size_t { kTime, kKey, kValue, kEvent, kCampaign, kCampaignName };

const Schema& schema() {
    static const Schema kSchema{
        .columns = {{.name = "TS", .type = DataType::uint64, .nullable = false},
                    {.name = "KEY", .type = DataType::uint64, .nullable = false},
                    {.name = "VALUE", .type = DataType::int64, .nullable = false},
                    {.name = "EVENT", .type = DataType::varsized, .nullable = false},
                    {.name = "CAMPAIGN", .type = DataType::uint64, .nullable = false},
                    {.name = "NAME", .type = DataType::varsized, .nullable = false}}};
    return kSchema;
}

using Rows = std::vector<engine::Batch>;

engine::Batch batch_at(std::size_t first, Prng& prng) {
    static const std::vector<std::string> kEvents = {"view", "click", "purchase"};
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (int i = 0; i < 100; ++i) {
            names.push_back("1f4c0f3e-70d8-4f3c-9d51-0000000000" + std::to_string(10 + i % 90) +
                            std::to_string(i / 90));
            names.back().resize(36, '0');
        }
        return names;
    }();
    engine::Batch batch{.rows = engine::kBatchRows, .columns = {}};
    for (const Column& column : schema().columns) {
        batch.columns.emplace_back(column.type, engine::kBatchRows);
    }
    for (std::size_t i = 0; i < engine::kBatchRows; ++i) {
        const std::uint64_t dice = prng.next();
        const std::uint64_t campaign = dice / 7 % 100;
        batch.columns[kTime].mutable_data<std::uint64_t>()[i] = (first + i) / 10;
        batch.columns[kKey].mutable_data<std::uint64_t>()[i] = dice % 1000;
        batch.columns[kValue].mutable_data<std::int64_t>()[i] =
            static_cast<std::int64_t>(dice >> 40U & 0xFFFFU);
        batch.columns[kEvent].mutable_data<std::string_view>()[i] =
            kEvents[dice >> 20U & 1U ? 1 : dice % 3];
        batch.columns[kCampaign].mutable_data<std::uint64_t>()[i] = campaign;
        batch.columns[kCampaignName].mutable_data<std::string_view>()[i] = kNames[campaign];
    }
    return batch;
}

// Gives the rows once.
class MemorySource : public engine::RowSource {
public:
    MemorySource(const Rows& rows, std::vector<std::size_t> wanted)
        : rows_(rows), wanted_(std::move(wanted)) {}

    Result<engine::Pull> pull(engine::Batch& into, Duration) override {
        if (next_ == rows_.size()) return engine::Pull::end;
        const engine::Batch& whole = rows_[next_++];
        into = engine::Batch{.rows = whole.rows, .columns = {}};
        for (const std::size_t column : wanted_) into.columns.push_back(whole.columns[column]);
        return engine::Pull::rows;
    }
    void interrupt() override {}
    [[nodiscard]] engine::SourceCounts counts() const override { return {}; }

private:
    const Rows& rows_;
    std::vector<std::size_t> wanted_;
    std::size_t next_ = 0;
};

std::uint64_t& sink_rows() {
    static std::uint64_t rows = 0;
    return rows;
}

class NowhereSink : public engine::RowSink {
public:
    Result<Done> write(const engine::Batch& batch) override {
        sink_rows() += batch.rows;
        return Done{};
    }
    Result<Done> flush() override { return Done{}; }
    Result<Done> finish() override { return Done{}; }
    void interrupt() override {}
    [[nodiscard]] engine::SinkCounts counts() const override { return {}; }
};

class MemoryConnectors : public engine::Connectors {
public:
    explicit MemoryConnectors(const Rows& rows) : rows_(rows) {}
    Result<std::unique_ptr<engine::RowSource>> open_source(const SourceScan& scan) override {
        return std::unique_ptr<engine::RowSource>(new MemorySource(rows_, scan.wanted));
    }
    Result<std::unique_ptr<engine::RowSink>> open_sink(const SinkWrite&, const Schema&) override {
        return std::unique_ptr<engine::RowSink>(new NowhereSink());
    }

private:
    const Rows& rows_;
};

class NoExchanges : public engine::Exchanges {
public:
    Result<std::unique_ptr<engine::ExchangeSender>> open_sender(const ExchangeKey&,
                                                                const std::string&,
                                                                const std::string&,
                                                                const std::string&,
                                                                const Schema&) override {
        give_up("no exchanges here");
    }
    Result<std::unique_ptr<engine::ExchangeReceiver>> open_receiver(const ExchangeKey&,
                                                                    const std::string&,
                                                                    const std::vector<std::string>&,
                                                                    const Schema&) override {
        give_up("no exchanges here");
    }
};

// ---- plans --------------------------------------------------------------------------------------

PlanNode scan(const std::vector<std::size_t>& wanted) {
    PlanNode node{.op = SourceScan{.id = PhysicalSourceId(1),
                                   .logical = "S",
                                   .worker = "W",
                                   .type = "Memory",
                                   .source = {},
                                   .format = {},
                                   .parsed = schema(),
                                   .wanted = wanted},
                  .inputs = {},
                  .schema = {}};
    for (const std::size_t column : wanted) {
        node.schema.columns.push_back(schema().columns[column]);
    }
    return node;
}

Expression column(const PlanNode& of, std::size_t index) {
    const Column& found = of.schema.columns.at(index);
    return {.node = ColumnIndex{index}, .type = found.type, .nullable = found.nullable};
}

PlanNode filter(PlanNode input, Function function, std::size_t index, Value value) {
    const Expression of = column(input, index);
    Expression predicate{.node = Call{.function = function, .arguments = {}},
                         .type = DataType::boolean,
                         .nullable = false};
    auto& arguments = std::get<Call>(predicate.node).arguments;
    arguments.push_back(of);
    arguments.push_back({.node = Constant{std::move(value)}, .type = of.type, .nullable = false});
    const Schema schema = input.schema;
    return {.op = Filter{std::move(predicate)}, .inputs = {std::move(input)}, .schema = schema};
}

PlanNode counted(PlanNode input, std::size_t key, WindowSpec window, bool sum) {
    WindowAggregate op{.stage = AggregateStage::whole,
                       .window = window,
                       .time = 0,
                       .keys = {column(input, key)},
                       .aggregates = {Aggregate{}}};
    Schema schema{.columns = {{.name = "START", .type = DataType::uint64, .nullable = false},
                              {.name = "END", .type = DataType::uint64, .nullable = false},
                              input.schema.columns[key],
                              {.name = "N", .type = DataType::uint64, .nullable = false}}};
    if (sum) {
        op.aggregates.push_back({.function = AggregateFunction::sum,
                                 .argument = {column(input, 2)},
                                 .type = DataType::int64,
                                 .nullable = false});
        schema.columns.push_back({.name = "SUM", .type = DataType::int64, .nullable = false});
    }
    return {.op = std::move(op), .inputs = {std::move(input)}, .schema = std::move(schema)};
}

std::string plan_of(PlanNode input) {
    const Schema schema = input.schema;
    PlanNode root{
        .op = SinkWrite{.name = "K", .worker = "W", .type = "Void", .sink = {}, .format = {}},
        .inputs = {},
        .schema = schema};
    root.inputs.push_back(std::move(input));
    return plan_format::write_plan({.worker = "W", .roots = {std::move(root)}, .settings = {}});
}

void run_plan(const std::string& plan, const Rows& rows) {
    MemoryConnectors connectors(rows);
    NoExchanges exchanges;
    system::SystemClock clock;
    engine::FragmentEngine engine(connectors, exchanges, clock);
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    engine.listen([&](const fragments::Event& event) {
        if (const auto* broke = std::get_if<fragments::Broke>(&event)) give_up(broke->why);
        if (const auto* failed = std::get_if<fragments::PrepareFailed>(&event)) {
            give_up(failed->why);
        }
        if (!std::holds_alternative<fragments::Ended>(event)) return;
        const std::lock_guard lock(mutex);
        ended = true;
        changed.notify_all();
    });
    const FragmentKey key{.query = QueryId(1), .run = 1, .fragment = FragmentId(1)};
    engine.prepare(key, plan);
    engine.start(key);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ended; });
}

// ---- by hand ------------------------------------------------------------------------------------

void filter_by_hand(const Rows& rows) {
    std::vector<std::uint64_t> times(engine::kBatchRows);
    std::vector<std::uint64_t> keys(engine::kBatchRows);
    std::vector<std::int64_t> values(engine::kBatchRows);
    for (const engine::Batch& batch : rows) {
        const auto* time = batch.columns[kTime].data<std::uint64_t>();
        const auto* key = batch.columns[kKey].data<std::uint64_t>();
        const auto* value = batch.columns[kValue].data<std::int64_t>();
        std::size_t count = 0;
        for (std::size_t i = 0; i < batch.rows; ++i) {
            times[count] = time[i];
            keys[count] = key[i];
            values[count] = value[i];
            count += value[i] < 21845 ? 1 : 0;
        }
        sink_rows() += count;
    }
}

void tumbling_by_hand(const Rows& rows) {
    struct State {
        std::uint64_t count = 0;
        std::int64_t sum = 0;
    };
    std::vector<State> states(1000);
    std::uint64_t end = 10'000;
    for (const engine::Batch& batch : rows) {
        const auto* time = batch.columns[kTime].data<std::uint64_t>();
        const auto* key = batch.columns[kKey].data<std::uint64_t>();
        const auto* value = batch.columns[kValue].data<std::int64_t>();
        for (std::size_t i = 0; i < batch.rows; ++i) {
            if (time[i] >= end) {
                for (State& state : states) {
                    sink_rows() += state.count > 0 ? 1 : 0;
                    state = {};
                }
                end = time[i] / 10'000 * 10'000 + 10'000;
            }
            states[key[i]].count += 1;
            states[key[i]].sum += value[i];
        }
    }
}

void yahoo_by_hand(const Rows& rows) {
    std::vector<std::uint64_t> counts(100);
    std::uint64_t end = 10'000;
    for (const engine::Batch& batch : rows) {
        const auto* time = batch.columns[kTime].data<std::uint64_t>();
        const auto* campaign = batch.columns[kCampaign].data<std::uint64_t>();
        const std::string_view* event = batch.columns[kEvent].texts();
        for (std::size_t i = 0; i < batch.rows; ++i) {
            if (event[i] != "view") continue;
            if (time[i] >= end) {
                sink_rows() += counts.size();
                std::fill(counts.begin(), counts.end(), 0);
                end = time[i] / 10'000 * 10'000 + 10'000;
            }
            counts[campaign[i]] += 1;
        }
    }
}

void yahoo_text_by_hand(const Rows& rows) {
    std::unordered_map<std::string_view, std::uint64_t> counts;
    std::uint64_t end = 10'000;
    for (const engine::Batch& batch : rows) {
        const auto* time = batch.columns[kTime].data<std::uint64_t>();
        const std::string_view* name = batch.columns[kCampaignName].texts();
        const std::string_view* event = batch.columns[kEvent].texts();
        for (std::size_t i = 0; i < batch.rows; ++i) {
            if (event[i] != "view") continue;
            if (time[i] >= end) {
                sink_rows() += counts.size();
                counts.clear();
                end = time[i] / 10'000 * 10'000 + 10'000;
            }
            counts[name[i]] += 1;
        }
    }
}

// ---- measuring ----------------------------------------------------------------------------------

struct Case {
    std::string name;
    std::string plan;
    void (*by_hand)(const Rows&);  // none: nothing to compare with
};

std::vector<Case> cases() {
    constexpr WindowSpec kTumbling{.size = 10'000, .advance = 10'000};
    constexpr WindowSpec kSliding{.size = 10'000, .advance = 2'000};
    const auto views = [](std::size_t key) {
        return filter(scan({kTime, kEvent, key}), Function::equal, 1, std::string("view"));
    };
    return {
        {"filter",
         plan_of(filter(scan({kTime, kKey, kValue}), Function::less, 2, std::int64_t{21845})),
         filter_by_hand},
        {"tumbling", plan_of(counted(scan({kTime, kKey, kValue}), 1, kTumbling, true)),
         tumbling_by_hand},
        {"sliding", plan_of(counted(scan({kTime, kKey, kValue}), 1, kSliding, false)), nullptr},
        {"yahoo, number", plan_of(counted(views(kCampaign), 2, kTumbling, false)), yahoo_by_hand},
        {"yahoo, text", plan_of(counted(views(kCampaignName), 2, kTumbling, false)),
         yahoo_text_by_hand},
    };
}

double rate_of(const std::function<void()>& act, double rows) {
    const double before = cpu_seconds();
    act();
    return rows / (cpu_seconds() - before);
}

void run(const Arguments& arguments) {
    const std::size_t batches = arguments.tiny ? 16 : 512;
    const int rounds = arguments.tiny ? 2 : 9;
    Prng prng(1);
    Rows rows;
    for (std::size_t i = 0; i < batches; ++i)
        rows.push_back(batch_at(i * engine::kBatchRows, prng));
    const auto count = static_cast<double>(batches * engine::kBatchRows);
    Table table({"query", "engine, M rows/s", "by hand, M rows/s", "ratio"});
    for (const Case& each : cases()) {
        std::vector<double> engine;
        std::vector<double> hand;
        for (int i = 0; i < rounds; ++i) {
            engine.push_back(rate_of([&] { run_plan(each.plan, rows); }, count));
            if (each.by_hand != nullptr) {
                hand.push_back(rate_of([&] { each.by_hand(rows); }, count));
            }
        }
        std::sort(engine.begin(), engine.end());
        std::sort(hand.begin(), hand.end());
        const double ours = engine[engine.size() / 2];
        const double theirs = hand.empty() ? 0 : hand[hand.size() / 2];
        table.add({each.name, text(ours / 1e6, 1), hand.empty() ? "" : text(theirs / 1e6, 1),
                   hand.empty() ? "" : text(ours / theirs, 2)});
    }
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::run(baton::bench::arguments_of(count, values));
}
