// Any bytes as the plan of a fragment: what the reader takes is run by the engine for a moment,
// over rows of every type with extremes and NULLs. The engine refuses it, or runs it to its end or
// until it is stopped.
//
// Nothing is outside: sources read text that is made up, sinks throw away, exchanges are played. A
// plan is text that bytes seldom hit, so a mutator of its own changes plans as trees.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "base/prng.h"
#include "core/plan_format/plan_format.h"
#include "engine/connectors/formatted_connectors.h"
#include "engine/run/fragment_engine.h"

namespace {

using namespace baton;

constexpr auto kMoment = std::chrono::milliseconds(30);
constexpr std::size_t kRows = 40;

// ---- rows ---------------------------------------------------------------------------------------

std::int64_t whole_at(std::size_t row, DataType type) {
    static constexpr std::array<std::int64_t, 8> kValues = {0, 1, 7, 100, 25, 3, 90, 60};
    if (row == 11) {
        if (type == DataType::int8) return INT8_MIN;
        if (type == DataType::int16) return INT16_MIN;
        if (type == DataType::int32) return INT32_MIN;
        if (type == DataType::int64) return INT64_MIN;
    }
    return kValues.at(row % kValues.size()) + static_cast<std::int64_t>(row) / 8;
}

Value value_at_row(std::size_t row, const Column& column) {
    if (column.nullable && row % 5 == 3) return {};
    if (column.type == DataType::boolean) return Value(row % 2 == 0);
    if (is_float(column.type)) return Value(static_cast<double>(row) * 0.75 - 3);
    if (is_text(column.type)) {
        static constexpr std::array<std::string_view, 5> kTexts = {"", "a", "12", "Zm9v", "2"};
        std::string text(kTexts.at(row % kTexts.size()));
        if (column.type == DataType::character) text.resize(std::min<std::size_t>(text.size(), 1));
        return Value(text);
    }
    const std::int64_t whole = whole_at(row, column.type);
    if (is_signed(column.type)) return Value(whole);
    return Value(static_cast<std::uint64_t>(row == 11 ? 200 : whole));
}

engine::Batch rows_of(const Schema& schema, std::size_t rows) {
    engine::Batch batch{.rows = rows, .columns = {}};
    for (const Column& column : schema.columns) {
        std::vector<Value> values;
        for (std::size_t row = 0; row < rows; ++row) values.push_back(value_at_row(row, column));
        batch.columns.push_back(engine::column_of(column.type, values));
    }
    return batch;
}

std::string cell_of(const Value& value, bool json) {
    if (std::holds_alternative<std::monostate>(value)) return json ? "null" : "";
    if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    if (const auto* plain = std::get_if<std::uint64_t>(&value)) return std::to_string(*plain);
    if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
    return "\"" + std::get<std::string>(value) + "\"";
}

std::string text_of(const SourceScan& scan) {
    const auto format = scan.format.find("TYPE");
    const bool json = format != scan.format.end() && format->second == ConfigValue("JSON");
    std::string text;
    for (std::size_t row = 0; row < kRows; ++row) {
        std::string line;
        for (const Column& column : scan.parsed.columns) {
            if (!line.empty()) line += ",";
            if (json) line += nlohmann::json(column.name).dump() + ":";
            line += cell_of(value_at_row(row, column), json);
        }
        text += (json ? "{" + line + "}" : line) + "\n";
    }
    return text;
}

// ---- what is outside ----------------------------------------------------------------------------

class TextSource final : public ByteSource {
public:
    explicit TextSource(std::string text) : text_(std::move(text)) {}
    Result<BytesRead> read(std::span<char> into, Duration) override {
        const std::size_t count = std::min(into.size(), text_.size() - at_);
        if (count == 0) return BytesRead{.what = BytesRead::What::end};
        std::memcpy(into.data(), text_.data() + at_, count);
        at_ += count;
        return BytesRead{.what = BytesRead::What::bytes, .count = count};
    }
    void interrupt() override {}

private:
    std::string text_;
    std::size_t at_ = 0;
};

class NoSink final : public ByteSink {
public:
    Result<Done> write(std::string_view) override { return Done{}; }
    Result<Done> flush() override { return Done{}; }
    Result<Done> finish() override { return Done{}; }
    void interrupt() override {}
};

class MadeUp final : public FileDoor, public TcpDoor, public MqttDoor {
public:
    std::string text;  // of the source that is opened next

    Result<std::unique_ptr<ByteSource>> read(const std::string&) override { return source(); }
    Result<OpenedFile> write(const std::string&, bool) override {
        return OpenedFile{.sink = std::make_unique<NoSink>()};
    }
    Result<std::unique_ptr<ByteSink>> print() override { return sink(); }
    Result<std::unique_ptr<ByteSource>> connect(const TcpServer&) override { return source(); }
    Result<std::unique_ptr<ByteSource>> subscribe(const MqttSubscription&) override {
        return source();
    }
    Result<std::unique_ptr<ByteSink>> publish(const MqttPublication&) override { return sink(); }

private:
    Result<std::unique_ptr<ByteSource>> source() {
        return std::unique_ptr<ByteSource>(std::make_unique<TextSource>(text));
    }
    static Result<std::unique_ptr<ByteSink>> sink() {
        return std::unique_ptr<ByteSink>(std::make_unique<NoSink>());
    }
};

class MadeUpConnectors final : public engine::Connectors {
public:
    explicit MadeUpConnectors(const Clock& clock)
        : formatted_({.clock = &clock, .files = &outside_, .tcp = &outside_, .mqtt = &outside_}) {}
    Result<std::unique_ptr<engine::RowSource>> open_source(const SourceScan& scan) override {
        outside_.text = text_of(scan);
        return formatted_.open_source(scan);
    }
    Result<std::unique_ptr<engine::RowSink>> open_sink(const SinkWrite& sink,
                                                       const Schema& rows) override {
        return formatted_.open_sink(sink, rows);
    }

private:
    MadeUp outside_;
    engine::FormattedConnectors formatted_;
};

// Takes everything, and looks at each value of it.
class Taker final : public engine::ExchangeSender {
public:
    explicit Taker(Schema schema) : schema_(std::move(schema)) {}
    Result<Done> announce(const std::vector<std::string>&) override { return Done{}; }
    Result<Done> send(engine::Frame frame) override {
        if (frame.batch.rows == 0) return Done{};
        CHECK(frame.batch.columns.size() == schema_.columns.size());
        for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
            CHECK(frame.batch.columns[i].type() == schema_.columns[i].type);
            for (std::size_t row = 0; row < frame.batch.rows; ++row) {
                (void)engine::value_at(frame.batch.columns[i], row);
            }
        }
        return Done{};
    }
    Result<Done> finish() override { return Done{}; }
    void interrupt() override {}
    [[nodiscard]] engine::ExchangeCounts counts() const override { return {}; }

private:
    Schema schema_;
};

// Each sender has one origin, gives rows twice, and ends.
class Giver final : public engine::ExchangeReceiver {
public:
    Giver(Schema schema, std::size_t senders) : schema_(std::move(schema)), senders_(senders) {}
    Result<engine::Arrived> next(Duration) override {
        const std::size_t sender = step_ % senders_;
        const std::size_t round = step_ / senders_;
        if (round == 3) return engine::Arrived{.what = engine::Arrival::end};
        step_ += 1;
        if (round == 0) {
            return engine::Arrived{.what = engine::Arrival::announced,
                                   .sender = sender,
                                   .origins = {"O" + std::to_string(sender)}};
        }
        return engine::Arrived{
            .what = engine::Arrival::frame,
            .sender = sender,
            .origins = {},
            .frame = {.origin = 0,
                      .batch = rows_of(schema_, kRows),
                      .watermark = round == 1 ? std::optional<std::uint64_t>(50) : std::nullopt,
                      .end = round == 2}};
    }
    void interrupt() override {}
    [[nodiscard]] engine::ExchangeCounts counts() const override { return {}; }

private:
    Schema schema_;
    std::size_t senders_;
    std::size_t step_ = 0;
};

class PlayedExchanges final : public engine::Exchanges {
public:
    Result<std::unique_ptr<engine::ExchangeSender>> open_sender(const ExchangeKey&,
                                                                const std::string&,
                                                                const std::string&,
                                                                const std::string&,
                                                                const Schema& schema) override {
        return std::unique_ptr<engine::ExchangeSender>(std::make_unique<Taker>(schema));
    }
    Result<std::unique_ptr<engine::ExchangeReceiver>> open_receiver(
        const ExchangeKey&, const std::string&, const std::vector<std::string>& senders,
        const Schema& schema) override {
        return std::unique_ptr<engine::ExchangeReceiver>(
            std::make_unique<Giver>(schema, senders.size()));
    }
};

// ---- running ------------------------------------------------------------------------------------

class Waiting {
public:
    void heard(const fragments::Event& event) {
        const std::lock_guard lock(mutex_);
        if (std::holds_alternative<fragments::Prepared>(event)) prepared_ = true;
        if (is_end(event)) ended_ = true;
        changed_.notify_all();
    }
    bool prepared() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return prepared_ || ended_; });
        return prepared_ && !ended_;
    }
    void a_moment() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kMoment, [&] { return ended_; });
    }
    void end() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ended_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool prepared_ = false;
    bool ended_ = false;
};

void run(const std::string& plan) {
    const system::SystemClock clock;
    MadeUpConnectors connectors(clock);
    PlayedExchanges exchanges;
    engine::FragmentOptions options;
    options.memory_most = std::uint64_t{64} << 20U;
    engine::FragmentEngine engine(connectors, exchanges, clock, options);
    Waiting waiting;
    engine.listen([&](const fragments::Event& event) { waiting.heard(event); });
    const FragmentKey key{.query = QueryId(1), .run = 1, .fragment = FragmentId(1)};
    engine.prepare(key, plan);
    if (waiting.prepared()) {
        engine.start(key);
        waiting.a_moment();
        engine.abort(key);
        waiting.end();
    }
    engine.listen({});
}

// ---- mutations ----------------------------------------------------------------------------------

using Tree = nlohmann::json;

constexpr std::array<const char*, 13> kTypes = {
    "INT8",   "INT16",   "INT32",   "INT64",   "UINT8", "UINT16",  "UINT32",
    "UINT64", "FLOAT32", "FLOAT64", "BOOLEAN", "CHAR",  "VARSIZED"};

void collect(Tree& tree, std::vector<Tree*>& all) {
    all.push_back(&tree);
    if (!tree.is_structured()) return;
    for (Tree& child : tree) collect(child, all);
}

bool is_type(const Tree& tree) {
    return tree.is_string() && std::any_of(kTypes.begin(), kTypes.end(), [&](const char* type) {
               return tree.get_ref<const std::string&>() == type;
           });
}

// What can stand in each other's place: operators, expressions, columns, texts and so on.
std::string kind_of(const Tree& tree) {
    if (is_type(tree)) return "type";
    if (tree.is_object()) {
        for (const char* key : {"op", "function", "call", "column", "value"}) {
            if (tree.contains(key)) return std::string(key) == "op" ? "op" : "expression";
        }
    }
    return tree.type_name();
}

// Another type for one, so that a plan stays true to itself.
void retype(const std::vector<Tree*>& all, Prng& prng) {
    const std::string from = kTypes.at(prng.between(0, kTypes.size() - 1));
    const std::string to = kTypes.at(prng.between(0, kTypes.size() - 1));
    for (Tree* tree : all) {
        if (tree->is_string() && *tree == from) *tree = to;
    }
}

void change(Tree& tree, const std::vector<Tree*>& all, Prng& prng) {
    if (is_type(tree)) {
        tree = kTypes.at(prng.between(0, kTypes.size() - 1));
        return;
    }
    if (tree.is_boolean()) {
        tree = !tree.get<bool>();
        return;
    }
    if (tree.is_number()) {
        static constexpr std::array<std::uint64_t, 8> kNumbers = {
            0, 1, 2, 10, 255, 1000, UINT64_MAX, std::uint64_t{1} << 63U};
        tree = kNumbers.at(prng.between(0, kNumbers.size() - 1));
        if (prng.between(0, 3) == 0) tree = -static_cast<std::int64_t>(prng.between(0, 300));
        return;
    }
    if (tree.is_array() && !tree.empty() && prng.between(0, 1) == 0) {
        const std::size_t at = prng.between(0, tree.size() - 1);
        const Tree copy = tree[at];
        if (prng.between(0, 1) == 0) {
            tree.push_back(copy);
        } else {
            tree.erase(at);
        }
        return;
    }
    // Something of its kind from elsewhere in the plan.
    std::vector<Tree*> others;
    for (Tree* other : all) {
        if (other != &tree && kind_of(*other) == kind_of(tree)) others.push_back(other);
    }
    if (others.empty()) return;
    const Tree copy = *others[prng.between(0, others.size() - 1)];
    tree = copy;
}

void mutate(Tree& plan, Prng& prng) {
    const std::uint64_t changes = prng.between(1, 3);
    for (std::uint64_t i = 0; i < changes; ++i) {
        std::vector<Tree*> all;
        collect(plan, all);
        if (prng.between(0, 3) == 0) {
            retype(all, prng);
        } else {
            change(*all[prng.between(0, all.size() - 1)], all, prng);
        }
    }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
    Tree plan = Tree::parse(data, data + size, nullptr, false);
    if (plan.is_discarded()) return size;
    Prng prng(seed);
    mutate(plan, prng);
    const std::string text = plan.dump(-1, ' ', false, Tree::error_handler_t::replace);
    if (text.size() > most) return size;
    std::memcpy(data, text.data(), text.size());
    return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (baton::plan_format::read_plan(text)) run(text);
    return 0;
}
