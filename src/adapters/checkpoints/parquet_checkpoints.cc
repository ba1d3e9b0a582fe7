#include "adapters/checkpoints/parquet_checkpoints.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include <duckdb.h>

#include "base/text.h"

namespace baton::checkpoints {

namespace {

// The columns of a checkpoint, with the fields that are written. The first two are read first.
struct Column {
    const char* name;
    const char* type;
};
constexpr std::array kColumns = {
    Column{"protocol",
           "STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER, readerFeatures VARCHAR[], "
           "writerFeatures VARCHAR[])"},
    Column{"metaData",
           "STRUCT(id VARCHAR, name VARCHAR, description VARCHAR, format STRUCT(provider VARCHAR, "
           "options MAP(VARCHAR, VARCHAR)), schemaString VARCHAR, partitionColumns VARCHAR[], "
           "createdTime BIGINT, configuration MAP(VARCHAR, VARCHAR))"},
    Column{"txn", "STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)"},
    Column{"add",
           "STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, "
           "modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR, tags MAP(VARCHAR, "
           "VARCHAR))"},
    Column{"remove", "STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN)"},
};

std::string literal(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    return quoted + "'";
}

class Session {
public:
    static Result<std::unique_ptr<Session>> open(const std::vector<std::string>& files,
                                                 std::uint64_t memory_max) {
        auto session = std::unique_ptr<Session>(new Session);
        if (duckdb_open(nullptr, &session->database_) != DuckDBSuccess ||
            duckdb_connect(session->database_, &session->connection_) != DuckDBSuccess) {
            return Error{.code = ErrorCode::cannot_open, .message = "cannot start DuckDB"};
        }
        std::string allowed;
        for (const std::string& file : files) {
            allowed += (allowed.empty() ? "" : ", ") + literal(file);
        }
        for (const std::string& sql :
             {std::string("SET threads = 1"), std::string("SET autoload_known_extensions = false"),
              std::string("SET autoinstall_known_extensions = false"),
              "SET memory_limit = '" + std::to_string(memory_max) + "B'",
              "SET allowed_paths = [" + allowed + "]",
              std::string("SET enable_external_access = false"),
              std::string("SET lock_configuration = true")}) {
            TRY(session->run(sql, ErrorCode::cannot_open, "cannot start DuckDB"));
        }
        return session;
    }
    ~Session() {
        if (connection_ != nullptr) duckdb_disconnect(&connection_);
        if (database_ != nullptr) duckdb_close(&database_);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Result<Done> run(const std::string& sql, ErrorCode code, const std::string& attempt) {
        return each(sql, code, attempt, [](std::string_view) { return Result<Done>(Done{}); });
    }

    // The texts of the first column, as they come.
    Result<Done> each(const std::string& sql, ErrorCode code, const std::string& attempt,
                      const std::function<Result<Done>(std::string_view)>& take) {
        duckdb_prepared_statement statement = nullptr;
        duckdb_result result{};
        const bool ready = duckdb_prepare(connection_, sql.c_str(), &statement) == DuckDBSuccess;
        std::string why = ready ? "" : one_line(duckdb_prepare_error(statement));
        bool ok = ready;
        if (ready && duckdb_execute_prepared_streaming(statement, &result) != DuckDBSuccess) {
            ok = false;
            why = one_line(duckdb_result_error(&result));
        }
        Result<Done> done = Done{};
        if (ok) done = fetch(result, code, attempt, take);
        duckdb_destroy_result(&result);
        duckdb_destroy_prepare(&statement);
        if (!ok) return Error{.code = code, .message = attempt + ": " + why};
        return done;
    }

private:
    Session() = default;

    static std::string one_line(const char* text) {
        std::string line = text == nullptr ? "unknown reason" : text;
        line = line.substr(0, std::min<std::size_t>(line.find('\n'), 300));
        return line;
    }

    static Result<Done> fetch(duckdb_result& result, ErrorCode code, const std::string& attempt,
                              const std::function<Result<Done>(std::string_view)>& take) {
        for (;;) {
            duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
            if (chunk == nullptr) break;
            Result<Done> taken = Done{};
            if (duckdb_column_type(&result, 0) == DUCKDB_TYPE_VARCHAR) taken = texts(chunk, take);
            duckdb_destroy_data_chunk(&chunk);
            if (!taken) return taken;
        }
        const char* why = duckdb_result_error(&result);
        if (why == nullptr || *why == '\0') return Done{};
        return Error{.code = code, .message = attempt + ": " + one_line(why)};
    }

    static Result<Done> texts(duckdb_data_chunk chunk,
                              const std::function<Result<Done>(std::string_view)>& take) {
        const duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, 0);
        auto* const values = static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector));
        std::uint64_t* const valid = duckdb_vector_get_validity(vector);
        const idx_t count = duckdb_data_chunk_get_size(chunk);
        for (idx_t row = 0; row < count; ++row) {
            if (valid != nullptr && !duckdb_validity_row_is_valid(valid, row)) continue;
            TRY(take({duckdb_string_t_data(&values[row]), duckdb_string_t_length(values[row])}));
        }
        return Done{};
    }

    duckdb_database database_ = nullptr;
    duckdb_connection connection_ = nullptr;
};

// Goes with its owner, unless it is kept.
class NewFile {
public:
    explicit NewFile(std::string path) : path_(std::move(path)) {}
    ~NewFile() {
        std::error_code ignored;
        if (!kept_) std::filesystem::remove(path_, ignored);
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    void keep() { kept_ = true; }

private:
    std::string path_;
    bool kept_ = false;
};

Result<Done> write_lines(const std::function<std::string()>& next, const std::string& path) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    for (std::string piece = next(); !piece.empty() && file; piece = next()) file << piece;
    file.close();
    if (file) return Done{};
    return Error{.code = ErrorCode::cannot_write,
                 .message = "cannot write " + in_quotes(path),
                 .hint = "see that its disk has room"};
}

}  // namespace

Result<Done> ParquetCheckpoints::write(const std::function<std::string()>& next,
                                       const std::string& path) {
    const std::string lines = path + ".lines";
    const NewFile lines_file(lines);
    NewFile file(path);
    TRY(write_lines(next, lines));
    TRY_ASSIGN(session, Session::open({lines, path}, memory_max_));
    std::string columns;
    for (const Column& column : kColumns) {
        columns +=
            (columns.empty() ? "" : ", ") + literal(column.name) + ": " + literal(column.type);
    }
    TRY(session->run("COPY (SELECT * FROM read_json(" + literal(lines) +
                         ", format = 'newline_delimited', maximum_object_size = 67108864, "
                         "columns = {" +
                         columns + "})) TO " + literal(path) +
                         " (FORMAT parquet, ROW_GROUP_SIZE 20480)",
                     ErrorCode::cannot_write, "cannot write a checkpoint to " + in_quotes(path)));
    file.keep();
    return Done{};
}

Result<Done> ParquetCheckpoints::read(
    const std::string& path, const Limits& limits,
    const std::function<Result<Done>(std::string_view line)>& take) {
    TRY_ASSIGN(session, Session::open({path}, memory_max_));
    const std::string attempt = "cannot read a checkpoint of a table";
    const std::string from = " FROM read_parquet(" + literal(path) + ")";
    std::vector<std::string> there;
    TRY(session->each("SELECT column_name FROM (DESCRIBE SELECT *" + from + ")",
                      ErrorCode::damaged_table, attempt, [&](std::string_view name) {
                          there.emplace_back(name);
                          return Result<Done>(Done{});
                      }));
    std::uint64_t actions = 0;
    for (const Column& column : kColumns) {
        if (std::find(there.begin(), there.end(), column.name) == there.end()) continue;
        const std::string name = "\"" + std::string(column.name) + "\"";
        TRY(session->each("SELECT to_json(struct_pack(" + name + " := " + name + "))::VARCHAR" +
                              from + " WHERE " + name + " IS NOT NULL",
                          ErrorCode::damaged_table, attempt,
                          [&](std::string_view line) -> Result<Done> {
                              actions += 1;
                              if (actions > limits.actions || line.size() > limits.line_bytes) {
                                  return Error{.code = ErrorCode::too_large,
                                               .message = "a checkpoint of a table is too large"};
                              }
                              return take(line);
                          }));
    }
    return Done{};
}

}  // namespace baton::checkpoints
