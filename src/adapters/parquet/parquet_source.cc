#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>
#include <utility>

#include <sys/stat.h>

#include "adapters/parquet/checksums.h"
#include "adapters/parquet/duckdb_session.h"
#include "adapters/parquet/parquet_files.h"
#include "base/check.h"
#include "base/text.h"
#include "engine/columns/elements.h"
#include "engine/formats/utf8.h"

namespace baton::parquet {

namespace {

enum class Family : std::uint8_t { whole, real, truth, text, other };

Family family_of(duckdb_type type) {
    constexpr std::array kWhole = {
        DUCKDB_TYPE_TINYINT,  DUCKDB_TYPE_SMALLINT,  DUCKDB_TYPE_INTEGER,  DUCKDB_TYPE_BIGINT,
        DUCKDB_TYPE_UTINYINT, DUCKDB_TYPE_USMALLINT, DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_UBIGINT};
    if (std::find(kWhole.begin(), kWhole.end(), type) != kWhole.end()) return Family::whole;
    if (type == DUCKDB_TYPE_FLOAT || type == DUCKDB_TYPE_DOUBLE) return Family::real;
    if (type == DUCKDB_TYPE_BOOLEAN) return Family::truth;
    return type == DUCKDB_TYPE_VARCHAR ? Family::text : Family::other;
}

Family family_of(DataType type) {
    if (is_integer(type)) return Family::whole;
    if (is_float(type)) return Family::real;
    return is_text(type) ? Family::text : Family::truth;
}

const char* sql_type_of(DataType type) {
    switch (type) {
        case DataType::int8:
            return "TINYINT";
        case DataType::int16:
            return "SMALLINT";
        case DataType::int32:
            return "INTEGER";
        case DataType::int64:
            return "BIGINT";
        case DataType::uint8:
            return "UTINYINT";
        case DataType::uint16:
            return "USMALLINT";
        case DataType::uint32:
            return "UINTEGER";
        case DataType::uint64:
            return "UBIGINT";
        case DataType::float32:
            return "FLOAT";
        case DataType::float64:
            return "DOUBLE";
        case DataType::boolean:
            return "BOOLEAN";
        case DataType::character:
        case DataType::varsized:
            return "VARCHAR";
    }
    CHECK(false && "an unknown type");
}

struct FileColumn {
    std::string name;
    Family family = Family::other;
};

Error unreadable(const std::string& path, const std::string& why,
                 ErrorCode code = ErrorCode::cannot_read) {
    return {.code = code, .message = "cannot read " + baton::in_quotes(path) + ": " + why};
}

// Why a result has no more rows: a value that does not fit, or a file that cannot be read.
Error failure_of(duckdb_result& result, const DuckDbSession& session, const std::string& path) {
    const duckdb_error_type type = duckdb_result_error_type(&result);
    const bool fits = type != DUCKDB_ERROR_CONVERSION && type != DUCKDB_ERROR_OUT_OF_RANGE;
    return unreadable(path, session.worded(duckdb_result_error(&result)),
                      fits ? ErrorCode::cannot_read : ErrorCode::cannot_format);
}

// A statement over the file: its result, chunk by chunk.
class Reading {
public:
    Reading() = default;
    Reading(Reading&& other) noexcept
        : statement_(std::exchange(other.statement_, nullptr)),
          result_(std::exchange(other.result_, duckdb_result{})) {}
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
        duckdb_destroy_result(&result_);
        duckdb_destroy_prepare(&statement_);
    }

    // The file is a value of the statement.
    static Result<Reading> start(const DuckDbSession& session, const std::string& sql,
                                 const std::string& path) {
        Reading reading;
        if (duckdb_prepare(session.connection(), sql.c_str(), &reading.statement_) !=
            DuckDBSuccess) {
            return unreadable(path, session.worded(duckdb_prepare_error(reading.statement_)));
        }
        duckdb_bind_varchar_length(reading.statement_, 1, session.file().data(),
                                   session.file().size());
        duckdb_pending_result pending = nullptr;
        if (duckdb_pending_prepared_streaming(reading.statement_, &pending) != DuckDBSuccess) {
            Error error = unreadable(path, session.worded(duckdb_pending_error(pending)));
            duckdb_destroy_pending(&pending);
            return error;
        }
        const auto outcome = duckdb_execute_pending(pending, &reading.result_);
        duckdb_destroy_pending(&pending);
        if (outcome != DuckDBSuccess) {
            return failure_of(reading.result_, session, path);
        }
        return reading;
    }

    [[nodiscard]] duckdb_result& result() { return result_; }

private:
    duckdb_prepared_statement statement_ = nullptr;
    duckdb_result result_{};
};

Result<std::vector<FileColumn>> columns_of(const DuckDbSession& session, const std::string& path) {
    TRY_ASSIGN(reading, Reading::start(session, "SELECT * FROM read_parquet(?) LIMIT 0", path));
    std::vector<FileColumn> columns;
    const idx_t count = duckdb_column_count(&reading.result());
    for (idx_t i = 0; i < count; ++i) {
        columns.push_back({.name = duckdb_column_name(&reading.result(), i),
                           .family = family_of(duckdb_column_type(&reading.result(), i))});
    }
    return columns;
}

const FileColumn* column_named(const std::vector<FileColumn>& columns, const std::string& name) {
    const auto exact = std::find_if(columns.begin(), columns.end(),
                                    [&](const FileColumn& c) { return c.name == name; });
    if (exact != columns.end()) return &*exact;
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const FileColumn& c) {
        return equal_ignoring_case(c.name, name);
    });
    return found == columns.end() ? nullptr : &*found;
}

Result<std::string> select_of(const std::string& path, const std::vector<FileColumn>& columns,
                              const Schema& schema, const std::vector<std::size_t>& wanted) {
    std::vector<std::string> names;
    for (const FileColumn& column : columns) names.push_back(column.name);
    std::string list;
    for (const Column& column : schema.columns) {
        const FileColumn* const found = column_named(columns, column.name);
        if (found == nullptr) {
            Error error = unreadable(path, "it has no column " + baton::in_quotes(column.name),
                                     ErrorCode::schema);
            error.hint = did_you_mean(column.name, names);
            if (error.hint.empty()) error.hint = "it has " + enumerate(names);
            return error;
        }
        if (found->family != family_of(column.type)) {
            return unreadable(path,
                              "its column " + baton::in_quotes(found->name) +
                                  " has another type than " + std::string(to_string(column.type)),
                              ErrorCode::schema);
        }
    }
    for (const std::size_t index : wanted) {
        const Column& column = schema.columns[index];
        list += (list.empty() ? "CAST(" : ", CAST(") +
                sql_name(column_named(columns, column.name)->name) + " AS " +
                sql_type_of(column.type) + ")";
    }
    return "SELECT " + (list.empty() ? "true" : list) + " FROM read_parquet(?)";
}

using Chunk = std::shared_ptr<std::remove_pointer_t<duckdb_data_chunk>>;

class ParquetSource final : public engine::RowSource {
public:
    struct Parts {
        std::string path;
        system::OpenFile file;
        DuckDbSession session;
        Reading reading;
        Schema schema;  // of the batches
    };
    explicit ParquetSource(Parts parts) : parts_(std::move(parts)) {}

    Result<engine::Pull> pull(engine::Batch& into, Duration) override {
        duckdb_data_chunk fetched = duckdb_fetch_chunk(parts_.reading.result());
        if (fetched == nullptr) {
            const char* const why = duckdb_result_error(&parts_.reading.result());
            if (why == nullptr || *why == '\0') return engine::Pull::end;
            return failure_of(parts_.reading.result(), parts_.session, parts_.path);
        }
        const Chunk chunk(fetched,
                          [](duckdb_data_chunk gone) { duckdb_destroy_data_chunk(&gone); });
        const std::size_t rows = duckdb_data_chunk_get_size(fetched);
        if (rows == 0) return engine::Pull::end;
        engine::Batch batch{.rows = rows, .columns = {}};
        for (std::size_t i = 0; i < parts_.schema.columns.size(); ++i) {
            TRY_ASSIGN(column, column_of_chunk(parts_.schema.columns[i], chunk, i, rows));
            batch.columns.push_back(std::move(column));
        }
        into = std::move(batch);
        rows_.store(rows_.load(std::memory_order_relaxed) + rows, std::memory_order_relaxed);
        return engine::Pull::rows;
    }

    void interrupt() override {}  // it never waits
    [[nodiscard]] engine::SourceCounts counts() const override {
        return {.rows = rows_.load(std::memory_order_relaxed)};
    }

private:
    Result<engine::ColumnVector> column_of_chunk(const Column& column, const Chunk& chunk,
                                                 std::size_t index, std::size_t rows) const {
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk.get(), index);
        engine::ColumnVector result(column.type, rows);
        const std::uint64_t* const validity = duckdb_vector_get_validity(vector);
        void* const data = duckdb_vector_get_data(vector);
        if (is_text(column.type)) {
            auto* const texts = static_cast<duckdb_string_t*>(data);
            auto* const to = result.mutable_data<std::string_view>();
            for (std::size_t row = 0; row < rows; ++row) {
                if (validity != nullptr &&
                    !duckdb_validity_row_is_valid(const_cast<std::uint64_t*>(validity), row)) {
                    continue;
                }
                to[row] = {duckdb_string_t_data(&texts[row]), duckdb_string_t_length(texts[row])};
                TRY(check_text(column, to[row], row));
            }
            result.hold(chunk);
        } else {
            engine::with_element(column.type, [&](auto* none) {
                using T = std::remove_pointer_t<decltype(none)>;
                if constexpr (!std::is_same_v<T, std::string_view>) {
                    std::copy_n(static_cast<const T*>(data), rows, result.mutable_data<T>());
                }
            });
        }
        for (std::size_t row = 0; validity != nullptr && row < rows; ++row) {
            if (duckdb_validity_row_is_valid(const_cast<std::uint64_t*>(validity), row)) continue;
            if (!column.nullable) {
                return fault(column, row, "is NULL, but the column is NOT NULL");
            }
            result.set_null(row);
        }
        return result;
    }

    Result<Done> check_text(const Column& column, std::string_view text, std::size_t row) const {
        if (!formats::is_utf8(text)) return fault(column, row, "is not UTF-8");
        const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        });
        if (column.type == DataType::character && characters > 1) {
            return fault(column, row, "is more than one character");
        }
        return Done{};
    }

    [[nodiscard]] Error fault(const Column& column, std::size_t row, const std::string& why) const {
        const std::uint64_t number = rows_.load(std::memory_order_relaxed) + row + 1;
        return unreadable(
            parts_.path,
            "row " + std::to_string(number) + ": " + baton::in_quotes(column.name) + " " + why,
            ErrorCode::cannot_format);
    }

    Parts parts_;
    std::atomic<std::uint64_t> rows_ = 0;
};

}  // namespace

Result<std::unique_ptr<engine::RowSource>> open_parquet_source(
    const files::AllowedFiles& files, const std::string& path, const Schema& schema,
    const std::vector<std::size_t>& wanted) {
    TRY_ASSIGN(opened, files.read(path));
    if (!S_ISREG(opened.state.st_mode)) {
        return unreadable(path, "Parquet is read from files alone", ErrorCode::cannot_open);
    }
    TRY(verify_checksum(files, opened.file, path));
    TRY_ASSIGN(session, DuckDbSession::open(opened.file, path));
    TRY_ASSIGN(columns, columns_of(session, path));
    TRY_ASSIGN(sql, select_of(path, columns, schema, wanted));
    TRY_ASSIGN(reading, Reading::start(session, sql, path));
    Schema given;
    for (const std::size_t index : wanted) given.columns.push_back(schema.columns[index]);
    return std::unique_ptr<engine::RowSource>(
        std::make_unique<ParquetSource>(ParquetSource::Parts{.path = path,
                                                             .file = std::move(opened.file),
                                                             .session = std::move(session),
                                                             .reading = std::move(reading),
                                                             .schema = std::move(given)}));
}

}  // namespace baton::parquet
