#include "sql/parser.h"

#include <gtest/gtest.h>

#include "sql/printer.h"

namespace baton::sql {
namespace {

template <class T>
T parsed_as(std::string_view text) {
    const Result<Statement> statement = parse_one(text);
    EXPECT_TRUE(statement.has_value()) << text << ": " << to_string(statement.error());
    return std::get<T>(statement->node);
}

Expr expression(const std::string& text) {
    return *parsed_as<Show>("SHOW QUERIES WHERE " + text).where;
}

Expr literal(Literal value) {
    return {.node = std::move(value)};
}

Expr column(const std::string& name) {
    return {.node = ColumnRef{.parts = {name}}};
}

std::string parse_error_of(std::string_view text, const Limits& limits = {}) {
    const Result<std::vector<Statement>> statements = parse(text, limits);
    return statements ? "no error" : to_string(statements.error());
}

TEST(Parser, GivesNoStatementsForAnEmptyText) {
    EXPECT_TRUE(parse("")->empty());
    EXPECT_TRUE(parse(" ;; -- nothing\n /* */ ;")->empty());
}

TEST(Parser, SeparatesStatementsBySemicolons) {
    EXPECT_EQ(parse("BEGIN; SHOW QUERIES;; COMMIT")->size(), 3U);
    EXPECT_EQ(parse_error_of("BEGIN SHOW QUERIES"),
              "error 2000 at 1:7: expected TRANSACTION, WORK, \";\" or the end of the text, "
              "found \"SHOW\"");
}

TEST(Parser, ParsesExactlyOneStatementWhenAskedTo) {
    EXPECT_TRUE(parse_one(";BEGIN;;"));
    EXPECT_EQ(to_string(parse_one("BEGIN;\nCOMMIT").error()),
              "error 2000 at 2:1: only one statement can be given here; send them one by one");
    EXPECT_EQ(parse_one("").error().code, ErrorCode::syntax);
}

TEST(Parser, FoldsUnquotedNamesToUpperCase) {
    EXPECT_EQ(
        parsed_as<CreateLogicalSource>("create logical source s (a int8)"),
        (CreateLogicalSource{.name = "S", .schema = {{{.name = "A", .type = DataType::int8}}}}));
}

TEST(Parser, KeepsQuotedNamesAndStringsAsNames) {
    EXPECT_EQ(parsed_as<DrainWorker>("DRAIN WORKER 'Host:1'").name, "Host:1");
    EXPECT_EQ(parsed_as<DrainWorker>("DRAIN WORKER \"Host:1\"").name, "Host:1");
    EXPECT_EQ(parsed_as<DrainWorker>("DRAIN WORKER `Host:1`").name, "Host:1");
    EXPECT_EQ(parsed_as<DrainWorker>("DRAIN WORKER Host_1").name, "HOST_1");
}

TEST(Parser, RemembersWhereThingsWereWritten) {
    const Result<std::vector<Statement>> statements =
        parse("BEGIN;\n  SELECT a +\n b FROM s INTO t");
    ASSERT_TRUE(statements.has_value());
    const Statement& second = statements->at(1);
    EXPECT_EQ(second.at.line, 2U);
    EXPECT_EQ(second.at.column, 3U);
    const auto& query = std::get<CreateQuery>(second.node);
    EXPECT_EQ(query.sink.at.column, 16U);
    const auto& select = std::get<Select>(query.query.node);
    EXPECT_EQ(select.from.at.offset, 28U);
    const auto& sum = std::get<Binary>(select.items.front().expr.node);
    EXPECT_EQ(sum.operands[1].at.line, 3U);
    EXPECT_EQ(sum.operands[1].at.column, 2U);
}

TEST(Parser, MakesAMinusBeforeANumberPartOfIt) {
    EXPECT_EQ(expression("-5"), literal(Integer{.negative = true, .magnitude = 5}));
    EXPECT_EQ(expression("- 5"), literal(Integer{.negative = true, .magnitude = 5}));
    EXPECT_EQ(expression("-0"), literal(Integer{}));
    EXPECT_EQ(expression("-1.5"), literal(-1.5));
    EXPECT_EQ(expression("-9223372036854775808"),
              literal(Integer{.negative = true, .magnitude = std::uint64_t{1} << 63U}));
}

TEST(Parser, MakesAMinusBetweenOperandsAnOperator) {
    const Expr expected{.node = Binary{.op = BinaryOp::subtract,
                                       .operands = {column("A"), literal(Integer{false, 5})}}};
    EXPECT_EQ(expression("a -5"), expected);
    EXPECT_EQ(expression("a-5"), expected);
}

TEST(Parser, MakesChainsOfAndOneNode) {
    const Expr expected{.node = Logical{.op = LogicalOp::logical_and,
                                        .operands = {column("A"), column("B"), column("C")}}};
    EXPECT_EQ(expression("a AND b AND c"), expected);
    EXPECT_EQ(expression("a AND (b AND c)"), expected);
    EXPECT_EQ(expression("(a AND b) AND c"), expected);
}

TEST(Parser, MakesChainsOfUnionOneNode) {
    EXPECT_EQ(*parse("SELECT a FROM s UNION SELECT b FROM t UNION SELECT c FROM u"),
              *parse("SELECT a FROM s UNION (SELECT b FROM t UNION (SELECT c FROM u))"));
}

TEST(Parser, ReadsCastToTypeAsCast) {
    EXPECT_EQ(expression("CASTTOTYPE(a AS INT8)"), expression("cast(a as tinyint)"));
}

TEST(Parser, TakesGroupByAndWindowInEitherOrder) {
    EXPECT_EQ(*parse("SELECT a FROM s GROUP BY a, b WINDOW TUMBLING(ts, SIZE 1 SEC)"),
              *parse("SELECT a FROM s WINDOW TUMBLING(ts, SIZE 1 SECONDS) GROUP BY (a, b)"));
}

TEST(Parser, KeepsThePartsOfASlidingWindow) {
    const auto once = parsed_as<SelectOnce>(
        "SELECT a FROM s WINDOW SLIDING(s.ts, ts2, SIZE 5 MINUTES, ADVANCE BY 90 ms)");
    EXPECT_EQ(std::get<Select>(once.query.node).window,
              (Window{.timestamps = {{{"S", "TS"}}, {{"TS2"}}},
                      .size = {5, TimeUnit::minute},
                      .advance = TimeSpan{90, TimeUnit::millisecond}}));
}

TEST(Parser, JoinsFromLeftToRight) {
    const auto once = parsed_as<SelectOnce>(
        "SELECT * FROM a JOIN b ON x WINDOW TUMBLING(SIZE 1 SEC) "
        "FULL JOIN c ON y WINDOW TUMBLING(SIZE 2 SEC)");
    const auto& outer = std::get<Join>(std::get<Select>(once.query.node).from.node);
    EXPECT_EQ(outer.kind, JoinKind::full);
    EXPECT_EQ(std::get<Join>(outer.sides[0].node).kind, JoinKind::inner);
    EXPECT_EQ(std::get<NamedRelation>(outer.sides[1].node).parts.front(), "C");
}

TEST(Parser, NamesTheQueryInEitherForm) {
    const auto named = parsed_as<CreateQuery>(
        "CREATE QUERY q SET ('FAIL' AS QUERY.LATE) AS SELECT a FROM s INTO t");
    EXPECT_EQ(named.name, "Q");
    EXPECT_EQ(named.settings.front().key, (std::vector<std::string>{"QUERY", "LATE"}));
    const auto bare = parsed_as<CreateQuery>("SELECT a FROM s INTO t SET ('q' AS \"QUERY\".ID)");
    EXPECT_EQ(bare.name, std::nullopt);
    EXPECT_EQ(bare.settings.front().value, decltype(Setting::value)(Literal("q")));
}

TEST(Parser, TellsNumbersFromNamesOfQueries) {
    EXPECT_EQ(parsed_as<StopQuery>("STOP QUERY 5").target, Target(std::uint64_t{5}));
    EXPECT_EQ(parsed_as<StopQuery>("STOP QUERY '5'").target, Target("5"));
}

TEST(Parser, NeverShowsAStringInAnError) {
    for (const std::string_view text :
         {"SET 'hunter2'", "'hunter2'", "SHOW 'hunter2'", "SELECT a FROM s 'hunter2'",
          "SELECT 'hunter2' 'hunter2' FROM s", "CREATE SINK x 'hunter2'",
          "CREATE WORKER 'hunter2' 'hunter2'", "CREATE WORKER 'a' SET ('hunter2' 'hunter2')",
          "DROP QUERY WHERE 'hunter2'", "SELECT 'hunter2"}) {
        const std::string error = parse_error_of(text);
        EXPECT_NE(error, "no error") << text;
        EXPECT_EQ(error.find("hunter2"), std::string::npos) << error;
    }
}

TEST(Parser, ShortensLongWordsInErrorsBetweenCharacters) {
    std::string name = "x";
    for (int i = 0; i < 100; ++i) name += "\u00fc";
    const std::string error = parse_error_of("SHOW \"" + name + "\"");
    EXPECT_NE(error.find("\u00fc...\""), std::string::npos) << error;
    EXPECT_LT(error.size(), 250U);
}

TEST(Parser, GivesTheErrorOfTheLexerWhereItStands) {
    EXPECT_EQ(parse_error_of("SHOW QUERIES; SELECT # FROM s"),
              "error 2000 at 1:22: unexpected character \"#\"");
    EXPECT_EQ(parse_error_of("SELECT a FROM s JOIN t ON x 'y"),
              "error 2000 at 1:29: the string has no end");
}

TEST(WithoutStrings, HidesEveryString) {
    EXPECT_EQ(without_strings("SET ('a' AS X, 'b''c' AS Y, 'd\\'e' AS Z)"),
              "SET ('***' AS X, '***' AS Y, '***' AS Z)");
    EXPECT_EQ(without_strings(""), "");
    EXPECT_EQ(without_strings("''"), "'***'");
}

TEST(WithoutStrings, HidesTheRestIfAStringHasNoEnd) {
    EXPECT_EQ(without_strings("SELECT 'secret FROM s"), "SELECT '***'");
    EXPECT_EQ(without_strings("SELECT 'secret\\'"), "SELECT '***'");
    EXPECT_EQ(without_strings("SELECT \"a 'secret'"), "SELECT '***'");
}

TEST(WithoutStrings, KeepsQuotedNames) {
    EXPECT_EQ(without_strings("\"it's\".`isn't` = 'x'"), "\"it's\".`isn't` = '***'");
}

TEST(WithoutStrings, HidesStringsInComments) {
    EXPECT_EQ(without_strings("-- 'secret' AS X\nSHOW"), "-- '***' AS X\nSHOW");
    EXPECT_EQ(without_strings("/* 'a /* b */ 'c' */ 'd'"), "/* '***'c'***' '***'");
    EXPECT_EQ(without_strings("-- don't\nSHOW 'x'"), "-- don'***'\nSHOW '***'");
}

TEST(WithoutStrings, WorksOnAnyBytes) {
    using std::string_literals::operator""s;
    EXPECT_EQ(without_strings("\xff\0'\xfe'"s), "\xff\0'***'"s);
    EXPECT_EQ(without_strings("/*"), "/*");
    EXPECT_EQ(without_strings("--"), "--");
    EXPECT_EQ(without_strings("'"), "'***'");
}

TEST(WithoutLiterals, HidesWhateverIsQuotedNumbersAndComments) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"SET ('a' AS X, \"b\" AS Y, `c` AS Z)", "SET ('***' AS X, \"***\" AS Y, `***` AS Z)"},
        {"SELECT 4711, a1 FROM s", "SELECT ***, a1 FROM s"},
        {"SELECT 1.5e3 -- geheim\nFROM s", "SELECT *** -- ***\nFROM s"},
        {"/* geheim /* x */ */ SHOW", "/* *** */ SHOW"},
        {"SET (geheim AS SOURCE.PASSWORD)", "SET (*** AS SOURCE.PASSWORD)"},
        {"SELECT a AS b FROM s", "SELECT a AS b FROM s"},
        {"SET (mqtt://me:geheim@h:1 AS X)", "SET (mqtt://***@h:*** AS X)"},
        {"x://me:ge@heim@h/a b@c", "x://***@h/a b@c"},
        {"$$geheim$$ $t$geheim$$t$ $1", "'***' '***' $1"},
        {"SET (\u201cgeheim\u201d AS X)", "SET ('***' AS X)"},
        {"SET (\u2018geheim", "SET ('***'"},
        {"\"geheim", "'***'"},
        {"INT8 \u00fc", "INT8 \u00fc"},
        {"", ""},
        {"$", "$"},
        {"://", "://"},
        {"\xe2\x80", "\xe2\x80"},
    };
    for (const auto& [text, hidden] : cases) EXPECT_EQ(without_literals(text), hidden);
}

TEST(WithoutLiterals, HidesInAMessageWhatItHidesInTheStatement) {
    EXPECT_EQ(without_literals_of("CREATE \"ge\"\"heim\" SINK", "unexpected \"ge\"\"heim\" there"),
              "unexpected \"***\"\"***\" there");
    EXPECT_EQ(without_literals_of("SET ('it''s' AS X)", "it's does not fit X"),
              "*** does not fit X");
    EXPECT_EQ(without_literals_of("SET ('t' AS X, 5 AS Y)", "option \"Y\" cannot be 't' or 5"),
              "option \"Y\" cannot be '***' or 5");
    EXPECT_EQ(without_literals_of("CREATE WORKER 'me:geheim@h:1'", "\"me:geheim@h\" is no host"),
              "\"***\" is no host");
    EXPECT_EQ(without_literals_of("DROP SINK s", "unknown sink \"S\""), "unknown sink \"S\"");
    const std::string text = "SHOW \"" + std::string(500, 'g') + "\"";
    const std::string message = parse_error_of(text);
    EXPECT_EQ(without_literals_of(text, message).find("ggg"), std::string::npos) << message;
}

// ---- parameters ---------------------------------------------------------------------------------

TEST(Parameters, StandWhereverAConstantMay) {
    const std::vector<Literal> values = {Literal("w'1"), Literal(Integer{.magnitude = 4}),
                                         Literal(true)};
    const auto parsed = parse(
        "SHOW WORKERS WHERE NAME = $1 AND CAPACITY IN ($2, 5) AND DRAINING = $3;"
        "CREATE WORKER 'a:1' SET ($1 AS NAME, $2 AS CAPACITY)",
        {}, values);
    ASSERT_TRUE(parsed) << to_string(parsed.error());
    EXPECT_EQ(print((*parsed)[0]),
              "SHOW WORKERS WHERE NAME = 'w''1' AND CAPACITY IN (4, 5) AND DRAINING = TRUE");
    EXPECT_NE(print((*parsed)[1]).find("'w''1' AS NAME, 4 AS CAPACITY"), std::string::npos);
}

TEST(Parameters, MayLimitTheRowsAndNullDoesNot) {
    const auto limit = [](const Literal& value) {
        const auto parsed = parse("SELECT a FROM s LIMIT $1", {}, std::vector{value});
        return parsed ? std::get<SelectOnce>(parsed->front().node).limit
                      : std::optional<std::uint64_t>(0);
    };
    EXPECT_EQ(limit(Integer{.magnitude = 7}), 7U);
    EXPECT_EQ(limit(Null{}), std::nullopt);
    EXPECT_EQ(limit(std::string("7")), 0U);
}

TEST(Parameters, OneWithoutAValueIsAnErrorWhereItStands) {
    const auto parsed = parse("SHOW WORKERS WHERE NAME = $2", {}, std::vector{Literal("a")});
    ASSERT_FALSE(parsed);
    EXPECT_EQ(to_string(parsed.error()), "error 2000 at 1:27: parameter $2 has no value");
    EXPECT_FALSE(parse("SHOW WORKERS WHERE NAME = $0"));
    EXPECT_FALSE(parse("SHOW WORKERS WHERE NAME = $99999999999999999999"));
    EXPECT_FALSE(parse("SHOW WORKERS WHERE NAME = $"));
}

TEST(Parameters, AreCountedByTheHighestOutsideOfStringsAndComments) {
    EXPECT_EQ(parameter_count("SHOW WORKERS"), 0U);
    EXPECT_EQ(parameter_count("SELECT $3 '$9' -- $8\n $1"), 3U);
}

TEST(Parameters, AreNeverReadAsText) {
    const auto parsed = parse("SHOW SINKS WHERE NAME = $1", {}, std::vector{Literal("x'; DROP")});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->size(), 1U);
}

TEST(Strings, ALeadingEIsThatOfOtherClients) {
    const auto plain = parse(R"(SHOW SINKS WHERE NAME = 'a\\b')");
    const auto marked = parse(R"(SHOW SINKS WHERE NAME = E'a\\b')");
    ASSERT_TRUE(plain);
    ASSERT_TRUE(marked) << to_string(marked.error());
    EXPECT_EQ(print(plain->front()), print(marked->front()));
}

}  // namespace
}  // namespace baton::sql
