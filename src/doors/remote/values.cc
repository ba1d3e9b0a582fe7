// Answers of libpq as values of ours.
#include "doors/pg/wire/values.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <libpq-fe.h>

#include "doors/remote/coordinator_connection.h"

namespace baton::remote {

namespace {

using pgwire::KnownType;

kinds::ViewType type_of(Oid oid) {
    switch (static_cast<KnownType>(oid)) {
        case KnownType::boolean:
            return kinds::ViewType::boolean;
        case KnownType::int2:
        case KnownType::int4:
        case KnownType::int8:
        case KnownType::oid:
            return kinds::ViewType::integer;
        case KnownType::float4:
            return kinds::ViewType::float32;
        case KnownType::float8:
            return kinds::ViewType::float64;
        case KnownType::numeric:
            return kinds::ViewType::unsigned_integer;
        case KnownType::json:
        case KnownType::jsonb:
            return kinds::ViewType::json;
        case KnownType::timestamp:
        case KnownType::timestamptz:
            return kinds::ViewType::time;
        case KnownType::name:
        case KnownType::text:
        case KnownType::unknown:
        case KnownType::bpchar:
        case KnownType::varchar:
        case KnownType::bytea:
        case KnownType::date:
        case KnownType::time:
        case KnownType::interval:
        case KnownType::uuid:
            break;
    }
    return kinds::ViewType::text;
}

template <class T>
SqlValue number_of(std::string_view text) {
    T value{};
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, value).ptr != end) return std::string(text);
    return value;
}

SqlValue value_of(std::string_view text, Oid oid) {
    switch (type_of(oid)) {
        case kinds::ViewType::boolean:
            return std::int64_t{text == "t"};
        case kinds::ViewType::integer:
        case kinds::ViewType::unsigned_integer:
            return number_of<std::int64_t>(text);  // one that is too large stays a text
        case kinds::ViewType::float32:
        case kinds::ViewType::float64:
            if (text == "Infinity") return std::numeric_limits<double>::infinity();
            if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
            if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
            return number_of<double>(text);
        case kinds::ViewType::time: {
            // Ours have a form that sorts.
            const auto read = pgwire::parameter_of(
                static_cast<pgwire::TypeId>(KnownType::timestamptz), pgwire::Format::text, text);
            const auto* value = std::get_if<pgwire::Value>(&read);
            const auto* time = value != nullptr ? std::get_if<std::string>(value) : nullptr;
            return time != nullptr ? *time : std::string(text);
        }
        case kinds::ViewType::json:
        case kinds::ViewType::text:
            break;
    }
    return std::string(text);
}

std::string field(const pg_result& answer, int code) {
    const char* text = PQresultErrorField(&answer, code);
    return text == nullptr ? std::string() : std::string(text);
}

// Our number of an error, if it is one of ours; otherwise what comes nearest.
ErrorCode code_of(const pg_result& answer) {
    if (field(answer, PG_DIAG_SOURCE_FILE) == "baton") {
        unsigned told = 0;
        const std::string line = field(answer, PG_DIAG_SOURCE_LINE);
        std::from_chars(line.data(), line.data() + line.size(), told);
        if (const auto code = error_numbered(told)) return *code;
    }
    const std::string state = field(answer, PG_DIAG_SQLSTATE);
    if (state == "57014") return ErrorCode::cancelled;
    if (state == "42501") return ErrorCode::not_permitted;
    if (state.starts_with("28")) return ErrorCode::not_authenticated;
    if (state.starts_with("0A")) return ErrorCode::not_supported;
    if (state.starts_with("42") || state.starts_with("22")) return ErrorCode::syntax;
    if (state.starts_with("25")) return ErrorCode::transaction_state;
    if (state.starts_with("40")) return ErrorCode::conflict;
    if (state.starts_with("53")) return ErrorCode::slow_down;
    if (state.starts_with("08") || state.starts_with("57")) return ErrorCode::cannot_connect;
    return ErrorCode::defect;
}

// PostgreSQL counts characters from 1.
std::optional<Position> place_of(const std::string& told, std::string_view text) {
    std::size_t character = 0;
    if (std::from_chars(told.data(), told.data() + told.size(), character).ec != std::errc() ||
        character == 0) {
        return std::nullopt;
    }
    Position at;
    for (; at.offset < text.size(); ++at.offset) {
        const char c = text[at.offset];
        const bool continues = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
        if (!continues && --character == 0) break;
        at.column += 1;
        if (c == '\n') {
            at.line += 1;
            at.column = 1;
        }
    }
    return at;
}

}  // namespace

std::vector<views::TableColumn> columns_of(const pg_result& answer) {
    std::vector<views::TableColumn> columns;
    for (int i = 0; i < PQnfields(&answer); ++i) {
        columns.push_back({.name = PQfname(&answer, i), .type = type_of(PQftype(&answer, i))});
    }
    return columns;
}

std::vector<SqlRow> rows_of(const pg_result& answer) {
    std::vector<SqlRow> rows;
    for (int r = 0; r < PQntuples(&answer); ++r) {
        SqlRow row;
        for (int c = 0; c < PQnfields(&answer); ++c) {
            if (PQgetisnull(&answer, r, c) != 0) {
                row.emplace_back();
                continue;
            }
            const auto size = static_cast<std::size_t>(PQgetlength(&answer, r, c));
            row.push_back(value_of({PQgetvalue(&answer, r, c), size}, PQftype(&answer, c)));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::optional<Error> error_of(const pg_result& answer, std::string_view text) {
    const ExecStatusType status = PQresultStatus(&answer);
    if (status != PGRES_FATAL_ERROR && status != PGRES_BAD_RESPONSE) return std::nullopt;
    Error error{.code = code_of(answer),
                .message = field(answer, PG_DIAG_MESSAGE_PRIMARY),
                .at = place_of(field(answer, PG_DIAG_STATEMENT_POSITION), text),
                .hint = field(answer, PG_DIAG_MESSAGE_HINT)};
    if (error.message.empty()) {
        error.code = ErrorCode::unknown_outcome;
        error.message = PQresultErrorMessage(&answer);
        error.message.erase(error.message.find_last_not_of(" \n") + 1);
        error.hint = "the connection broke off: look before it is tried again";
    }
    return error;
}

}  // namespace baton::remote
