#include "app/catalogs.h"

#include <filesystem>
#include <iostream>

#include "adapters/mariadb/mariadb.h"
#include "adapters/postgres/postgres.h"
#include "adapters/postgres/signals.h"
#include "adapters/server_sql/place.h"
#include "adapters/sqlite/data_directory.h"
#include "adapters/sqlite/sqlite.h"
#include "app/counterparts.h"
#include "catalog/check.h"
#include "catalog/copy.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/schema.h"

namespace baton::app {

namespace {

bool is_postgres(const std::string& where) {
    return where.starts_with("postgres://") || where.starts_with("postgresql://");
}

bool is_mariadb(const std::string& where) {
    return where.starts_with("mysql://") || where.starts_with("mariadb://");
}

Result<std::unique_ptr<SqlDatabase>> open(const std::string& where, bool changes,
                                          const sqlite::SqliteOptions& file,
                                          Duration standstill_max = std::chrono::seconds(5)) {
    std::function<Result<Done>(Sql&)> initialise;
    if (changes) initialise = catalog::migrate;
    if (is_postgres(where)) {
        return postgres::open_postgres(
            {.url = where, .initialise = initialise, .idle_in_transaction = standstill_max});
    }
    if (is_mariadb(where)) {
        return mariadb::open_mariadb(
            {.url = where, .initialise = initialise, .idle_in_transaction = standstill_max});
    }
    sqlite::SqliteOptions options = file;
    options.path = file_of_catalog(where);
    if (changes) options.initialise = catalog::migrate;
    return sqlite::open_sqlite(options);
}

// What a coordinator still accepts would be missing in the copy. A file is locked instead.
Result<Done> refuse_if_led(const std::string& where, Sql& sql) {
    TRY_ASSIGN(lease, catalog::Leases(sql).watch(std::string(catalog::kLeaderLock)));
    if (!lease || lease->remaining <= Duration::zero()) return Done{};
    return Error{.code = ErrorCode::catalog_in_use,
                 .message = "the catalog " + shown_place(where) + " is in use: " + lease->owner +
                            " leads, under epoch " + to_string(lease->epoch),
                 .hint = "end its coordinators first; the lease of one that died ends by itself"};
}

Result<std::int64_t> copy(const std::string& from, const std::string& to) {
    TRY_ASSIGN(source, open(from, true, {}));  // locks a file, so that nobody writes to it
    TRY_ASSIGN(reader, source->connect(Access::read));
    TRY(refuse_if_led(from, *reader));
    TRY_ASSIGN(target, open_catalog_at(to, true));
    TRY_ASSIGN(writer, target->connect(Access::write));
    TRY_ASSIGN(count, catalog::copy_catalog(*reader, *writer));
    TRY_ASSIGN(problems, catalog::catalog_problems(*writer));
    if (problems.empty()) return count;
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "the copy is not sound: " + problems.front(),
                 .hint = "do not use it; `baton check` lists everything"};
}

}  // namespace

bool is_server(const std::string& where) {
    return is_postgres(where) || is_mariadb(where);
}

std::string shown_place(const std::string& where) {
    return is_server(where) ? server_sql::without_password(where) : where;
}

std::string file_of_catalog(std::string where) {
    constexpr std::string_view kScheme = "sqlite:";
    if (where.starts_with(kScheme)) where.erase(0, kScheme.size());
    return std::filesystem::is_directory(where) ? sqlite::catalog_path(where) : where;
}

Result<std::unique_ptr<SqlDatabase>> open_catalog_at(const std::string& where, bool create,
                                                     Duration standstill_max) {
    sqlite::SqliteOptions file;
    file.create = create;
    return open(where, true, file, standstill_max);
}

Result<std::unique_ptr<SqlDatabase>> look_at_catalog(const std::string& where) {
    sqlite::SqliteOptions file;
    file.lock = false;
    return open(where, false, file);
}

Result<bool> bring_up_to_date(SqlDatabase& database) {
    TRY_ASSIGN(sql, database.connect(Access::write));
    const bool old = !catalog::require_current_version(*sql);
    TRY(catalog::migrate(*sql));
    return old;
}

std::unique_ptr<SqlSignals> signals_of(const std::string& where) {
    return is_postgres(where) ? postgres::listen_to_postgres(where) : nullptr;
}

int run_catalog_migrate(const std::string& from, const std::string& to) {
    const auto copied = copy(from, to);
    if (!copied) return fail(copied.error());
    std::cout << "copied " << *copied << " rows; the copy is sound\n"
              << "the old catalog is as it was: keep it until the new one is in use\n";
    return 0;
}

}  // namespace baton::app
