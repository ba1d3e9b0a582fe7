#include "catalog/lease_schema.h"

#include "base/check.h"
#include "model/lock.h"

namespace baton {

namespace {

struct LeaseWords {
    std::string key;
    std::string integer;
    std::string table;  // what follows the closing parenthesis
};

LeaseWords lease_words(SqlDialect dialect) {
    switch (dialect) {
        case SqlDialect::sqlite:
            return {.key = "TEXT", .integer = "INTEGER", .table = "STRICT, WITHOUT ROWID"};
        case SqlDialect::postgres:
            return {.key = "TEXT COLLATE \"C\"", .integer = "BIGINT", .table = ""};
        case SqlDialect::mariadb:
            return {.key = "VARCHAR(255)",
                    .integer = "BIGINT",
                    .table = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"};
    }
    CHECK(false && "an unknown database");
}

}  // namespace

std::string lease_tables(SqlDialect dialect) {
    const LeaseWords words = lease_words(dialect);
    return "CREATE TABLE lease (\n    lock_key " + words.key +
           " PRIMARY KEY CHECK (lock_key <> ''),\n" + "    owner " + words.key +
           " NOT NULL,\n    epoch " + words.integer + " NOT NULL,\n    expires_at " +
           words.integer + " NOT NULL,\n    status " + words.key + " NOT NULL CHECK (" +
           sql_is_one_of<LockStatus>("status") + ")\n) " + words.table +
           ";\nCREATE TABLE fence (\n    lock_key " + words.key + " PRIMARY KEY,\n    epoch " +
           words.integer + " NOT NULL\n) " + words.table + ";\n";
}

Result<Done> fill_lease_tables(Sql& sql) {
    const std::string key(kLeaderLock);
    // MariaDB keeps each statement of a migration by itself, also of one that was interrupted.
    const std::string insert =
        sql.dialect() == SqlDialect::mariadb ? "INSERT IGNORE INTO " : "INSERT INTO ";
    TRY(sql.execute(insert + "lease VALUES (?, '', 0, 0, 'ACTIVE')", {key}));
    TRY(sql.execute(insert + "fence VALUES (?, 0)", {key}));
    return Done{};
}

}  // namespace baton
