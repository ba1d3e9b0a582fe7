// A table in a real folder is read by a program that knows only the protocol's text
// (read_delta.py): both must see the same table, after each of many commits by several writers.
#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/folder/folder_store.h"
#include "adapters/system/system_clock.h"
#include "base/prng.h"
#include "cli/process.h"
#include "core/tables/values.h"
#include "stores/sure_store.h"
#include "tables/table_log.h"
#include "testing/tables/line_checkpoints.h"
#include "testing/temporary_directory.h"

namespace baton::tables {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

TableDefinition definition() {
    TableDefinition definition{.id = "0b9a7f5e-0000-4000-8000-000000000000",
                               .name = "t",
                               .partition_by = {"day", "place"}};
    for (const auto& [name, type] : std::vector<std::pair<std::string, std::string>>{
             {"day", "DATE"},
             {"place", "VARCHAR"},
             {"n", "BIGINT"},
             {"x", "DOUBLE"},
             {"price", "DECIMAL(10,2)"},
             {"name \"of\" it", "VARCHAR"},
             {"ts", "TIMESTAMP"},
             {"list", "TIMESTAMP[]"},
             {"parts", "STRUCT(a INTEGER, b VARCHAR)"}}) {
        definition.columns.push_back({.name = name, .type = *table_type_of(type)});
    }
    return definition;
}

class IndependentReader : public ::testing::Test {
protected:
    void SetUp() override {
        auto opened = folder::FolderStore::open({.path = folder_ / "t"}, clock_);
        ASSERT_TRUE(opened);
        store_ = std::make_shared<stores::SureStore>(*std::move(opened), clock_, 7);
    }

    std::unique_ptr<TableLog> open(const std::string& process) {
        return std::make_unique<TableLog>(TableLogParts{.store = store_,
                                                        .clock = &clock_,
                                                        .checkpoints = &checkpoints_,
                                                        .temporary_folder = folder_.path(),
                                                        .engine = "Baton/test",
                                                        .process = process});
    }

    // Writes an object that says so of its rows.
    TableObject object(Prng& prng, const Layout& layout, const std::string& name) {
        TableObject object{.rows = prng.between(1, 1'000), .modified = clock_.wall_now()};
        object.partition["day"] = whole_text({.kind = SqlType::Kind::date},
                                             static_cast<std::int64_t>(prng.between(0, 30'000)));
        const std::vector<std::optional<std::string>> places = {
            std::nullopt, "Ulm", "K\xc3\xb6ln am Rhein", "a/b=c%20\"d\"", ".."};
        object.partition["place"] = places[prng.between(0, places.size() - 1)];
        const auto low = static_cast<std::int64_t>(prng.next() >> 40U);
        const auto both = [&](const std::string& column, const SqlType& type, std::int64_t shift) {
            object.ranges[column] = {
                .min = whole_text(type, low), .max = whole_text(type, low + shift), .nulls = 0};
        };
        both("n", {.kind = SqlType::Kind::bigint}, 5);
        both("price", {.kind = SqlType::Kind::decimal, .precision = 10, .scale = 2}, 999);
        both("ts", {.kind = SqlType::Kind::timestamp}, 123);
        object.ranges["x"] = {.min = "-Infinity", .max = "0.1"};
        object.ranges["name \"of\" it"] = {.min = std::string(50, 'a'),
                                           .max = std::string(50, 'z')};
        object.key = object_key(layout, object.partition, name);
        const std::string bytes(prng.between(1, 100), 'x');
        object.bytes = bytes.size();
        EXPECT_TRUE(store_->put(object.key, bytes, Always{}, {}));
        return object;
    }

    static std::string facts_of(const Snapshot& snapshot) {
        std::string text = "version " + std::to_string(snapshot.version()) + "\n";
        const std::vector<std::string> types = {"date",      "string",        "long",
                                                "double",    "decimal(10,2)", "string",
                                                "timestamp", "array",         "struct"};
        for (std::size_t i = 0; i < types.size(); ++i) {
            text += "column " + snapshot.layout().columns[i].name + " " + types[i] + "\n";
        }
        for (const std::string& name : snapshot.layout().partition_by) text += "by " + name + "\n";
        std::vector<std::string> lines;
        snapshot.each_transaction([&](const Transaction& transaction) {
            lines.push_back("txn " + transaction.application + " " +
                            std::to_string(transaction.version) + "\n");
        });
        std::sort(lines.begin(), lines.end());
        for (const std::string& line : lines) text += line;
        lines.clear();
        snapshot.each([&](ObjectPlace place) {
            const TableObject object = snapshot.object(place);
            std::string line = "file " + object.key + " rows " +
                               std::to_string(object.rows.value_or(0)) + " partition ";
            line += "day=" + object.partition.at("day").value_or("NULL") + ",";
            line += "place=" + object.partition.at("place").value_or("NULL") + "\n";
            lines.push_back(line);
        });
        std::sort(lines.begin(), lines.end());
        for (const std::string& line : lines) text += line;
        return text;
    }

    testing::TemporaryDirectory folder_;
    system::SystemClock clock_;
    testing::LineCheckpoints checkpoints_;
    std::shared_ptr<ObjectStore> store_;
};

TEST_F(IndependentReader, SeesTheSameTable) {
    constexpr int kWriters = 3;
    constexpr int kCommits = 40;
    ASSERT_TRUE(open("maker")->create(definition(), {}));
    std::vector<std::thread> threads;
    for (int writer = 0; writer < kWriters; ++writer) {
        threads.emplace_back([&, writer] {
            const std::string name = "w" + std::to_string(writer);
            const auto log = open(name);
            Prng prng(static_cast<std::uint64_t>(writer));
            for (int i = 0; i < kCommits; ++i) {
                const auto before = log->newest({});
                ASSERT_TRUE(before);
                CommitRequest request{.layout = (*before)->layout()};
                for (std::uint64_t n = prng.between(0, 3); n > 0; --n) {
                    request.add.push_back(
                        object(prng, (*before)->layout(),
                               name + "-" + std::to_string(i) + "-" + std::to_string(n)));
                }
                if (prng.chance(1, 2)) {
                    request.transaction = Transaction{.application = name, .version = i};
                }
                (*before)->each([&](ObjectPlace place) {
                    if (prng.chance(1, 50)) request.remove.emplace_back((*before)->key(place));
                });
                const auto done = log->commit(request, {});
                const bool conflict = !done && done.error().code == ErrorCode::conflict;
                EXPECT_TRUE(done || conflict) << to_string(done.error());
            }
        });
    }
    for (auto& thread : threads) thread.join();
    const auto snapshot = open("reader")->newest({});
    ASSERT_TRUE(snapshot);
    EXPECT_GT((*snapshot)->version(), kCommits);
    const cli::Ended ended = cli::run({kPython, BATON_TABLES "/read_delta.py", folder_ / "t"});
    EXPECT_EQ(ended.status, 0) << ended.out << ended.errors;
    EXPECT_EQ(ended.out, facts_of(**snapshot));
}

}  // namespace
}  // namespace baton::tables
