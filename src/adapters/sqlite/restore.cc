#include "adapters/sqlite/restore.h"

#include <filesystem>

#include "adapters/sqlite/files.h"
#include "adapters/sqlite/sqlite.h"
#include "base/text.h"

namespace baton::sqlite {

namespace {

namespace fs = std::filesystem;

// Copies the log of the catalog into its file, if it is sound; fails only if it is in use.
Result<Done> fold_log(const std::string& path) {
    if (!sqlite::exists(path)) return Done{};
    SqliteOptions options;
    options.path = path;
    const auto opened = open_sqlite(options);
    if (!opened && opened.error().code == ErrorCode::catalog_in_use) return opened.error();
    return Done{};
}

// Gives the catalog a second name, under which it stays when it is replaced; the first one stays
// until then.
Result<std::vector<std::string>> keep_beside(const std::string& path, const std::string& old) {
    std::vector<std::string> kept;
    std::error_code problem;
    for (const char* suffix : {"-wal", "-shm"}) {
        if (!sqlite::exists(path + suffix)) continue;
        fs::rename(path + suffix, old + suffix, problem);
        if (problem) return sqlite::system_error("set aside", path + suffix, problem.value());
        kept.push_back(old + suffix);
    }
    if (!sqlite::exists(path)) return kept;
    fs::create_hard_link(path, old, problem);
    if (problem) fs::rename(path, old, problem);  // a file system without links
    if (problem) return sqlite::system_error("set aside", path, problem.value());
    kept.push_back(old);
    return kept;
}

}  // namespace

Result<std::vector<std::string>> restore_sqlite(const std::string& path, const std::string& backup,
                                                const std::optional<std::string>& keep_as) {
    if (!keep_as && (sqlite::exists(path) || sqlite::exists(path + "-wal"))) {
        return Error{.code = ErrorCode::write_rejected,
                     .message = "cannot restore to " + baton::in_quotes(path) +
                                ": there is a catalog already",
                     .hint = "--force replaces it and keeps the old one beside it"};
    }
    TRY(fold_log(path));
    TRY_ASSIGN(lock, sqlite::ProcessLock::take(path + ".lock", path));
    SqliteOptions source;
    source.path = backup;
    source.lock = false;
    TRY_ASSIGN(database, open_sqlite(source));
    const std::string fresh = path + ".restored";
    std::error_code problem;
    fs::remove(fresh, problem);
    TRY(database->backup_to(fresh));
    TRY_ASSIGN(kept, keep_beside(path, keep_as.value_or("")));
    fs::rename(fresh, path, problem);
    if (problem) return sqlite::system_error("put in place", path, problem.value());
    TRY(sqlite::sync_directory_of(path));
    return kept;
}

}  // namespace baton::sqlite
