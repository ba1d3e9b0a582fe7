#include "adapters/postgres/wire.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>

#include <libpq-fe.h>
#include <poll.h>

#include "adapters/server_sql/place.h"
#include "base/one_line.h"

namespace baton::postgres {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kStatementsMax = 200;
constexpr std::chrono::seconds kSlack{2};  // what an answer may take beyond the server's own limit

enum TypeOid : Oid {
    kInt8 = 20,
    kText = 25,
    kFloat8 = 701,
    kBool = 16,
    kInt4 = 23,
    kInt2 = 21,
    kFloat4 = 700,
    kNumeric = 1700
};

std::string in_ms(Duration duration) {
    return std::to_string(std::chrono::duration_cast<milliseconds>(duration).count());
}

Oid type_of(const SqlValue& value) {
    if (std::holds_alternative<std::int64_t>(value)) return kInt8;
    if (std::holds_alternative<double>(value)) return kFloat8;
    if (std::holds_alternative<std::string>(value)) return kText;
    return 0;  // NULL is of any type
}

std::string text_of(const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    std::array<char, 64> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), std::get<double>(value));
    return {digits.data(), end.ptr};
}

template <class T>
T number_of(std::string_view text) {
    T value{};
    (void)std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void read_value(const pg_result* rows, int row, int column, SqlValue& into) {
    if (PQgetisnull(rows, row, column) != 0) {
        into = std::monostate{};
        return;
    }
    const std::string_view text(PQgetvalue(rows, row, column),
                                static_cast<std::size_t>(PQgetlength(rows, row, column)));
    switch (PQftype(rows, column)) {
        case kBool:
            into = std::int64_t{text == "t"};
            return;
        case kInt2:
        case kInt4:
        case kInt8:
            into = number_of<std::int64_t>(text);
            return;
        case kFloat4:
        case kFloat8:
            into = number_of<double>(text);
            return;
        case kNumeric:  // the sum of integers is one
            if (text.find('.') == std::string_view::npos) {
                into = number_of<std::int64_t>(text);
            } else {
                into = number_of<double>(text);
            }
            return;
        default:
            if (auto* kept = std::get_if<std::string>(&into)) {
                kept->assign(text);
            } else {
                into = std::string(text);
            }
    }
}

}  // namespace

void PostgresWire::Finish::operator()(pg_conn* conn) const {
    PQfinish(conn);
}
void PostgresWire::Clear::operator()(pg_result* result) const {
    PQclear(result);
}

PostgresWire::PostgresWire(PostgresOptions options, Access access)
    : options_(std::move(options)),
      access_(access),
      name_(server_sql::without_password(options_.url)) {}

PostgresWire::~PostgresWire() = default;

const server_sql::Words& PostgresWire::words() const {
    static const server_sql::Words kWords = {
        .begin_write = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE",
        // The snapshot is taken by the first statement.
        .begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"};
    return kWords;
}

bool PostgresWire::is_alive() const {
    return conn_ != nullptr && PQstatus(conn_.get()) == CONNECTION_OK;
}

// ---- connecting ---------------------------------------------------------------------------------

std::string PostgresWire::settings() const {
    std::string options;
    const auto set = [&](const std::string& name, const std::string& value) {
        options += " -c " + name + "=" + value;
    };
    set("statement_timeout", in_ms(options_.statement_deadline));
    set("lock_timeout", in_ms(options_.lock_deadline));
    set("idle_in_transaction_session_timeout", in_ms(options_.idle_in_transaction));
    set("synchronous_commit", "on");
    set("extra_float_digits", "1");
    if (access_ == Access::read) set("default_transaction_read_only", "on");
    return options;
}

Result<Done> PostgresWire::connect() {
    forget_statements();
    const std::string options = settings();
    const std::string seconds = std::to_string(std::max<std::int64_t>(
        2, std::chrono::duration_cast<std::chrono::seconds>(options_.connect_deadline).count()));
    // What the URL says wins over what stands before it.
    const std::array keys = {"connect_timeout",
                             "keepalives_idle",
                             "keepalives_interval",
                             "keepalives_count",
                             "tcp_user_timeout",
                             "fallback_application_name",
                             "dbname",
                             "client_encoding",
                             "options",
                             static_cast<const char*>(nullptr)};
    const std::array values = {seconds.c_str(),
                               "5",
                               "2",
                               "3",
                               "10000",
                               "baton",
                               options_.url.c_str(),
                               "UTF8",
                               options.c_str(),
                               static_cast<const char*>(nullptr)};
    conn_.reset(PQconnectdbParams(keys.data(), values.data(), 1));
    if (PQstatus(conn_.get()) != CONNECTION_OK) {
        Error error{.code = ErrorCode::catalog_unavailable,
                    .message = "cannot connect to the catalog " + name_ + ": " +
                               one_line(PQerrorMessage(conn_.get())),
                    .hint =
                        "check its address, the user and the password, which may also be in "
                        "PGPASSWORD or ~/.pgpass"};
        conn_.reset();
        return error;
    }
    PQsetNoticeProcessor(
        conn_.get(), [](void*, const char*) {}, nullptr);
    return Done{};
}

Error PostgresWire::give_up(const std::string& why) {
    conn_.reset();
    forget_statements();
    return {.code = ErrorCode::catalog_unavailable,
            .message = "the catalog " + name_ + " was lost: " + why,
            .hint = "it is connected to again by the next request"};
}

// ---- answers ------------------------------------------------------------------------------------

Result<Done> PostgresWire::wait_for_input(steady_clock::time_point deadline) {
    while (PQisBusy(conn_.get()) != 0) {
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
        if (left.count() <= 0) return give_up("it does not answer");
        pollfd socket{.fd = PQsocket(conn_.get()), .events = POLLIN, .revents = 0};
        const int ready = ::poll(&socket, 1, static_cast<int>(left.count()));
        if (ready < 0 && errno != EINTR) return give_up("its socket failed");
        if (ready > 0 && PQconsumeInput(conn_.get()) == 0) {
            return give_up(one_line(PQerrorMessage(conn_.get())));
        }
    }
    return Done{};
}

Result<PostgresWire::Answer> PostgresWire::answer() {
    const auto deadline = steady_clock::now() + options_.statement_deadline + kSlack;
    Answer last;
    for (;;) {
        TRY(wait_for_input(deadline));
        Answer next(PQgetResult(conn_.get()));
        if (!next) break;
        const ExecStatusType status = PQresultStatus(next.get());
        const bool keeps_failure = last && PQresultStatus(last.get()) == PGRES_FATAL_ERROR;
        if (!keeps_failure) last = std::move(next);
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT) return give_up("it wants to copy");
    }
    if (PQstatus(conn_.get()) == CONNECTION_OK && last) return last;
    return give_up(one_line(PQerrorMessage(conn_.get())));
}

Error PostgresWire::error_of(const pg_result& answer, std::string_view sql) const {
    const auto field = [&](int code) -> std::string {
        const char* text = PQresultErrorField(&answer, code);
        return text == nullptr ? "" : text;
    };
    if (PQresultStatus(&answer) == PGRES_EMPTY_QUERY) {
        return {.code = ErrorCode::defect, .message = "an empty statement for " + name_};
    }
    const std::string state = field(PG_DIAG_SQLSTATE);
    Error error{.code = code_of(state),
                .message = "cannot run a statement on " + name_ + ": " +
                           one_line(field(PG_DIAG_MESSAGE_PRIMARY)) + " (" + state + ")"};
    if (error.code == ErrorCode::defect) error.message += ": " + std::string(sql);
    if (error.code == ErrorCode::catalog_full) error.hint = "make room on the server's disk";
    return error;
}

// ---- statements ---------------------------------------------------------------------------------

void PostgresWire::forget_statements() {
    by_key_.clear();
    kept_.clear();
}

Result<std::string> PostgresWire::prepared(std::string_view sql,
                                           std::span<const SqlValue> parameters) {
    std::vector<Oid> types;
    std::string key(sql);
    key += '\0';
    for (const SqlValue& value : parameters) {
        types.push_back(type_of(value));
        key += static_cast<char>('0' + value.index());
    }
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
        kept_.splice(kept_.begin(), kept_, found->second);
        return found->second->name;
    }
    const Numbered numbered = with_numbers(sql);
    if (numbered.parameters != parameters.size()) {
        return Error{
            .code = ErrorCode::defect,
            .message = std::to_string(parameters.size()) + " parameters for " + std::string(sql)};
    }
    const std::string name = "b" + std::to_string(next_name_++);
    if (PQsendPrepare(conn_.get(), name.c_str(), numbered.text.c_str(),
                      static_cast<int>(types.size()), types.data()) == 0) {
        return give_up(one_line(PQerrorMessage(conn_.get())));
    }
    TRY_ASSIGN(made, answer());
    if (PQresultStatus(made.get()) != PGRES_COMMAND_OK) return error_of(*made, sql);
    if (kept_.size() >= kStatementsMax) {
        const std::string oldest = kept_.back().name;
        by_key_.erase(kept_.back().key);
        kept_.pop_back();
        // In an aborted transaction it stays on the server, which does no harm.
        (void)script("DEALLOCATE " + oldest);
    }
    kept_.push_front({.key = std::move(key), .name = name});
    by_key_.emplace(kept_.front().key, kept_.begin());
    return name;
}

Result<Done> PostgresWire::send_prepared(const std::string& name,
                                         std::span<const SqlValue> parameters) {
    std::vector<std::string> texts;
    std::vector<const char*> values;
    std::vector<int> lengths;
    texts.reserve(parameters.size());
    for (const SqlValue& value : parameters) {
        const bool null = std::holds_alternative<std::monostate>(value);
        texts.push_back(null ? std::string() : text_of(value));
        values.push_back(null ? nullptr : texts.back().c_str());
        lengths.push_back(static_cast<int>(texts.back().size()));
    }
    if (PQsendQueryPrepared(conn_.get(), name.c_str(), static_cast<int>(values.size()),
                            values.data(), lengths.data(), nullptr, 0) == 0) {
        return give_up(one_line(PQerrorMessage(conn_.get())));
    }
    return Done{};
}

Result<std::int64_t> PostgresWire::take_rows(const pg_result& answer, std::string_view sql,
                                             const SqlRowSink& sink) const {
    const ExecStatusType status = PQresultStatus(&answer);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return error_of(answer, sql);
    if (status == PGRES_COMMAND_OK) {
        return number_of<std::int64_t>(PQcmdTuples(const_cast<pg_result*>(&answer)));
    }
    SqlRow row(static_cast<std::size_t>(PQnfields(&answer)));
    for (int r = 0; sink && r < PQntuples(&answer); ++r) {
        for (int c = 0; c < PQnfields(&answer); ++c) {
            read_value(&answer, r, c, row[static_cast<std::size_t>(c)]);
        }
        sink(row);
    }
    // Of UPDATE .. RETURNING, too, it is what was changed.
    const std::string_view tag = PQcmdStatus(const_cast<pg_result*>(&answer));
    if (tag.starts_with("SELECT") || tag.starts_with("SHOW")) return std::int64_t{0};
    return number_of<std::int64_t>(PQcmdTuples(const_cast<pg_result*>(&answer)));
}

Result<std::int64_t> PostgresWire::run(std::string_view sql, std::span<const SqlValue> parameters,
                                       const SqlRowSink& sink) {
    TRY_ASSIGN(name, prepared(sql, parameters));
    TRY(send_prepared(name, parameters));
    TRY_ASSIGN(rows, answer());
    return take_rows(*rows, sql, sink);
}

// Those without parameters may be of transactions, which are not worth a name each.
Result<Done> PostgresWire::send_all(std::span<const server_sql::Statement> statements) {
    std::vector<std::string> names;
    for (const auto& [sql, parameters] : statements) {
        names.emplace_back();
        if (parameters.empty()) continue;
        TRY_ASSIGN(name, prepared(sql, parameters));
        names.back() = std::move(name);
    }
    if (PQenterPipelineMode(conn_.get()) == 0) return give_up("it is in the middle of something");
    for (std::size_t i = 0; i < statements.size(); ++i) {
        if (!names[i].empty()) {
            TRY(send_prepared(names[i], statements[i].parameters));
        } else if (PQsendQueryParams(conn_.get(), statements[i].sql.c_str(), 0, nullptr, nullptr,
                                     nullptr, nullptr, 0) == 0) {
            return give_up(one_line(PQerrorMessage(conn_.get())));
        }
    }
    if (PQpipelineSync(conn_.get()) == 0) return give_up(one_line(PQerrorMessage(conn_.get())));
    return Done{};
}

Result<std::int64_t> PostgresWire::run_all(std::span<const server_sql::Statement> statements,
                                           const SqlRowSink& sink) {
    done_ = 0;
    TRY(send_all(statements));
    std::optional<Error> failure;
    Result<std::int64_t> last = std::int64_t{0};
    for (const auto& statement : statements) {
        TRY_ASSIGN(rows, answer());
        if (failure) continue;  // the server has left out what comes after
        const bool is_last = &statement == &statements.back();
        last = take_rows(*rows, statement.sql, is_last ? sink : nullptr);
        if (!last) {
            failure = last.error();
        } else {
            done_ += 1;
        }
    }
    TRY(answer());  // to the end of all of them
    if (PQexitPipelineMode(conn_.get()) == 0) return give_up("it has more to say");
    return last;
}

Result<std::string> PostgresWire::script(const std::string& sql) {
    if (PQsendQuery(conn_.get(), sql.c_str()) == 0) {
        return give_up(one_line(PQerrorMessage(conn_.get())));
    }
    TRY_ASSIGN(done, answer());
    const ExecStatusType status = PQresultStatus(done.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return error_of(*done, sql);
    return std::string(PQcmdStatus(done.get()));
}

}  // namespace baton::postgres
