#include "doors/pg/server/rows.h"

#include <charconv>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "doors/desk/change_words.h"

namespace baton::pgserver {

using pgwire::ColumnType;

ColumnType column_type_of(kinds::ViewType type) {
    switch (type) {
        case kinds::ViewType::text:
            return ColumnType::text;
        case kinds::ViewType::integer:
            return ColumnType::integer;
        case kinds::ViewType::boolean:
            return ColumnType::boolean;
        case kinds::ViewType::time:
            return ColumnType::time;
        case kinds::ViewType::json:
            return ColumnType::json;
        case kinds::ViewType::unsigned_integer:
            return ColumnType::unsigned_integer;
        case kinds::ViewType::float32:
            return ColumnType::float32;
        case kinds::ViewType::float64:
            return ColumnType::float64;
    }
    CHECK(false);
}

namespace {

ColumnType column_type_of_kind(SqlType::Kind kind) {
    using Kind = SqlType::Kind;
    switch (kind) {
        case Kind::boolean:
            return ColumnType::boolean;
        case Kind::tinyint:
        case Kind::utinyint:
        case Kind::smallint:
            return ColumnType::int16;
        case Kind::usmallint:
        case Kind::integer:
            return ColumnType::int32;
        case Kind::uinteger:
        case Kind::bigint:
            return ColumnType::integer;
        case Kind::real:
            return ColumnType::float32;
        case Kind::double_precision:
            return ColumnType::float64;
        case Kind::decimal:
        case Kind::ubigint:
        case Kind::hugeint:
        case Kind::uhugeint:
            return ColumnType::decimal;
        case Kind::blob:
            return ColumnType::bytes;
        case Kind::date:
            return ColumnType::date;
        case Kind::timestamp:
            return ColumnType::timestamp;
        case Kind::timestamptz:
            return ColumnType::timestamptz;
        case Kind::time:
            return ColumnType::time_of_day;
        case Kind::interval:
            return ColumnType::interval;
        case Kind::uuid:
            return ColumnType::uuid;
        case Kind::json:
        case Kind::structure:  // written as JSON
        case Kind::map:
            return ColumnType::json;
        case Kind::varchar:
        case Kind::list:
        case Kind::other:
            return ColumnType::text;
    }
    CHECK(false);
}

}  // namespace

pgwire::Column column_of(std::string name, const SqlType& type) {
    using Kind = SqlType::Kind;
    // A list of lists need not be a rectangle, which PostgreSQL's arrays are: it is text.
    const bool is_array = type.kind == Kind::list && type.parts.size() == 1 &&
                          type.parts.front().type.kind != Kind::list;
    const SqlType& value = is_array ? type.parts.front().type : type;
    pgwire::Column column{.name = std::move(name),
                          .type = column_type_of_kind(value.kind),
                          .modifier = -1,
                          .is_array = is_array};
    if (value.kind == Kind::decimal) {
        column.modifier = pgwire::modifier_of(value.precision, value.scale);
    }
    return column;
}

std::vector<pgwire::Column> columns_of(const std::vector<views::TableColumn>& columns) {
    std::vector<pgwire::Column> result;
    for (const views::TableColumn& column : columns) {
        if (column.sql) {
            result.push_back(column_of(column.name, *column.sql));
        } else {
            result.push_back({.name = column.name, .type = column_type_of(column.type)});
        }
    }
    return result;
}

std::vector<pgwire::Column> watched_columns_of(const std::vector<views::TableColumn>& columns) {
    std::vector<pgwire::Column> result = {{.name = "OP", .type = ColumnType::text},
                                          {.name = "REVISION", .type = ColumnType::integer}};
    for (pgwire::Column& column : columns_of(columns)) result.push_back(std::move(column));
    return result;
}

pgwire::Value value_of(const SqlValue& value, ColumnType type) {
    return std::visit(Overload{
                          [](std::monostate) -> pgwire::Value { return {}; },
                          [&](std::int64_t number) -> pgwire::Value {
                              if (type == ColumnType::boolean) return number != 0;
                              return number;
                          },
                          [](double number) -> pgwire::Value { return number; },
                          [&](const std::string& text) -> pgwire::Value {
                              std::uint64_t number = 0;
                              const char* const end = text.data() + text.size();
                              const bool digits =
                                  type == ColumnType::unsigned_integer &&
                                  std::from_chars(text.data(), end, number).ptr == end;
                              if (digits) return number;
                              return text;
                          },
                      },
                      value);
}

sql::Literal literal_of(const pgwire::Value& value) {
    return std::visit(Overload{
                          [](std::monostate) -> sql::Literal { return sql::Null{}; },
                          [](bool truth) -> sql::Literal { return truth; },
                          [](std::int64_t number) -> sql::Literal {
                              const auto bits = static_cast<std::uint64_t>(number);
                              return sql::Integer{.negative = number < 0,
                                                  .magnitude = number < 0 ? 0 - bits : bits};
                          },
                          [](std::uint64_t number) -> sql::Literal {
                              return sql::Integer{.negative = false, .magnitude = number};
                          },
                          [](double number) -> sql::Literal { return number; },
                          [](const std::string& text) -> sql::Literal { return text; },
                      },
                      value);
}

SqlValue sql_value_of(const pgwire::Value& value) {
    return std::visit(
        Overload{
            [](std::monostate) -> SqlValue { return {}; },
            [](bool truth) -> SqlValue { return std::int64_t{truth}; },
            [](std::int64_t number) -> SqlValue { return number; },
            [](std::uint64_t number) -> SqlValue { return static_cast<std::int64_t>(number); },
            [](double number) -> SqlValue { return number; },
            [](const std::string& text) -> SqlValue { return text; },
        },
        value);
}

namespace {

SqlRow event_row(std::string op, Revision revision, const SqlRow& row) {
    SqlRow result = {std::move(op), static_cast<std::int64_t>(revision.value())};
    result.insert(result.end(), row.begin(), row.end());
    return result;
}

}  // namespace

void append_events(std::deque<SqlRow>& rows, const std::vector<coordinator::WatchEvent>& events) {
    for (const coordinator::WatchEvent& event : events) {
        if (const auto* snapshot = std::get_if<coordinator::WatchSnapshot>(&event)) {
            for (const SqlRow& row : snapshot->table.rows) {
                rows.push_back(event_row("snapshot", snapshot->revision, row));
            }
        } else {
            const auto& change = std::get<coordinator::WatchChange>(event);
            rows.push_back(
                event_row(std::string(desk::word_of(change.op)), change.revision, change.row));
        }
    }
}

// ---- COPY ---------------------------------------------------------------------------------------

namespace {

void append_text_cell(std::string& line, std::string_view cell, char delimiter) {
    for (const char c : cell) {
        switch (c) {
            case '\\':
                line += "\\\\";
                break;
            case '\n':
                line += "\\n";
                break;
            case '\r':
                line += "\\r";
                break;
            case '\t':
                line += "\\t";
                break;
            default:
                if (c == delimiter) line += '\\';
                line += c;
        }
    }
}

void append_csv_cell(std::string& line, std::string_view cell, const CopyFormat& format) {
    const bool plain = cell != format.null && cell.find(format.quote) == std::string_view::npos &&
                       cell.find_first_of("\r\n") == std::string_view::npos &&
                       cell.find(format.delimiter) == std::string_view::npos && cell != "\\.";
    if (plain) {
        line += cell;
        return;
    }
    line += format.quote;
    for (const char c : cell) {
        if (c == format.quote || c == format.escape) line += format.escape;
        line += c;
    }
    line += format.quote;
}

void append_copy_cell(std::string& line, std::string_view cell, const CopyFormat& format) {
    if (format.csv) {
        append_csv_cell(line, cell, format);
    } else {
        append_text_cell(line, cell, format.delimiter);
    }
}

}  // namespace

Result<std::string> copy_line(const CopyFormat& format, std::span<const pgwire::Column> columns,
                              const SqlRow& row) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) line += format.delimiter;
        const pgwire::Value value = value_of(row[i], columns[i].type);
        if (std::holds_alternative<std::monostate>(value)) {
            line += format.null;
            continue;
        }
        std::string cell;
        TRY(pgwire::append_cell(cell, columns[i], pgwire::Format::text, value));
        append_copy_cell(line, cell, format);
    }
    return line + "\n";
}

std::string copy_header(const CopyFormat& format, std::span<const pgwire::Column> columns) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) line += format.delimiter;
        append_copy_cell(line, columns[i].name, format);
    }
    return line + "\n";
}

}  // namespace baton::pgserver
