#include "adapters/sqlite/connection.h"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include <sqlite3.h>

#include "adapters/sqlite/errors.h"
#include "adapters/sqlite/log_sync.h"
#include "base/text.h"
#include "ports/sql_values.h"

namespace baton::sqlite {

namespace {

// Of a database that ends with the process.
class NoSync final : public SqlSync {
public:
    Result<Done> sync() override { return Done{}; }
};

constexpr std::string_view kRun = "run a statement on";
constexpr std::string_view kBegin = "begin a transaction on";
constexpr std::string_view kCommit = "commit to";
constexpr std::string_view kSavepoint = "use a savepoint on";

// A snapshot exists from the first read on, not from BEGIN.
constexpr std::string_view kTakeSnapshot = "SELECT 1 FROM sqlite_schema LIMIT 1";

constexpr std::int64_t kLogBytesKept = 32 << 20;  // when it starts again

constexpr unsigned kSavepointsMax = 32;

struct SavepointTexts {
    std::string set;
    std::string release;
    std::string roll_back;
};

const SavepointTexts& savepoint_texts(unsigned depth) {
    static const auto kTexts = [] {
        std::array<SavepointTexts, kSavepointsMax> texts;
        for (unsigned i = 0; i < kSavepointsMax; ++i) {
            const std::string name = "s" + std::to_string(i);
            texts[i] = {"SAVEPOINT " + name, "RELEASE " + name, "ROLLBACK TO " + name};
        }
        return texts;
    }();
    CHECK(depth < kSavepointsMax);
    return kTexts[depth];
}

std::chrono::milliseconds in_milliseconds(Duration duration) {
    const std::chrono::milliseconds longest = std::chrono::hours(1);
    return std::min(std::chrono::duration_cast<std::chrono::milliseconds>(duration), longest);
}

int bind_value(sqlite3_stmt* statement, int index, const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        return sqlite3_bind_int64(statement, index, *integer);
    }
    if (const auto* text = std::get_if<std::string>(&value)) {  // outlives the statement's run
        return sqlite3_bind_text64(statement, index, text->data(), text->size(), nullptr,
                                   SQLITE_UTF8);
    }
    if (const auto* real = std::get_if<double>(&value)) {
        return sqlite3_bind_double(statement, index, *real);
    }
    return sqlite3_bind_null(statement, index);
}

void read_value(sqlite3_stmt* statement, int column, SqlValue& into) {
    switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER:
            into = std::int64_t{sqlite3_column_int64(statement, column)};
            return;
        case SQLITE_FLOAT:
            into = sqlite3_column_double(statement, column);
            return;
        case SQLITE_NULL:
            into = std::monostate{};
            return;
        default:
            break;  // text; bytes are read as they are
    }
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    const std::string_view text(bytes == nullptr ? "" : bytes, size);
    if (auto* kept = std::get_if<std::string>(&into)) {
        kept->assign(text);
    } else {
        into.emplace<std::string>(text);
    }
}

}  // namespace

void Close::operator()(sqlite3* db) const {
    CHECK(sqlite3_close(db) == SQLITE_OK);  // otherwise a statement was not finalized
}

Result<Handle> open_handle(const Settings& settings, int flags) {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(settings.path.c_str(), &raw,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    Handle db(raw);
    if (db == nullptr) {
        return Error{.code = ErrorCode::catalog_unavailable,
                     .message = "cannot open catalog " + in_quotes(settings.path) + ": no memory"};
    }
    if (code != SQLITE_OK) return error_of(raw, {.what = "open", .path = settings.path});

    sqlite3_busy_timeout(raw, static_cast<int>(in_milliseconds(settings.busy_deadline).count()));
    // Neither a damaged nor a forged schema may run code, and "x" is never the string 'x'.
    for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                        {SQLITE_DBCONFIG_DQS_DML, 0},
                                        {SQLITE_DBCONFIG_DQS_DDL, 0},
                                        {SQLITE_DBCONFIG_ENABLE_FKEY, 1}}) {
        int now = -1;
        CHECK(sqlite3_db_config(raw, option, value, &now) == SQLITE_OK && now == value);
    }
    return db;
}

Result<Done> configure(sqlite3* db, const Settings& settings) {
    return execute(db, settings,
                   "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; PRAGMA secure_delete=FAST;"
                   "PRAGMA synchronous=" +
                       std::string(settings.durable ? "FULL" : "OFF") + "; PRAGMA cache_size=-" +
                       std::to_string(settings.cache_bytes / 1024));
}

Result<Done> execute(sqlite3* db, const Settings& settings, const std::string& sql) {
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return Done{};
    return error_of(db, {.what = "open", .path = settings.path, .sql = sql});
}

Result<Done> enter_wal_mode(sqlite3* db, const Settings& settings) {
    std::string mode;
    const auto read_mode = [](void* into, int, char** values, char**) {
        *static_cast<std::string*>(into) = values[0] == nullptr ? "" : values[0];
        return 0;
    };
    if (sqlite3_exec(db, "PRAGMA journal_mode=WAL", read_mode, &mode, nullptr) != SQLITE_OK) {
        return error_of(db, {.what = "open", .path = settings.path});
    }
    if (mode != "wal") {
        return Error{.code = ErrorCode::catalog_unavailable,
                     .message = "cannot open catalog " + in_quotes(settings.path) +
                                ": its file system does not support a shared log (journal mode " +
                                in_quotes(mode) + ")",
                     .hint = "use a local disk"};
    }
    return execute(db, settings, "PRAGMA journal_size_limit=" + std::to_string(kLogBytesKept));
}

Connection::Connection(Handle db, Settings settings, Access access,
                       std::shared_ptr<const void> keeps_alive)
    : keeps_alive_(std::move(keeps_alive)),
      db_(std::move(db)),
      settings_(std::move(settings)),
      access_(access) {
    if (access != Access::write) return;
    log_.watch(db_.get(), in_milliseconds(settings_.busy_deadline), settings_.log_pages_step);
}

Connection::~Connection() {
    rollback();
}

Result<std::int64_t> Connection::run(std::string_view sql, std::span<const SqlValue> parameters,
                                     const SqlRowSink& sink) {
    CHECK(!running_);  // a sink may not use the connection that feeds it
    if (lost_) return *lost_;
    TRY_ASSIGN(statement, statement_for(sql));
    const Access allowed = transaction_.value_or(access_);
    if (allowed == Access::read && sqlite3_stmt_readonly(statement) == 0) {
        return Error{.code = ErrorCode::write_rejected,
                     .message = "cannot write to catalog " + in_quotes(settings_.path) +
                                ": the connection or transaction only reads"};
    }
    TRY(bind(statement, parameters, sql));
    auto changed = step_through(statement, sql, sink);
    if (!parameters.empty()) sqlite3_clear_bindings(statement);
    return changed;
}

Result<Done> Connection::run_script(const std::string& sql) {
    CHECK(!running_);
    if (lost_) return *lost_;
    if (access_ == Access::read || transaction_ == Access::read) {
        return Error{.code = ErrorCode::write_rejected,
                     .message = "cannot run a script on catalog " + in_quotes(settings_.path) +
                                ": the connection or transaction only reads"};
    }
    std::string_view rest = sql;
    while (!rest.empty()) {
        TRY_ASSIGN(prepared, prepare(rest));
        if (prepared.statement != nullptr) {
            TRY(step_through(prepared.statement.get(), rest, nullptr));
        }
        rest = prepared.rest;
    }
    return Done{};
}

Result<Connection::Prepared> Connection::prepare(std::string_view sql) {
    if (sql.size() > INT_MAX) return refused(sql.substr(0, 100), "the text is too long");
    sqlite3_stmt* raw = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &raw, &rest);
    Prepared prepared{.statement = Statement(raw), .rest = {}};
    if (code != SQLITE_OK) return failed(sql, kRun);
    prepared.rest = sql.substr(static_cast<std::size_t>(rest - sql.data()));
    return prepared;
}

Result<sqlite3_stmt*> Connection::statement_for(std::string_view sql) {
    if (auto* kept = statements_.find(sql)) return kept;
    TRY_ASSIGN(prepared, prepare(sql));
    if (prepared.statement == nullptr) return refused(sql, "there is no statement");
    if (prepared.rest.find_first_not_of("; \t\r\n") != std::string_view::npos) {
        return refused(sql, "there is more than one statement");
    }
    return statements_.keep(sql, std::move(prepared.statement));
}

Result<Done> Connection::bind(sqlite3_stmt* statement, std::span<const SqlValue> parameters,
                              std::string_view sql) {
    const auto wanted = static_cast<std::size_t>(sqlite3_bind_parameter_count(statement));
    if (parameters.size() != wanted) {
        return refused(sql, std::to_string(parameters.size()) + " parameters for " +
                                std::to_string(wanted) + " places");
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (!is_storable(parameters[i])) {
            sqlite3_clear_bindings(statement);
            return Error{.code = ErrorCode::write_rejected,
                         .message = "cannot " + std::string(kRun) + " catalog " +
                                    in_quotes(settings_.path) + ": parameter " +
                                    std::to_string(i + 1) +
                                    " is not text in UTF-8 without NUL, or not a finite number"};
        }
        if (bind_value(statement, static_cast<int>(i + 1), parameters[i]) != SQLITE_OK) {
            Error error = failed(sql, kRun);
            sqlite3_clear_bindings(statement);
            return error;
        }
    }
    return Done{};
}

Result<std::int64_t> Connection::step_through(sqlite3_stmt* statement, std::string_view sql,
                                              const SqlRowSink& sink) {
    const auto before = sqlite3_total_changes64(db_.get());
    running_ = true;
    int code = sqlite3_step(statement);
    while (code == SQLITE_ROW) {
        if (sink) {
            read_row(statement, sqlite3_data_count(statement));
            sink(row_);
        }
        code = sqlite3_step(statement);
    }
    running_ = false;
    if (code != SQLITE_DONE) {
        const bool writes = sqlite3_stmt_readonly(statement) == 0;
        Error error = failed(sql, kRun, !transaction_ && writes);
        sqlite3_reset(statement);
        return error;
    }
    sqlite3_reset(statement);
    if (!transaction_ && sqlite3_get_autocommit(db_.get()) == 0) {
        sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        return refused(sql, "transactions begin with begin()");
    }
    // The count of the last write stays until the next one; only the total tells that this was one.
    const bool wrote = sqlite3_total_changes64(db_.get()) != before;
    return wrote ? std::int64_t{sqlite3_changes64(db_.get())} : 0;
}

void Connection::read_row(sqlite3_stmt* statement, int columns) {
    row_.resize(static_cast<std::size_t>(columns));
    for (int i = 0; i < columns; ++i) read_value(statement, i, row_[static_cast<std::size_t>(i)]);
}

Result<Done> Connection::control(std::string_view sql, std::string_view what) {
    CHECK(!running_);
    if (lost_) return *lost_;
    TRY_ASSIGN(statement, statement_for(sql));
    int code = SQLITE_ROW;
    while (code == SQLITE_ROW) code = sqlite3_step(statement);
    if (code != SQLITE_DONE) {
        Error error = failed(sql, what, what == kCommit && transaction_ == Access::write);
        sqlite3_reset(statement);
        return error;
    }
    sqlite3_reset(statement);
    return Done{};
}

Result<Done> Connection::begin(Access access) {
    CHECK(!transaction_);
    if (access == Access::write) {
        if (access_ == Access::read) {
            return Error{.code = ErrorCode::write_rejected,
                         .message = "cannot begin to write to catalog " +
                                    in_quotes(settings_.path) + ": the connection only reads"};
        }
        TRY(control("BEGIN IMMEDIATE", kBegin));
        transaction_ = access;
        return Done{};
    }
    TRY(control("BEGIN DEFERRED", kBegin));
    transaction_ = access;
    auto taken = control(kTakeSnapshot, kBegin);
    if (!taken) rollback();
    return taken;
}

Result<Done> Connection::commit() {
    CHECK(transaction_);
    auto done = control("COMMIT", kCommit);
    if (done) {
        transaction_.reset();
        depth_ = 0;
    } else {
        rollback();
    }
    return done;
}

void Connection::rollback() {
    CHECK(!running_);
    if (sqlite3_get_autocommit(db_.get()) == 0) {
        sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        CHECK(sqlite3_get_autocommit(db_.get()) != 0);
    }
    transaction_.reset();
    lost_.reset();
    depth_ = 0;
}

Result<Done> Connection::set_savepoint() {
    CHECK(transaction_);
    TRY(control(savepoint_texts(depth_).set, kSavepoint));
    depth_ += 1;
    return Done{};
}

Result<Done> Connection::release_savepoint() {
    CHECK(depth_ > 0);
    TRY(control(savepoint_texts(depth_ - 1).release, kSavepoint));
    depth_ -= 1;
    return Done{};
}

Result<Done> Connection::roll_back_to_savepoint() {
    CHECK(depth_ > 0);
    const SavepointTexts& texts = savepoint_texts(depth_ - 1);
    TRY(control(texts.roll_back, kSavepoint));
    TRY(control(texts.release, kSavepoint));
    depth_ -= 1;
    return Done{};
}

Result<std::unique_ptr<SqlSync>> Connection::defer_sync() {
    CHECK(!transaction_ && access_ == Access::write);
    if (!settings_.durable) return std::unique_ptr<SqlSync>(std::make_unique<NoSync>());
    TRY(begin(Access::write));  // so that there is a log
    rollback();
    TRY_ASSIGN(sync, open_log_sync(settings_.path));
    TRY(sqlite::execute(db_.get(), settings_, "PRAGMA synchronous=NORMAL"));
    return sync;
}

Error Connection::failed(std::string_view sql, std::string_view what, bool commits) {
    const Attempt attempt{.what = what, .path = settings_.path, .sql = sql};
    const bool ended = sqlite3_get_autocommit(db_.get()) != 0;
    if (ended && commits) return commit_error_of(db_.get(), attempt);
    Error error = error_of(db_.get(), attempt);
    if (ended && transaction_) lost_ = error;
    return error;
}

Error Connection::refused(std::string_view sql, const std::string& why) const {
    return {.code = ErrorCode::defect,
            .message = "cannot " + std::string(kRun) + " catalog " + in_quotes(settings_.path) +
                       ": " + why + " in `" + std::string(sql) + "`",
            .hint = "this is a defect of Baton: please report it"};
}

}  // namespace baton::sqlite
