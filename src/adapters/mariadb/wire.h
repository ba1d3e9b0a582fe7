// A connection to MariaDB by its client library, as adapters/server_sql has it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/mariadb/mariadb.h"
#include "adapters/server_sql/wire.h"

struct st_mysql;
struct st_mysql_stmt;

namespace baton::mariadb {

// mysql://user:password@host:port/database?sslmode=..&sslrootcert=..&sslcert=..&sslkey=..
struct Place {
    std::string user;
    std::string password;
    std::string host = "127.0.0.1";
    std::uint16_t port = 3306;
    std::string database;
    bool tls = false;       // it is encrypted, or there is no connection
    bool verified = false;  // the certificate is of this host, by a trusted issuer
    std::string ca;         // trusted issuers (PEM); empty: those of this machine
    std::string cert;       // ours; empty: none is shown
    std::string key;

    [[nodiscard]] std::string name() const;  // without the password
};
// Percent signs are decoded. Fails with invalid_configuration.
[[nodiscard]] Result<Place> place_of(const std::string& url);

// The meaning for Baton of an error number of the server, or of its library.
[[nodiscard]] ErrorCode code_of(unsigned number);
// The text with literal(i) for the i-th `?` outside of strings, names and comments.
[[nodiscard]] std::string with_values(std::string_view sql,
                                      const std::function<std::string(std::size_t)>& literal);
// Whether the connection is over with it.
[[nodiscard]] bool ends_connection(unsigned number);

class MariadbWire final : public server_sql::Wire {
public:
    MariadbWire(MariadbOptions options, Place place, Access access);
    ~MariadbWire() override;

    [[nodiscard]] SqlDialect dialect() const override { return SqlDialect::mariadb; }
    [[nodiscard]] const server_sql::Words& words() const override;
    [[nodiscard]] bool is_alive() const override { return handle_ != nullptr; }
    [[nodiscard]] Result<Done> connect() override;
    [[nodiscard]] Result<std::int64_t> run(std::string_view sql,
                                           std::span<const SqlValue> parameters,
                                           const SqlRowSink& sink) override;
    [[nodiscard]] Result<std::int64_t> run_all(std::span<const server_sql::Statement> statements,
                                               const SqlRowSink& sink) override;
    [[nodiscard]] std::size_t done_before_failure() const override { return done_; }
    [[nodiscard]] Result<std::string> script(const std::string& sql) override;
    [[nodiscard]] bool gave_up_transaction() const override { return gave_up_; }
    [[nodiscard]] const std::string& name() const override { return name_; }

private:
    struct CloseHandle {
        void operator()(st_mysql* handle) const;
    };
    struct CloseStatement {
        void operator()(st_mysql_stmt* statement) const;
    };
    using Statement = std::unique_ptr<st_mysql_stmt, CloseStatement>;

    void encrypt();
    [[nodiscard]] std::string settings() const;
    [[nodiscard]] Result<Done> check_server();
    [[nodiscard]] Error failure(unsigned number, const std::string& message, std::string_view sql);
    [[nodiscard]] Error failure_of_handle(std::string_view sql);
    [[nodiscard]] Error failure_of(st_mysql_stmt* statement, std::string_view sql);
    [[nodiscard]] Result<st_mysql_stmt*> prepared(std::string_view sql);
    [[nodiscard]] Result<Done> execute(st_mysql_stmt* statement,
                                       std::span<const SqlValue> parameters, std::string_view sql);
    [[nodiscard]] Result<Done> give_rows(st_mysql_stmt* statement, const SqlRowSink& sink,
                                         std::string_view sql);
    [[nodiscard]] std::string literal(const SqlValue& value) const;
    void forget_statements();

    const MariadbOptions options_;
    const Place place_;
    const Access access_;
    const std::string name_;
    std::unique_ptr<st_mysql, CloseHandle> handle_;
    bool gave_up_ = false;
    std::size_t done_ = 0;  // of the last run_all()

    struct Kept {
        std::string text;
        Statement statement;
    };
    std::list<Kept> kept_;  // the latest first
    std::unordered_map<std::string_view, std::list<Kept>::iterator> by_text_;
};

}  // namespace baton::mariadb
