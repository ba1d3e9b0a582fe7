#include "catalog/schema.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "catalog/kinds/encode.h"
#include "catalog/kinds/kinds.h"
#include "catalog/kinds/row_cursor.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/padding.h"
#include "catalog/views/views.h"
#include "model/states.h"

namespace baton::catalog {

namespace {

// The words in which the databases differ.
struct Words {
    std::string key;   // a text that can be a key
    std::string text;  // a text of any length
    std::string integer;
    std::string table;  // what follows the closing parenthesis of a table
    std::string keyed;  // the same for one of short rows whose key is not a number
    char quote = '"';
};

Words words_of(SqlDialect dialect) {
    switch (dialect) {
        case SqlDialect::sqlite:
            return {.key = "TEXT",
                    .text = "TEXT",
                    .integer = "INTEGER",
                    .table = "STRICT",
                    .keyed = "STRICT, WITHOUT ROWID"};  // one tree; long rows spill
        case SqlDialect::postgres:
            return {.key = "TEXT COLLATE \"C\"",
                    .text = "TEXT COLLATE \"C\"",
                    .integer = "BIGINT",
                    .table = "",
                    .keyed = ""};
        case SqlDialect::mariadb:
            return {.key = "VARCHAR(255)",
                    .text = "LONGTEXT",
                    .integer = "BIGINT",
                    .table = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
                    .keyed = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
                    .quote = '`'};
    }
    CHECK(false && "an unknown database");
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
    return text;
}

std::string in_words(std::string text, const Words& words) {
    text = replaced(std::move(text), "{key}", words.key);
    text = replaced(std::move(text), "{text}", words.text);
    text = replaced(std::move(text), "{int}", words.integer);
    text = replaced(std::move(text), "{keyed}", words.keyed);
    return replaced(std::move(text), "{table}", words.table);
}

constexpr std::string_view kMetaTable = R"(
CREATE TABLE meta (
    id {int} PRIMARY KEY CHECK (id = 1),
    schema_version {int} NOT NULL,
    revision {int} NOT NULL,
    next_id {int} NOT NULL,
    next_statement {int} NOT NULL,
    cluster_revision {int} NOT NULL,
    feed_floor {int} NOT NULL
) {table};
)";

std::string history_tables() {
    return R"(
CREATE TABLE statement_log (
    id {int} PRIMARY KEY,
    received {key} NOT NULL,
    principal {key} NOT NULL,
    statement {text} NOT NULL,
    outcome {key} NOT NULL CHECK (outcome = 'OK' OR outcome = 'ERROR'),
    error {int},
    message {text},
    duration_us {int} NOT NULL,
    revision {int}
) {table};
CREATE INDEX statement_log_outcome ON statement_log (outcome);
CREATE TABLE change_feed (
    revision {int} NOT NULL,
    ordinal {int} NOT NULL,
    changed {key} NOT NULL,
    entity {key} NOT NULL,
    entity_key {text} NOT NULL,
    op {key} NOT NULL )" +
           kinds::one_of<ChangeOp>("op") + R"(,
    new_row {text},
    old_row {text},
    PRIMARY KEY (revision, ordinal)
) {table};
)";
}

// Of a column of microseconds since 1970, as base/time.h has it.
std::string time_text(SqlDialect dialect, const std::string& column) {
    switch (dialect) {
        case SqlDialect::sqlite:
            return "strftime('%Y-%m-%dT%H:%M:%f', " + column +
                   " / 1000000.0, 'unixepoch') || '000Z'";
        case SqlDialect::postgres:
            return "to_char(to_timestamp(" + column +
                   " / 1000000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')";
        case SqlDialect::mariadb:
            return "DATE_FORMAT(DATE_ADD('1970-01-01', INTERVAL " + column +
                   " MICROSECOND), '%Y-%m-%dT%H:%i:%s.%fZ')";
    }
    CHECK(false && "an unknown database");
}

// Views hold no data: every change of the version makes them anew, as this program has them.
std::string create_views(SqlDialect dialect) {
    const Words words = words_of(dialect);
    const auto name = [&](std::string_view column) {
        return words.quote + std::string(column) + words.quote;
    };
    std::string text;
    for (const kinds::View& view : views::views()) {
        std::string columns;
        for (const kinds::ViewColumn& column : view.columns) {
            if (!columns.empty()) columns += ", ";
            columns += name(column.name);
        }
        text += "DROP VIEW IF EXISTS " + std::string(view.table) + ";\n";
        text += "CREATE VIEW " + std::string(view.table) + " (" + columns + ") AS " +
                view.definition + ";\n";
    }
    text = replaced(std::move(text), "{now_us}", now_us(dialect));
    return replaced(std::move(text), "{taken}", time_text(dialect, "taken_at"));
}

// Since this version tables are made without padded comparison (padding.h).
constexpr std::int64_t kWithoutPadding = 4;

Result<Done> run_tables(Sql& sql, std::string tables, std::int64_t version = 1) {
    if (sql.dialect() == SqlDialect::mariadb) {
        // There each statement is kept by itself: what an interrupted attempt has made stays.
        tables = replaced(std::move(tables), "CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ");
        tables = replaced(std::move(tables), "CREATE INDEX ", "CREATE INDEX IF NOT EXISTS ");
        tables = replaced(std::move(tables), "CREATE UNIQUE INDEX ",
                          "CREATE UNIQUE INDEX IF NOT EXISTS ");
        tables = replaced(std::move(tables), " ADD COLUMN ", " ADD COLUMN IF NOT EXISTS ");
    }
    Words words = words_of(sql.dialect());
    if (version >= kWithoutPadding) {
        for (std::string* text : {&words.table, &words.keyed}) {
            *text = replaced(*text, "utf8mb4_bin", "utf8mb4_nopad_bin");
        }
    }
    return sql.run_script(in_words(std::move(tables), words));
}

// Of the kinds of entities, the tables and columns that the version adds.
Result<Done> add_kinds(Sql& sql, std::int64_t version) {
    std::string statements;
    for (const kinds::AnyKind& kind : kinds::kinds()) statements += kind.statements(version);
    return statements.empty() ? Done{} : run_tables(sql, std::move(statements), version);
}

Result<Done> make_first_version(Sql& sql) {
    const bool again = sql.dialect() == SqlDialect::mariadb;  // perhaps
    const std::string insert = again ? "INSERT IGNORE INTO " : "INSERT INTO ";
    TRY(run_tables(sql, std::string(kMetaTable)));
    TRY(add_kinds(sql, 1));
    TRY(make_first_lease_tables(sql));
    TRY(run_tables(sql, history_tables()));
    TRY(sql.execute(insert + "meta VALUES (1, 0, 0, 1, 1, 0, 0)"));
    return Done{};
}

Result<Done> make_second_version(Sql& sql) {
    TRY(add_kinds(sql, 2));
    TRY(run_tables(sql, R"(
CREATE TABLE coordinator_secret (
    id {int} PRIMARY KEY CHECK (id = 1),
    secret {key} NOT NULL
) {keyed};
)"));
    return add_lease_times(sql);
}

// The words in which the databases make an id that no other catalog has.
std::string random_id(SqlDialect dialect) {
    switch (dialect) {
        case SqlDialect::sqlite:
            return "lower(hex(randomblob(16)))";
        case SqlDialect::postgres:
            return "replace(gen_random_uuid()::text, '-', '')";
        case SqlDialect::mariadb:
            return "MD5(CONCAT(UUID(), RAND(), CONNECTION_ID()))";
    }
    CHECK(false && "an unknown database");
}

// What was planned before is known by its fingerprint, too.
Result<Done> add_fingerprints(Sql& sql) {
    TRY_ASSIGN(rows, sql.query("SELECT f.id, f.plan, q.created FROM fragment f JOIN query q ON "
                               "q.id = f.query"));
    for (const SqlRow& row : rows) {
        kinds::RowCursor cursor(row);
        const SqlValue id = kinds::value_of(cursor.number());
        const std::string plan = cursor.text();
        TRY(sql.execute("UPDATE fragment SET fingerprint = ? WHERE id = ?",
                        {kinds::plan_fingerprint(plan, cursor.time()), id}));
    }
    return Done{};
}

// The identity of the catalog and of plans.
Result<Done> add_identities(Sql& sql) {
    const bool again = sql.dialect() == SqlDialect::mariadb;  // perhaps
    TRY(run_tables(sql, R"(
CREATE TABLE catalog_identity (
    id {int} PRIMARY KEY CHECK (id = 1),
    catalog {key} NOT NULL
) {keyed};
)"));
    TRY(add_kinds(sql, 3));
    TRY(sql.execute(std::string(again ? "INSERT IGNORE INTO " : "INSERT INTO ") +
                    "catalog_identity VALUES (1, " + random_id(sql.dialect()) + ")"));
    return add_fingerprints(sql);
}

Result<Done> add_authority(Sql& sql) {
    return run_tables(sql, R"(
CREATE TABLE cluster_authority (
    id {int} PRIMARY KEY CHECK (id = 1),
    cluster {key} NOT NULL,
    certificate {text} NOT NULL,
    private_key {text} NOT NULL,
    address {key} NOT NULL
) {keyed};
CREATE TABLE join_token (
    digest {key} PRIMARY KEY,
    expires_at {int} NOT NULL
) {keyed};
CREATE TABLE worker_certificate (
    worker {key} PRIMARY KEY,
    serial {key} NOT NULL,
    predecessor {key} NOT NULL,
    given_at {int} NOT NULL
) {keyed};
)");
}

Result<Done> make_third_version(Sql& sql) {
    TRY(add_identities(sql));
    TRY(add_authority(sql));
    TRY(take_padding_away(sql));
    return move_locks_of_clients(sql);
}

// Migration n, counted from 1, makes version n out of version n-1. A later one adds what the kinds
// say of it, and nothing else.
const std::vector<std::function<Result<Done>(Sql&)>>& migrations() {
    static const std::vector<std::function<Result<Done>(Sql&)>> kMigrations = {
        make_first_version, make_second_version, make_third_version};
    return kMigrations;
}

Result<bool> has_tables(Sql& sql) {
    switch (sql.dialect()) {
        case SqlDialect::sqlite: {
            TRY_ASSIGN(rows, sql.query("SELECT 1 FROM sqlite_schema WHERE name = 'meta'"));
            return !rows.empty();
        }
        case SqlDialect::postgres: {
            TRY_ASSIGN(rows, sql.query("SELECT 1 FROM information_schema.tables WHERE "
                                       "table_name = 'meta' AND table_schema = current_schema()"));
            return !rows.empty();
        }
        case SqlDialect::mariadb: {
            TRY_ASSIGN(rows, sql.query("SELECT 1 FROM information_schema.tables WHERE "
                                       "table_name = 'meta' AND table_schema = DATABASE()"));
            return !rows.empty();
        }
    }
    CHECK(false && "an unknown database");
}

// Fails with catalog_version for one that a newer program wrote.
Result<std::int64_t> version_of(Sql& sql) {
    TRY_ASSIGN(present, has_tables(sql));
    if (!present) return std::int64_t{0};
    TRY_ASSIGN(rows, sql.query("SELECT schema_version FROM meta WHERE id = 1"));
    // Where tables are made outside of transactions, an attempt may have ended before this row.
    if (rows.empty() && sql.dialect() == SqlDialect::mariadb) return std::int64_t{0};
    if (rows.size() != 1 || !std::holds_alternative<std::int64_t>(rows[0].at(0))) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "the catalog does not say which version it has",
                     .hint = "restore it from a backup with `baton restore`"};
    }
    const std::int64_t found = std::get<std::int64_t>(rows[0][0]);
    if (found <= schema_version()) return found;
    return Error{.code = ErrorCode::catalog_version,
                 .message = "the catalog has version " + std::to_string(found) +
                            ", this program knows versions up to " +
                            std::to_string(schema_version()),
                 .hint = "use the newer program that wrote it, or restore a backup made before"};
}

Result<Done> run_migration(Sql& sql, std::int64_t version) {
    const auto index = static_cast<std::size_t>(version - 1);
    TRY(index < migrations().size() ? migrations()[index](sql) : add_kinds(sql, version));
    if (version == schema_version()) TRY(sql.run_script(create_views(sql.dialect())));
    TRY(sql.execute("UPDATE meta SET schema_version = ? WHERE id = 1", {version}));
    return Done{};
}

}  // namespace

std::int64_t schema_version() {
    static const std::int64_t kVersion = [] {
        auto last = static_cast<std::int64_t>(migrations().size());
        for (const kinds::AnyKind& kind : kinds::kinds()) last = std::max(last, kind.version);
        return last;
    }();
    return kVersion;
}

Result<Done> migrate(Sql& sql) {
    return migrate_up_to(sql, schema_version());
}

Result<Done> migrate_up_to(Sql& sql, std::int64_t version) {
    TRY_ASSIGN(found, version_of(sql));
    for (std::int64_t next = found + 1; next <= version; ++next) {
        TRY(sql.begin(Access::write));
        if (auto done = run_migration(sql, next); !done) {
            sql.rollback();
            return done.error();
        }
        TRY(sql.commit());
    }
    return Done{};
}

Result<bool> is_of_older_version(Sql& sql) {
    TRY_ASSIGN(found, version_of(sql));
    return found < schema_version();
}

Result<Done> require_current_version(Sql& sql) {
    TRY_ASSIGN(is_older, is_of_older_version(sql));
    if (!is_older) return Done{};
    return Error{.code = ErrorCode::catalog_version,
                 .message = "the catalog has an older version than this program needs, " +
                            std::to_string(schema_version()),
                 .hint = "open it once with this program to bring it up to date"};
}

}  // namespace baton::catalog
