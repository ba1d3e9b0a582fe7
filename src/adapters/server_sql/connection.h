// Connection is what ports/sql.h promises, over the wire of a database server.
//
// A connection that was lost is made again by the next begin(), or by the next statement outside a
// transaction. Inside a transaction every call but rollback() returns the loss.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "adapters/server_sql/wire.h"
#include "ports/sql.h"
#include "ports/sql_later.h"

namespace baton::server_sql {

class Connection final : public Sql, public SqlLater {
public:
    // `wire` is connected.
    Connection(std::unique_ptr<Wire> wire, Access access);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] SqlDialect dialect() const override { return wire_->dialect(); }
    Result<std::int64_t> run(std::string_view sql, std::span<const SqlValue> parameters,
                             const SqlRowSink& sink) override;
    Result<Done> run_script(const std::string& sql) override;
    Result<Done> begin(Access access) override;
    Result<Done> commit() override;
    void rollback() override;
    Result<Done> set_savepoint() override;
    Result<Done> release_savepoint() override;
    Result<Done> roll_back_to_savepoint() override;
    Result<Done> begin_later() override;
    Result<Done> run_later(std::string_view sql, std::span<const SqlValue> parameters) override;

private:
    // Connects again if that is needed and allowed.
    [[nodiscard]] Result<Done> ready();
    // Notes what a failure has cost. `commits`: had it succeeded, something would be durable.
    [[nodiscard]] Error failed(Error error, bool commits);
    [[nodiscard]] Result<Done> control(const std::string& sql);
    [[nodiscard]] Result<Done> may_begin(Access access) const;
    [[nodiscard]] Result<Done> may_run(std::string_view sql,
                                       std::span<const SqlValue> parameters) const;
    // Sends what was put off and this one after it. `commits`: as of failed().
    [[nodiscard]] Result<std::int64_t> send_with_later(Statement last, const SqlRowSink& sink,
                                                       bool commits);
    void end_transaction();
    [[nodiscard]] Error misuse(const std::string& what) const;

    std::unique_ptr<Wire> wire_;
    const Access access_;
    std::optional<Access> transaction_;  // what the caller believes to be in
    std::optional<Error> lost_;          // why the transaction_ is lost
    std::vector<Statement> later_;       // put off
    bool begins_later_ = false;          // the first of them begins the transaction
    unsigned depth_ = 0;                 // of savepoints
    bool running_ = false;
};

}  // namespace baton::server_sql
