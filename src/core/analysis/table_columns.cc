#include "core/analysis/table_columns.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "model/table_sink.h"

namespace baton::analysis {

namespace {

using Kind = SqlType::Kind;

// The decimal digits that a whole number may have; 0: it is none.
unsigned digits_of(DataType type) {
    switch (type) {
        case DataType::int8:
        case DataType::uint8:
            return 3;
        case DataType::int16:
        case DataType::uint16:
            return 5;
        case DataType::int32:
        case DataType::uint32:
            return 10;
        case DataType::int64:
            return 19;
        case DataType::uint64:
            return 20;
        case DataType::float32:
        case DataType::float64:
        case DataType::boolean:
        case DataType::character:
        case DataType::varsized:
            return 0;
    }
    return 0;
}

// The bits of a signed number that holds all of them; 0: it is no whole number.
unsigned bits_of(DataType type) {
    switch (type) {
        case DataType::int8:
            return 8;
        case DataType::uint8:
        case DataType::int16:
            return 16;
        case DataType::uint16:
        case DataType::int32:
            return 32;
        case DataType::uint32:
        case DataType::int64:
        case DataType::uint64:  // into BIGINT, checked for each row
            return 64;
        case DataType::float32:
        case DataType::float64:
        case DataType::boolean:
        case DataType::character:
        case DataType::varsized:
            return 0;
    }
    return 0;
}

unsigned bits_of(Kind kind) {
    if (kind == Kind::tinyint) return 8;
    if (kind == Kind::smallint) return 16;
    if (kind == Kind::integer) return 32;
    return kind == Kind::bigint ? 64 : 0;
}

std::string as_query(const Column& column) {
    return in_quotes(column.name) + " " + std::string(to_string(column.type)) +
           (column.nullable ? "" : " NOT NULL");
}

std::string as_table(const SqlField& column) {
    return in_quotes(column.name) + " " + to_string(column.type) +
           (column.nullable ? "" : " NOT NULL");
}

std::string how_to_convert(const SqlType& column) {
    constexpr std::array<std::pair<Kind, std::string_view>, 8> kTypes = {{
        {Kind::boolean, "BOOLEAN"},
        {Kind::tinyint, "INT8"},
        {Kind::smallint, "INT16"},
        {Kind::integer, "INT32"},
        {Kind::bigint, "INT64"},
        {Kind::real, "FLOAT32"},
        {Kind::double_precision, "FLOAT64"},
        {Kind::varchar, "VARSIZED"},
    }};
    for (const auto& [kind, type] : kTypes) {
        if (kind == column.kind) return "CAST(x AS " + std::string(type) + ") converts";
    }
    return "streams have no " + to_string(column) +
           ": give the column another type, such as BIGINT or VARCHAR";
}

Result<Done> check_column(const Sink& table, const Column& given, const SqlField& column,
                          Position at) {
    const std::string both = "column " + as_query(given) + " of the query does not fit column " +
                             as_table(column) + " of table " + in_quotes(table.name);
    if (!takes(column.type, given.type)) {
        return Error{.code = ErrorCode::type_mismatch,
                     .message = both,
                     .at = at,
                     .hint = how_to_convert(column.type)};
    }
    if (given.nullable && !column.nullable) {
        return Error{.code = ErrorCode::type_mismatch,
                     .message = both + ": it may be NULL",
                     .at = at,
                     .hint =
                         "declare the column of the table without NOT NULL, or give a value "
                         "with COALESCE"};
    }
    return Done{};
}

}  // namespace

bool takes(const SqlType& column, DataType values) {
    if (column == table_type_of(values)) return true;
    const unsigned bits = bits_of(values);
    if (bits > 0 && bits_of(column.kind) >= bits) return true;
    const unsigned digits = digits_of(values);
    if (digits > 0 && column.kind == Kind::decimal) {
        return column.precision >= digits + column.scale;
    }
    // As far as each number has a DOUBLE, or a REAL, of its own.
    if (column.kind == Kind::double_precision) {
        return values == DataType::float32 || values == DataType::uint32 ||
               (bits > 0 && bits <= 32);
    }
    return column.kind == Kind::real && bits > 0 && bits <= 16;
}

Result<Schema> columns_for(const Sink& table, Schema given, Position at) {
    TRY_ASSIGN(columns, columns_of_table(table));
    if (columns.empty()) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "table " + in_quotes(table.name) + " is read only",
                     .at = at,
                     .hint = "name a table that was created without TYPE"};
    }
    std::set<std::string> seen;
    for (Column& column : given.columns) {
        const auto found = std::find_if(columns.begin(), columns.end(), [&](const SqlField& field) {
            return equal_ignoring_case(field.name, column.name);
        });
        if (found == columns.end()) {
            std::vector<std::string> known;
            for (const SqlField& field : columns) known.push_back(field.name);
            std::string hint = did_you_mean(column.name, known);
            if (hint.empty()) hint = "name it with AS like a column of the table";
            return Error{.code = ErrorCode::unknown_field,
                         .message = "table " + in_quotes(table.name) + " has no column " +
                                    in_quotes(column.name),
                         .at = at,
                         .hint = std::move(hint)};
        }
        if (!seen.insert(found->name).second) {
            return Error{.code = ErrorCode::schema,
                         .message = "the query gives column " + in_quotes(found->name) +
                                    " of table " + in_quotes(table.name) + " twice",
                         .at = at};
        }
        TRY(check_column(table, column, *found, at));
        column.name = found->name;
    }
    for (const SqlField& field : columns) {
        if (field.nullable || seen.contains(field.name)) continue;
        return Error{.code = ErrorCode::schema,
                     .message = "the query does not give column " + as_table(field) + " of table " +
                                in_quotes(table.name),
                     .at = at,
                     .hint = "select it, or declare it without NOT NULL"};
    }
    return given;
}

}  // namespace baton::analysis
