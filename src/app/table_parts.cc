#include "app/table_parts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "adapters/checkpoints/parquet_checkpoints.h"
#include "adapters/duckdb/duckdb_engine.h"
#include "adapters/object_cache/object_cache.h"
#include "app/object_stores.h"
#include "base/text.h"
#include "coordinator/sessions/version.h"
#include "core/planning/table_sink.h"
#include "stores/store_url.h"

namespace baton::app {

namespace {

namespace fs = std::filesystem;

std::string process_name() {
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "%016llx",
                  static_cast<unsigned long long>(random_seed()));
    return text.data();
}

Error cannot_make(const std::string& folder, const std::string& why) {
    return Error{.code = ErrorCode::cannot_open,
                 .message = "cannot make the folder " + in_quotes(folder) + ": " + why,
                 .hint = "see that its disk has room, and that the folder is yours"};
}

Result<Done> make_folder(const std::string& folder) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (!problem) fs::permissions(folder, fs::perms::owner_all, problem);
    if (problem) return cannot_make(folder, problem.message());
    return Done{};
}

// Empty: there is none.
Result<std::string> url_for_others(const std::string& store) {
    if (store.empty()) return std::string();
    TRY_ASSIGN(url, stores::parse_store_url(store));
    const auto* folder = std::get_if<stores::FolderUrl>(&url);
    if (folder == nullptr) return stores::shown(url);
    std::error_code problem;
    const fs::path path = fs::weakly_canonical(folder->path, problem);
    if (problem) return cannot_make(folder->path, problem.message());
    return stores::url_of_path(path.string());
}

}  // namespace

// Two coordinators of a catalog on a server may have one data directory; files of a process that
// has died are of no use.
Result<std::string> TableParts::take_folder(const std::string& work_folder) {
    constexpr int kProcessesMax = 64;
    TRY(make_folder(work_folder));
    for (int i = 0; i < kProcessesMax; ++i) {
        const std::string folder = work_folder + "/" + std::to_string(i);
        const std::string lock = folder + ".lock";
        system::OpenFile file(
            ::open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
        if (!file.is_open()) {
            return cannot_make(folder, std::generic_category().message(errno));
        }
        if (::flock(*file, LOCK_EX | LOCK_NB) != 0) continue;
        lock_ = std::move(file);
        std::error_code problem;
        fs::remove_all(folder, problem);
        if (problem) return cannot_make(folder, problem.message());
        TRY(make_folder(folder + "/spill"));
        const fs::path absolute = fs::absolute(folder, problem);
        if (problem) return cannot_make(folder, problem.message());
        return absolute.lexically_normal().string();
    }
    return cannot_make(work_folder, "too many processes use it");
}

Result<std::unique_ptr<TableParts>> TableParts::open(const TableSettings& settings,
                                                     const Clock& clock) {
    std::unique_ptr<TableParts> parts(new TableParts);
    TRY_ASSIGN(folder, parts->take_folder(settings.work_folder));
    if (!settings.folder.empty()) TRY(make_folder(settings.folder));
    // The folder is a path, which need not be a URL: "data/tables".
    const bool own = settings.store.empty() && !settings.folder.empty();
    const std::string store =
        own ? stores::url_of_path(fs::absolute(settings.folder).lexically_normal().string())
            : settings.store;
    TRY_ASSIGN(url, url_for_others(store));
    parts->url_ = std::move(url);
    parts->stores_ = make_object_stores(clock);
    std::error_code unknown;
    const fs::space_info space = fs::space(folder, unknown);
    const std::uint64_t cache =
        unknown ? settings.cache : std::min(settings.cache, space.available / 2);
    TRY_ASSIGN(objects, object_cache::ObjectCache::open(
                            {.folder = folder + "/objects", .bytes_max = cache}));
    parts->objects_ = std::move(objects);
    TRY_ASSIGN(allowed,
               store_places::AllowedStores::of(
                   *parts->stores_,
                   {.files = settings.files, .targets = settings.targets, .exempt = store}));
    parts->allowed_ = std::move(allowed);
    TRY_ASSIGN(engine, duckdb_engine::open_engine({.slots = settings.slots,
                                                   .memory_max = settings.memory / settings.slots,
                                                   .spill_folder = folder + "/spill"}));
    parts->engine_ = std::move(engine);
    parts->checkpoints_ = std::make_unique<checkpoints::ParquetCheckpoints>();
    tables::TableAccessParts access{.stores = parts->allowed_.get(),
                                    .engine = parts->engine_.get(),
                                    .checkpoints = parts->checkpoints_.get(),
                                    .clock = &clock,
                                    .objects = parts->objects_.get(),
                                    .default_store = store,
                                    .work_folder = folder,
                                    .process = process_name(),
                                    .engine_name = "Baton/" + std::string(coordinator::kVersion)};
    parts->access_ = std::make_unique<tables::TableAccess>(access);
    access.process = process_name();
    if (!settings.foreign_plans) access.stores = parts->stores_.get();
    parts->worker_access_ = std::make_unique<tables::TableAccess>(access);
    return parts;
}

planning::Planner TableParts::planner() const {
    return planning::planner_into_tables(url_, [] { return process_name() + process_name(); });
}

}  // namespace baton::app
