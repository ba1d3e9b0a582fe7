// Queries that are drawn, most of them right and some wrong: none is a defect of ours, and every
// plan keeps the promises of the model.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/analysis/analysis.h"
#include "model/plan_check.h"
#include "sql/parser.h"

namespace baton::analysis {
namespace {

std::size_t up_to(std::size_t most) {
    return *rc::gen::inRange<std::size_t>(0, most + 1);
}

std::string one_of(const std::vector<std::string>& choices) {
    return choices[up_to(choices.size() - 1)];
}

const std::map<std::string, LogicalSource>& sources() {
    static const auto kSources = [] {
        const auto column = [](const char* name, DataType type, bool nullable) {
            return Column{.name = name, .type = type, .nullable = nullable};
        };
        Schema schema{
            .columns = {
                column("I8", DataType::int8, false), column("I32", DataType::int32, true),
                column("U32", DataType::uint32, false), column("U64", DataType::uint64, true),
                column("F32", DataType::float32, true), column("F64", DataType::float64, false),
                column("B", DataType::boolean, true), column("C", DataType::character, false),
                column("T", DataType::varsized, true), column("TS", DataType::uint64, false)}};
        std::map<std::string, LogicalSource> all;
        for (const char* name : {"S", "R"}) all[name] = {.name = name, .schema = schema};
        return all;
    }();
    return kSources;
}

// Texts of expressions of a kind; `depth` bounds what lies below. Columns are written with `of`.
struct Draw {
    std::string of;  // "" or "A."
    bool aggregates = false;

    [[nodiscard]] std::string number(std::size_t depth) const {
        if (depth == 0) {
            return one_of({of + "I8", of + "I32", of + "U32", of + "U64", of + "F32", of + "F64",
                           "1", "-1", "300", "70000", "0.5", "INT64(7)", "FLOAT32(1.5)",
                           "INT32(NULL)"});
        }
        const std::size_t below = depth - 1;
        switch (up_to(aggregates ? 7 : 6)) {
            case 0:
                return "(" + number(below) + one_of({" + ", " - ", " * ", " / "}) + number(below) +
                       ")";
            case 1:
                return one_of({"ABS(", "CEIL(", "ROUND(", "SQRT(", "- (", "+ ("}) + number(below) +
                       ")";
            case 2:
                return one_of({"CHAR_LENGTH(", "OCTET_LENGTH(", "CASTTOUNIXTS("}) + text(below) +
                       ")";
            case 3:
                return "CONDITIONAL(" + truth(below) + ", " + number(below) + ", " + number(below) +
                       ")";
            case 4:
                return "CAST(" + number(below) + " AS " + one_of({"INT8", "UINT64", "FLOAT32"}) +
                       ")";
            case 5:
                return "POW(" + number(below) + ", 2)";
            case 6:
                return number(0);
            default:
                return one_of({"SUM(", "MIN(", "MAX(", "AVG(", "COUNT(", "STDDEV("}) +
                       Draw{.of = of}.number(below) + ")";
        }
    }

    [[nodiscard]] std::string text(std::size_t depth) const {
        if (depth == 0) return one_of({of + "T", of + "C", "'x'", "VARSIZED('y')"});
        switch (up_to(3)) {
            case 0:
                return "CONCAT(" + text(depth - 1) + ", " + text(depth - 1) + ")";
            case 1:
                return "TO_BASE64(" + text(depth - 1) + ")";
            case 2:
                return "CAST(" + number(depth - 1) + " AS VARSIZED)";
            default:
                return text(0);
        }
    }

    [[nodiscard]] std::string truth(std::size_t depth) const {
        if (depth == 0) return one_of({of + "B", "TRUE", of + "I8 > 1", of + "T IS NULL"});
        const std::size_t below = depth - 1;
        switch (up_to(7)) {
            case 0:
                return "(" + truth(below) + one_of({" AND ", " OR "}) + truth(below) + ")";
            case 1:
                return "NOT (" + truth(below) + ")";
            case 2:
                return "(" + number(below) + one_of({" = ", " != ", " < ", " >= "}) +
                       number(below) + ")";
            case 3:
                return "(" + number(below) + one_of({" BETWEEN ", " NOT BETWEEN "}) +
                       number(below) + " AND " + number(below) + ")";
            case 4:
                return "(" + number(below) + one_of({" IN (", " NOT IN ("}) + number(below) + ", " +
                       number(below) + ", NULL))";
            case 5:
                return "(" + text(below) + " < " + text(below) + ")";
            case 6:
                return "(" + number(below) + one_of({" IS NAN", " IS NOT NULL", " = NULL"}) + ")";
            default:
                // Now and then what is no truth, and what is not there.
                return one_of({number(below), "nobody", of + "B"});
        }
    }
};

std::string window() {
    return one_of({"WINDOW TUMBLING(ts, SIZE 1 SEC)", "WINDOW TUMBLING(SIZE 10 MS)",
                   "WINDOW SLIDING(ts, SIZE 1 MIN, ADVANCE BY 7 SEC)"});
}

std::string query(std::size_t depth);

// A relation that has the columns of S, by whatever way.
std::string relation(std::size_t depth) {
    if (depth == 0) return one_of({"s", "r", "s AS a"});
    switch (up_to(3)) {
        case 0:
            return "(SELECT * FROM " + relation(depth - 1) + " WHERE " + Draw{}.truth(1) + ")";
        case 1:
            return "(SELECT * FROM " + relation(depth - 1) + " UNION SELECT * FROM " +
                   relation(depth - 1) + ")";
        case 2:
            return "(SELECT a.* FROM " + one_of({"s", "r"}) + " AS a " +
                   one_of({"", "LEFT ", "RIGHT ", "FULL "}) + "JOIN (SELECT * FROM " +
                   relation(depth - 1) + ") AS b ON " + Draw{.of = "a."}.truth(1) + " AND " +
                   Draw{.of = "b."}.truth(1) + " " + window() + ")";
        default:
            return relation(0);
    }
}

std::string aggregation(std::size_t depth) {
    const Draw key;
    const std::string group = key.number(1);
    const Draw grouped{.aggregates = true};
    std::string text = "SELECT start, " + one_of({group, "end", "COUNT(*)"}) + " AS k, SUM(" +
                       key.number(1) + ") + MAX(" + key.number(1) + ") AS m";
    if (up_to(2) == 0) text += ", " + grouped.number(2) + " AS n";
    text += " FROM " + relation(depth);
    if (up_to(1) == 0) text += " WHERE " + key.truth(1);
    text += " GROUP BY " + group + ", " + key.text(0) + " " + window();
    if (up_to(1) == 0) text += " HAVING m > 1 AND COUNT(*) < 10";
    return text;
}

std::string query(std::size_t depth) {
    if (up_to(2) == 0) return aggregation(depth);
    const Draw draw;
    return "SELECT " + one_of({"*, ", "", ""}) + draw.number(3) + " AS n, " + draw.text(2) +
           " AS w, " + draw.truth(3) + " AS v FROM " + relation(depth) + " WHERE " + draw.truth(2);
}

RC_GTEST_PROP(AnalysisProperty, EveryPlanKeepsThePromisesOfTheModel, ()) {
    const std::string text = query(2) + " INTO Print()";
    const auto parsed = sql::parse_one(text);
    if (!parsed) RC_FAIL(text + "\n" + to_string(parsed.error()));
    const auto& statement = std::get<sql::CreateQuery>(parsed->node);
    const auto plan =
        analyse(statement.query, statement.sink,
                {.logical_sources = sources(), .known_sources = {}, .known_sinks = {}});
    RC_CLASSIFY(plan.has_value(), "planned");
    if (!plan) {
        RC_ASSERT(plan.error().at.has_value());
        RC_ASSERT(number(plan.error().code) / 1000 == 2);
        return;
    }
    const std::string wrong = what_is_wrong(plan->root);
    if (!wrong.empty()) RC_FAIL(text + "\n" + wrong);
    std::set<std::string> names;
    for (const Column& column : plan->schema.columns) RC_ASSERT(names.insert(column.name).second);
    RC_ASSERT(plan->schema == plan->root.schema);
}

}  // namespace
}  // namespace baton::analysis
