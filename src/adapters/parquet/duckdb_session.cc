#include "adapters/parquet/duckdb_session.h"

#include <utility>

namespace baton::parquet {

namespace {

std::string doubled(const std::string& text, char quote) {
    std::string all(1, quote);
    for (const char c : text) {
        if (c == quote) all += c;
        all += c;
    }
    return all + quote;
}

}  // namespace

std::string sql_literal(const std::string& text) {
    return doubled(text, '\'');
}

std::string sql_name(const std::string& name) {
    return doubled(name, '"');
}

DuckDbSession::DuckDbSession(DuckDbSession&& other) noexcept
    : file_(std::move(other.file_)),
      path_(std::move(other.path_)),
      database_(std::exchange(other.database_, nullptr)),
      connection_(std::exchange(other.connection_, nullptr)) {}

DuckDbSession::~DuckDbSession() {
    if (connection_ != nullptr) duckdb_disconnect(&connection_);
    if (database_ != nullptr) duckdb_close(&database_);
}

Result<DuckDbSession> DuckDbSession::open(const system::OpenFile& file, std::string path) {
    DuckDbSession session;
    session.file_ = "/proc/self/fd/" + std::to_string(*file);
    session.path_ = std::move(path);
    const auto failed = [](const std::string& why) {
        return Error{.code = ErrorCode::cannot_open, .message = "cannot start DuckDB: " + why};
    };
    duckdb_config config = nullptr;
    if (duckdb_create_config(&config) != DuckDBSuccess) return failed("no configuration");
    for (const auto& [key, value] :
         {std::pair{"threads", "1"}, std::pair{"autoinstall_known_extensions", "false"},
          std::pair{"autoload_known_extensions", "false"},
          std::pair{"preserve_insertion_order", "true"}}) {
        if (duckdb_set_config(config, key, value) == DuckDBSuccess) continue;
        duckdb_destroy_config(&config);
        return failed(std::string("it does not know the option ") + key);
    }
    char* why = nullptr;
    const auto opened = duckdb_open_ext(nullptr, &session.database_, config, &why);
    duckdb_destroy_config(&config);
    if (opened != DuckDBSuccess) {
        Error error = failed(why == nullptr ? "unknown reason" : why);
        duckdb_free(why);
        return error;
    }
    if (duckdb_connect(session.database_, &session.connection_) != DuckDBSuccess) {
        return failed("it refuses the connection");
    }
    for (const std::string& sql : {"SET allowed_paths = [" + sql_literal(session.file_) + "]",
                                   std::string("SET enable_external_access = false"),
                                   std::string("SET lock_configuration = true")}) {
        TRY(session.run(sql, ErrorCode::cannot_open, "cannot start DuckDB"));
    }
    return session;
}

std::string DuckDbSession::worded(std::string text) const {
    for (std::size_t at = text.find(file_); at != std::string::npos;
         at = text.find(file_, at + path_.size())) {
        text.replace(at, file_.size(), path_);
    }
    return text;
}

Result<Done> DuckDbSession::run(const std::string& sql, ErrorCode code,
                                const std::string& what) const {
    duckdb_result result{};
    const auto outcome = duckdb_query(connection_, sql.c_str(), &result);
    std::string why = outcome == DuckDBSuccess ? "" : worded(duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    if (outcome == DuckDBSuccess) return Done{};
    return Error{.code = code, .message = what + ": " + why};
}

}  // namespace baton::parquet
