#include "doors/pg/catalog/store.h"

#include <atomic>
#include <ctime>
#include <map>
#include <optional>
#include <utility>

#include <sqlite3.h>

#include "base/overload.h"
#include "base/text.h"

namespace baton::pg {

namespace {

using pgwire::ColumnType;

constexpr std::size_t kRowsMax = 100'000;
constexpr std::size_t kBytesMax = std::size_t{32} << 20U;
constexpr int kStepsBetweenLooks = 100;
constexpr int kTextBytesMax = 256 << 10;               // and so what a hundred steps can make
constexpr std::int64_t kProcessorMax = 1'000'000'000;  // nanoseconds

// Of this thread.
std::int64_t processor_time() {
    timespec time{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

SqlValue value_of(sqlite3_value* value) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER:
            return std::int64_t{sqlite3_value_int64(value)};
        case SQLITE_FLOAT:
            return sqlite3_value_double(value);
        case SQLITE_NULL:
            return {};
        default: {
            const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
            const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
            return text != nullptr ? SqlValue(std::string(text, size)) : SqlValue();
        }
    }
}

void call(sqlite3_context* context, int count, sqlite3_value** values) {
    const auto& function = *static_cast<const Store::Function*>(sqlite3_user_data(context));
    std::vector<SqlValue> arguments;
    for (int i = 0; i < count; ++i) arguments.push_back(value_of(values[i]));
    const SqlValue result = function(arguments);
    std::visit(Overload{
                   [&](std::monostate) { sqlite3_result_null(context); },
                   [&](std::int64_t number) { sqlite3_result_int64(context, number); },
                   [&](double number) { sqlite3_result_double(context, number); },
                   [&](const std::string& text) {
                       sqlite3_result_text(context, text.data(), static_cast<int>(text.size()),
                                           SQLITE_TRANSIENT);
                   },
               },
               result);
}

void bind(sqlite3_stmt* statement, int at, const SqlValue& value) {
    std::visit(Overload{
                   [&](std::monostate) { sqlite3_bind_null(statement, at); },
                   [&](std::int64_t number) { sqlite3_bind_int64(statement, at, number); },
                   [&](double number) { sqlite3_bind_double(statement, at, number); },
                   [&](const std::string& text) {
                       sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()),
                                         SQLITE_TRANSIENT);
                   },
               },
               value);
}

int only_reading(void* /*unused*/, int action, const char* first, const char* /*second*/,
                 const char* /*database*/, const char* /*trigger*/) {
    if (action == SQLITE_READ) {
        const std::string_view table = first != nullptr ? first : "";
        return table.starts_with("sqlite_") ? SQLITE_DENY : SQLITE_OK;
    }
    const bool reads =
        action == SQLITE_SELECT || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
    return reads ? SQLITE_OK : SQLITE_DENY;
}

struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

// PostgreSQL names a column after its function, and does not name what has no name.
std::string name_of(std::string_view given) {
    const std::size_t open = given.find('(');
    const auto in_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    std::string_view head = given.substr(0, open);
    while (head.ends_with(' ')) head.remove_suffix(1);
    if (head.starts_with("baton_")) head.remove_prefix(6);
    bool word = !head.empty();
    for (const char c : head) word = word && in_word(c);
    if (open != std::string_view::npos && given.ends_with(')') && word) return std::string(head);
    const bool literal = given.empty() || given[0] == '\'' || given[0] == '?' ||
                         (given[0] >= '0' && given[0] <= '9');
    if (literal || given.starts_with("CAST(") || given.starts_with('(')) return "?column?";
    return std::string(given);
}

std::optional<ColumnType> declared_type(sqlite3_stmt* statement, int column) {
    const char* declared = sqlite3_column_decltype(statement, column);
    if (declared == nullptr) return std::nullopt;
    const std::string_view type = declared;
    if (type == "INTEGER") return ColumnType::int32;
    if (type == "BOOLEAN") return ColumnType::boolean;
    return ColumnType::text;
}

// Of what was computed: numbers if all are.
ColumnType type_among(const std::vector<SqlRow>& rows, std::size_t column) {
    bool seen = false;
    bool real = false;
    bool large = false;
    for (const SqlRow& row : rows) {
        if (std::holds_alternative<std::monostate>(row[column])) continue;
        if (std::holds_alternative<std::string>(row[column])) return ColumnType::text;
        seen = true;
        const auto* number = std::get_if<std::int64_t>(&row[column]);
        large = large || (number != nullptr && !std::in_range<std::int32_t>(*number));
        real = real || std::holds_alternative<double>(row[column]);
    }
    if (!seen) return ColumnType::text;
    if (real) return ColumnType::float64;
    return large ? ColumnType::integer : ColumnType::int32;
}

}  // namespace

struct Store::Inside {
    sqlite3* database = nullptr;
    std::map<std::string, Function> functions;
    std::map<std::string, Prepared> inserts;
    const std::atomic<bool>* halt = nullptr;
    std::optional<std::int64_t> processor_at_first;  // none: it may take its time

    [[nodiscard]] bool is_halted() const { return halt != nullptr && *halt; }
    [[nodiscard]] bool is_over() const {
        return is_halted() ||
               (processor_at_first && processor_time() - *processor_at_first > kProcessorMax);
    }

    [[nodiscard]] Error defect(const std::string& what) const {
        if (is_halted()) return cancelled();
        if (sqlite3_errcode(database) == SQLITE_NOMEM) return exhausted();
        return {.code = ErrorCode::defect, .message = what + ": " + sqlite3_errmsg(database)};
    }
    [[nodiscard]] static Error cancelled() {
        return {.code = ErrorCode::cancelled, .message = "the statement was cancelled"};
    }
    [[nodiscard]] static Error exhausted() {
        return {
            .code = ErrorCode::too_large,
            .message = "this question about PostgreSQL's catalog takes too long or too much memory",
            .hint = "it may take a second of the processor and 64 MB"};
    }
};

Store::Store() : inside_(std::make_unique<Inside>()) {}

Store::~Store() {
    inside_->inserts.clear();
    sqlite3_close_v2(inside_->database);
}

Result<std::unique_ptr<Store>> Store::open(const std::atomic<bool>* halt) {
    std::unique_ptr<Store> store(new Store());
    store->inside_->halt = halt;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    sqlite3*& database = store->inside_->database;
    if (sqlite3_open_v2(":memory:", &database, flags, nullptr) != SQLITE_OK) {
        return Error{.code = ErrorCode::out_of_memory,
                     .message = "no room to answer a question about the catalog"};
    }
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kTextBytesMax);
    sqlite3_exec(database, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
    sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 200);
    sqlite3_progress_handler(
        database, kStepsBetweenLooks,
        [](void* inside) { return static_cast<const Inside*>(inside)->is_over() ? 1 : 0; },
        store->inside_.get());
    return store;
}

void Store::define(const std::string& name, Function function, int arguments) {
    const auto [at, added] = inside_->functions.insert_or_assign(name, std::move(function));
    sqlite3_create_function_v2(inside_->database, name.c_str(), arguments, SQLITE_UTF8, &at->second,
                               call, nullptr, nullptr, nullptr);
}

Result<Done> Store::execute(const std::string& statements) {
    const int code = sqlite3_exec(inside_->database, statements.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return inside_->defect("cannot make the tables");
    return Done{};
}

Result<Done> Store::insert(std::string_view table, std::initializer_list<Cell> row) {
    std::string text = "INSERT INTO " + std::string(table) + "(";
    std::string marks;
    for (const Cell& cell : row) {
        text += (marks.empty() ? "" : ",") + std::string(cell.first);
        marks += marks.empty() ? "?" : ",?";
    }
    text += ") VALUES (" + marks + ")";
    Prepared& statement = inside_->inserts[text];
    if (!statement) {
        sqlite3_stmt* made = nullptr;
        if (sqlite3_prepare_v2(inside_->database, text.c_str(), -1, &made, nullptr) != SQLITE_OK) {
            return inside_->defect("cannot fill " + std::string(table));
        }
        statement.reset(made);
    }
    int at = 0;
    for (const Cell& cell : row) bind(statement.get(), ++at, cell.second);
    const int code = sqlite3_step(statement.get());
    sqlite3_reset(statement.get());
    if (code != SQLITE_DONE) return inside_->defect("cannot fill " + std::string(table));
    return Done{};
}

void Store::lock() {
    inside_->inserts.clear();
    // A table-valued function is made when it is first used, which is no reading.
    sqlite3_exec(inside_->database, "SELECT 1 FROM json_each('[]')", nullptr, nullptr, nullptr);
    sqlite3_set_authorizer(inside_->database, only_reading, nullptr);
    inside_->processor_at_first = processor_time();
}

Result<Rows> Store::select(const std::string& statement, std::span<const SqlValue> parameters) {
    sqlite3_stmt* made = nullptr;
    const char* tail = nullptr;
    const int code = sqlite3_prepare_v2(inside_->database, statement.c_str(),
                                        static_cast<int>(statement.size()) + 1, &made, &tail);
    const Prepared prepared(made);
    if (code == SQLITE_NOMEM) return inside_->exhausted();
    if (code != SQLITE_OK || made == nullptr || *tail != '\0') {
        return Error{.code = ErrorCode::not_supported,
                     .message = std::string("this question about PostgreSQL's catalog is not "
                                            "supported: ") +
                                sqlite3_errmsg(inside_->database),
                     .hint = "SHOW and SELECT .. FROM baton.view show the rest of the catalog"};
    }
    const int bound =
        std::min(sqlite3_bind_parameter_count(made), static_cast<int>(parameters.size()));
    for (int i = 0; i < bound; ++i) bind(made, i + 1, parameters[static_cast<std::size_t>(i)]);
    Rows rows;
    const int columns = sqlite3_column_count(made);
    std::size_t bytes = 0;
    int stepped = SQLITE_ROW;
    while ((stepped = sqlite3_step(made)) == SQLITE_ROW) {
        SqlRow row;
        for (int i = 0; i < columns; ++i) {
            bytes += 16 + static_cast<std::size_t>(sqlite3_column_bytes(made, i));
            row.push_back(value_of(sqlite3_column_value(made, i)));
        }
        rows.rows.push_back(std::move(row));
        if (rows.rows.size() > kRowsMax || bytes > kBytesMax) break;
    }
    if (inside_->is_halted()) return inside_->cancelled();
    if (stepped == SQLITE_INTERRUPT || stepped == SQLITE_ROW || stepped == SQLITE_NOMEM) {
        return inside_->exhausted();
    }
    if (stepped != SQLITE_DONE) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "this question about PostgreSQL's catalog cannot be answered: " +
                                std::string(sqlite3_errmsg(inside_->database))};
    }
    for (int i = 0; i < columns; ++i) {
        const auto at = static_cast<std::size_t>(i);
        rows.columns.push_back(
            {.name = name_of(sqlite3_column_name(made, i)),
             .type = declared_type(made, i).value_or(type_among(rows.rows, at))});
    }
    return rows;
}

}  // namespace baton::pg
