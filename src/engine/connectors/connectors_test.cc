#include <cmath>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/file/system_files.h"
#include "adapters/system/system_clock.h"
#include "core/descriptors/descriptors.h"
#include "engine/connectors/formatted_connectors.h"
#include "testing/temporary_directory.h"

namespace baton::engine {
namespace {

using testing::TemporaryDirectory;
using Rows = std::vector<std::vector<Value>>;
using Given = std::vector<descriptors::GivenOption>;

constexpr Duration kLong = std::chrono::seconds(20);
const Schema kPair = {{{"ID", DataType::uint64, false}, {"NAME", DataType::varsized, true}}};

ConfigValue text(std::string value) {
    return value;
}

// A TCP door whose bytes are what the test says, one step after the other.
class ScriptedBytes final : public ByteSource {
public:
    struct Step {
        std::string bytes;  // none: the end
        bool reconnected = false;
    };
    explicit ScriptedBytes(std::vector<Step> steps) : steps_(std::move(steps)) {}
    Result<BytesRead> read(std::span<char> into, Duration) override {
        if (next_ == steps_.size()) return BytesRead{.what = BytesRead::What::end};
        const Step& step = steps_[next_++];
        EXPECT_LE(step.bytes.size(), into.size());
        std::copy(step.bytes.begin(), step.bytes.end(), into.begin());
        return BytesRead{.what = BytesRead::What::bytes,
                         .count = step.bytes.size(),
                         .reconnected = step.reconnected};
    }
    void interrupt() override {}

private:
    std::vector<Step> steps_;
    std::size_t next_ = 0;
};

class ScriptedTcp final : public TcpDoor {
public:
    std::vector<ScriptedBytes::Step> steps = {};
    TcpServer asked = {};
    Result<std::unique_ptr<ByteSource>> connect(const TcpServer& server) override {
        asked = server;
        return std::unique_ptr<ByteSource>(std::make_unique<ScriptedBytes>(steps));
    }
};

class ConnectorsTest : public ::testing::Test {
protected:
    static SourceScan scan(const std::string& type, const Given& options, const Given& format,
                           const Schema& schema) {
        auto complete = descriptors::complete_source(type, options, format);
        EXPECT_TRUE(complete.has_value()) << to_string(complete.error());
        SourceScan scan{.type = complete->type,
                        .source = complete->options,
                        .format = complete->format,
                        .parsed = schema,
                        .wanted = {}};
        for (std::size_t i = 0; i < schema.columns.size(); ++i) scan.wanted.push_back(i);
        return scan;
    }

    static SinkWrite sink(const std::string& type, const Given& options, const Given& format = {}) {
        auto complete = descriptors::complete_sink(type, options, format);
        EXPECT_TRUE(complete.has_value()) << to_string(complete.error());
        return {.type = complete->type, .sink = complete->options, .format = complete->format};
    }

    static Rows all_of(RowSource& source) {
        Rows rows;
        Batch batch;
        while (true) {
            const auto pulled = source.pull(batch, kLong);
            EXPECT_TRUE(pulled.has_value()) << to_string(pulled.error());
            if (!pulled || *pulled == Pull::end) return rows;
            if (*pulled == Pull::nothing) continue;
            for (std::size_t row = 0; row < batch.rows; ++row) {
                std::vector<Value> values;
                for (const ColumnVector& c : batch.columns) values.push_back(value_at(c, row));
                rows.push_back(std::move(values));
            }
        }
    }

    void put(const std::string& name, const std::string& bytes) const {
        std::ofstream(directory_ / name, std::ios::binary) << bytes;
    }
    [[nodiscard]] std::string text_in(const std::string& name) const {
        std::stringstream text;
        text << std::ifstream(directory_ / name, std::ios::binary).rdbuf();
        return text.str();
    }
    [[nodiscard]] descriptors::GivenOption path(const std::string& name) const {
        return {"FILE_PATH", text(directory_ / name), {}};
    }

    static Batch pair_of(std::vector<Value> ids, std::vector<Value> names) {
        return {
            .rows = ids.size(),
            .columns = {column_of(DataType::uint64, ids), column_of(DataType::varsized, names)}};
    }
    static void write(Connectors& connectors, const SinkWrite& to, const Schema& schema,
                      const std::vector<Batch>& batches) {
        auto opened = connectors.open_sink(to, schema);
        ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
        for (const Batch& batch : batches) ASSERT_TRUE((*opened)->write(batch).has_value());
        ASSERT_TRUE((*opened)->finish().has_value());
    }

    TemporaryDirectory directory_;
    system::SystemClock clock_;
    files::AllowedFiles allowed_ = *files::AllowedFiles::of({.directories = {"/"}, .never = {}});
    files::SystemFiles files_{allowed_};
    ScriptedTcp tcp_;
    FormattedConnectors connectors_{
        ConnectorPorts{.clock = &clock_, .files = &files_, .tcp = &tcp_}};
};

const Batch kTwo = {
    .rows = 2,
    .columns = {column_of(DataType::uint64, std::vector<Value>{std::uint64_t{1}, std::uint64_t{2}}),
                column_of(DataType::varsized, std::vector<Value>{std::string("a"), Value()})}};

TEST_F(ConnectorsTest, AFileIsReadAsRows) {
    put("in.csv", "1,a\n2,\n");
    auto source = connectors_.open_source(scan("File", {path("in.csv")}, {}, kPair));
    ASSERT_TRUE(source.has_value()) << to_string(source.error());
    EXPECT_EQ(all_of(**source),
              (Rows{{std::uint64_t{1}, std::string("a")}, {std::uint64_t{2}, Value()}}));
    EXPECT_EQ((*source)->counts().rows, 2);
    EXPECT_EQ((*source)->counts().bytes, 7);
}

TEST_F(ConnectorsTest, AFaultIsNamedWithItsFileAndLine) {
    put("in.csv", "1,a\nx,b\n");
    auto source = connectors_.open_source(scan("File", {path("in.csv")}, {}, kPair));
    Batch batch;
    ASSERT_EQ(*(*source)->pull(batch, kLong), Pull::rows);
    const auto fault = (*source)->pull(batch, kLong);
    ASSERT_FALSE(fault.has_value());
    EXPECT_EQ(fault.error().code, ErrorCode::cannot_format);
    EXPECT_EQ(fault.error().message, "cannot read \"" + (directory_ / "in.csv") +
                                         "\": line 2: field 1, \"ID\", is \"x\", not a UINT64");
}

TEST_F(ConnectorsTest, WhatIsSkippedIsCounted) {
    put("in.csv", "1,a\nx,b\n3,c\n");
    auto source = connectors_.open_source(
        scan("File", {path("in.csv")}, {{"ON_MALFORMED", text("skip"), {}}}, kPair));
    EXPECT_EQ(all_of(**source).size(), 2);
    EXPECT_EQ((*source)->counts().skipped, 1);
}

TEST_F(ConnectorsTest, AfterAReconnectARecordBeginsAnew) {
    tcp_.steps = {{"1,a\n2,b", false}, {"3,c\n", true}, {"4,d\n", false}};
    const Given options = {{"SOCKET_HOST", text("h"), {}},
                           {"SOCKET_PORT", std::int64_t{99}, {}},
                           {"SOCKET_DOMAIN", text("AF_INET6"), {}},
                           {"CONNECT_TIMEOUT_SECONDS", std::int64_t{3}, {}},
                           {"FLUSH_INTERVAL_MS", std::int64_t{100000}, {}},
                           {"SOCKET_BUFFER_SIZE", std::int64_t{77}, {}}};
    auto source = connectors_.open_source(scan("TCP", options, {}, kPair));
    ASSERT_TRUE(source.has_value());
    EXPECT_EQ(tcp_.asked.port, 99);
    EXPECT_TRUE(tcp_.asked.ipv6);
    EXPECT_EQ(tcp_.asked.read_bytes, 77);
    EXPECT_EQ(tcp_.asked.connect_timeout, std::chrono::seconds(3));
    const Rows rows = all_of(**source);
    ASSERT_EQ(rows.size(), 3);
    EXPECT_EQ(rows[0][0], Value(std::uint64_t{1}));
    EXPECT_EQ(rows[1][0], Value(std::uint64_t{3}));
    EXPECT_EQ(rows[2][0], Value(std::uint64_t{4}));
    EXPECT_EQ((*source)->counts().reconnects, 1);
}

TEST_F(ConnectorsTest, RowsArePassedOnAtOnceOrGatheredForTheFlushInterval) {
    const auto batches = [&](std::int64_t interval) {
        tcp_.steps = {{"1,a\n", false}, {"2,b\n", false}, {"3,c\n", false}};
        const Given options = {{"SOCKET_HOST", text("h"), {}},
                               {"SOCKET_PORT", std::int64_t{99}, {}},
                               {"FLUSH_INTERVAL_MS", interval, {}}};
        auto source = connectors_.open_source(scan("TCP", options, {}, kPair));
        Batch batch;
        std::vector<std::size_t> sizes;
        while (*(*source)->pull(batch, kLong) == Pull::rows) sizes.push_back(batch.rows);
        return sizes;
    };
    EXPECT_EQ(batches(0), (std::vector<std::size_t>{1, 1, 1}));
    EXPECT_EQ(batches(60'000), (std::vector<std::size_t>{3}));
}

TEST_F(ConnectorsTest, AFileSinkBeginsWithAHeader) {
    write(connectors_, sink("File", {path("out.csv")}), kPair, {kTwo});
    EXPECT_EQ(text_in("out.csv"),
              "ID:UINT64:NOT_NULLABLE,NAME:VARSIZED:IS_NULLABLE\n1,a\n2,NULL\n");
    write(connectors_, sink("File", {path("out.csv")}), kPair, {});
    EXPECT_EQ(text_in("out.csv"), "ID:UINT64:NOT_NULLABLE,NAME:VARSIZED:IS_NULLABLE\n");
}

TEST_F(ConnectorsTest, AppendingWritesAHeaderOnlyToAnEmptyFile) {
    const SinkWrite appending = sink("File", {path("out.csv"), {"APPEND", true, {}}});
    write(connectors_, appending, kPair, {kTwo});
    write(connectors_, appending, kPair, {kTwo});
    EXPECT_EQ(text_in("out.csv"),
              "ID:UINT64:NOT_NULLABLE,NAME:VARSIZED:IS_NULLABLE\n1,a\n2,NULL\n1,a\n2,NULL\n");
}

TEST_F(ConnectorsTest, FlushShowsWhatWasWritten) {
    auto opened = connectors_.open_sink(sink("File", {path("out.csv")}), kPair);
    ASSERT_TRUE((*opened)->write(kTwo).has_value());
    ASSERT_TRUE((*opened)->flush().has_value());
    EXPECT_NE(text_in("out.csv").find("2,NULL\n"), std::string::npos);
    EXPECT_EQ((*opened)->counts().rows, 2);
}

TEST_F(ConnectorsTest, AChecksumIsTheNumberOfRowsAndTheSumOfTheirBytes) {
    write(connectors_, sink("Checksum", {path("sum.csv")}), kPair, {kTwo, kTwo});
    std::uint64_t sum = 0;
    for (const char c : std::string("1,a\n2,NULL\n")) sum += static_cast<unsigned char>(c);
    EXPECT_EQ(text_in("sum.csv"), "S$Count:UINT64:NOT_NULLABLE,S$Checksum:UINT64:NOT_NULLABLE\n4," +
                                      std::to_string(2 * sum) + "\n");
}

TEST_F(ConnectorsTest, AVoidSinkWritesNothing) {
    write(connectors_, sink("Void", {path("out.csv")}), kPair, {kTwo});
    EXPECT_FALSE(std::ifstream(directory_ / "out.csv").good());
}

TEST_F(ConnectorsTest, ATimestampComesFirstIfAsked) {
    const SinkWrite timed = sink("File", {path("out.csv"), {"ADD_TIMESTAMP", true, {}}});
    write(connectors_, timed, kPair, {kTwo});
    std::istringstream lines(text_in("out.csv"));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line,
              "TIMESTAMP:UINT64:NOT_NULLABLE,ID:UINT64:NOT_NULLABLE,NAME:VARSIZED:IS_NULLABLE");
    std::getline(lines, line);
    EXPECT_GT(std::stoull(line), 1'600'000'000'000U);
    EXPECT_TRUE(line.ends_with(",1,a"));
    const Schema taken = {{{"TIMESTAMP", DataType::uint64, false}}};
    EXPECT_EQ(connectors_.open_sink(timed, taken).error().code, ErrorCode::invalid_configuration);
}

TEST_F(ConnectorsTest, APrintSinkThatPausesCanBeInterrupted) {
    auto opened =
        connectors_.open_sink(sink("Print", {{"INGESTION", std::int64_t{3'600'000}, {}}}), kPair);
    ASSERT_TRUE(opened.has_value());
    std::thread interrupter([&] { (*opened)->interrupt(); });
    const auto written = (*opened)->write(Batch{});
    interrupter.join();
    EXPECT_EQ(written.error().code, ErrorCode::cancelled);
}

TEST_F(ConnectorsTest, WhatHasNoDoorIsRefused) {
    const SinkWrite parquet = sink("Parquet", {path("out.parquet")});
    EXPECT_EQ(connectors_.open_sink(parquet, kPair).error().code, ErrorCode::not_supported);
}

// ---- generator --------------------------------------------------------------------------------

Given generator(const std::string& fields, Given more = {}) {
    more.push_back({"GENERATOR_SCHEMA", text(fields), {}});
    more.push_back({"SEED", std::int64_t{7}, {}});
    more.push_back({"GENERATOR_RATE_CONFIG", text("emit_rate 10000000"), {}});
    return more;
}

const Schema kNumber = {{{"N", DataType::uint64, false}}};
const Schema kTwoNumbers = {{{"N", DataType::uint64, false}, {"M", DataType::int8, false}}};

TEST_F(ConnectorsTest, ASequenceEndsBeforeItsEnd) {
    auto source = connectors_.open_source(
        scan("Generator", generator("SEQUENCE UINT64 0 10000 3"), {}, kNumber));
    ASSERT_TRUE(source.has_value()) << to_string(source.error());
    const Rows rows = all_of(**source);
    ASSERT_EQ(rows.size(), 3334);
    EXPECT_EQ(rows[1][0], Value(std::uint64_t{3}));
    EXPECT_EQ(rows.back()[0], Value(std::uint64_t{9999}));
}

TEST_F(ConnectorsTest, AGeneratorEndsWithAllOrOneOfItsSequences) {
    const std::string fields = "SEQUENCE UINT64 0 20 1, SEQUENCE INT8 0 5 1";
    const auto rows = [&](const char* stop) {
        const Given options =
            generator(fields, {{"STOP_GENERATOR_WHEN_SEQUENCE_FINISHES", text(stop), {}},
                               {"MAX_RUNTIME_MS", std::int64_t{40}, {}}});
        auto source = connectors_.open_source(scan("Generator", options, {}, kTwoNumbers));
        return all_of(**source);
    };
    EXPECT_EQ(rows("ONE").size(), 5);
    const Rows all = rows("ALL");
    ASSERT_EQ(all.size(), 20);
    EXPECT_EQ(all[4][1], Value(std::int64_t{4}));
    EXPECT_EQ(all[19][1], Value(std::int64_t{5}));
    EXPECT_EQ(rows("NONE").size(), 400'000);  // 40 ms at 10 million a second
}

TEST_F(ConnectorsTest, TheSameSeedGivesTheSameRowsWhicheverColumnsAreWanted) {
    const Schema schema = {{{"F", DataType::float64, false},
                            {"I", DataType::int16, false},
                            {"T", DataType::varsized, false},
                            {"N", DataType::uint64, false}}};
    const std::string fields =
        "NORMAL_DISTRIBUTION FLOAT64 5 2, NORMAL_DISTRIBUTION INT16 0 100000, RANDOMSTR 2 4, "
        "SEQUENCE UINT64 0 5000 1";
    SourceScan wide = scan("Generator", generator(fields), {}, schema);
    const Rows rows = all_of(**connectors_.open_source(wide));
    ASSERT_EQ(rows.size(), 5000);
    double sum = 0;
    std::set<std::size_t> lengths;
    for (const auto& row : rows) {
        sum += std::get<double>(row[0]);
        lengths.insert(std::get<std::string>(row[2]).size());
    }
    EXPECT_NEAR(sum / 5000, 5, 0.2);
    EXPECT_EQ(lengths, (std::set<std::size_t>{2, 3, 4}));
    wide.wanted = {2};
    const Rows narrow = all_of(**connectors_.open_source(wide));
    ASSERT_EQ(narrow.size(), 5000);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(narrow[i][0], rows[i][2]);
}

TEST_F(ConnectorsTest, AGeneratorThatIsLateMakesNoMoreThan4MiBOfTextsAtOnce) {
    const Schema schema = {{{"S", DataType::varsized, false}, {"T", DataType::varsized, false}}};
    const Given options = generator(
        "RANDOMSTR 65536 65536, RANDOMSTR 1 1",
        {{"MAX_RUNTIME_MS", std::int64_t{1}, {}}, {"FLUSH_INTERVAL_MS", std::int64_t{0}, {}}});
    SourceScan whole = scan("Generator", options, {}, schema);
    auto source = connectors_.open_source(whole);
    ASSERT_TRUE(source.has_value());
    Batch batch;
    std::size_t rows = 0;
    while (rows < 200) {
        const auto pulled = (*source)->pull(batch, kLong);
        ASSERT_TRUE(pulled.has_value());
        ASSERT_EQ(*pulled, Pull::rows);
        EXPECT_LE(batch.rows, 63);
        rows += batch.rows;
    }
}

TEST_F(ConnectorsTest, AGeneratorFitsItsSchema) {
    const auto refused = [&](const std::string& fields) {
        return connectors_.open_source(scan("Generator", generator(fields), {}, kTwoNumbers))
            .error()
            .message;
    };
    EXPECT_EQ(refused("SEQUENCE UINT64 0 1 1"),
              "option \"GENERATOR_SCHEMA\" does not fit the source: it has 1 fields for 2 columns");
    EXPECT_EQ(
        refused("SEQUENCE UINT64 0 1 1, RANDOMSTR 1 2"),
        "option \"GENERATOR_SCHEMA\" does not fit the source: field 2 is for the column \"M\" "
        "of type INT8, not VARSIZED");
}

TEST_F(ConnectorsTest, AGeneratorThatWaitsCanBeInterrupted) {
    const Given options = {{"GENERATOR_SCHEMA", text("SEQUENCE UINT64 0 10 1"), {}},
                           {"GENERATOR_RATE_TYPE", text("SINUS"), {}},
                           {"GENERATOR_RATE_CONFIG", text("amplitude 0.001, frequency 0.001"), {}}};
    auto source = connectors_.open_source(scan("Generator", options, {}, kNumber));
    ASSERT_TRUE(source.has_value());
    std::thread interrupter([&] { (*source)->interrupt(); });
    Batch batch;
    EXPECT_EQ(*(*source)->pull(batch, std::chrono::hours(1)), Pull::nothing);
    interrupter.join();
}

}  // namespace
}  // namespace baton::engine
