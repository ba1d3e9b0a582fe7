#include "adapters/mariadb/wire.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>

#include <mysql.h>

#include "base/text.h"

namespace baton::mariadb {

namespace {

constexpr std::size_t kStatementsMax = 200;
constexpr unsigned kDeadlock = 1213;

unsigned in_seconds(Duration duration) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(duration).count();
    return static_cast<unsigned>(std::max<std::int64_t>(1, seconds));
}

// A column of a result, with the room for its values.
struct Cell {
    enum class Kind : std::uint8_t { integer, real, decimal, text };
    Kind kind = Kind::text;
    std::int64_t integer = 0;
    double real = 0;
    std::vector<char> text;
    unsigned long length = 0;
    my_bool is_null = 0;
};

Cell::Kind kind_of(enum_field_types type) {
    constexpr std::array kIntegers = {MYSQL_TYPE_TINY,  MYSQL_TYPE_SHORT,    MYSQL_TYPE_LONG,
                                      MYSQL_TYPE_INT24, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_YEAR};
    if (std::find(kIntegers.begin(), kIntegers.end(), type) != kIntegers.end()) {
        return Cell::Kind::integer;
    }
    if (type == MYSQL_TYPE_FLOAT || type == MYSQL_TYPE_DOUBLE) return Cell::Kind::real;
    if (type == MYSQL_TYPE_DECIMAL || type == MYSQL_TYPE_NEWDECIMAL) return Cell::Kind::decimal;
    return Cell::Kind::text;
}

MYSQL_BIND room_for(Cell& cell, const MYSQL_FIELD& field) {
    MYSQL_BIND bind{};
    cell.kind = kind_of(field.type);
    bind.is_null = &cell.is_null;
    bind.length = &cell.length;
    if (cell.kind == Cell::Kind::integer) {
        bind.buffer_type = MYSQL_TYPE_LONGLONG;
        bind.buffer = &cell.integer;
    } else if (cell.kind == Cell::Kind::real) {
        bind.buffer_type = MYSQL_TYPE_DOUBLE;
        bind.buffer = &cell.real;
    } else {
        cell.text.resize(field.max_length + 1);
        bind.buffer_type = MYSQL_TYPE_STRING;
        bind.buffer = cell.text.data();
        bind.buffer_length = cell.text.size();
    }
    return bind;
}

void read_value(const Cell& cell, SqlValue& into) {
    if (cell.is_null != 0) {
        into = std::monostate{};
        return;
    }
    const std::string_view text(cell.text.data(),
                                std::min<std::size_t>(cell.length, cell.text.size()));
    switch (cell.kind) {
        case Cell::Kind::integer:
            into = cell.integer;
            return;
        case Cell::Kind::real:
            into = cell.real;
            return;
        case Cell::Kind::decimal: {  // the sum of integers is one
            std::int64_t whole = 0;
            double real = 0;
            const char* const end = text.data() + text.size();
            if (std::from_chars(text.data(), end, whole).ptr == end) {
                into = whole;
            } else {
                (void)std::from_chars(text.data(), end, real);
                into = real;
            }
            return;
        }
        case Cell::Kind::text:
            if (auto* kept = std::get_if<std::string>(&into)) {
                kept->assign(text);
            } else {
                into = std::string(text);
            }
    }
}

MYSQL_BIND parameter_of(const SqlValue& value) {
    MYSQL_BIND bind{};
    bind.buffer_type = MYSQL_TYPE_NULL;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        bind.buffer_type = MYSQL_TYPE_LONGLONG;
        bind.buffer = const_cast<std::int64_t*>(integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
        bind.buffer_type = MYSQL_TYPE_DOUBLE;
        bind.buffer = const_cast<double*>(real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        bind.buffer_type = MYSQL_TYPE_STRING;
        bind.buffer = const_cast<char*>(text->data());
        bind.buffer_length = text->size();
    }
    return bind;
}

}  // namespace

void MariadbWire::CloseHandle::operator()(st_mysql* handle) const {
    mysql_close(handle);
}
void MariadbWire::CloseStatement::operator()(st_mysql_stmt* statement) const {
    mysql_stmt_close(statement);
}

MariadbWire::MariadbWire(MariadbOptions options, Place place, Access access)
    : options_(std::move(options)),
      place_(std::move(place)),
      access_(access),
      name_(place_.name()) {}

MariadbWire::~MariadbWire() {
    forget_statements();
}

const server_sql::Words& MariadbWire::words() const {
    static const server_sql::Words kWords = {
        .begin_write = "START TRANSACTION READ WRITE",
        .begin_read =
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; "
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"};
    return kWords;
}

// ---- connecting ---------------------------------------------------------------------------------

std::string MariadbWire::settings() const {
    std::string text =
        "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin, time_zone = '+00:00', "
        "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
        "innodb_lock_wait_timeout = " +
        std::to_string(in_seconds(options_.lock_deadline)) +
        ", idle_transaction_timeout = " + std::to_string(in_seconds(options_.idle_in_transaction)) +
        ", max_statement_time = " + std::to_string(in_seconds(options_.statement_deadline)) + ";";
    if (access_ == Access::write) {
        return text + "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE";
    }
    return text + "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
}

Result<Done> MariadbWire::connect() {
    forget_statements();
    gave_up_ = false;
    handle_.reset(mysql_init(nullptr));
    const unsigned connect_s = in_seconds(options_.connect_deadline);
    const unsigned answer_s = in_seconds(options_.statement_deadline) + 2;
    mysql_options(handle_.get(), MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    mysql_options(handle_.get(), MYSQL_OPT_READ_TIMEOUT, &answer_s);
    mysql_options(handle_.get(), MYSQL_OPT_WRITE_TIMEOUT, &answer_s);
    mysql_options(handle_.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    // A server that asks for files of this machine gets none.
    const unsigned none = 0;
    mysql_options(handle_.get(), MYSQL_OPT_LOCAL_INFILE, &none);
    encrypt();
    const st_mysql* connected = mysql_real_connect(
        handle_.get(), place_.host.c_str(), place_.user.c_str(), place_.password.c_str(),
        place_.database.c_str(), place_.port, nullptr, CLIENT_FOUND_ROWS | CLIENT_MULTI_STATEMENTS);
    if (connected == nullptr) {
        Error error{
            .code = ErrorCode::catalog_unavailable,
            .message = "cannot connect to the catalog " + name_ + ": " + mysql_error(handle_.get()),
            .hint = "check its address, the user and the password"};
        handle_.reset();
        return error;
    }
    if (place_.tls && mysql_get_ssl_cipher(handle_.get()) == nullptr) {
        // The library goes on without it if the server, or whoever is in between, has none.
        handle_.reset();
        return Error{.code = ErrorCode::catalog_unavailable,
                     .message = "the server of the catalog " + name_ + " does not encrypt",
                     .hint = "have it do so (ssl_cert, ssl_key), or leave out sslmode"};
    }
    TRY(check_server());
    TRY(script(settings()));
    return Done{};
}

void MariadbWire::encrypt() {
    if (!place_.tls) return;
    const auto or_none = [](const std::string& text) {
        return text.empty() ? nullptr : text.c_str();
    };
    const my_bool yes = 1;
    const my_bool verified = place_.verified ? 1 : 0;
    mysql_ssl_set(handle_.get(), or_none(place_.key), or_none(place_.cert), or_none(place_.ca),
                  nullptr, nullptr);
    mysql_options(handle_.get(), MARIADB_OPT_TLS_VERSION, "TLSv1.2,TLSv1.3");
    mysql_options(handle_.get(), MYSQL_OPT_SSL_ENFORCE, &yes);
    mysql_options(handle_.get(), MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verified);
}

// What the catalog relies on is in no other server of this protocol: the end of transactions that
// stand still, references beside their columns, unique keys of any length.
Result<Done> MariadbWire::check_server() {
    constexpr unsigned long kOldest = 10'05'00;
    if (mariadb_connection(handle_.get()) != 0 &&
        mysql_get_server_version(handle_.get()) >= kOldest) {
        return Done{};
    }
    Error error{.code = ErrorCode::invalid_configuration,
                .message = "the catalog " + name_ + " is on a server of version " +
                           mysql_get_server_info(handle_.get()) +
                           ", and only MariaDB from 10.5 on has what a catalog needs",
                .hint = "use MariaDB or PostgreSQL"};
    handle_.reset();
    return error;
}

Error MariadbWire::failure(unsigned number, const std::string& message, std::string_view sql) {
    gave_up_ = number == kDeadlock;
    Error error{.code = code_of(number),
                .message = "cannot run a statement on " + name_ + ": " + message + " (" +
                           std::to_string(number) + ")"};
    if (error.code == ErrorCode::defect) error.message += ": " + std::string(sql);
    if (error.code == ErrorCode::catalog_full) error.hint = "make room on the server's disk";
    if (ends_connection(number)) {
        error.hint = "it is connected to again by the next request";
        forget_statements();
        handle_.reset();
    }
    return error;
}

Error MariadbWire::failure_of_handle(std::string_view sql) {
    return failure(mysql_errno(handle_.get()), mysql_error(handle_.get()), sql);
}

Error MariadbWire::failure_of(st_mysql_stmt* statement, std::string_view sql) {
    return failure(mysql_stmt_errno(statement), mysql_stmt_error(statement), sql);
}

// ---- statements ---------------------------------------------------------------------------------

void MariadbWire::forget_statements() {
    by_text_.clear();
    kept_.clear();
}

Result<st_mysql_stmt*> MariadbWire::prepared(std::string_view sql) {
    if (const auto found = by_text_.find(sql); found != by_text_.end()) {
        kept_.splice(kept_.begin(), kept_, found->second);
        return found->second->statement.get();
    }
    Statement statement(mysql_stmt_init(handle_.get()));
    if (mysql_stmt_prepare(statement.get(), sql.data(), sql.size()) != 0) {
        const unsigned number = mysql_stmt_errno(statement.get());
        const std::string message = mysql_stmt_error(statement.get());
        statement.reset();
        return failure(number, message, sql);
    }
    const my_bool yes = 1;
    mysql_stmt_attr_set(statement.get(), STMT_ATTR_UPDATE_MAX_LENGTH, &yes);
    if (kept_.size() >= kStatementsMax) {
        by_text_.erase(kept_.back().text);
        kept_.pop_back();
    }
    kept_.push_front({.text = std::string(sql), .statement = std::move(statement)});
    by_text_.emplace(kept_.front().text, kept_.begin());
    return kept_.front().statement.get();
}

Result<Done> MariadbWire::execute(st_mysql_stmt* statement, std::span<const SqlValue> parameters,
                                  std::string_view sql) {
    if (mysql_stmt_param_count(statement) != parameters.size()) {
        return Error{
            .code = ErrorCode::defect,
            .message = std::to_string(parameters.size()) + " parameters for " + std::string(sql)};
    }
    std::vector<MYSQL_BIND> binds;
    binds.reserve(parameters.size());
    for (const SqlValue& value : parameters) binds.push_back(parameter_of(value));
    if (!binds.empty() && mysql_stmt_bind_param(statement, binds.data()) != 0) {
        return failure_of(statement, sql);
    }
    if (mysql_stmt_execute(statement) != 0) return failure_of(statement, sql);
    return Done{};
}

namespace {

// All rows of a result that was stored; false if the library failed.
bool fetch_all(st_mysql_stmt* statement, const SqlRowSink& sink) {
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> meta(
        mysql_stmt_result_metadata(statement), &mysql_free_result);
    const unsigned columns = mysql_num_fields(meta.get());
    std::vector<Cell> cells(columns);
    std::vector<MYSQL_BIND> binds;
    for (unsigned i = 0; i < columns; ++i) {
        binds.push_back(room_for(cells[i], *mysql_fetch_field_direct(meta.get(), i)));
    }
    if (mysql_stmt_bind_result(statement, binds.data()) != 0) return false;
    SqlRow row(columns);
    for (;;) {
        const int fetched = mysql_stmt_fetch(statement);
        if (fetched == MYSQL_NO_DATA) return true;
        if (fetched != 0) return false;
        for (unsigned i = 0; i < columns; ++i) read_value(cells[i], row[i]);
        sink(row);
    }
}

}  // namespace

Result<Done> MariadbWire::give_rows(st_mysql_stmt* statement, const SqlRowSink& sink,
                                    std::string_view sql) {
    if (mysql_stmt_store_result(statement) != 0) return failure_of(statement, sql);
    const bool well = !sink || fetch_all(statement, sink);
    const unsigned number = well ? 0 : mysql_stmt_errno(statement);
    const std::string message = well ? "" : mysql_stmt_error(statement);
    mysql_stmt_free_result(statement);
    if (!well) return failure(number, message, sql);
    return Done{};
}

Result<std::int64_t> MariadbWire::run(std::string_view sql, std::span<const SqlValue> parameters,
                                      const SqlRowSink& sink) {
    gave_up_ = false;
    TRY_ASSIGN(statement, prepared(sql));
    TRY(execute(statement, parameters, sql));
    if (mysql_stmt_field_count(statement) == 0) {
        return static_cast<std::int64_t>(mysql_stmt_affected_rows(statement));
    }
    TRY(give_rows(statement, sink, sql));
    return std::int64_t{0};
}

// ---- several at once ----------------------------------------------------------------------------

std::string MariadbWire::literal(const SqlValue& value) const {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) {
        std::array<char, 64> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *real,
                                       std::chars_format::scientific);
        return {digits.data(), end.ptr};
    }
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return "NULL";
    std::string escaped(2 * text->size() + 1, 0);
    escaped.resize(
        mysql_real_escape_string(handle_.get(), escaped.data(), text->data(), text->size()));
    return "'" + escaped + "'";
}

namespace {

SqlValue value_of(const char* bytes, unsigned long size, enum_field_types type) {
    if (bytes == nullptr) return std::monostate{};
    Cell cell;
    cell.kind = kind_of(type);
    cell.text.assign(bytes, bytes + size);
    cell.length = size;
    if (cell.kind == Cell::Kind::integer) {
        (void)std::from_chars(bytes, bytes + size, cell.integer);
    } else if (cell.kind == Cell::Kind::real) {
        (void)std::from_chars(bytes, bytes + size, cell.real);
    }
    SqlValue value;
    read_value(cell, value);
    return value;
}

void give_text_rows(MYSQL_RES& rows, const SqlRowSink& sink) {
    const unsigned columns = mysql_num_fields(&rows);
    SqlRow row(columns);
    while (MYSQL_ROW values = mysql_fetch_row(&rows)) {
        const unsigned long* sizes = mysql_fetch_lengths(&rows);
        for (unsigned i = 0; i < columns; ++i) {
            row[i] = value_of(values[i], sizes[i], mysql_fetch_field_direct(&rows, i)->type);
        }
        sink(row);
    }
}

}  // namespace

// By text: the protocol knows no way to send several prepared statements before an answer.
Result<std::int64_t> MariadbWire::run_all(std::span<const server_sql::Statement> statements,
                                          const SqlRowSink& sink) {
    gave_up_ = false;
    done_ = 0;
    std::string text;
    for (const auto& statement : statements) {
        const auto& parameters = statement.parameters;
        if (!text.empty()) text += ";";
        text +=
            with_values(statement.sql, [&](std::size_t i) { return literal(parameters.at(i)); });
    }
    int more = mysql_real_query(handle_.get(), text.data(), text.size());
    std::int64_t changed = 0;
    for (; more == 0; more = mysql_next_result(handle_.get())) {
        const bool is_last = done_ + 1 == statements.size();
        if (MYSQL_RES* rows = mysql_store_result(handle_.get())) {
            if (is_last && sink) give_text_rows(*rows, sink);
            mysql_free_result(rows);
        } else if (mysql_errno(handle_.get()) != 0) {
            break;
        } else {
            changed = static_cast<std::int64_t>(mysql_affected_rows(handle_.get()));
        }
        done_ += 1;
    }
    if (done_ == statements.size()) return changed;
    return failure_of_handle(statements[done_].sql);
}

Result<std::string> MariadbWire::script(const std::string& sql) {
    gave_up_ = false;
    if (mysql_real_query(handle_.get(), sql.data(), sql.size()) != 0) return failure_of_handle(sql);
    for (;;) {
        if (MYSQL_RES* rows = mysql_store_result(handle_.get())) mysql_free_result(rows);
        const int more = mysql_next_result(handle_.get());
        if (more < 0) return std::string();
        if (more > 0) return failure_of_handle(sql);
    }
}

}  // namespace baton::mariadb
