// DuckDB beside us: one thread, in memory.
#pragma once

#include <cstdint>
#include <string>

#include <duckdb.h>

#include "bench/measure.h"

namespace baton::bench {

class DuckDb {
public:
    DuckDb() {
        duckdb_config config = nullptr;
        duckdb_create_config(&config);
        duckdb_set_config(config, "threads", "1");
        if (duckdb_open_ext(nullptr, &database_, config, nullptr) != DuckDBSuccess ||
            duckdb_connect(database_, &connection_) != DuckDBSuccess) {
            give_up("DuckDB does not start");
        }
        duckdb_destroy_config(&config);
    }
    DuckDb(const DuckDb&) = delete;
    DuckDb& operator=(const DuckDb&) = delete;
    ~DuckDb() {
        duckdb_disconnect(&connection_);
        duckdb_close(&database_);
    }

    // The number in the last column of the first row.
    [[nodiscard]] std::uint64_t ask(const std::string& sql) const {
        duckdb_result result{};
        if (duckdb_query(connection_, sql.c_str(), &result) != DuckDBSuccess) {
            give_up(duckdb_result_error(&result));
        }
        const auto number = static_cast<std::uint64_t>(
            duckdb_value_int64(&result, duckdb_column_count(&result) - 1, 0));
        duckdb_destroy_result(&result);
        return number;
    }

private:
    duckdb_database database_ = nullptr;
    duckdb_connection connection_ = nullptr;
};

}  // namespace baton::bench
