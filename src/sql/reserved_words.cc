#include "sql/reserved_words.h"

#include <algorithm>
#include <array>
#include <span>

namespace baton::sql {

namespace {

constexpr std::array<std::string_view, 25> kReserved = {
    "AND",   "AS",     "BETWEEN", "FALSE", "FROM",  "FULL",  "GROUP", "HAVING", "IN",
    "INNER", "INTO",   "IS",      "JOIN",  "LEFT",  "NOT",   "NULL",  "ON",     "OR",
    "RIGHT", "SELECT", "SET",     "TRUE",  "UNION", "WHERE", "WINDOW"};

constexpr std::array<std::string_view, 4> kDoubtful = {"ALL", "CASE", "DISTINCT", "VALUES"};

constexpr std::string_view kSources = "data comes from sources only";
constexpr std::string_view kAppend = "rows of a table are added with INSERT and never changed";
constexpr std::string_view kReplace = "drop it and create it again";
constexpr std::string_view kNoSort = "rows leave a query as their windows close";

constexpr std::array kStatements = {
    Unsupported{"UPDATE", "UPDATE", kAppend},
    Unsupported{"DELETE", "DELETE", kAppend},
    Unsupported{"MERGE", "MERGE", kAppend},
    Unsupported{"TRUNCATE", "TRUNCATE", "DROP TABLE and CREATE TABLE give an empty one"},
    Unsupported{"COPY", "COPY", "write CREATE PHYSICAL SOURCE FOR .. TYPE File"},
    Unsupported{"VALUES", "VALUES", kSources},
    Unsupported{"TABLE", "TABLE", "write SELECT * FROM .."},
    Unsupported{"ALTER", "ALTER", kReplace},
    Unsupported{"REPLACE", "REPLACE", kReplace},
    Unsupported{"RENAME", "RENAME", kReplace},
    Unsupported{"WITH", "WITH", "write the query in parentheses after FROM"},
    Unsupported{"SET", "SET as a statement", "settings stand in a statement: SET (value AS KEY)"},
    Unsupported{"START", "START", "to begin a bundle, write BEGIN"},
    Unsupported{"SAVEPOINT", "SAVEPOINT", "a bundle is all or nothing"},
    Unsupported{"RELEASE", "RELEASE", "a bundle is all or nothing"},
    Unsupported{"DESCRIBE", "DESCRIBE", "write SHOW or EXPLAIN"},
    Unsupported{"USE", "USE", "there is one catalog"},
    Unsupported{"GRANT", "GRANT", ""},
    Unsupported{"REVOKE", "REVOKE", ""},
    Unsupported{"PREPARE", "PREPARE", ""},
    Unsupported{"EXECUTE", "EXECUTE", ""},
    Unsupported{"DECLARE", "DECLARE", ""},
    Unsupported{"CALL", "CALL", ""},
    Unsupported{"ANALYZE", "ANALYZE", "write EXPLAIN"},
};

constexpr std::array kEntities = {
    Unsupported{"STREAM", "STREAM", "write LOGICAL SOURCE"},
    Unsupported{"VIEW", "VIEW", "write the query in parentheses after FROM"},
    Unsupported{"MATERIALIZED", "MATERIALIZED VIEW",
                "write CREATE QUERY name AS SELECT .. INTO .."},
    Unsupported{"OR", "OR REPLACE", kReplace},
    Unsupported{"TEMPORARY", "TEMPORARY", ""},
    Unsupported{"TEMP", "TEMP", ""},
    Unsupported{"INDEX", "INDEX", ""},
    Unsupported{"UNIQUE", "UNIQUE", ""},
    Unsupported{"DATABASE", "DATABASE", "there is one catalog"},
    Unsupported{"SCHEMA", "SCHEMA", "there is one catalog"},
    Unsupported{"FUNCTION", "FUNCTION", ""},
    Unsupported{"USER", "USER", ""},
    Unsupported{"ROLE", "ROLE", ""},
};

constexpr std::string_view kJoins = "write JOIN .. ON .. WINDOW ..";
constexpr std::string_view kWindows = "write TUMBLING or SLIDING";

constexpr std::array kClauses = {
    Unsupported{"ORDER", "ORDER BY", kNoSort},
    Unsupported{"SORT", "SORT BY", kNoSort},
    Unsupported{"LIMIT", "LIMIT here", "it stands at the end of a SELECT without INTO"},
    Unsupported{"OFFSET", "OFFSET", "choose rows with WHERE"},
    Unsupported{"FETCH", "FETCH", "choose rows with WHERE"},
    Unsupported{"QUALIFY", "QUALIFY", "write HAVING, or a query in parentheses after FROM"},
    Unsupported{"CROSS", "CROSS JOIN", kJoins},
    Unsupported{"NATURAL", "NATURAL JOIN", kJoins},
    Unsupported{"ASOF", "ASOF JOIN", kJoins},
    Unsupported{"SEMI", "SEMI JOIN", kJoins},
    Unsupported{"ANTI", "ANTI JOIN", kJoins},
    Unsupported{"LATERAL", "LATERAL", kJoins},
    Unsupported{"USING", "USING", "write ON a.x = b.x"},
    Unsupported{"INTERSECT", "INTERSECT", "write a JOIN"},
    Unsupported{"EXCEPT", "EXCEPT", ""},
    Unsupported{"MINUS", "MINUS", ""},
    Unsupported{"WITH", "WITH", ""},
    Unsupported{"WATERMARK", "WATERMARK", "the largest timestamp seen is the watermark"},
    Unsupported{"THRESHOLD", "a THRESHOLD window", kWindows},
    Unsupported{"SESSION", "a SESSION window", kWindows},
    Unsupported{"HOPPING", "a HOPPING window", "write SLIDING"},
    Unsupported{"HOP", "a HOP window", "write SLIDING"},
    Unsupported{"OVER", "OVER", "write GROUP BY .. WINDOW .."},
    Unsupported{"FILTER", "FILTER", "write CONDITIONAL within the aggregate"},
    Unsupported{"LIKE", "LIKE", ""},
    Unsupported{"ILIKE", "ILIKE", ""},
    Unsupported{"RLIKE", "RLIKE", ""},
    Unsupported{"REGEXP", "REGEXP", ""},
    Unsupported{"SIMILAR", "SIMILAR TO", ""},
    Unsupported{"COLLATE", "COLLATE", ""},
    Unsupported{"TABLESAMPLE", "TABLESAMPLE", "choose rows with WHERE"},
    Unsupported{"DEFAULT", "DEFAULT", ""},
    Unsupported{"PRIMARY", "PRIMARY KEY", ""},
    Unsupported{"UNIQUE", "UNIQUE", ""},
    Unsupported{"REFERENCES", "REFERENCES", ""},
    Unsupported{"RETURNING", "RETURNING", ""},
};

const Unsupported* find(std::span<const Unsupported> list, std::string_view word) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const Unsupported& known) { return known.word == word; });
    return found == list.end() ? nullptr : &*found;
}

}  // namespace

bool is_reserved(std::string_view word) {
    return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

bool is_doubtful(std::string_view word) {
    return std::find(kDoubtful.begin(), kDoubtful.end(), word) != kDoubtful.end();
}

const Unsupported* unsupported_statement(std::string_view word) {
    return find(kStatements, word);
}

const Unsupported* unsupported_entity(std::string_view word) {
    return find(kEntities, word);
}

const Unsupported* unsupported_clause(std::string_view word) {
    return find(kClauses, word);
}

}  // namespace baton::sql
