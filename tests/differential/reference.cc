#include "differential/reference.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include <sqlite3.h>

namespace baton::differential {

namespace {

struct Closes {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Closes>;

Error failed(sqlite3* database, const std::string& sql) {
    return Error{.code = ErrorCode::defect,
                 .message = std::string(sqlite3_errmsg(database)) + " in " + sql};
}

Result<Done> run(sqlite3* database, const std::string& sql) {
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return Done{};
    return failed(database, sql);
}

// ---- MEDIAN, which SQLite has not ---------------------------------------------------------------

using Numbers = std::vector<double>;

void median_step(sqlite3_context* context, int, sqlite3_value** values) {
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    auto** numbers = static_cast<Numbers**>(sqlite3_aggregate_context(context, sizeof(Numbers*)));
    if (*numbers == nullptr) *numbers = std::make_unique<Numbers>().release();
    (*numbers)->push_back(sqlite3_value_double(values[0]));
}

void median_final(sqlite3_context* context) {
    auto** there = static_cast<Numbers**>(sqlite3_aggregate_context(context, 0));
    if (there == nullptr || *there == nullptr) return;  // NULL
    const std::unique_ptr<Numbers> numbers(*there);
    std::sort(numbers->begin(), numbers->end());
    const std::size_t half = numbers->size() / 2;
    const double upper = (*numbers)[half];
    const bool odd = numbers->size() % 2 == 1;
    sqlite3_result_double(context, odd ? upper : ((*numbers)[half - 1] + upper) / 2);
}

// ---- tables
// ---------------------------------------------------------------------------------------

std::string literal(const std::optional<std::string>& cell, Kind kind) {
    if (!cell) return "NULL";
    return kind == Kind::text ? "'" + *cell + "'" : *cell;
}

Result<Done> load(sqlite3* database, const Table& table) {
    constexpr std::array kTypes = {"INTEGER", "REAL", "INTEGER", "TEXT"};
    std::string create;
    for (const Table::Column& column : table.columns) {
        create += (create.empty() ? "" : ", ") + column.name + " " +
                  kTypes[static_cast<std::size_t>(column.kind)];
    }
    TRY(run(database, "CREATE TABLE " + table.name + " (" + create + ")"));
    for (const auto& row : table.rows) {
        std::string values;
        for (std::size_t i = 0; i < row.size(); ++i) {
            values += (i == 0 ? "" : ", ") + literal(row[i], table.columns[i].kind);
        }
        TRY(run(database, "INSERT INTO " + table.name + " VALUES (" + values + ")"));
    }
    return Done{};
}

// As Baton writes it.
std::string cell_of(sqlite3_stmt* statement, int column, Kind kind) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return "NULL";
    if (kind != Kind::real) {
        const unsigned char* text = sqlite3_column_text(statement, column);
        return reinterpret_cast<const char*>(text);
    }
    std::array<char, 400> digits{};
    std::snprintf(digits.data(), digits.size(), "%.6f", sqlite3_column_double(statement, column));
    std::string text(digits.data());
    while (text.ends_with('0') && text[text.size() - 2] != '.') text.pop_back();
    return text;
}

}  // namespace

Result<std::vector<std::string>> reference_rows(const Case& of) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open(":memory:", &opened);
    const Database database(opened);
    if (status != SQLITE_OK) return failed(opened, "open");
    sqlite3_create_function(opened, "MEDIAN", 1, SQLITE_UTF8, nullptr, nullptr, median_step,
                            median_final);
    for (const Table& table : of.tables) TRY(load(opened, table));
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(opened, of.query.sqlite.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
        return failed(opened, of.query.sqlite);
    }
    const std::unique_ptr<sqlite3_stmt, Closes> statement(prepared);
    std::vector<std::string> rows;
    int step = sqlite3_step(prepared);
    for (; step == SQLITE_ROW; step = sqlite3_step(prepared)) {
        std::string row;
        for (std::size_t i = 0; i < of.kinds.size(); ++i) {
            row += (i == 0 ? "" : ",") + cell_of(prepared, static_cast<int>(i), of.kinds[i]);
        }
        rows.push_back(std::move(row));
    }
    if (step != SQLITE_DONE) return failed(opened, of.query.sqlite);
    return rows;
}

std::vector<std::string> csv_rows(const Table& table) {
    std::vector<std::string> rows;
    for (const auto& cells : table.rows) {
        std::string row;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i > 0) row += ",";
            if (cells[i]) row += cells[i]->empty() ? "\"\"" : *cells[i];
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace baton::differential
