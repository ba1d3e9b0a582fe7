#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/parquet/checksums.h"
#include "adapters/parquet/duckdb_session.h"
#include "adapters/parquet/parquet_files.h"
#include "base/check.h"
#include "base/text.h"
#include "engine/columns/elements.h"

namespace baton::parquet {

namespace {

constexpr std::size_t kWaitingMax = 4;  // batches
constexpr const char* kFunction = "baton_rows";

duckdb_type duckdb_type_of(DataType type) {
    switch (type) {
        case DataType::int8:
            return DUCKDB_TYPE_TINYINT;
        case DataType::int16:
            return DUCKDB_TYPE_SMALLINT;
        case DataType::int32:
            return DUCKDB_TYPE_INTEGER;
        case DataType::int64:
            return DUCKDB_TYPE_BIGINT;
        case DataType::uint8:
            return DUCKDB_TYPE_UTINYINT;
        case DataType::uint16:
            return DUCKDB_TYPE_USMALLINT;
        case DataType::uint32:
            return DUCKDB_TYPE_UINTEGER;
        case DataType::uint64:
            return DUCKDB_TYPE_UBIGINT;
        case DataType::float32:
            return DUCKDB_TYPE_FLOAT;
        case DataType::float64:
            return DUCKDB_TYPE_DOUBLE;
        case DataType::boolean:
            return DUCKDB_TYPE_BOOLEAN;
        case DataType::character:
        case DataType::varsized:
            return DUCKDB_TYPE_VARCHAR;
    }
    CHECK(false && "an unknown type");
}

void copy_column(const engine::ColumnVector& column, std::size_t from, std::size_t rows,
                 duckdb_vector vector) {
    if (is_text(column.type())) {
        for (std::size_t i = 0; i < rows; ++i) {
            const std::string_view text = column.texts()[from + i];
            duckdb_vector_assign_string_element_len(vector, i, text.data(), text.size());
        }
    } else {
        engine::with_element(column.type(), [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            if constexpr (!std::is_same_v<T, std::string_view>) {
                std::copy_n(column.data<T>() + from, rows,
                            static_cast<T*>(duckdb_vector_get_data(vector)));
            }
        });
    }
    if (column.valid() == nullptr) return;
    duckdb_vector_ensure_validity_writable(vector);
    std::uint64_t* const validity = duckdb_vector_get_validity(vector);
    for (std::size_t i = 0; i < rows; ++i) {
        if (column.is_null(from + i)) duckdb_validity_set_row_invalid(validity, i);
    }
}

// Between the thread that writes rows and the one on which DuckDB takes them.
class Rows {
public:
    explicit Rows(const Schema& schema) : schema_(schema) {}

    enum class State : std::uint8_t { open, complete, given_up };

    // False once interrupted, or when nobody takes rows any more.
    bool put(const engine::Batch& batch) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] {
            return waiting_.size() < kWaitingMax || interrupted_ || is_taken_no_more_;
        });
        if (interrupted_ || is_taken_no_more_) return false;
        waiting_.push_back(batch);
        changed_.notify_all();
        return true;
    }
    void end(State how) {
        const std::lock_guard lock(mutex_);
        if (state_ == State::open) state_ = how;
        changed_.notify_all();
    }
    void interrupt() {
        const std::lock_guard lock(mutex_);
        interrupted_ = true;
        changed_.notify_all();
    }
    void take_no_more() {
        const std::lock_guard lock(mutex_);
        is_taken_no_more_ = true;
        changed_.notify_all();
    }
    [[nodiscard]] bool interrupted() {
        const std::lock_guard lock(mutex_);
        return interrupted_;
    }

    // The callbacks of DuckDB, which holds a pointer to this.
    static void bind(duckdb_bind_info info) {
        const auto& rows = *static_cast<Rows*>(duckdb_bind_get_extra_info(info));
        for (const Column& column : rows.schema_.columns) {
            duckdb_logical_type type = duckdb_create_logical_type(duckdb_type_of(column.type));
            duckdb_bind_add_result_column(info, column.name.c_str(), type);
            duckdb_destroy_logical_type(&type);
        }
    }
    static void init(duckdb_init_info info) { duckdb_init_set_max_threads(info, 1); }
    static void take(duckdb_function_info info, duckdb_data_chunk chunk) {
        auto& rows = *static_cast<Rows*>(duckdb_function_get_extra_info(info));
        if (!rows.fill(chunk)) duckdb_function_set_error(info, "the query did not finish");
    }

private:
    // The next rows, none at the end. False if it was given up.
    bool fill(duckdb_data_chunk chunk) {
        if (offset_ == current_.rows && !next()) return false;
        const std::size_t rows =
            std::min<std::size_t>(current_.rows - offset_, duckdb_vector_size());
        for (std::size_t i = 0; i < current_.columns.size() && rows > 0; ++i) {
            copy_column(current_.columns[i], offset_, rows, duckdb_data_chunk_get_vector(chunk, i));
        }
        offset_ += rows;
        duckdb_data_chunk_set_size(chunk, rows);
        return true;
    }

    bool next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_.empty() || state_ != State::open; });
        current_ = engine::Batch{};
        offset_ = 0;
        if (state_ == State::given_up) return false;
        if (waiting_.empty()) return true;
        current_ = std::move(waiting_.front());
        waiting_.pop_front();
        changed_.notify_all();
        return true;
    }

    const Schema schema_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<engine::Batch> waiting_;
    State state_ = State::open;
    bool interrupted_ = false;
    bool is_taken_no_more_ = false;
    // Only of the thread that takes.
    engine::Batch current_;
    std::size_t offset_ = 0;
};

class ParquetSink final : public engine::RowSink {
public:
    struct Parts {
        const files::AllowedFiles& files;
        std::string path;
        files::AllowedFiles::Place place;
        system::OpenFile part;  // that is being written
        DuckDbSession session;
    };
    ParquetSink(Parts parts, const Schema& schema)
        : files_(parts.files),
          path_(std::move(parts.path)),
          place_(std::move(parts.place)),
          part_(std::move(parts.part)),
          session_(std::move(parts.session)),
          rows_(schema) {}
    ParquetSink(const ParquetSink&) = delete;
    ParquetSink& operator=(const ParquetSink&) = delete;
    ~ParquetSink() override {
        rows_.end(Rows::State::given_up);
        if (copying_.joinable()) copying_.join();
        if (!finished_) ::unlinkat(*place_.directory, part_of(place_.name).c_str(), 0);
    }

    Result<Done> open() {
        duckdb_table_function function = duckdb_create_table_function();
        duckdb_table_function_set_name(function, kFunction);
        duckdb_table_function_set_extra_info(function, &rows_, nullptr);
        duckdb_table_function_set_bind(function, Rows::bind);
        duckdb_table_function_set_init(function, Rows::init);
        duckdb_table_function_set_function(function, Rows::take);
        const auto outcome = duckdb_register_table_function(session_.connection(), function);
        duckdb_destroy_table_function(&function);
        if (outcome != DuckDBSuccess) return failed("DuckDB refuses the rows");
        copying_ = std::thread([this] { copy(); });
        return Done{};
    }

    Result<Done> write(const engine::Batch& batch) override {
        if (batch.rows == 0) return Done{};
        if (!rows_.put(batch)) return why_not();
        count_.store(count_.load(std::memory_order_relaxed) + batch.rows,
                     std::memory_order_relaxed);
        return Done{};
    }
    Result<Done> flush() override { return Done{}; }  // nothing can be seen before it is complete
    Result<Done> finish() override {
        rows_.end(Rows::State::complete);
        copying_.join();
        if (outcome_ && !*outcome_) return outcome_->error();
        TRY(publish_file(files_, place_, part_, path_));
        finished_ = true;
        return Done{};
    }
    void interrupt() override { rows_.interrupt(); }
    [[nodiscard]] engine::SinkCounts counts() const override {
        return {.rows = count_.load(std::memory_order_relaxed)};
    }

private:
    void copy() {
        try {
            outcome_ = session_.run(
                "COPY (SELECT * FROM " + std::string(kFunction) + "()) TO " +
                    sql_literal(session_.file()) + " (FORMAT parquet, USE_TMP_FILE false)",
                ErrorCode::cannot_write, "cannot write " + baton::in_quotes(path_));
        } catch (const std::exception&) {
            outcome_ = Error{.code = ErrorCode::out_of_memory};  // nothing else is thrown
        }
        rows_.take_no_more();
    }

    Result<Done> why_not() {
        if (rows_.interrupted()) {
            return Error{
                .code = ErrorCode::cancelled,
                .message = "cannot write " + baton::in_quotes(path_) + ": it was interrupted"};
        }
        rows_.end(Rows::State::given_up);
        if (copying_.joinable()) copying_.join();
        if (outcome_ && !*outcome_) return outcome_->error();
        return failed("DuckDB takes no more rows");
    }

    [[nodiscard]] Error failed(const std::string& why) const {
        return {.code = ErrorCode::cannot_write,
                .message = "cannot write " + baton::in_quotes(path_) + ": " + why};
    }

    const files::AllowedFiles& files_;
    const std::string path_;
    const files::AllowedFiles::Place place_;
    const system::OpenFile part_;
    DuckDbSession session_;
    Rows rows_;
    std::thread copying_;
    std::optional<Result<Done>> outcome_;  // of the copying thread, until it was joined
    std::atomic<std::uint64_t> count_ = 0;
    bool finished_ = false;
};

}  // namespace

Result<std::unique_ptr<engine::RowSink>> open_parquet_sink(const files::AllowedFiles& files,
                                                           const std::string& path,
                                                           const Schema& schema) {
    // A directory that is missing or may not be written is seen now rather than at the end.
    TRY_ASSIGN(place, files.place(path));
    TRY_ASSIGN(part, files.write_at(place.directory, part_of(place.name), path));
    if (!S_ISREG(part.state.st_mode) || ::ftruncate(*part.file, 0) != 0) {
        return Error{.code = ErrorCode::cannot_open,
                     .message = "cannot write " + baton::in_quotes(path) + ": " +
                                baton::in_quotes(part_of(place.name)) + " cannot be emptied"};
    }
    TRY_ASSIGN(session, DuckDbSession::open(part.file, path));
    auto sink = std::make_unique<ParquetSink>(ParquetSink::Parts{.files = files,
                                                                 .path = path,
                                                                 .place = std::move(place),
                                                                 .part = std::move(part.file),
                                                                 .session = std::move(session)},
                                              schema);
    TRY(sink->open());
    return std::unique_ptr<engine::RowSink>(std::move(sink));
}

}  // namespace baton::parquet
