// Any text gives a tree or an error that points into it: over bytes, words and damaged statements.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sql/parser.h"
#include "sql/printer.h"

namespace baton::sql {
namespace {

// Two statements too long for one line.
const std::string kAggregation =
    "SELECT a + -5 AS b, s.*, COUNT(DISTINCT c), CAST(d AS INT8) FROM s AS x WHERE a BETWEEN 1 "
    "AND 2 AND NOT b IN (1, 2.5, 'x') OR c IS NOT NULL GROUP BY (a, b) WINDOW SLIDING(ts, SIZE "
    "10 SEC, ADVANCE BY 5 SEC) HAVING SUM(a) > UINT64(5) INTO t";
const std::string kJoin =
    "SELECT * FROM (SELECT a FROM s UNION SELECT b FROM t) LEFT OUTER JOIN File('x' AS SOURCE.P, "
    "SCHEMA(a INT8) AS SOURCE.SCHEMA) AS f ON a = b WINDOW TUMBLING(x, y, SIZE 1 DAY) INTO "
    "Print() SET ('q' AS QUERY.ID)";

const std::vector<std::string>& statements() {
    static const std::vector<std::string> kStatements = {
        "CREATE LOGICAL SOURCE IF NOT EXISTS s (a UINT64 NOT NULL, \"b\" BIGINT UNSIGNED)",
        "CREATE PHYSICAL SOURCE FOR s TYPE File SET ('/x' AS \"SOURCE\".FILE_PATH, 5 AS A.B)",
        "CREATE SINK t (a UINT64) TYPE Print SET ('w' AS `SINK`.HOST)",
        "CREATE WORKER 'h:1' SET (8 AS CAPACITY, 'p:2' AS DOWNSTREAM)",
        "CREATE QUERY q SET ('x' AS QUERY.ID) AS SELECT * FROM s INTO t",
        kAggregation,
        kJoin,
        "DROP QUERY IF EXISTS WHERE id = 5 MODE FORCEFUL; STOP QUERY 'x'; BEGIN; COMMIT",
        "SHOW PHYSICAL SOURCES FOR s WHERE a = 1 FORMAT JSON -- end",
        "EXPLAIN (LOGICAL, DISTRIBUTED) FORMAT TEXT SELECT a FROM s /* c */",
        "WATCH SELECT a FROM baton.queries WHERE a != 1E3 SINCE REVISION 5",
        "CREATE TASK LIST IF NOT EXISTS l PARTITIONS 8; DROP TASK LIST l",
        "ACQUIRE LOCK l OWNER 'a' TTL 5 SEC; RENEW LOCK l OWNER 'a' EPOCH 1 TTL 5 SEC",
        "RELEASE LOCK l OWNER 'a' EPOCH 1; DISABLE LOCK l; ENABLE LOCK l; DROP LOCK l",
        "WAIT FOR QUERY 5 STATE RUNNING TIMEOUT 5 MINUTES"};
    return kStatements;
}

const std::vector<std::string>& words() {
    static const std::vector<std::string> kWords = {
        "SELECT",   "FROM",    "WHERE",    "GROUP",    "BY",      "WINDOW",  "HAVING",   "INTO",
        "SET",      "UNION",   "JOIN",     "LEFT",     "OUTER",   "ON",      "AS",       "AND",
        "OR",       "NOT",     "IN",       "IS",       "BETWEEN", "NULL",    "TRUE",     "NAN",
        "CREATE",   "LOGICAL", "PHYSICAL", "SOURCE",   "SINK",    "WORKER",  "QUERY",    "DROP",
        "IF",       "EXISTS",  "MODE",     "GRACEFUL", "SHOW",    "QUERIES", "FORMAT",   "JSON",
        "EXPLAIN",  "WATCH",   "SINCE",    "REVISION", "WAIT",    "FOR",     "STATE",    "TIMEOUT",
        "TUMBLING", "SLIDING", "SIZE",     "ADVANCE",  "SEC",     "INT8",    "UNSIGNED", "INT",
        "CAST",     "COUNT",   "DISTINCT", "CASE",     "ALL",     "VALUES",  "SCHEMA",   "TYPE",
        "x",        "y",       "\"z\"",    "`z`",      "'s'",     "1",       "2.5",      ".5",
        "(",        ")",       "(",        ")",        ",",       ",",       ".",        ";",
        "=",        "<",       "+",        "-",        "*",       "/",       "--",       "/*",
        "*/",       "'",       "\""};
    return kWords;
}

void check(const std::string& text) {
    const Result<std::vector<Statement>> result = parse(text);
    (void)without_strings(text);
    if (!result) {
        const Error& error = result.error();
        RC_ASSERT(error.code == ErrorCode::syntax || error.code == ErrorCode::not_supported ||
                  error.code == ErrorCode::too_large);
        RC_ASSERT(error.at.has_value());
        RC_ASSERT(error.at->offset <= text.size());
        const auto lines = std::count(text.begin(), text.begin() + error.at->offset, '\n') + 1;
        RC_ASSERT(static_cast<std::int64_t>(error.at->line) == lines);
        RC_ASSERT(!error.message.empty());
        return;
    }
    for (const Statement& statement : *result) {
        const Result<Statement> again = parse_one(print(statement));
        RC_ASSERT(again.has_value());
        RC_ASSERT(*again == statement);
    }
}

RC_GTEST_PROP(Robustness, HoldsForAnyBytes, (const std::string& text)) {
    check(text);
}

RC_GTEST_PROP(Robustness, HoldsForAnyWords, ()) {
    const auto drawn = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(words()));
    std::string text;
    for (const std::string& word : drawn) text += word + " ";
    check(text);
}

RC_GTEST_PROP(Robustness, HoldsForDamagedStatements, ()) {
    std::string text = *rc::gen::elementOf(statements());
    const auto times = *rc::gen::inRange(1, 4);
    for (int i = 0; i < times; ++i) {
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
        const auto length = *rc::gen::inRange<std::size_t>(0, 12);
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, *rc::gen::elementOf(words()));
                break;
            case 2:
                text.insert(at, 1, *rc::gen::arbitrary<char>());
                break;
            default:
                text.insert(at, text.substr(at / 2, length));
                break;
        }
    }
    check(text);
}

}  // namespace
}  // namespace baton::sql
