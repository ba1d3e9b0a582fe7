#include "differential/cases.h"

#include <algorithm>
#include <array>

namespace baton::differential {

namespace {

constexpr std::uint64_t kTimeMax = 5000;
constexpr unsigned kDepth = 3;

// What can stand after FROM.
struct Relation {
    Both from;
    Fields fields;
    std::string time;  // the name of a column that is never NULL
};

struct Query {
    Both text;
    std::vector<Kind> kinds;
    std::vector<std::string> names = {};  // of an aggregation; the first column is START
};

std::string any_cell(Prng& prng, Kind kind) {
    constexpr std::array kTexts = {"", "a", "ab", "Zed", "ü", "x1"};
    switch (kind) {
        case Kind::whole:
            return std::to_string(static_cast<int>(prng.between(0, 20)) - 10);
        case Kind::real: {
            const int halves = static_cast<int>(prng.between(0, 32)) - 16;
            return std::string(halves < 0 ? "-" : "") + std::to_string(std::abs(halves) / 2) +
                   (halves % 2 == 0 ? ".0" : ".5");
        }
        case Kind::truth:
            return prng.chance(1, 2) ? "true" : "false";
        case Kind::text:
            break;
    }
    return kTexts[prng.between(0, kTexts.size() - 1)];
}

Table any_table(Prng& prng, std::uint64_t seed, std::size_t number) {
    const std::string mark = std::to_string(number);
    Table table{.name = "t" + std::to_string(seed) + "_" + mark, .columns = {}, .rows = {}};
    table.columns = {{"ts" + mark, Kind::whole, false},
                     {"a" + mark, Kind::whole, true},
                     {"b" + mark, Kind::whole, prng.chance(1, 2)},
                     {"f" + mark, Kind::real, true},
                     {"p" + mark, Kind::truth, true},
                     {"s" + mark, Kind::text, true}};
    std::vector<std::uint64_t> times(prng.between(0, 25));
    for (std::uint64_t& time : times) time = prng.between(0, kTimeMax);
    std::sort(times.begin(), times.end());
    for (const std::uint64_t time : times) {
        auto& row = table.rows.emplace_back();
        row.emplace_back(std::to_string(time));
        for (std::size_t i = 1; i < table.columns.size(); ++i) {
            const bool null = table.columns[i].nullable && prng.chance(1, 5);
            if (null) {
                row.emplace_back();
            } else {
                row.emplace_back(any_cell(prng, table.columns[i].kind));
            }
        }
    }
    return table;
}

class CaseMaker {
public:
    explicit CaseMaker(std::uint64_t seed) : prng_(seed) {
        for (std::size_t i = 0; i < 3; ++i) tables_.push_back(any_table(prng_, seed, i));
    }

    Case make() {
        Query query = top();
        return {.tables = std::move(tables_),
                .query = std::move(query.text),
                .kinds = std::move(query.kinds)};
    }

private:
    std::string name() { return "c" + std::to_string(++names_); }

    Both where(const Fields& fields) {
        if (prng_.chance(1, 3)) return {};
        const Both condition = expression(prng_, fields, Kind::truth, kDepth);
        return {" WHERE " + condition.baton, " WHERE " + condition.sqlite};
    }

    Query top() {
        switch (prng_.between(0, 4)) {
            case 0:
                return plain(relation(2), any_columns(""));
            case 1:
                return all_of(any_columns(""));
            case 2:
                return joined(any_columns(""));
            default:
                return aggregated(relation(2), Numbers::any);
        }
    }

    // What a query is to give: columns of these kinds, and before them its time if that has a name.
    struct Columns {
        std::string time;
        std::vector<std::string> names;
        std::vector<Kind> kinds;
    };

    Columns any_columns(const std::string& time) {
        Columns columns{.time = time, .names = {}, .kinds = {}};
        const std::uint64_t count = prng_.between(1, 4);
        for (std::uint64_t i = 0; i < count; ++i) {
            columns.names.push_back(name());
            columns.kinds.push_back(any_kind(prng_));
        }
        return columns;
    }

    Relation table() {
        const Table& table = tables_[prng_.between(0, tables_.size() - 1)];
        return of_table(table);
    }

    static Relation of_table(const Table& table) {
        Relation relation{.from = column(table.name), .fields = {}, .time = table.columns[0].name};
        for (const Table::Column& each : table.columns) {
            relation.fields.push_back({column(each.name), each.kind});
        }
        return relation;
    }

    Relation relation(unsigned depth) {
        const std::uint64_t choice = depth == 0 ? 0 : prng_.between(0, 6);
        if (choice < 3) return table();
        if (choice == 6) return of_groups(aggregated(relation(depth - 1), Numbers::exact));
        const Columns columns = any_columns(name());
        const Query query = choice == 3   ? plain(relation(depth - 1), columns)
                            : choice == 4 ? all_of(columns)
                                          : joined(columns);
        Relation made{.from = {"(" + query.text.baton + ")", "(" + query.text.sqlite + ")"},
                      .fields = {{column(columns.time), Kind::whole}},
                      .time = columns.time};
        for (std::size_t i = 0; i < columns.names.size(); ++i) {
            made.fields.push_back({column(columns.names[i]), columns.kinds[i]});
        }
        name_it(made);
        return made;
    }

    void name_it(Relation& relation) {
        const std::string alias = " AS q" + std::to_string(++aliases_);
        relation.from.baton += alias;
        relation.from.sqlite += alias;
    }

    Relation of_groups(const Query& query) {
        Relation made{.from = {"(" + query.text.baton + ")", "(" + query.text.sqlite + ")"},
                      .fields = {},
                      .time = query.names.front()};
        for (std::size_t i = 0; i < query.names.size(); ++i) {
            made.fields.push_back({column(query.names[i]), query.kinds[i]});
        }
        name_it(made);
        return made;
    }

    Both selected(const Fields& fields, const std::string& time, const Columns& columns) {
        Both list{"SELECT ", "SELECT "};
        const auto add = [&](const Both& what, const std::string& as, bool first) {
            list.baton += (first ? "" : ", ") + what.baton + " AS " + as;
            list.sqlite += (first ? "" : ", ") + what.sqlite + " AS " + as;
        };
        if (!columns.time.empty()) add(column(time), columns.time, true);
        for (std::size_t i = 0; i < columns.names.size(); ++i) {
            const bool first = i == 0 && columns.time.empty();
            add(expression(prng_, fields, columns.kinds[i], kDepth), columns.names[i], first);
        }
        return list;
    }

    Query plain(const Relation& from, const Columns& columns) {
        const Both list = selected(from.fields, from.time, columns);
        const Both condition = where(from.fields);
        return {{list.baton + " FROM " + from.from.baton + condition.baton,
                 list.sqlite + " FROM " + from.from.sqlite + condition.sqlite},
                columns.kinds};
    }

    Query all_of(const Columns& columns) {
        Query all = plain(table(), columns);
        const std::uint64_t more = prng_.between(1, 2);
        for (std::uint64_t i = 0; i < more; ++i) {
            const Query next = plain(table(), columns);
            all.text.baton += " UNION " + next.text.baton;
            all.text.sqlite += " UNION ALL " + next.text.sqlite;
        }
        return all;
    }

    // With a time it keeps the left rows, so that the time is never NULL.
    Query joined(const Columns& columns) {
        constexpr std::array kWords = {" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "};
        const std::size_t first = prng_.between(0, tables_.size() - 1);
        const Relation left = of_table(tables_[first]);
        const Relation right = of_table(tables_[(first + 1) % tables_.size()]);
        Fields both = left.fields;
        both.insert(both.end(), right.fields.begin(), right.fields.end());
        const std::string word = kWords[prng_.between(0, columns.time.empty() ? 3 : 1)];
        const std::string size = std::to_string(prng_.between(1, 6) * 1000);
        const Both list = selected(both, left.time, columns);
        const Both on = join_condition(left, right, both);
        const Both condition = where(both);
        return {{list.baton + " FROM " + left.from.baton + word + right.from.baton + " ON " +
                     on.baton + " WINDOW TUMBLING(" + left.time + ", " + right.time + ", SIZE " +
                     size + " MS)" + condition.baton,
                 list.sqlite + " FROM " + left.from.sqlite + word + right.from.sqlite + " ON " +
                     on.sqlite + " AND " + left.time + " / " + size + " = " + right.time + " / " +
                     size + condition.sqlite},
                columns.kinds};
    }

    Both join_condition(const Relation& left, const Relation& right, const Fields& both) {
        if (prng_.chance(1, 5)) return expression(prng_, both, Kind::truth, 2);
        const Kind kind = any_kind(prng_);
        const Both one = expression(prng_, left.fields, kind, 1);
        const Both other = expression(prng_, right.fields, kind, 1);
        Both on{one.baton + " = " + other.baton, one.sqlite + " = " + other.sqlite};
        if (prng_.chance(1, 3)) {
            const Both more = expression(prng_, both, Kind::truth, 2);
            on.baton += " AND " + more.baton;
            on.sqlite += " AND " + more.sqlite;
        }
        return on;
    }

    // Whether a real number may be rounded: then it is not to be computed with any further, as the
    // order of rows would matter.
    enum class Numbers { any, exact };

    Field any_aggregate(const Fields& fields, Numbers numbers) {
        constexpr std::array kAll = {"SUM(", "MIN(", "MAX(", "AVG(", "MEDIAN("};
        const std::vector<std::string> functions(
            kAll.begin(), kAll.begin() + (numbers == Numbers::exact ? 3 : 5));
        const std::uint64_t choice = prng_.between(0, functions.size() + 1);
        if (choice > functions.size())
            return {{"CAST(COUNT(*) AS INT64)", "COUNT(*)"}, Kind::whole};
        const bool counts = choice == functions.size();
        const Kind kind = counts ? any_kind(prng_) : prng_.chance(2, 3) ? Kind::whole : Kind::real;
        const Both of = expression(prng_, fields, kind, 2);
        if (counts) {
            const std::string distinct = prng_.chance(1, 2) ? "DISTINCT " : "";
            return {{"CAST(COUNT(" + distinct + of.baton + ") AS INT64)",
                     "COUNT(" + distinct + of.sqlite + ")"},
                    Kind::whole};
        }
        const std::string function = functions[choice];
        return {{function + of.baton + ")", function + of.sqlite + ")"},
                choice > 2 ? Kind::real : kind};
    }

    struct Window {
        Both clause;  // SQLite's: what is joined for it
        std::string start;
    };

    Window any_window(const std::string& time) {
        const std::string size = std::to_string(prng_.between(1, 8) * 500);
        if (prng_.chance(1, 2)) {
            return {{" WINDOW TUMBLING(" + time + ", SIZE " + size + " MS)", ""},
                    "(" + time + " / " + size + " * " + size + ")"};
        }
        const std::string advance = std::to_string(prng_.between(1, 6) * 500);
        return {
            {" WINDOW SLIDING(" + time + ", SIZE " + size + " MS, ADVANCE BY " + advance + " MS)",
             " JOIN (WITH RECURSIVE w(s) AS (SELECT 0 UNION ALL SELECT s + " + advance +
                 " FROM w WHERE s < " + std::to_string(kTimeMax) + ") SELECT s FROM w) AS win" +
                 " ON " + time + " >= win.s AND " + time + " < win.s + " + size},
            "win.s"};
    }

    Query aggregated(const Relation& from, Numbers numbers) {
        const Window window = any_window(from.time);
        const Both condition = where(from.fields);
        Fields after = {{{"CAST(start AS INT64)", window.start}, Kind::whole}};
        Both keys;
        const std::uint64_t key_count = prng_.between(0, 2);
        for (std::uint64_t i = 0; i < key_count; ++i) {
            const Kind kind = any_kind(prng_);
            const Both key = expression(prng_, from.fields, kind, 1);
            keys.baton += (i == 0 ? " GROUP BY " : ", ") + key.baton;
            // A constant alone would be the number of a column there.
            keys.sqlite += ", CASE WHEN 1 THEN " + key.sqlite + " END";
            after.push_back({key, kind});
        }
        const std::uint64_t aggregates = prng_.between(1, 3);
        for (std::uint64_t i = 0; i < aggregates; ++i) {
            after.push_back(any_aggregate(from.fields, numbers));
        }
        Query query;
        Both list;
        const auto add = [&](const Both& what, Kind kind) {
            const std::string as = name();
            list.baton += (query.kinds.empty() ? "" : ", ") + what.baton + " AS " + as;
            list.sqlite += (query.kinds.empty() ? "" : ", ") + what.sqlite + " AS " + as;
            query.kinds.push_back(kind);
            query.names.push_back(as);
        };
        for (const Field& field : after) add(field.written, field.kind);
        const Kind around = any_kind(prng_);
        add(expression(prng_, after, around, 2), around);
        Both having;
        if (prng_.chance(1, 3)) {
            const Both kept = expression(prng_, after, Kind::truth, 2);
            having = {" HAVING " + kept.baton, " HAVING " + kept.sqlite};
        }
        query.text.baton = "SELECT " + list.baton + " FROM " + from.from.baton + condition.baton +
                           keys.baton + window.clause.baton + having.baton;
        query.text.sqlite = "SELECT " + list.sqlite + " FROM " + from.from.sqlite +
                            window.clause.sqlite + condition.sqlite + " GROUP BY " + window.start +
                            keys.sqlite + having.sqlite;
        return query;
    }

    Prng prng_;
    std::vector<Table> tables_;
    std::size_t names_ = 0;
    std::size_t aliases_ = 0;
};

}  // namespace

Case make_case(std::uint64_t seed) {
    return CaseMaker(seed).make();
}

}  // namespace baton::differential
