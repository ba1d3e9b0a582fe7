// Sql is one connection to a relational database: the only way in which the catalog touches disk.
//
// Ownership: one connection is used by one thread at a time; it does no locking of its own.
// SQL text:  `?` stands for a parameter. Text is kept as the key of prepared statements, so it must
//            come from a bounded set: values are always parameters.
// Values:    text is UTF-8 without NUL, numbers are finite; anything else is refused with
//            write_rejected (sql_values.h), because not every database could give it back.
// Errors:    every call may return
//              catalog_unavailable    busy or locked beyond the deadline, connection lost: nothing
//                                     of this call happened
//              catalog_full           no space left: nothing of this call happened
//              catalog_corrupt        the file is damaged
//              unique_violation, foreign_key_violation, write_rejected   a constraint refused it
//              unknown_outcome        commit, or a write outside a transaction: it may or may not
//                                     be durable
//              defect                 SQL that the database does not understand
//            After any error inside a transaction the caller rolls back (to the savepoint). If that
//            fails too, the database has abandoned the whole transaction: only rollback() is left.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace baton {

enum class SqlDialect : std::uint8_t { sqlite, postgres, mariadb };

using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;
// Sees each row as it comes; the row is valid during the call only. It may not use the connection.
using SqlRowSink = std::function<void(const SqlRow& row)>;

enum class Access : std::uint8_t {
    read,   // a snapshot as of begin(); never waits for a writer; writes are refused
    write,  // the one writer, from begin() on
};

// Makes durable what a connection has committed, on any one thread beside that connection's.
class SqlSync {
public:
    virtual ~SqlSync() = default;

    // Durable when it returns Done: everything that had been committed when it was called. After an
    // error it is unknown what is durable, and what a later sync is worth.
    virtual Result<Done> sync() = 0;
};

class Sql {
public:
    virtual ~Sql() = default;

    [[nodiscard]] virtual SqlDialect dialect() const = 0;

    // Runs one statement. Returns how many rows were inserted, updated or deleted.
    virtual Result<std::int64_t> run(std::string_view sql, std::span<const SqlValue> parameters,
                                     const SqlRowSink& sink) = 0;
    // Runs several statements without parameters, separated by `;`: for schemas.
    virtual Result<Done> run_script(const std::string& sql) = 0;

    // Transactions do not nest; savepoints do, and the last one set ends first.
    virtual Result<Done> begin(Access access) = 0;
    // Durable when it returns Done, but for defer_sync(); ends the transaction anyway.
    virtual Result<Done> commit() = 0;
    virtual void rollback() = 0;  // no effect outside a transaction
    virtual Result<Done> set_savepoint() = 0;
    virtual Result<Done> release_savepoint() = 0;
    virtual Result<Done> roll_back_to_savepoint() = 0;  // and releases it

    // From now on commits come in order but are durable only after a sync, so that the next
    // transaction can be under way meanwhile. Null: this database has no such way, and commits stay
    // durable by themselves. The result ends before the connection does.
    [[nodiscard]] virtual Result<std::unique_ptr<SqlSync>> defer_sync() {
        return std::unique_ptr<SqlSync>();
    }

    // Convenience over run().
    Result<std::int64_t> execute(std::string_view sql,
                                 std::initializer_list<SqlValue> parameters = {}) {
        return run(sql, {parameters.begin(), parameters.size()}, nullptr);
    }
    Result<std::vector<SqlRow>> query(std::string_view sql,
                                      std::initializer_list<SqlValue> parameters = {}) {
        return query_with(sql, {parameters.begin(), parameters.size()});
    }
    Result<std::vector<SqlRow>> query_with(std::string_view sql,
                                           std::span<const SqlValue> parameters) {
        std::vector<SqlRow> rows;
        TRY(run(sql, parameters, [&](const SqlRow& row) { rows.push_back(row); }));
        return rows;
    }
};

// Makes connections to one database. Safe to call from any thread.
class SqlDatabase {
public:
    virtual ~SqlDatabase() = default;

    [[nodiscard]] virtual Result<std::unique_ptr<Sql>> connect(Access access) = 0;
    // Writes a consistent copy of the whole database to a new file while it is in use.
    // Fails with not_supported where the database has its own tools for that.
    [[nodiscard]] virtual Result<Done> backup_to(const std::string& path) = 0;
};

}  // namespace baton
