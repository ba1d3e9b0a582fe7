// A connection to PostgreSQL by libpq, as adapters/server_sql has it.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/postgres/postgres.h"
#include "adapters/server_sql/wire.h"

struct pg_conn;
struct pg_result;

namespace baton::postgres {

// The text with $1, $2, .. for each `?` outside of strings, names and comments, and how many.
struct Numbered {
    std::string text;
    std::size_t parameters = 0;
};
[[nodiscard]] Numbered with_numbers(std::string_view sql);

// The meaning for Baton of a SQLSTATE.
[[nodiscard]] ErrorCode code_of(std::string_view sqlstate);

class PostgresWire final : public server_sql::Wire {
public:
    PostgresWire(PostgresOptions options, Access access);
    ~PostgresWire() override;

    [[nodiscard]] SqlDialect dialect() const override { return SqlDialect::postgres; }
    [[nodiscard]] const server_sql::Words& words() const override;
    [[nodiscard]] bool is_alive() const override;
    [[nodiscard]] Result<Done> connect() override;
    [[nodiscard]] Result<std::int64_t> run(std::string_view sql,
                                           std::span<const SqlValue> parameters,
                                           const SqlRowSink& sink) override;
    [[nodiscard]] Result<std::int64_t> run_all(std::span<const server_sql::Statement> statements,
                                               const SqlRowSink& sink) override;
    [[nodiscard]] std::size_t done_before_failure() const override { return done_; }
    [[nodiscard]] Result<std::string> script(const std::string& sql) override;
    // It stays open until the caller rolls back.
    [[nodiscard]] bool gave_up_transaction() const override { return false; }
    [[nodiscard]] const std::string& name() const override { return name_; }

private:
    struct Finish {
        void operator()(pg_conn* conn) const;
    };
    struct Clear {
        void operator()(pg_result* result) const;
    };
    using Answer = std::unique_ptr<pg_result, Clear>;

    [[nodiscard]] std::string settings() const;
    // The last answer to what was sent. Gives the server up if it takes longer than it may.
    [[nodiscard]] Result<Answer> answer();
    [[nodiscard]] Result<Done> wait_for_input(std::chrono::steady_clock::time_point deadline);
    [[nodiscard]] Error give_up(const std::string& why);
    [[nodiscard]] Error error_of(const pg_result& answer, std::string_view sql) const;
    // The name of the statement on the server; it is prepared if it was not.
    [[nodiscard]] Result<Done> send_prepared(const std::string& name,
                                             std::span<const SqlValue> parameters);
    [[nodiscard]] Result<Done> send_all(std::span<const server_sql::Statement> statements);
    [[nodiscard]] Result<std::int64_t> take_rows(const pg_result& answer, std::string_view sql,
                                                 const SqlRowSink& sink) const;
    [[nodiscard]] Result<std::string> prepared(std::string_view sql,
                                               std::span<const SqlValue> parameters);
    void forget_statements();

    const PostgresOptions options_;
    const Access access_;
    const std::string name_;
    std::unique_ptr<pg_conn, Finish> conn_;

    // Prepared statements by their text and the types of their parameters, the latest first.
    struct Kept {
        std::string key;
        std::string name;
    };
    std::list<Kept> kept_;
    std::unordered_map<std::string_view, std::list<Kept>::iterator> by_key_;
    std::uint64_t next_name_ = 1;
    std::size_t done_ = 0;  // of the last run_all()
};

}  // namespace baton::postgres
