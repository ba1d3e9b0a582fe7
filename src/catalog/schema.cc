#include "catalog/schema.h"

#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "catalog/kinds/encode.h"
#include "catalog/kinds/row_cursor.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/padding.h"
#include "catalog/views/views.h"
#include "model/partition.h"
#include "model/states.h"

namespace baton {

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

template <class Enum>
std::string one_of(std::string_view column) {
    return "CHECK (" + sql_is_one_of<Enum>(column) + ")";
}

std::string infrastructure_tables() {
    return R"(
CREATE TABLE meta (
    id {int} PRIMARY KEY CHECK (id = 1),
    schema_version {int} NOT NULL,
    revision {int} NOT NULL,
    next_id {int} NOT NULL,
    next_statement {int} NOT NULL,
    cluster_revision {int} NOT NULL,
    feed_floor {int} NOT NULL
) {table};
CREATE TABLE worker (
    name {key} PRIMARY KEY CHECK (name <> ''),
    kind {key} NOT NULL )" +
           one_of<WorkerKind>("kind") + R"(,
    address {key} UNIQUE,
    data_address {key},
    capacity {int} CHECK (capacity >= 0),
    state {key} NOT NULL )" +
           one_of<WorkerState>("state") + R"(,
    draining {int} NOT NULL CHECK (draining IN (0, 1)),
    leaving {int} NOT NULL CHECK (leaving IN (0, 1)),
    incarnation {int},
    reason {text} NOT NULL,
    since {key} NOT NULL,
    revision {int} NOT NULL,
    CHECK ((kind = 'EMBEDDED') = (address IS NULL))
) {keyed};
CREATE INDEX worker_state ON worker (state);
CREATE TABLE network_link (
    upstream {key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    downstream {key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    revision {int} NOT NULL,
    PRIMARY KEY (upstream, downstream),
    CHECK (upstream <> downstream)
) {keyed};
CREATE INDEX network_link_downstream ON network_link (downstream);
)";
}

std::string workload_tables() {
    return R"(
CREATE TABLE logical_source (
    name {key} PRIMARY KEY CHECK (name <> ''),
    columns {text} NOT NULL,
    revision {int} NOT NULL
) {keyed};
CREATE TABLE physical_source (
    id {int} PRIMARY KEY,
    logical {key} NOT NULL REFERENCES logical_source (name) ON DELETE RESTRICT,
    worker {key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    type {key} NOT NULL,
    options {text} NOT NULL,
    options_shown {text} NOT NULL,
    format {text} NOT NULL,
    format_shown {text} NOT NULL,
    fingerprint {key} NOT NULL,
    revision {int} NOT NULL,
    UNIQUE (logical, worker, type, fingerprint)
) {table};
CREATE INDEX physical_source_worker ON physical_source (worker);
CREATE TABLE sink (
    name {key} PRIMARY KEY CHECK (name <> ''),
    columns {text} NOT NULL,
    worker {key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    type {key} NOT NULL,
    options {text} NOT NULL,
    options_shown {text} NOT NULL,
    format {text} NOT NULL,
    format_shown {text} NOT NULL,
    revision {int} NOT NULL
) {table};
CREATE INDEX sink_worker ON sink (worker);
CREATE TABLE query (
    id {int} PRIMARY KEY,
    name {key} NOT NULL UNIQUE CHECK (name <> ''),
    statement {text} NOT NULL,
    settings {text} NOT NULL,
    state {key} NOT NULL )" +
           one_of<QueryState>("state") + R"(,
    desired {key} NOT NULL )" +
           one_of<QueryDesire>("desired") + R"(,
    stop_mode {key} NOT NULL )" +
           one_of<StopMode>("stop_mode") + R"(,
    run {int} NOT NULL CHECK (run >= 1),
    reason {text} NOT NULL,
    lagging {text} NOT NULL,
    created {key} NOT NULL,
    since {key} NOT NULL,
    revision {int} NOT NULL
) {table};
CREATE INDEX query_state ON query (state);
CREATE TABLE query_source (
    query {int} NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    source {int} NOT NULL REFERENCES physical_source (id) ON DELETE RESTRICT,
    PRIMARY KEY (query, source)
) {keyed};
CREATE INDEX query_source_source ON query_source (source);
CREATE TABLE query_sink (
    query {int} NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    sink {key} NOT NULL REFERENCES sink (name) ON DELETE RESTRICT,
    PRIMARY KEY (query, sink)
) {keyed};
CREATE INDEX query_sink_sink ON query_sink (sink);
CREATE TABLE fragment (
    id {int} PRIMARY KEY,
    query {int} NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    worker {key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    run {int} NOT NULL CHECK (run >= 1),
    slots {int} NOT NULL CHECK (slots >= 0),
    stage {int} NOT NULL CHECK (stage >= 0),
    plan {text} NOT NULL,
    state {key} NOT NULL )" +
           one_of<FragmentState>("state") + R"(,
    reason {text} NOT NULL,
    since {key} NOT NULL,
    revision {int} NOT NULL,
    rows_in {int},
    bytes_in {int},
    rows_out {int},
    bytes_out {int},
    late {int},
    skipped {int},
    stalls {int},
    busy_us {int},
    memory {int},
    UNIQUE (query, worker)
) {table};
CREATE INDEX fragment_worker ON fragment (worker, state, slots);
)";
}

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
           one_of<ChangeOp>("op") + R"(,
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
    for (const View& view : views()) {
        std::string columns;
        for (const ViewColumn& column : view.columns) {
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

Result<Done> run_tables(Sql& sql, std::string tables) {
    if (sql.dialect() == SqlDialect::mariadb) {
        // There each statement is kept by itself: what an interrupted attempt has made stays.
        tables = replaced(std::move(tables), "CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ");
        tables = replaced(std::move(tables), "CREATE INDEX ", "CREATE INDEX IF NOT EXISTS ");
        tables = replaced(std::move(tables), "CREATE UNIQUE INDEX ",
                          "CREATE UNIQUE INDEX IF NOT EXISTS ");
    }
    return sql.run_script(in_words(std::move(tables), words_of(sql.dialect())));
}

Result<Done> create_tables(Sql& sql) {
    const bool again = sql.dialect() == SqlDialect::mariadb;  // perhaps
    const std::string insert = again ? "INSERT IGNORE INTO " : "INSERT INTO ";
    TRY(run_tables(sql, infrastructure_tables()));
    TRY(make_first_lease_tables(sql));
    TRY(run_tables(sql, workload_tables() + history_tables()));
    TRY(sql.execute(insert + "meta VALUES (1, 0, 0, 1, 1, 0, 0)"));
    return Done{};
}

Result<Done> make_second_version(Sql& sql) {
    std::string tables = R"(
CREATE TABLE task_list (
    name {key} PRIMARY KEY CHECK (name <> ''),
    partitions {int} NOT NULL CHECK (partitions >= 1),
    revision {int} NOT NULL
) {keyed};
CREATE TABLE task_partition (
    list {key} NOT NULL,
    number {int} NOT NULL CHECK (number >= 0),
    state {key} NOT NULL )" +
                         one_of<PartitionState>("state") + R"(,
    owner {key} REFERENCES worker (name) ON DELETE RESTRICT,
    epoch {int},
    heir {key},
    since {key} NOT NULL,
    revision {int} NOT NULL,
    PRIMARY KEY (list, number),
    CHECK ((state = 'UNOWNED') = (owner IS NULL)),
    CHECK ((owner IS NULL) = (epoch IS NULL)),
    CHECK (heir IS NULL OR state = 'RELEASING')
) {keyed};
CREATE INDEX task_partition_owner ON task_partition (owner);
CREATE TABLE coordinator_secret (
    id {int} PRIMARY KEY CHECK (id = 1),
    secret {key} NOT NULL
) {keyed};
)";
    TRY(run_tables(sql, std::move(tables)));
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
        RowCursor cursor(row);
        const SqlValue id = value_of(cursor.number());
        const std::string plan = cursor.text();
        TRY(sql.execute("UPDATE fragment SET fingerprint = ? WHERE id = ?",
                        {plan_fingerprint(plan, cursor.time()), id}));
    }
    return Done{};
}

// The identity of the catalog and of plans, and the row of restarts of a query.
Result<Done> add_identities(Sql& sql) {
    const bool again = sql.dialect() == SqlDialect::mariadb;  // perhaps
    const std::string add = again ? " ADD COLUMN IF NOT EXISTS " : " ADD COLUMN ";
    TRY(run_tables(sql, R"(
CREATE TABLE catalog_identity (
    id {int} PRIMARY KEY CHECK (id = 1),
    catalog {key} NOT NULL
) {keyed};
)"));
    TRY(run_tables(sql, "ALTER TABLE query" + add + "restarts {int} NOT NULL DEFAULT 0;\n" +
                            "ALTER TABLE query" + add + "restarted {key};\n" +
                            "ALTER TABLE fragment" + add +
                            "fingerprint {key} NOT NULL DEFAULT '';\n"));
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

// Migration n, counted from 1, makes version n out of version n-1.
const std::vector<std::function<Result<Done>(Sql&)>>& migrations() {
    static const std::vector<std::function<Result<Done>(Sql&)>> kMigrations = {
        create_tables, make_second_version, make_third_version};
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
    if (found <= static_cast<std::int64_t>(migrations().size())) return found;
    return Error{.code = ErrorCode::catalog_version,
                 .message = "the catalog has version " + std::to_string(found) +
                            ", this program knows versions up to " +
                            std::to_string(migrations().size()),
                 .hint = "use the newer program that wrote it, or restore a backup made before"};
}

Result<Done> run_migration(Sql& sql, std::size_t index) {
    TRY(migrations()[index](sql));
    if (index + 1 == migrations().size()) {
        TRY(sql.run_script(create_views(sql.dialect())));
    }
    TRY(sql.execute("UPDATE meta SET schema_version = ? WHERE id = 1",
                    {static_cast<std::int64_t>(index + 1)}));
    return Done{};
}

}  // namespace

std::int64_t schema_version() {
    return static_cast<std::int64_t>(migrations().size());
}

Result<Done> migrate(Sql& sql) {
    return migrate_up_to(sql, schema_version());
}

Result<Done> migrate_up_to(Sql& sql, std::int64_t version) {
    TRY_ASSIGN(found, version_of(sql));
    const auto last = static_cast<std::size_t>(version);
    for (auto next = static_cast<std::size_t>(found); next < last; ++next) {
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

}  // namespace baton
