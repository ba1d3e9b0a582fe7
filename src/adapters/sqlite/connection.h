// Connection is one connection to one SQLite file, with the promises of ports/sql.h.
//
// A writer runs in WAL mode with synchronous=FULL: a confirmed commit() survives the loss of power.
// After defer_sync() it is synchronous=NORMAL: the log is synced by the SqlSync, and by SQLite
// itself before its pages go to the file and before it is used again from the start, so that a loss
// of power takes back the last commits and never one in the middle. A reader cannot write, and sees
// the catalog as it was at begin().
//
// Some failures (no space, I/O, memory) make SQLite abandon the whole transaction at once. From
// then on every call but rollback() returns the failure that did it: a statement must never run,
// and commit, outside the transaction its caller believes in.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "adapters/sqlite/log.h"
#include "adapters/sqlite/statements.h"
#include "base/time.h"
#include "ports/sql.h"

struct sqlite3;

namespace baton::sqlite {

struct Settings {
    std::string path;  // absolute
    Duration busy_deadline = std::chrono::seconds(1);
    std::int64_t cache_bytes = 16 << 20;
    int log_pages_step = kLogPagesStep;
    bool durable = true;  // false: synchronous=OFF, for databases that end with the process
};

struct Close {
    void operator()(sqlite3* db) const;
};
using Handle = std::unique_ptr<sqlite3, Close>;

// Opens the file without looking into it. `flags` are those of sqlite3_open_v2.
[[nodiscard]] Result<Handle> open_handle(const Settings& settings, int flags);
// Sets what every connection needs; the first thing that reads the file.
[[nodiscard]] Result<Done> configure(sqlite3* db, const Settings& settings);
// Runs statements that give no rows, or whose rows do not matter.
[[nodiscard]] Result<Done> execute(sqlite3* db, const Settings& settings, const std::string& sql);
// Makes the file one that is written through a log.
[[nodiscard]] Result<Done> enter_wal_mode(sqlite3* db, const Settings& settings);

class Connection final : public Sql {
public:
    // `keeps_alive` is released after the connection is closed.
    Connection(Handle db, Settings settings, Access access,
               std::shared_ptr<const void> keeps_alive = nullptr);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() override;

    [[nodiscard]] SqlDialect dialect() const override { return SqlDialect::sqlite; }
    Result<std::int64_t> run(std::string_view sql, std::span<const SqlValue> parameters,
                             const SqlRowSink& sink) override;
    Result<Done> run_script(const std::string& sql) override;
    Result<Done> begin(Access access) override;
    Result<Done> commit() override;
    void rollback() override;
    Result<Done> set_savepoint() override;
    Result<Done> release_savepoint() override;
    Result<Done> roll_back_to_savepoint() override;
    [[nodiscard]] Result<std::unique_ptr<SqlSync>> defer_sync() override;

    [[nodiscard]] std::size_t statements_kept() const { return statements_.size(); }

private:
    // One statement and the text after it.
    struct Prepared {
        Statement statement;  // null for an empty or commented text
        std::string_view rest;
    };

    [[nodiscard]] Result<Prepared> prepare(std::string_view sql);
    [[nodiscard]] Result<sqlite3_stmt*> statement_for(std::string_view sql);
    [[nodiscard]] Result<Done> bind(sqlite3_stmt* statement, std::span<const SqlValue> parameters,
                                    std::string_view sql);
    [[nodiscard]] Result<std::int64_t> step_through(sqlite3_stmt* statement, std::string_view sql,
                                                    const SqlRowSink& sink);
    void read_row(sqlite3_stmt* statement, int columns);
    // Runs a fixed statement of our own: BEGIN, SAVEPOINT s1.
    [[nodiscard]] Result<Done> control(std::string_view sql, std::string_view what);
    // Reports the failure of a statement, and notes whether it cost the transaction. `commits`: had
    // it succeeded, something would be durable.
    [[nodiscard]] Error failed(std::string_view sql, std::string_view what, bool commits = false);
    [[nodiscard]] Error refused(std::string_view sql, const std::string& why) const;

    std::shared_ptr<const void> keeps_alive_;
    Log log_;
    Handle db_;
    Settings settings_;
    Access access_;
    Statements statements_;
    SqlRow row_;                         // reused for each row, so that its strings are
    std::optional<Access> transaction_;  // what the caller believes to be in
    std::optional<Error> lost_;          // why SQLite abandoned transaction_
    unsigned depth_ = 0;                 // of savepoints
    bool running_ = false;
};

}  // namespace baton::sqlite
