#include "doors/yaml/deployment.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/text.h"
#include "sql/parser.h"
#include "sql/printer.h"
#include "testing/script.h"

namespace baton::yaml {

namespace {

std::string file(const std::string& name) {
    std::ifstream in(std::string(BATON_TESTDATA) + "/" + name);
    EXPECT_TRUE(in.is_open()) << name;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string described(const std::string& yaml) {
    const auto deployment = read_deployment(yaml);
    if (!deployment) return to_string(deployment.error()) + "\n";
    std::string text;
    for (const sql::Statement& statement : deployment->statements) {
        text += sql::print(statement) + ";\n";
    }
    const auto placed = [](const std::vector<std::string>& hosts) { return join(hosts, ", "); };
    if (!deployment->allow_source_placement.empty()) {
        text += "sources on " + placed(deployment->allow_source_placement) + "\n";
    }
    if (!deployment->allow_sink_placement.empty()) {
        text += "sinks on " + placed(deployment->allow_sink_placement) + "\n";
    }
    return text;
}

std::string complaint(const std::string& yaml) {
    const auto deployment = read_deployment(yaml);
    return deployment ? "" : to_string(deployment.error());
}

TEST(Deployment, IsTheStatementsItStandsFor) {
    testing::run_script(std::string(BATON_TESTDATA) + "/deployments.txt",
                        [](const std::string& command) {
                            return described(file(command.substr(std::string("read ").size())));
                        });
}

TEST(Deployment, AWorkerHasAnAddress) {
    EXPECT_EQ(complaint("workers: [{host: \"\"}]"),
              "error 1000 at 1:18: \"host\" must not be empty");
    EXPECT_EQ(complaint("workers: [{host: a, grpc: \"\"}]"),
              "error 1000 at 1:27: \"grpc\" must not be empty");
    EXPECT_EQ(complaint("workers: [{host: a, data_address: \"\"}]"),
              "error 1000 at 1:35: \"data_address\" must not be empty");
}

// What SQL prints, SQL reads: so the trees are those that the parser would have given.
TEST(Deployment, GivesTheTreesThatTheParserGives) {
    for (const char* name : {"whole.yaml", "older.yaml", "tree.yaml"}) {
        const auto deployment = read_deployment(file(name));
        ASSERT_TRUE(deployment.has_value());
        for (const sql::Statement& statement : deployment->statements) {
            const auto parsed = sql::parse_one(sql::print(statement));
            ASSERT_TRUE(parsed.has_value()) << sql::print(statement);
            EXPECT_EQ(*parsed, statement) << sql::print(statement);
        }
    }
}

TEST(Deployment, MayLeaveOutAnything) {
    EXPECT_EQ(complaint("{}"), "");
    EXPECT_EQ(complaint("workers:\nlogical:\nphysical:\nsinks:\nquery:\n"), "");
    EXPECT_EQ(complaint("workers: []\nquery: []\n"), "");
}

TEST(Deployment, IsAMapping) {
    EXPECT_EQ(complaint("- a"),
              "error 1000 at 1:1: a deployment file must be a mapping of keys to values");
    EXPECT_EQ(complaint("hello"),
              "error 1000 at 1:1: a deployment file must be a mapping of keys to values");
}

TEST(Deployment, RefusesUnknownKeysAtEveryLevelWithTheNearestKnownOne) {
    EXPECT_EQ(complaint("workers: []\nsink: []"),
              "error 1000 at 2:1: a deployment file has no key \"sink\"; did you mean \"sinks\"?");
    EXPECT_EQ(complaint("workers:\n  - host: a:1\n    downstraem: []"),
              "error 1000 at 3:5: a worker has no key \"downstraem\"; did you mean "
              "\"downstream\"?");
    EXPECT_EQ(complaint("logical: [{name: a, schema: [], colour: red}]"),
              "error 1000 at 1:33: a logical source has no key \"colour\"; known: name, schema");
    EXPECT_EQ(complaint("logical: [{name: a, schema: [{name: x, typ: INT8}]}]"),
              "error 1000 at 1:40: a column has no key \"typ\"; did you mean \"type\"?");
    EXPECT_EQ(complaint("physical: [{sourceConfg: {}}]"),
              "error 1000 at 1:13: a physical source has no key \"sourceConfg\"; did you mean "
              "\"source_config\"?");
    EXPECT_EQ(complaint("sinks: [{confg: {}}]"),
              "error 1000 at 1:10: a sink has no key \"confg\"; did you mean \"config\"?");
    EXPECT_EQ(complaint("query: [{nane: q}]"),
              "error 1000 at 1:10: a query has no key \"nane\"; did you mean \"name\"?");
}

TEST(Deployment, QuotesNoWholeBookInAMessage) {
    const std::string book(100000, 'x');
    EXPECT_LT(complaint(book + ": 1").size(), 300U);
    EXPECT_LT(complaint("a: &" + book + " 1").size(), 300U);
    EXPECT_LT(complaint("logical: [{name: '" + book + "-', schema: []}]").size(), 400U);
}

TEST(Deployment, NamesAllMissingKeys) {
    EXPECT_EQ(complaint("sinks: [{}]"),
              "error 1001 at 1:9: a sink needs the keys \"name\", \"type\", \"schema\"");
    EXPECT_EQ(complaint("workers: [{max_operators: 1}]"),
              "error 1001 at 1:11: a worker needs the key \"host\"");
    EXPECT_EQ(complaint("workers: [{host: }]"),
              "error 1001 at 1:11: a worker needs the key \"host\"");
    EXPECT_EQ(complaint("physical: [{}]"),
              "error 1001 at 1:12: a physical source needs the keys \"logical\", \"type\"");
    EXPECT_EQ(complaint("query: [{name: q}]"),
              "error 1001 at 1:9: a query needs the key \"query\"");
}

TEST(Deployment, RefusesAKeyUnderTwoNames) {
    EXPECT_EQ(
        complaint("workers: [{host: a, max_operators: 1, capacity: 2}]"),
        "error 1000 at 1:39: key \"capacity\" is an older name of \"max_operators\", which is "
        "there as well");
}

TEST(Deployment, RefusesValuesOfAnotherShape) {
    EXPECT_EQ(complaint("workers: {host: a}"), "error 1000 at 1:10: \"workers\" must be a list");
    EXPECT_EQ(complaint("workers: [a]"),
              "error 1000 at 1:11: a worker must be a mapping of keys to values");
    EXPECT_EQ(complaint("workers: [{host: [a]}]"),
              "error 1000 at 1:18: \"host\" must be a single value");
    EXPECT_EQ(complaint("workers: [{host: a, downstream: b}]"),
              "error 1000 at 1:33: \"downstream\" must be a list");
    EXPECT_EQ(complaint("workers: [{host: a, downstream: [{b: c}]}]"),
              "error 1000 at 1:34: each item of \"downstream\" must be a single value");
    EXPECT_EQ(complaint("sinks: [{name: k, type: Void, schema: x}]"),
              "error 1000 at 1:39: \"schema\" must be a list");
    EXPECT_EQ(complaint("physical: [{logical: s, type: File, source_config: x}]"),
              "error 1000 at 1:52: \"source_config\" must be a mapping of keys to values");
    EXPECT_EQ(complaint("physical: [{logical: s, type: File, source_config: {file_path: [x]}}]"),
              "error 1000 at 1:64: \"file_path\" must be a single value");
    EXPECT_EQ(complaint("physical: [{logical: s, type: File, source_config: {file_path: }}]"),
              "error 1000 at 1:64: \"file_path\" must be a single value");
    EXPECT_EQ(complaint("query: [[x]]"), "error 1000 at 1:9: a query must be a single value");
}

// ---- workers ----------------------------------------------------------------------------------

TEST(DeploymentWorkers, AreNotConfigured) {
    EXPECT_EQ(complaint("workers:\n  - host: a:1\n    config:\n      worker: {threads: 4}\n"),
              "error 1000 at 4:7: the settings of a worker process (\"config\", here \"worker\") "
              "cannot be set by a deployment file; give them to the worker when it is started");
}

TEST(DeploymentWorkers, HaveACapacityOrNone) {
    EXPECT_EQ(described("workers: [{host: 'a:1', max_operators: 0}]"),
              "CREATE WORKER 'a:1' SET (0 AS CAPACITY);\n");
    EXPECT_EQ(described("workers: [{host: 'a:1', max_operators: unlimited}]"),
              "CREATE WORKER 'a:1';\n");
    for (const char* bad : {"-1", "many", "1.5", "'8'", "[]"}) {
        EXPECT_NE(complaint("workers: [{host: 'a:1', max_operators: " + std::string(bad) + "}]"),
                  "")
            << bad;
    }
}

TEST(DeploymentWorkers, AreThereOnce) {
    EXPECT_EQ(complaint("workers: [{host: 'a:1'}, {host: 'a:1'}]"),
              "error 2305 at 1:26: worker \"a:1\" is in the file twice");
    EXPECT_EQ(complaint("workers: [{host: 'a:2', grpc: 'a:1'}, {host: 'a:1'}]").substr(0, 10),
              "error 2305");
}

TEST(DeploymentWorkers, FormNoCycle) {
    EXPECT_EQ(complaint("workers:\n"
                        "  - {host: 'z:1', downstream: ['a:1']}\n"
                        "  - {host: 'a:1', downstream: ['b:1']}\n"
                        "  - {host: 'b:1', downstream: ['c:1', 'd:1']}\n"
                        "  - {host: 'c:1'}\n"
                        "  - {host: 'd:1', downstream: ['a:1']}\n"),
              "error 2303 at 2:5: the links between workers form a cycle: \"a:1\" -> \"b:1\" -> "
              "\"d:1\" -> \"a:1\"");
    EXPECT_EQ(complaint("workers: [{host: 'a:1', downstream: ['a:1']}]"),
              "error 2303 at 1:11: the links between workers form a cycle: \"a:1\" -> \"a:1\"");
}

TEST(DeploymentWorkers, MayBeLinkedToOneThatIsNotInTheFile) {
    EXPECT_EQ(described("workers: [{host: 'a:1', downstream: ['b:1']}]"),
              "CREATE WORKER 'a:1' SET ('b:1' AS DOWNSTREAM);\n");
}

TEST(DeploymentWorkers, MayFormALongChain) {
    std::string yaml = "workers:\n";
    for (int i = 0; i < 10000; ++i) {
        yaml += "- {host: 'w:" + std::to_string(i) + "', downstream: ['w:" + std::to_string(i + 1) +
                "']}\n";
    }
    const auto chain = read_deployment(yaml);
    ASSERT_TRUE(chain.has_value());
    EXPECT_EQ(std::get<sql::CreateWorker>(chain->statements.front().node).address, "w:9999");
    EXPECT_NE(complaint(yaml + "- {host: 'w:10000', downstream: ['w:0']}\n"), "");
}

TEST(DeploymentWorkers, InTheOlderFormHaveNoSecondDataAddress) {
    EXPECT_EQ(complaint("workers: [{host: 'a:2', grpc: 'a:1', data_address: 'a:3'}]"),
              "error 1000 at 1:52: a worker with the older key \"grpc\" has its data address under "
              "\"host\"; give \"host\" and \"data_address\"");
}

TEST(DeploymentWorkers, OfAPlacementAreInTheFile) {
    EXPECT_EQ(complaint("workers: [{host: 'abc:1'}]\nallow_sink_placement: ['abd:1']"),
              "error 2302 at 2:24: \"allow_sink_placement\" names \"abd:1\", which is not a worker "
              "of this file; did you mean \"abc:1\"?");
}

// ---- names, types, values ---------------------------------------------------------------------

std::string logical(const std::string& name, const std::string& column) {
    return "logical: [{name: " + name + ", schema: [" + column + "]}]";
}

TEST(DeploymentNames, FoldUnlessQuoted) {
    EXPECT_EQ(described(logical("cars", "{name: s$x, type: INT8}")),
              described(logical("CARS", "{name: S$X, type: int8}")));
    const auto exact =
        read_deployment(logical(R"('"two "" words"')", R"({name: '"x/y"', type: INT8})"));
    ASSERT_TRUE(exact.has_value());
    const auto& source = std::get<sql::CreateLogicalSource>(exact->statements[0].node);
    EXPECT_EQ(source.name, "two \" words");
    EXPECT_EQ(source.schema.columns[0].name, "x/y");
}

TEST(DeploymentNames, OfOtherLettersMustBeQuoted) {
    EXPECT_EQ(complaint(logical("my-cars", "{name: x, type: INT8}")),
              "error 1000 at 1:18: the name of a logical source cannot be \"my-cars\"; a name has "
              "letters, digits, _ and $; put any other between double quotes, as in '\"a name\"'");
    for (const char* bad : {"''", "'\"\"'", "'\"a\"b\"'", "'\"'", "a.b", "'a b'"}) {
        EXPECT_NE(complaint(logical(bad, "{name: x, type: INT8}")), "") << bad;
    }
}

TEST(DeploymentSchemas, HaveKnownTypesAndDistinctNames) {
    EXPECT_EQ(
        complaint(logical("s", "{name: x, type: VARSIZE}")),
        "error 2003 at 1:46: unknown type \"VARSIZE\" of a column; did you mean \"VARSIZED\"?");
    EXPECT_EQ(complaint(logical("s", "{name: x, type: INT8}, {name: X, type: INT8}")),
              "error 2003 at 1:29: invalid schema of logical source \"S\": column \"X\" appears "
              "twice");
    EXPECT_EQ(complaint(logical("s", "")).substr(0, 10), "error 2003");
    EXPECT_EQ(complaint(logical("s", "{name: x, type: INT8, nullable: maybe}")),
              "error 1000 at 1:62: \"nullable\" must be true or false");
}

sql::Literal value_of(const std::string& written) {
    const auto deployment = read_deployment(
        "physical: [{logical: s, type: File, source_config: {file_path: " + written + "}}]");
    if (!deployment) return sql::Null{};
    const auto& source = std::get<sql::CreatePhysicalSource>(deployment->statements[0].node);
    return std::get<sql::Literal>(source.settings.at(0).value);
}

TEST(DeploymentValues, AreWhatSqlWouldMakeOfThem) {
    EXPECT_EQ(value_of("5"), sql::Literal(sql::Integer{.magnitude = 5}));
    EXPECT_EQ(value_of("-5"), sql::Literal(sql::Integer{.negative = true, .magnitude = 5}));
    EXPECT_EQ(value_of("18446744073709551615"),
              sql::Literal(sql::Integer{.magnitude = UINT64_MAX}));
    EXPECT_EQ(value_of("-9223372036854775808"),
              sql::Literal(sql::Integer{.negative = true, .magnitude = std::uint64_t{1} << 63U}));
    EXPECT_EQ(value_of("true"), sql::Literal(true));
    EXPECT_EQ(value_of("False"), sql::Literal(false));
    for (const char* word : {"007", "-0", "+5", "1.50", "0x1F", "1e3", "yes",
                             "18446744073709551616", "-9223372036854775809", "out.csv", "1_000"}) {
        EXPECT_EQ(value_of(word), sql::Literal(std::string(word)));
    }
    EXPECT_EQ(value_of("'5'"), sql::Literal(std::string("5")));
    EXPECT_EQ(value_of("\"true\""), sql::Literal(std::string("true")));
}

// ---- queries ----------------------------------------------------------------------------------

TEST(DeploymentQueries, AreOneOrMany) {
    const std::string one = described("query: SELECT x FROM s INTO k");
    EXPECT_EQ(one, "SELECT X FROM S INTO K;\n");
    EXPECT_EQ(described("query: |\n  SELECT x\n  FROM s\n  INTO k;\n"), one);
    EXPECT_EQ(described("query: [SELECT x FROM s INTO k, SELECT x FROM s INTO k]"), one + one);
    EXPECT_EQ(described("query: {name: q, query: SELECT x FROM s INTO k}"),
              "CREATE QUERY Q AS SELECT X FROM S INTO K;\n");
}

TEST(DeploymentQueries, WithANameThatSqlWouldQuoteKeepIt) {
    EXPECT_EQ(described("query: [{name: my-Query, query: SELECT x FROM s INTO k}]"),
              "CREATE QUERY \"my-Query\" AS SELECT X FROM S INTO K;\n");
    EXPECT_NE(complaint("query: [{name: '', query: SELECT x FROM s INTO k}]"), "");
}

TEST(DeploymentQueries, HaveOneName) {
    EXPECT_EQ(complaint("query: {name: b, query: CREATE QUERY a AS SELECT x FROM s INTO k}"),
              "error 1000 at 1:15: the query already has the name \"A\"");
}

TEST(DeploymentQueries, WithAnErrorAreRefusedAtTheirPlaceInTheFile) {
    const std::string text = complaint("workers: []\nquery: |\n  SELECT x\n  FRM s INTO k\n");
    EXPECT_EQ(text.substr(0, 16), "error 2000 at 2:") << text;
    EXPECT_NE(text.find("(line 2, column 1 of the query)"), std::string::npos) << text;
}

TEST(DeploymentQueries, AreQueries) {
    EXPECT_EQ(complaint("query: DROP SINK k"),
              "error 1000 at 1:8: only queries may stand under \"query\"; write SELECT ... INTO "
              "...");
}

}  // namespace

}  // namespace baton::yaml
