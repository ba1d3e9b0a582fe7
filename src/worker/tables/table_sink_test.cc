#include "worker/tables/table_sink.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/duckdb/duckdb_engine.h"
#include "adapters/folder/folder_store.h"
#include "adapters/parquet/parquet_files.h"
#include "base/text.h"
#include "stores/sure_store.h"
#include "testing/tables/line_checkpoints.h"
#include "testing/temporary_directory.h"

namespace baton::worker {
namespace {

using engine::Batch;

// A store that may be away.
class AwayStore : public ObjectStore {
public:
    explicit AwayStore(std::unique_ptr<ObjectStore> store) : store_(std::move(store)) {}

    Result<Got> get(const std::string& key, const GetOptions& options,
                    const StoreCall& call) override {
        return away ? Result<Got>(is_away()) : store_->get(key, options, call);
    }
    Result<PutOutcome> put(const std::string& key, std::string_view bytes,
                           const PutCondition& condition, const StoreCall& call) override {
        return away ? Result<PutOutcome>(is_away()) : store_->put(key, bytes, condition, call);
    }
    Result<PutOutcome> put_file(const std::string& key, const std::string& path,
                                const PutCondition& condition, const StoreCall& call) override {
        return away ? Result<PutOutcome>(is_away()) : store_->put_file(key, path, condition, call);
    }
    Result<ListPage> list(const ListOptions& options, const StoreCall& call) override {
        return away ? Result<ListPage>(is_away()) : store_->list(options, call);
    }
    Result<Done> remove(const std::vector<std::string>& keys, const StoreCall& call) override {
        return away ? Result<Done>(is_away()) : store_->remove(keys, call);
    }
    [[nodiscard]] std::optional<std::string> path_of(const std::string& key) const override {
        return store_->path_of(key);
    }
    [[nodiscard]] std::string url() const override { return store_->url(); }

    std::atomic<bool> away = false;

private:
    static Error is_away() {
        return {.code = ErrorCode::store_unavailable, .message = "the store is away"};
    }

    const std::unique_ptr<ObjectStore> store_;
};

class OneStore : public ObjectStores {
public:
    explicit OneStore(std::shared_ptr<ObjectStore> store) : store_(std::move(store)) {}
    Result<std::shared_ptr<ObjectStore>> open(const std::string& /*url*/) override {
        return store_;
    }

private:
    std::shared_ptr<ObjectStore> store_;
};

const Schema kRows{.columns = {{.name = "note", .type = DataType::varsized, .nullable = true},
                               {.name = "id", .type = DataType::uint64, .nullable = false}}};

class TableSinkTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::filesystem::create_directories(folder_ / "work");
        auto opened = folder::FolderStore::open({.path = folder_ / "t"}, clock_);
        ASSERT_TRUE(opened);
        store_ = std::make_shared<AwayStore>(
            std::make_unique<stores::SureStore>(*std::move(opened), clock_, 7));
        stores_ = std::make_unique<OneStore>(store_);
        auto engine = duckdb_engine::open_engine({});
        ASSERT_TRUE(engine);
        engine_ = *std::move(engine);
        auto allowed = files::AllowedFiles::of({.directories = {folder_ / "work"}, .never = {}});
        ASSERT_TRUE(allowed);
        allowed_ = *std::move(allowed);
        Table table;
        table.name = "t";
        table.location = "t";
        table.columns = {{.name = "ID", .type = *table_type_of("BIGINT"), .nullable = false},
                         {.name = "day", .type = *table_type_of("DATE")},
                         {.name = "Note", .type = *table_type_of("VARCHAR")}};
        auto made = access("coordinator").create(table, {});
        ASSERT_TRUE(made) << to_string(made.error());
    }

    // Of a process.
    tables::TableAccess& access(const std::string& process) {
        auto& access = processes_[process];
        if (!access) {
            access = std::make_unique<tables::TableAccess>(
                tables::TableAccessParts{.stores = stores_.get(),
                                         .engine = engine_.get(),
                                         .checkpoints = &checkpoints_,
                                         .clock = &clock_,
                                         .default_store = {},
                                         .work_folder = folder_ / "work",
                                         .process = process,
                                         .engine_name = "Baton/test"});
        }
        return *access;
    }

    static TableSinkOptions run(std::uint64_t number, bool replaces = true) {
        return {.location = "t", .stamp = "5a", .run = number, .replaces = replaces};
    }
    Result<std::unique_ptr<TableSink>> try_open(const std::string& process,
                                                TableSinkOptions options,
                                                const Schema& rows = kRows) {
        return TableSink::open({.access = &access(process), .files = &files_, .clock = &clock_},
                               std::move(options), rows);
    }
    std::unique_ptr<TableSink> open(const std::string& process, TableSinkOptions options) {
        auto sink = try_open(process, std::move(options));
        EXPECT_TRUE(sink) << to_string(sink.error());
        return sink ? *std::move(sink) : nullptr;
    }

    static Batch batch(std::uint64_t from, std::uint64_t to) {
        std::vector<Value> notes;
        std::vector<Value> ids;
        for (std::uint64_t id = from; id < to; ++id) {
            notes.emplace_back(id % 3 == 0 ? Value() : Value("n" + std::to_string(id)));
            ids.emplace_back(id);
        }
        return {.rows = to - from,
                .columns = {engine::column_of(DataType::varsized, notes),
                            engine::column_of(DataType::uint64, ids)}};
    }
    static void write(TableSink& sink, std::uint64_t from, std::uint64_t to) {
        const auto written = sink.write(batch(from, to));
        ASSERT_TRUE(written) << to_string(written.error());
    }

    tables::SharedSnapshot newest() {
        Table table;
        table.location = "t";
        auto opened = access("reader").open(table);
        EXPECT_TRUE(opened);
        auto snapshot = (*opened)->log->newest({});
        EXPECT_TRUE(snapshot);
        return *snapshot;
    }
    std::uint64_t rows() { return newest()->totals().rows; }

    // The answer to a question about the table, with spaces and semicolons.
    std::string ask(const std::string& text) {
        const auto snapshot = newest();
        RelationFiles files;
        snapshot->each([&](tables::ObjectPlace place) {
            files.files.push_back({.path = *store_->path_of(std::string(snapshot->key(place)))});
        });
        auto tree = engine_->parse(text);
        EXPECT_TRUE(tree);
        auto answer = engine_->answer(
            {.tree = *tree,
             .relations = {
                 {.name = "t", .columns = snapshot->layout().columns, .content = files}}});
        EXPECT_TRUE(answer) << to_string(answer.error());
        std::string shown;
        for (bool ended = !answer; !ended;) {
            const auto next = (*answer)->next();
            EXPECT_TRUE(next) << to_string(next.error());
            if (!next) break;
            ended = next->ended;
            for (const SqlRow& row : next->rows) {
                for (const SqlValue& value : row) {
                    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
                        shown += std::to_string(*whole) + " ";
                    } else if (const auto* words = std::get_if<std::string>(&value)) {
                        shown += *words + " ";
                    } else {
                        shown += "- ";
                    }
                }
                shown += "; ";
            }
        }
        return shown;
    }
    std::string work_files() {
        std::string names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_ / "work")) {
            names += entry.path().filename().string() + " ";
        }
        return names;
    }

    testing::TemporaryDirectory folder_;
    testing::SettableClock clock_;
    testing::LineCheckpoints checkpoints_;
    std::shared_ptr<AwayStore> store_;
    std::unique_ptr<OneStore> stores_;
    std::unique_ptr<QuestionEngine> engine_;
    files::AllowedFiles allowed_;
    parquet::ParquetFiles files_{allowed_};
    std::map<std::string, std::unique_ptr<tables::TableAccess>> processes_;
};

TEST_F(TableSinkTest, RowsGoIntoColumnsOfTheirNamesAtTheEnd) {
    const auto sink = open("w", run(1));
    write(*sink, 0, 3);
    write(*sink, 3, 4);
    EXPECT_EQ(rows(), 0U);
    ASSERT_TRUE(sink->finish());
    EXPECT_EQ(ask("SELECT id, day, note FROM t ORDER BY id"), "0 - - ; 1 - n1 ; 2 - n2 ; 3 - - ; ");
    EXPECT_EQ(sink->counts().rows, 4U);
    EXPECT_EQ(work_files(), "");
}

TEST_F(TableSinkTest, AnObjectIsWrittenWhenItHasItsRowsOrItsAge) {
    auto options = run(1);
    options.rows_max = 10;
    options.period = std::chrono::seconds(5);
    const auto sink = open("w", options);
    write(*sink, 0, 10);
    EXPECT_EQ(rows(), 10U);
    write(*sink, 10, 12);
    EXPECT_FALSE(sink->wants_flush());
    ASSERT_TRUE(sink->flush());
    EXPECT_EQ(rows(), 10U);
    clock_.pass(std::chrono::seconds(5));
    EXPECT_TRUE(sink->wants_flush());
    ASSERT_TRUE(sink->flush());
    EXPECT_EQ(rows(), 12U);
    EXPECT_FALSE(sink->wants_flush());
    EXPECT_EQ(newest()->totals().objects, 2U);
}

TEST_F(TableSinkTest, ASinkThatDoesNotFinishAddsNothingMore) {
    auto sink = open("w", run(1));
    write(*sink, 0, 5);
    sink->interrupt();
    EXPECT_EQ(sink->write(batch(5, 6)).error().code, ErrorCode::cancelled);
    sink.reset();
    EXPECT_EQ(rows(), 0U);
    EXPECT_EQ(work_files(), "");
}

TEST_F(TableSinkTest, ANewRunReplacesTheRowsOfEarlierOnesWithItsFirst) {
    auto options = run(1);
    options.rows_max = 5;
    const auto first = open("w", options);
    write(*first, 0, 5);
    write(*first, 5, 10);
    write(*first, 10, 12);  // never committed
    const auto second = open("w2", run(2));
    EXPECT_EQ(rows(), 10U);
    write(*second, 3, 12);
    write(*second, 0, 3);
    ASSERT_TRUE(second->finish());
    EXPECT_EQ(ask("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM t"), "12 12 0 11 ; ");
}

TEST_F(TableSinkTest, ANewRunWithoutRowsRemovesThoseOfEarlierOnes) {
    const auto first = open("w", run(1));
    write(*first, 0, 5);
    ASSERT_TRUE(first->finish());
    ASSERT_TRUE(open("w", run(2))->finish());
    EXPECT_EQ(rows(), 0U);
}

TEST_F(TableSinkTest, SourcesThatGoOnKeepTheRowsOfEarlierRuns) {
    const auto first = open("w", run(1, false));
    write(*first, 0, 5);
    ASSERT_TRUE(first->finish());
    const auto second = open("w", run(2, false));
    write(*second, 5, 7);
    ASSERT_TRUE(second->finish());
    EXPECT_EQ(ask("SELECT count(*), count(DISTINCT id) FROM t"), "7 7 ; ");
}

TEST_F(TableSinkTest, RowsOfOthersStay) {
    auto other = run(1);
    other.stamp = "5ab";
    const auto stranger = open("x", other);
    write(*stranger, 100, 103);
    ASSERT_TRUE(stranger->finish());
    for (const std::uint64_t number : {1U, 2U, 10U, 11U}) {
        const auto sink = open("w", run(number));
        write(*sink, 0, 5);
        ASSERT_TRUE(sink->finish());
    }
    EXPECT_EQ(ask("SELECT count(*), count(DISTINCT id) FROM t"), "8 8 ; ");
}

// A worker that was thought lost and is back.
TEST_F(TableSinkTest, AnEarlierRunAddsNothingOnceALaterOneHasBegun) {
    const auto zombie = open("lost", run(1));
    write(*zombie, 0, 5);
    const auto heir = open("w", run(2));
    const auto refused = zombie->finish();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_EQ(rows(), 0U);
    write(*heir, 0, 5);
    ASSERT_TRUE(heir->finish());
    EXPECT_EQ(rows(), 5U);
    const auto late = try_open("lost", run(1));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::conflict);
}

TEST_F(TableSinkTest, OfTwoProcessesWithOneRunOneAdds) {
    const auto one = open("a", run(1));
    const auto other = open("b", run(1));
    write(*one, 0, 5);
    write(*other, 0, 5);
    ASSERT_TRUE(one->finish());
    const auto refused = other->finish();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_EQ(rows(), 5U);
    const auto third = try_open("c", run(1));
    ASSERT_FALSE(third) << "it would add the rows that are there";
    EXPECT_EQ(third.error().code, ErrorCode::conflict);
}

TEST_F(TableSinkTest, AValueThatAColumnDoesNotHoldIsAnErrorThatNamesIt) {
    const auto sink = open("w", run(1));
    ASSERT_TRUE(sink->write(
        {.rows = 1,
         .columns = {engine::column_of(DataType::varsized, std::vector<Value>{Value()}),
                     engine::column_of(DataType::uint64, std::vector<Value>{Value(UINT64_MAX)})}}));
    const auto refused = sink->finish();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::cannot_convert);
    EXPECT_NE(to_string(refused.error()).find("ID"), std::string::npos)
        << to_string(refused.error());
    EXPECT_EQ(rows(), 0U);
}

TEST_F(TableSinkTest, AColumnThatTheLogDoesNotHaveIsRefused) {
    const auto refused = try_open(
        "w", run(1), {.columns = {{.name = "other", .type = DataType::int64, .nullable = true}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::schema);
}

TEST_F(TableSinkTest, AStoreThatStaysAwayIsAnErrorAndAddsNothing) {
    auto options = run(1);
    options.patience = Duration(0);
    const auto sink = open("w", options);
    write(*sink, 0, 5);
    store_->away = true;
    const auto refused = sink->finish();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::store_unavailable);
    EXPECT_EQ(try_open("x", run(2)).error().code, ErrorCode::store_unavailable);
    store_->away = false;
    EXPECT_EQ(rows(), 0U);
    const auto next = open("w", run(2));
    write(*next, 0, 5);
    ASSERT_TRUE(next->finish());
    EXPECT_EQ(rows(), 5U);
}

TEST_F(TableSinkTest, AStoreThatComesBackInTimeGetsTheRows) {
    const auto sink = open("w", run(1));
    write(*sink, 0, 5);
    store_->away = true;
    std::thread back([&] { store_->away = false; });
    const auto done = sink->finish();
    back.join();
    EXPECT_TRUE(done) << to_string(done.error());
    EXPECT_EQ(rows(), 5U);
}

TEST_F(TableSinkTest, ASinkThatWaitsForItsStoreCanBeInterrupted) {
    const auto sink = open("w", run(1));
    write(*sink, 0, 5);
    store_->away = true;
    std::thread stop([&] { sink->interrupt(); });
    EXPECT_FALSE(sink->finish());
    stop.join();
    store_->away = false;
    EXPECT_EQ(rows(), 0U);
}

}  // namespace
}  // namespace baton::worker
