// Wire is one connection to a database server as its client library has it. Connection (below it)
// builds the promises of ports/sql.h on it; a Wire only carries out calls, and reports failures
// with the codes of that port.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/sql.h"

namespace baton::server_sql {

// The texts in which servers differ.
struct Words {
    std::string begin_write;  // serializable
    std::string begin_read;   // from its end on there is a snapshot; several statements if need be
};

// One that is sent together with others. Without parameters it may be any, also one of
// transactions.
struct Statement {
    std::string sql;
    std::vector<SqlValue> parameters;
};

class Wire {
public:
    virtual ~Wire() = default;

    [[nodiscard]] virtual SqlDialect dialect() const = 0;
    [[nodiscard]] virtual const Words& words() const = 0;

    // False once the server was lost. Then a transaction is over, and connect() begins anew.
    [[nodiscard]] virtual bool is_alive() const = 0;
    [[nodiscard]] virtual Result<Done> connect() = 0;

    // One statement with its parameters, `?` in the text. Values were checked already. How many
    // rows were changed.
    [[nodiscard]] virtual Result<std::int64_t> run(std::string_view sql,
                                                   std::span<const SqlValue> parameters,
                                                   const SqlRowSink& sink) = 0;
    // All of them in one trip to the server and back, until one fails; rows are those of the last,
    // and so is the count.
    [[nodiscard]] virtual Result<std::int64_t> run_all(std::span<const Statement> statements,
                                                       const SqlRowSink& sink) = 0;
    // How many of the last run_all() succeeded before one failed.
    [[nodiscard]] virtual std::size_t done_before_failure() const = 0;
    // Statements without parameters whose rows do not matter; the tag of the last, if the server
    // sends one.
    [[nodiscard]] virtual Result<std::string> script(const std::string& sql) = 0;
    // Whether the last failure made the server give up the whole transaction.
    [[nodiscard]] virtual bool gave_up_transaction() const = 0;

    // "the catalog postgres://host/db"; without secrets.
    [[nodiscard]] virtual const std::string& name() const = 0;
};

}  // namespace baton::server_sql
