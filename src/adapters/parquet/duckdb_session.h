// DuckDbSession is a DuckDB of its own, in memory, that may touch one file and nothing else: one
// that was opened for it, and that it knows by its descriptor.
#pragma once

#include <string>

#include <duckdb.h>

#include "adapters/system/open_file.h"
#include "base/result.h"

namespace baton::parquet {

class DuckDbSession {
public:
    // One thread, no configuration after the opening, no file but `file`, which outlives it; in
    // messages it is `path`.
    static Result<DuckDbSession> open(const system::OpenFile& file, std::string path);
    DuckDbSession(DuckDbSession&& other) noexcept;
    DuckDbSession(const DuckDbSession&) = delete;
    DuckDbSession& operator=(const DuckDbSession&) = delete;
    ~DuckDbSession();

    // The file as DuckDB is to name it, and a text of DuckDB with the name that people know.
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::string worded(std::string text) const;

    [[nodiscard]] duckdb_connection connection() const { return connection_; }
    // For statements that give nothing; the error is DuckDB's message.
    [[nodiscard]] Result<Done> run(const std::string& sql, ErrorCode code,
                                   const std::string& what) const;

private:
    DuckDbSession() = default;

    std::string file_;
    std::string path_;
    duckdb_database database_ = nullptr;
    duckdb_connection connection_ = nullptr;
};

[[nodiscard]] std::string sql_literal(const std::string& text);  // 'it''s'
[[nodiscard]] std::string sql_name(const std::string& name);     // "a ""name"""

}  // namespace baton::parquet
