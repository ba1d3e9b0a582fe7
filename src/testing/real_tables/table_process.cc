#include "testing/real_tables/table_process.h"

#include <filesystem>
#include <functional>
#include <utility>

#include "adapters/duckdb/duckdb_engine.h"
#include "adapters/folder/folder_store.h"
#include "base/check.h"

namespace baton::testing {

namespace fs = std::filesystem;

namespace {

stores::StoreFactories folders(const Clock& clock) {
    return {.folder = [&clock](const stores::FolderUrl& url) -> stores::OpenedAttempts {
                folder::FolderOptions options;
                options.path = url.path;
                auto opened = folder::FolderStore::open(options, clock);
                if (!opened) return opened.error();
                return std::unique_ptr<StoreAttempts>(*std::move(opened));
            },
            .s3 = nullptr};
}

}  // namespace

TableProcess::TableProcess(const std::string& folder, const std::string& name, const Clock& clock)
    : stores_(folders(clock), clock, std::hash<std::string>()(name)) {
    const std::string work = folder + "/work-" + name;
    fs::create_directories(work + "/spill");
    fs::create_directories(store_folder(folder));
    auto opened = duckdb_engine::open_engine({.slots = 2, .spill_folder = work + "/spill"});
    CHECK(opened);
    engine_ = *std::move(opened);
    access_ = std::make_unique<tables::TableAccess>(
        tables::TableAccessParts{.stores = &stores_,
                                 .engine = engine_.get(),
                                 .checkpoints = &checkpoints_,
                                 .clock = &clock,
                                 .default_store = store_folder(folder),
                                 .work_folder = work,
                                 .process = name,
                                 .engine_name = "Baton/test"});
}

std::string TableProcess::ask(const Table& of, const std::string& sql) {
    const auto opened = access_->open(of);
    if (!opened) return to_string(opened.error());
    const auto snapshot = (*opened)->log->newest({});
    if (!snapshot) return to_string(snapshot.error());
    RelationFiles files;
    (*snapshot)->each([&](tables::ObjectPlace place) {
        const TableObject object = (*snapshot)->object(place);
        auto local = access_->local_file(**opened, object, {});
        CHECK(local.has_value());
        files.files.push_back(
            {.path = local->path, .partition = object.partition, .rows = object.rows});
    });
    auto tree = engine_->parse(sql);
    if (!tree) return to_string(tree.error());
    QuestionTask task{.tree = *std::move(tree)};
    task.relations.push_back({.name = "r", .columns = of.columns, .content = std::move(files)});
    const auto answer = engine_->answer(std::move(task));
    if (!answer) return to_string(answer.error());
    const auto rows = (*answer)->next();
    if (!rows) return to_string(rows.error());
    if (rows->rows.empty()) return "";
    const auto* text = std::get_if<std::string>(&rows->rows.front().front());
    return text == nullptr ? "NULL" : *text;
}

std::uint64_t TableProcess::objects(const Table& of) {
    const auto opened = access_->open(of);
    CHECK(opened);
    const auto snapshot = (*opened)->log->newest({});
    CHECK(snapshot);
    return (*snapshot)->totals().objects;
}

std::size_t stored_objects(const std::string& folder) {
    std::size_t count = 0;
    for (const auto& file : fs::recursive_directory_iterator(folder)) {
        const std::string path = file.path().string();
        const bool log = path.find("_delta_log") != std::string::npos;
        if (path.ends_with(".parquet") && !log) count += 1;
    }
    return count;
}

}  // namespace baton::testing
