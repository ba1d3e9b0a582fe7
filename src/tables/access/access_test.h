// Processes with tables, for the tests of this module: the real engine over a store that tests can
// hold up and break.
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/duckdb/duckdb_engine.h"
#include "adapters/folder/folder_store.h"
#include "adapters/object_cache/object_cache.h"
#include "base/text.h"
#include "stores/sure_store.h"
#include "tables/access/ingest.h"
#include "tables/access/table_access.h"
#include "testing/stores/memory_store.h"
#include "testing/tables/line_checkpoints.h"
#include "testing/temporary_directory.h"

namespace baton::tables {

// Passes calls on, and asks the test before and after a put and before a get.
class WatchedStore final : public ObjectStore {
public:
    using Watch = std::function<std::optional<Error>(const std::string& key)>;

    explicit WatchedStore(std::shared_ptr<ObjectStore> store) : store_(std::move(store)) {}

    void watch_puts(Watch before, Watch after = {}) {
        const std::lock_guard lock(mutex_);
        before_put_ = std::move(before);
        after_put_ = std::move(after);
    }
    void watch_gets(Watch before) {
        const std::lock_guard lock(mutex_);
        before_get_ = std::move(before);
    }

    Result<Got> get(const std::string& key, const GetOptions& options,
                    const StoreCall& call) override {
        if (auto error = ask(before_get_, key)) return *error;
        return store_->get(key, options, call);
    }
    Result<PutOutcome> put(const std::string& key, std::string_view bytes,
                           const PutCondition& condition, const StoreCall& call) override {
        if (auto error = ask(before_put_, key)) return *error;
        auto put = store_->put(key, bytes, condition, call);
        if (auto error = ask(after_put_, key)) return *error;
        return put;
    }
    Result<PutOutcome> put_file(const std::string& key, const std::string& path,
                                const PutCondition& condition, const StoreCall& call) override {
        if (auto error = ask(before_put_, key)) return *error;
        auto put = store_->put_file(key, path, condition, call);
        if (auto error = ask(after_put_, key)) return *error;
        return put;
    }
    Result<ListPage> list(const ListOptions& options, const StoreCall& call) override {
        return store_->list(options, call);
    }
    Result<Done> remove(const std::vector<std::string>& keys, const StoreCall& call) override {
        return store_->remove(keys, call);
    }
    [[nodiscard]] std::optional<std::string> path_of(const std::string& key) const override {
        return store_->path_of(key);
    }
    [[nodiscard]] std::string url() const override { return store_->url(); }

private:
    std::optional<Error> ask(const Watch& watch, const std::string& key) {
        Watch asked;
        {
            const std::lock_guard lock(mutex_);
            asked = watch;
        }
        return asked ? asked(key) : std::nullopt;
    }

    const std::shared_ptr<ObjectStore> store_;
    std::mutex mutex_;
    Watch before_put_;
    Watch after_put_;
    Watch before_get_;
};

class OneStore final : public ObjectStores {
public:
    explicit OneStore(std::shared_ptr<ObjectStore> store) : store_(std::move(store)) {}
    Result<std::shared_ptr<ObjectStore>> open(const std::string& url) override {
        if (url == "store") return store_;
        return Error{.code = ErrorCode::not_permitted, .message = "no store " + in_quotes(url)};
    }

private:
    const std::shared_ptr<ObjectStore> store_;
};

// Callers wait in it until the test opens it.
class Gate {
public:
    void pass() {
        std::unique_lock lock(mutex_);
        waiting_ += 1;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
    }
    void await_one() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return waiting_ > 0; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int waiting_ = 0;
    bool open_ = false;
};

inline Result<Added> answer_of(const std::shared_ptr<AddedLater>& later) {
    std::promise<void> given;
    later->wake_with([&] { given.set_value(); });
    given.get_future().wait();
    later->wake_with(nullptr);
    return later->take();
}

// Access of a process; several of them share the store.
class AccessTest : public ::testing::Test {
protected:
    struct Process {
        std::unique_ptr<OneStore> stores;
        std::unique_ptr<object_cache::ObjectCache> cache;
        std::unique_ptr<TableAccess> access;
        std::unique_ptr<Ingest> ingest;
    };

    AccessTest() : AccessTest(nullptr) {}
    explicit AccessTest(std::shared_ptr<ObjectStore> store) {
        auto engine = duckdb_engine::open_engine({.slots = 4, .spill_folder = work_ / "spill"});
        CHECK(engine.has_value());
        engine_ = *std::move(engine);
        if (store == nullptr) {
            auto folder = folder::FolderStore::open({.path = store_folder_.path()}, clock_);
            CHECK(folder.has_value());
            store = std::make_shared<stores::SureStore>(*std::move(folder), clock_, 7);
        }
        store_ = std::make_shared<WatchedStore>(std::move(store));
    }

    Process process(const IngestOptions& options = {}) {
        Process process;
        const std::string name = "p" + std::to_string(++processes_);
        const std::string folder = work_ / name;
        std::filesystem::create_directories(folder);
        process.stores = std::make_unique<OneStore>(store_);
        auto cache = object_cache::ObjectCache::open({.folder = folder + "/objects"});
        CHECK(cache.has_value());
        process.cache = *std::move(cache);
        process.access =
            std::make_unique<TableAccess>(TableAccessParts{.stores = process.stores.get(),
                                                           .engine = engine_.get(),
                                                           .checkpoints = &checkpoints_,
                                                           .clock = &clock_,
                                                           .objects = process.cache.get(),
                                                           .default_store = "store",
                                                           .work_folder = folder,
                                                           .process = name,
                                                           .engine_name = "Baton/test"});
        process.ingest = std::make_unique<Ingest>(*process.access, options);
        return process;
    }

    static SqlField column(const std::string& name, const std::string& type, bool nullable = true) {
        return {.name = name, .type = *table_type_of(type), .nullable = nullable};
    }
    static Table table(SqlColumns columns, const std::string& partition_by = "") {
        Table table;
        table.name = "T";
        table.columns = std::move(columns);
        table.location = "tables/t";
        table.managed = true;
        if (!partition_by.empty()) table.options["PARTITION_BY"] = partition_by;
        return table;
    }
    static Addition rows(const Table& table, std::vector<ConstantRow> rows) {
        return {.table = table, .columns = {}, .rows = std::move(rows), .key = {}};
    }
    Addition question(const Table& table, const std::string& text) {
        auto tree = engine_->parse(text);
        CHECK(tree.has_value());
        return {.table = table, .columns = {}, .rows = QuestionTask{.tree = *tree}, .key = {}};
    }

    static SharedSnapshot newest(Process& process, const Table& table) {
        const auto opened = process.access->open(table);
        CHECK(opened.has_value());
        const auto snapshot = (*opened)->log->newest({});
        EXPECT_TRUE(snapshot) << to_string(snapshot.error());
        return snapshot ? *snapshot : std::make_shared<const Snapshot>();
    }
    static std::vector<TableObject> objects(Process& process, const Table& table) {
        std::vector<TableObject> objects;
        const auto snapshot = newest(process, table);
        snapshot->each([&](ObjectPlace place) { objects.push_back(snapshot->object(place)); });
        return objects;
    }
    // The objects of the store that are no part of the log.
    std::vector<std::string> stored_objects() {
        const auto page = store_->list({.prefix = "tables/t/"}, {});
        CHECK(page.has_value());
        std::vector<std::string> keys;
        for (const ListedObject& object : page->objects) {
            if (object.key.find("_delta_log") == std::string::npos) keys.push_back(object.key);
        }
        return keys;
    }

    // "1|x\n2|y\n": the answer to a question over `t`, or the error.
    std::string ask(Process& process, const Table& table, const std::string& text) {
        const auto opened = process.access->open(table);
        CHECK(opened.has_value());
        const auto snapshot = newest(process, table);
        RelationFiles files;
        for (const TableObject& object : objects(process, table)) {
            auto file = process.access->local_file(**opened, object, {});
            if (!file) return to_string(file.error());
            files.files.push_back({.path = file->path,
                                   .partition = object.partition,
                                   .rows = {},
                                   .held = file->held});
        }
        QuestionTask task{
            .tree = *engine_->parse(text),
            .relations = {
                {.name = "t", .columns = snapshot->layout().columns, .content = std::move(files)}}};
        auto answer = engine_->answer(std::move(task));
        if (!answer) return to_string(answer.error());
        return shown(**answer);
    }
    static std::string shown(QuestionAnswer& answer) {
        std::string all;
        for (;;) {
            auto batch = answer.next();
            if (!batch) return to_string(batch.error());
            for (const SqlRow& row : batch->rows) {
                for (std::size_t i = 0; i < row.size(); ++i) {
                    all += (i == 0 ? "" : "|") + shown(row[i]);
                }
                all += "\n";
            }
            if (batch->ended) return all;
        }
    }
    static std::string shown(const SqlValue& value) {
        if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
        if (const auto* text = std::get_if<std::string>(&value)) return *text;
        if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
        return "NULL";
    }

    testing::TemporaryDirectory work_;
    testing::TemporaryDirectory store_folder_;
    testing::SettableClock clock_;
    testing::LineCheckpoints checkpoints_;
    std::unique_ptr<QuestionEngine> engine_;
    std::shared_ptr<WatchedStore> store_;
    int processes_ = 0;
};

}  // namespace baton::tables
