// A condition asked of a row in memory and of the database gives the same answer.
#include "catalog/views/predicate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "properties/picks.h"
#include "properties/predicates.h"
#include "properties/world.h"
#include "sql/printer.h"

namespace baton::properties {

namespace {

const kinds::View& view_of_everything() {
    static const kinds::View kView{
        .name = "EVERYTHING",
        .table = "everything",
        .columns = {{.name = "T", .type = kinds::ViewType::text},
                    {.name = "U", .type = kinds::ViewType::text},
                    {.name = "I", .type = kinds::ViewType::integer},
                    {.name = "J", .type = kinds::ViewType::integer},
                    {.name = "B", .type = kinds::ViewType::boolean},
                    {.name = "C", .type = kinds::ViewType::boolean},
                    {.name = "AT", .type = kinds::ViewType::time},
                    {.name = "X", .type = kinds::ViewType::json, .derived = true}}};
    return kView;
}

// A table like the view, in a database that lasts as long as the process.
Sql& table_of_everything() {
    static const std::unique_ptr<SqlDatabase> kDatabase = *sqlite::open_temporary_sqlite();
    static const std::unique_ptr<Sql> kSql = [] {
        auto sql = *kDatabase->connect(Access::write);
        (void)*sql->run_script(
            "CREATE TABLE everything (\"T\" TEXT, \"U\" TEXT, \"I\" INTEGER, \"J\" INTEGER, "
            "\"B\" INTEGER, \"C\" INTEGER, \"AT\" TEXT, \"X\" TEXT) STRICT");
        return sql;
    }();
    return *kSql;
}

rc::Gen<std::vector<SqlRow>> any_rows() {
    return rc::gen::exec([] {
        std::vector<SqlRow> rows;
        const int count = between(1, 20);
        for (int i = 0; i < count; ++i) {
            SqlRow row;
            for (const kinds::ViewColumn& column : view_of_everything().columns) {
                row.push_back(any_value(column.type));
            }
            rows.push_back(std::move(row));
        }
        return rows;
    });
}

// One case is quick: each run has many.
constexpr int kConditions = 30;

void require_same_as_sql() {
    const sql::Expr where = *any_condition(view_of_everything(), true);
    const auto predicate = require_value(views::Predicate::compile(view_of_everything(), where));
    const auto condition = predicate.to_sql(SqlDialect::sqlite);
    RC_LOG() << sql::print(where) << "\n" << condition.sql << std::endl;
    Sql& sql = table_of_everything();
    for (const SqlRow& row : *any_rows()) {
        (void)require_value(sql.execute("DELETE FROM everything"));
        (void)require_value(
            sql.run("INSERT INTO everything VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row, nullptr));
        const auto found = require_value(sql.query_with(
            "SELECT 1 FROM everything WHERE " + condition.sql, condition.parameters));
        std::string values;
        for (const SqlValue& value : row)
            values += " [" + shown(value, kinds::ViewType::text) + "]";
        require(predicate.matches(row) == (found.size() == 1), "they disagree about" + values);
    }
}

RC_GTEST_PROP(PredicateProperty, MatchesARowExactlyIfItsSqlDoes, ()) {
    for (int i = 0; i < kConditions; ++i) require_same_as_sql();
}

RC_GTEST_PROP(PredicateProperty, AndItsNegationNeverMatchTheSameRow, ()) {
    const sql::Expr where = *any_condition(view_of_everything(), true);
    sql::Expr opposite;
    opposite.node = sql::Unary{sql::UnaryOp::logical_not, {where}};
    const auto yes = require_value(views::Predicate::compile(view_of_everything(), where));
    const auto no = require_value(views::Predicate::compile(view_of_everything(), opposite));
    for (const SqlRow& row : *any_rows()) {
        require(!(yes.matches(row) && no.matches(row)), "a row matches a condition and its NOT");
    }
    require(yes.needs_derived() == no.needs_derived(), "NOT changes which columns are needed");
}

}  // namespace

}  // namespace baton::properties
