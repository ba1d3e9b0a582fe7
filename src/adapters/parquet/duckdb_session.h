// DuckDbSession is a DuckDB of its own, in memory, that may touch one file and nothing else.
#pragma once

#include <string>

#include <duckdb.h>

#include "base/result.h"

namespace baton {

class DuckDbSession {
public:
    // One thread, no configuration after the opening, no file but `path`.
    static Result<DuckDbSession> open(const std::string& path);
    DuckDbSession(DuckDbSession&& other) noexcept;
    DuckDbSession(const DuckDbSession&) = delete;
    DuckDbSession& operator=(const DuckDbSession&) = delete;
    ~DuckDbSession();

    [[nodiscard]] duckdb_connection connection() const { return connection_; }
    // For statements that give nothing; the error is DuckDB's message.
    [[nodiscard]] Result<Done> run(const std::string& sql, ErrorCode code,
                                   const std::string& what) const;

private:
    DuckDbSession() = default;

    duckdb_database database_ = nullptr;
    duckdb_connection connection_ = nullptr;
};

[[nodiscard]] std::string sql_literal(const std::string& text);  // 'it''s'
[[nodiscard]] std::string sql_name(const std::string& name);     // "a ""name"""

}  // namespace baton
