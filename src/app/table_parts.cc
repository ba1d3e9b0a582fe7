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
        return folder;
    }
    return cannot_make(work_folder, "too many processes use it");
}

Result<std::unique_ptr<TableParts>> TableParts::open(const TableSettings& settings,
                                                     const Clock& clock) {
    std::unique_ptr<TableParts> parts(new TableParts);
    TRY_ASSIGN(folder, parts->take_folder(settings.work_folder));
    if (!settings.folder.empty()) TRY(make_folder(settings.folder));
    std::error_code unknown;
    const fs::space_info space = fs::space(folder, unknown);
    const std::uint64_t cache =
        unknown ? settings.cache : std::min(settings.cache, space.available / 2);
    TRY_ASSIGN(objects, object_cache::ObjectCache::open(
                            {.folder = folder + "/objects", .bytes_max = cache}));
    parts->objects_ = std::move(objects);
    parts->stores_ = make_object_stores(clock);
    const std::string default_store = settings.store.empty() ? settings.folder : settings.store;
    TRY_ASSIGN(allowed,
               store_places::AllowedStores::of(*parts->stores_, {.files = settings.files,
                                                                 .targets = settings.targets,
                                                                 .exempt = default_store}));
    parts->allowed_ = std::move(allowed);
    TRY_ASSIGN(engine, duckdb_engine::open_engine({.slots = settings.slots,
                                                   .memory_max = settings.memory / settings.slots,
                                                   .spill_folder = folder + "/spill"}));
    parts->engine_ = std::move(engine);
    parts->checkpoints_ = std::make_unique<checkpoints::ParquetCheckpoints>();
    parts->access_ = std::make_unique<tables::TableAccess>(
        tables::TableAccessParts{.stores = parts->allowed_.get(),
                                 .engine = parts->engine_.get(),
                                 .checkpoints = parts->checkpoints_.get(),
                                 .clock = &clock,
                                 .objects = parts->objects_.get(),
                                 .default_store = default_store,
                                 .work_folder = folder,
                                 .process = process_name(),
                                 .engine_name = "Baton/" + std::string(coordinator::kVersion)});
    return parts;
}

}  // namespace baton::app
