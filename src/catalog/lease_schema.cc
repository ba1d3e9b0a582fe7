#include "catalog/lease_schema.h"

#include "base/check.h"
#include "model/lock.h"

namespace baton::catalog {

namespace {

struct LeaseWords {
    std::string key;
    std::string integer;
    std::string table;  // what follows the closing parenthesis
    // Where each statement of a migration is kept by itself, also of one that was interrupted.
    std::string unless_there;
    std::string insert = "INSERT INTO ";
};

LeaseWords lease_words(SqlDialect dialect) {
    switch (dialect) {
        case SqlDialect::sqlite:
            return {.key = "TEXT",
                    .integer = "INTEGER",
                    .table = "STRICT, WITHOUT ROWID",
                    .unless_there = ""};
        case SqlDialect::postgres:
            return {
                .key = "TEXT COLLATE \"C\"", .integer = "BIGINT", .table = "", .unless_there = ""};
        case SqlDialect::mariadb:
            return {.key = "VARCHAR(255)",
                    .integer = "BIGINT",
                    .table = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
                    .unless_there = "IF NOT EXISTS ",
                    .insert = "INSERT IGNORE INTO "};
    }
    CHECK(false && "an unknown database");
}

constexpr std::string_view kNoPad =
    "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin";

}  // namespace

std::string lease_table(LockSpace space) {
    return space == LockSpace::coordinators ? "lease" : "lock_lease";
}

std::string fence_table(LockSpace space) {
    return space == LockSpace::coordinators ? "fence" : "lock_fence";
}

Result<Done> make_first_lease_tables(Sql& sql) {
    const LeaseWords words = lease_words(sql.dialect());
    const std::string create = "CREATE TABLE " + words.unless_there;
    TRY(sql.run_script(create + "lease (\n    lock_key " + words.key +
                       " PRIMARY KEY CHECK (lock_key <> ''),\n" + "    owner " + words.key +
                       " NOT NULL,\n    epoch " + words.integer + " NOT NULL,\n    expires_at " +
                       words.integer + " NOT NULL,\n    status " + words.key + " NOT NULL CHECK (" +
                       sql_is_one_of<LockStatus>("status") + ")\n) " + words.table + ";\n" +
                       create + "fence (\n    lock_key " + words.key + " PRIMARY KEY,\n    epoch " +
                       words.integer + " NOT NULL\n) " + words.table + ";\n"));
    const std::string key(kLeaderLock);
    TRY(sql.execute(words.insert + "lease (lock_key, owner, epoch, expires_at, status) VALUES "
                                   "(?, '', 0, 0, 'ACTIVE')",
                    {key}));
    TRY(sql.execute(words.insert + "fence VALUES (?, 0)", {key}));
    return Done{};
}

Result<Done> add_lease_times(Sql& sql) {
    const LeaseWords words = lease_words(sql.dialect());
    return sql.run_script("ALTER TABLE lease ADD COLUMN " + words.unless_there + "taken_at " +
                          words.integer + " NOT NULL DEFAULT 0;\n");
}

Result<Done> move_locks_of_clients(Sql& sql) {
    LeaseWords words = lease_words(sql.dialect());
    if (sql.dialect() == SqlDialect::mariadb) words.table = kNoPad;
    const std::string create = "CREATE TABLE " + words.unless_there;
    TRY(sql.run_script(create + "lock_lease (\n    lock_key " + words.key +
                       " PRIMARY KEY CHECK (lock_key <> ''),\n    owner " + words.key +
                       " NOT NULL,\n    epoch " + words.integer + " NOT NULL,\n    expires_at " +
                       words.integer + " NOT NULL,\n    status " + words.key + " NOT NULL CHECK (" +
                       sql_is_one_of<LockStatus>("status") + "),\n    taken_at " + words.integer +
                       " NOT NULL\n) " + words.table + ";\n" + create +
                       "lock_fence (\n    lock_key " + words.key + " PRIMARY KEY,\n    epoch " +
                       words.integer + " NOT NULL\n) " + words.table + ";\n"));
    const std::string leader(kLeaderLock);
    TRY(sql.execute(words.insert + "lock_lease SELECT lock_key, owner, epoch, expires_at, status, "
                                   "taken_at FROM lease WHERE lock_key <> ?",
                    {leader}));
    TRY(sql.execute(
        words.insert + "lock_fence SELECT lock_key, epoch FROM fence WHERE lock_key <> ?",
        {leader}));
    TRY(sql.execute("DELETE FROM lease WHERE lock_key <> ?", {leader}));
    TRY(sql.execute("DELETE FROM fence WHERE lock_key <> ?", {leader}));
    return Done{};
}

Result<Done> make_lease_tables(Sql& sql) {
    TRY(make_first_lease_tables(sql));
    TRY(add_lease_times(sql));
    return move_locks_of_clients(sql);
}

}  // namespace baton::catalog
