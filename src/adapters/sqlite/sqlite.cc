#include "adapters/sqlite/sqlite.h"

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <sqlite3.h>
#include <stdlib.h>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/copy.h"
#include "adapters/sqlite/errors.h"
#include "adapters/sqlite/files.h"
#include "adapters/sqlite/verify.h"
#include "base/text.h"

namespace baton::sqlite {

namespace {

using sqlite::Connection;
using sqlite::Handle;
using sqlite::ProcessLock;
using sqlite::Settings;

namespace fs = std::filesystem;

// A directory that is gone when its owner is.
struct TemporaryDirectory {
    explicit TemporaryDirectory(std::string p) : path(std::move(p)) {}
    TemporaryDirectory(TemporaryDirectory&& other) noexcept : path(std::exchange(other.path, {})) {}
    TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
    ~TemporaryDirectory() {
        std::error_code ignored;
        if (!path.empty()) fs::remove_all(path, ignored);
    }

    std::string path;
};

// What all connections of a database share; the last of them closes it.
struct Shared {
    Settings settings;
    std::optional<TemporaryDirectory> directory;
    std::optional<ProcessLock> lock;  // none: the database only reads
    Handle keeper;                    // closed last of all, it empties and removes the log
};

Error only_reads(const Settings& settings) {
    return {.code = ErrorCode::write_rejected,
            .message = "cannot write to catalog " + baton::in_quotes(settings.path) +
                       ": it was opened without its lock",
            .hint = "a database that is opened beside the coordinator only reads"};
}

class Database final : public SqlDatabase {
public:
    explicit Database(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

    Result<std::unique_ptr<Sql>> connect(Access access) override {
        const Settings& settings = shared_->settings;
        if (access == Access::write && !shared_->lock) return only_reads(settings);
        const int flags = access == Access::write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
        TRY_ASSIGN(db, sqlite::open_handle(settings, flags));
        TRY(sqlite::configure(db.get(), settings));
        if (access == Access::write) TRY(sqlite::enter_wal_mode(db.get(), settings));
        return std::unique_ptr<Sql>(
            std::make_unique<Connection>(std::move(db), settings, access, shared_));
    }

    Result<Done> backup_to(const std::string& path) override {
        return sqlite::copy_database(shared_->settings, path);
    }

private:
    std::shared_ptr<Shared> shared_;
};

// Under the lock: what is left of an earlier attempt belongs to nobody.
Result<Done> create(const Settings& settings, const SqliteOptions& options) {
    TRY_ASSIGN(draft, sqlite::Draft::create(settings.path + ".new"));
    {
        Settings draft_settings = settings;
        draft_settings.path = draft.path();
        draft_settings.durable = false;  // publishing syncs it
        TRY_ASSIGN(db, sqlite::open_handle(draft_settings, SQLITE_OPEN_READWRITE));
        TRY(sqlite::configure(db.get(), draft_settings));
        TRY(sqlite::execute(db.get(), settings,
                            "PRAGMA page_size=4096; PRAGMA auto_vacuum=NONE;"
                            "PRAGMA application_id=" +
                                std::to_string(kSqliteApplicationId)));
        TRY(sqlite::enter_wal_mode(db.get(), settings));
        Connection connection(std::move(db), draft_settings, Access::write);
        if (options.initialise) TRY(options.initialise(connection));
    }  // closing copies the log into the file
    if (sqlite::exists(draft.path() + "-wal")) {
        return Error{.code = ErrorCode::catalog_unavailable,
                     .message = "cannot create catalog " + baton::in_quotes(settings.path) +
                                ": its log could not be copied into it",
                     .hint = "check the space and the disk of the catalog"};
    }
    return draft.publish_as(settings.path);
}

// Recovers what the log holds, then makes sure that all of it is in a file of the right length.
Result<Done> recover(sqlite3* db, const Settings& settings) {
    TRY(sqlite::enter_wal_mode(db, settings));
    int frames = 0;
    const int code =
        sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, &frames, nullptr);
    if (code == SQLITE_BUSY) return Done{};  // someone reads from beside; SQLite checks as it reads
    if (code != SQLITE_OK) return sqlite::error_of(db, {.what = "recover", .path = settings.path});
    return sqlite::verify_length(db, settings);
}

Result<Handle> open_verified(const Settings& settings, const SqliteOptions& options) {
    const int flags = options.lock ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    TRY_ASSIGN(db, sqlite::open_handle(settings, flags));
    TRY_ASSIGN(length, sqlite::verify_header(db.get(), settings));
    if (options.lock && sqlite3_db_readonly(db.get(), "main") != 0) {
        return sqlite::system_error("write to", settings.path, EACCES);
    }
    TRY(sqlite::configure(db.get(), settings));
    // Copying a log into a file that was shortened would fill the gap with nothing.
    if (!length.matches || length.bytes <= options.check_bytes_max) {
        TRY(sqlite::verify_pages(db.get(), settings));
    }
    if (options.lock) TRY(recover(db.get(), settings));
    return db;
}

// True if there is a file to open, false if one is to be created.
Result<bool> find(const Settings& settings, const SqliteOptions& options) {
    if (sqlite::exists(settings.path)) {
        std::error_code ignored;
        if (fs::is_regular_file(settings.path, ignored)) return true;
        return Error{
            .code = ErrorCode::catalog_unavailable,
            .message = "cannot open catalog " + baton::in_quotes(settings.path) + ": not a file"};
    }
    if (sqlite::exists(settings.path + "-wal")) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "cannot open catalog " + baton::in_quotes(settings.path) +
                                ": the file is missing, but its log " +
                                baton::in_quotes(settings.path + "-wal") + " is there",
                     .hint =
                         "put the file back beside its log, or move the log away and restore "
                         "the last backup with `baton restore`"};
    }
    if (options.create && options.lock) return false;
    return Error{
        .code = ErrorCode::catalog_unavailable,
        .message = "cannot open catalog " + baton::in_quotes(settings.path) + ": there is no file",
        .hint = "check the path, or let the coordinator create a new catalog"};
}

Result<std::unique_ptr<SqlDatabase>> open_shared(std::shared_ptr<Shared> shared,
                                                 const SqliteOptions& options) {
    const Settings& settings = shared->settings;
    TRY(find(settings, options));
    if (options.lock) {
        TRY_ASSIGN(lock, ProcessLock::take(settings.path + ".lock", settings.path));
        shared->lock.emplace(std::move(lock));
    }
    TRY_ASSIGN(found, find(settings, options));  // again: now nobody else creates it
    if (!found) TRY(create(settings, options));
    TRY_ASSIGN(keeper, open_verified(settings, options));
    shared->keeper = std::move(keeper);
    return std::unique_ptr<SqlDatabase>(std::make_unique<Database>(std::move(shared)));
}

}  // namespace

Result<std::unique_ptr<SqlDatabase>> open_sqlite(const SqliteOptions& options) {
    if (options.path.empty()) {
        return Error{.code = ErrorCode::missing_configuration,
                     .message = "cannot open a catalog: no path was given"};
    }
    auto shared = std::make_shared<Shared>();
    shared->settings = {.path = sqlite::absolute(options.path),
                        .busy_deadline = options.busy_deadline,
                        .cache_bytes = options.cache_bytes,
                        .log_pages_step = options.log_pages_step};
    return open_shared(std::move(shared), options);
}

Result<std::unique_ptr<SqlDatabase>> open_temporary_sqlite(const SqliteOptions& options) {
    std::error_code none;
    std::string name = "/dev/shm/baton-XXXXXX";
    if (!fs::is_directory("/dev/shm", none)) name = fs::temp_directory_path(none) / "baton-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        return sqlite::system_error("create a directory like", name, errno);
    }
    auto shared = std::make_shared<Shared>();
    shared->directory.emplace(name);
    shared->settings = {.path = name + "/catalog",
                        .busy_deadline = options.busy_deadline,
                        .cache_bytes = options.cache_bytes,
                        .log_pages_step = options.log_pages_step,
                        .durable = false};
    SqliteOptions created = options;
    created.create = true;
    created.lock = true;
    return open_shared(std::move(shared), created);
}

std::function<Result<std::unique_ptr<SqlDatabase>>()> temporary_sqlites(
    std::function<Result<Done>(Sql& sql)> initialise) {
    return [initialise = std::move(initialise)] {
        SqliteOptions options;
        options.initialise = initialise;
        return open_temporary_sqlite(options);
    };
}

Result<std::vector<std::string>> integrity_problems(const std::string& path) {
    const Settings settings{.path = sqlite::absolute(path)};
    TRY(find(settings, {}));
    TRY_ASSIGN(db, sqlite::open_handle(settings, SQLITE_OPEN_READONLY));
    const auto as_problem = [](const Error& error) -> Result<std::vector<std::string>> {
        if (error.code != ErrorCode::catalog_corrupt) return error;
        return std::vector{error.message};
    };
    if (const auto header = sqlite::verify_header(db.get(), settings); !header) {
        return as_problem(header.error());
    }
    if (const auto ready = sqlite::configure(db.get(), settings); !ready) {
        return as_problem(ready.error());
    }
    auto problems = sqlite::problems_of(db.get(), settings, "integrity_check");
    if (!problems) return as_problem(problems.error());

    Connection connection(std::move(db), settings, Access::read);
    const auto dangling = connection.query(
        R"(SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT 100)");
    if (!dangling) return as_problem(dangling.error());
    for (const SqlRow& row : *dangling) {
        const auto* number = std::get_if<std::int64_t>(&row[1]);  // not of every table
        problems->push_back(
            (number != nullptr ? "row " + std::to_string(*number) : "a row") + " of " +
            baton::in_quotes(std::get<std::string>(row[0])) + " refers to a row of " +
            baton::in_quotes(std::get<std::string>(row[2])) + " that does not exist");
    }
    return problems;
}

namespace {

// Each table, index and view beside the statement that makes it.
Result<std::map<std::string, std::string>> schema_of(Sql& sql) {
    std::map<std::string, std::string> schema;
    TRY(sql.run("SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema", {},
                [&](const SqlRow& row) {
                    schema.emplace(std::get<std::string>(row.at(0)),
                                   std::get<std::string>(row.at(1)));
                }));
    return schema;
}

}  // namespace

Result<std::vector<std::string>> schema_problems(
    Sql& sql, const std::function<Result<Done>(Sql& sql)>& initialise) {
    SqliteOptions options;
    options.initialise = initialise;
    TRY_ASSIGN(model, open_temporary_sqlite(options));
    TRY_ASSIGN(model_sql, model->connect(Access::read));
    TRY_ASSIGN(wanted, schema_of(*model_sql));
    TRY_ASSIGN(found, schema_of(sql));
    std::vector<std::string> problems;
    for (const auto& [what, statement] : wanted) {
        if (!found.contains(what)) {
            problems.push_back(what + " is missing");
        } else if (found[what] != statement) {
            problems.push_back(what + " is not as this version of Baton makes it");
        }
    }
    for (const auto& [what, statement] : found) {
        if (!wanted.contains(what)) problems.push_back(what + " does not belong to a catalog");
    }
    return problems;
}

}  // namespace baton::sqlite
