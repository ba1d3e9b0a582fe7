#include "core/planning/planner.h"

#include <gtest/gtest.h>

#include "core/plan_format/plan_format.h"
#include "sql/parser.h"

namespace baton::planning {
namespace {

sql::CreateQuery query(const std::string& text) {
    auto statement = sql::parse_one(text);
    EXPECT_TRUE(statement) << to_string(statement.error());
    return std::get<sql::CreateQuery>(statement->node);
}

Worker worker(const std::string& name, Revision revision) {
    Worker result;
    result.name = name;
    result.revision = revision;
    return result;
}

// EDGE -> MIDDLE -> HUB; source S on EDGE, sink K on HUB.
PlanningView line() {
    auto cluster = std::make_shared<topology::Cluster>();
    cluster->workers = {{"EDGE", worker("EDGE", Revision(1))},
                        {"MIDDLE", worker("MIDDLE", Revision(2))},
                        {"HUB", worker("HUB", Revision(3))}};
    const std::vector<NetworkLink> links = {{"EDGE", "MIDDLE"}, {"MIDDLE", "HUB"}};
    cluster->topology = topology::Topology(links);
    PlanningView view;
    view.cluster = cluster;
    const Schema schema{.columns = {{.name = "A", .type = DataType::uint64, .nullable = true},
                                    {.name = "B", .type = DataType::varsized, .nullable = true}}};
    view.logical_sources["S"] = {.name = "S", .schema = schema, .revision = Revision(4)};
    view.physical_sources = {{.id = PhysicalSourceId(7),
                              .logical = "S",
                              .worker = "EDGE",
                              .type = "File",
                              .source = {},
                              .format = {},
                              .revision = Revision(4)}};
    view.sink = Sink{.name = "K",
                     .schema = {.columns = {schema.columns[0]}},
                     .worker = "HUB",
                     .type = "Void",
                     .sink = {},
                     .format = {},
                     .revision = Revision(5)};
    return view;
}

TEST(Planner, FindsEveryNameAQueryMentions) {
    const auto names = names_in(
        query("SELECT * FROM (SELECT a FROM s UNION SELECT a FROM t) JOIN "
              "File('f' AS SOURCE.FILE_PATH, 'w1' AS SOURCE.HOST, SCHEMA(a INT8) AS SOURCE.SCHEMA) "
              "ON a = b WINDOW TUMBLING(ts, SIZE 1 SEC) INTO Void('w2' AS SINK.HOST)"));
    EXPECT_EQ(names.sources, (std::map<std::string, Position>{{"S", {}}, {"T", {}}}));
    EXPECT_EQ(names.workers, (std::set<std::string>{"w1", "w2"}));
    EXPECT_FALSE(names.sink);
}

TEST(Planner, PutsAFragmentOnEachWorkerOfThePathAndReadsThem) {
    const auto made = plan(query("SELECT a FROM s WHERE a > UINT64(5) INTO k"), line());
    ASSERT_TRUE(made) << to_string(made.error());
    std::vector<std::string> places;
    for (const PlannedFragment& fragment : made->fragments) {
        EXPECT_EQ(fragment.slots, 1U);
        places.push_back(fragment.worker + " " + std::to_string(fragment.stage));
    }
    EXPECT_EQ(places, (std::vector<std::string>{"EDGE 2", "HUB 0", "MIDDLE 1"}));
    EXPECT_EQ(made->sinks, std::vector<std::string>{"K"});
    EXPECT_EQ(made->sources, std::vector<PhysicalSourceId>{PhysicalSourceId(7)});
    EXPECT_EQ(made->reads, (std::vector<Read>{{ReadKind::worker, "EDGE", Revision(1)},
                                              {ReadKind::worker, "HUB", Revision(3)},
                                              {ReadKind::worker, "MIDDLE", Revision(2)},
                                              {ReadKind::logical_source, "S", Revision(4)},
                                              {ReadKind::sink, "K", Revision(5)}}));
}

// What a worker is told is all that it needs: the filter is there, the column that nobody reads is
// not even parsed.
TEST(Planner, TellsEachWorkerItsPart) {
    const auto made = plan(
        query("SELECT a FROM s WHERE a > UINT64(5) INTO k SET ('FAIL' AS QUERY.LATE)"), line());
    ASSERT_TRUE(made) << to_string(made.error());
    const auto edge = plan_format::read_plan(made->fragments[0].plan);
    ASSERT_TRUE(edge) << to_string(edge.error());
    EXPECT_EQ(edge->settings.at("LATE"), ConfigValue(std::string("FAIL")));
    const PlanNode& filter = edge->roots.at(0).inputs.at(0);
    EXPECT_TRUE(std::holds_alternative<Filter>(filter.op));
    const auto& scan = std::get<SourceScan>(filter.inputs.at(0).op);
    EXPECT_EQ(scan.id, PhysicalSourceId(7));
    EXPECT_EQ(scan.wanted, std::vector<std::size_t>{0});
    const auto middle = plan_format::read_plan(made->fragments[2].plan);
    ASSERT_TRUE(middle) << to_string(middle.error());
    EXPECT_TRUE(std::holds_alternative<Receive>(middle->roots.at(0).inputs.at(0).op));
}

TEST(Planner, HoldsOnToASourceOnceThoughItIsReadTwice) {
    PlanningView view = line();
    view.sink->schema.columns = {{.name = "N", .type = DataType::uint64, .nullable = false}};
    const auto made =
        plan(query("SELECT COUNT(*) AS n FROM (SELECT a FROM s UNION SELECT a FROM s) "
                   "WINDOW TUMBLING(a, SIZE 1 SEC) INTO k"),
             view);
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_EQ(made->sources, std::vector<PhysicalSourceId>{PhysicalSourceId(7)});
}

TEST(Planner, AWorkerReadsInSoManyPlacesAtMost) {
    PlanningView view = line();
    while (view.physical_sources.size() < 2'000) {
        view.physical_sources.push_back(view.physical_sources.front());
    }
    EXPECT_TRUE(plan(query("SELECT a FROM s INTO k"), view));
    view.physical_sources.push_back(view.physical_sources.front());
    EXPECT_EQ(
        to_string(plan(query("SELECT a FROM s INTO k"), view).error()),
        "error 2005: cannot run the query: worker \"EDGE\" would read in 2001 places at once, "
        "but can in 2000; name fewer sources in a query, or spread them over more workers");
}

TEST(Planner, RoutesLeadAroundWorkersThatAreFull) {
    PlanningView view = line();
    auto cluster = std::make_shared<topology::Cluster>(*view.cluster);
    cluster->workers.at("MIDDLE").capacity = 1;
    cluster->workers["OTHER"] = worker("OTHER", Revision(9));
    const std::vector<NetworkLink> links = {
        {"EDGE", "MIDDLE"}, {"MIDDLE", "HUB"}, {"EDGE", "OTHER"}, {"OTHER", "HUB"}};
    cluster->topology = topology::Topology(links);
    view.cluster = cluster;
    view.used["MIDDLE"] = 1;
    const auto made = plan(query("SELECT a FROM s INTO k"), view);
    ASSERT_TRUE(made) << to_string(made.error());
    ASSERT_EQ(made->fragments.size(), 3U);
    EXPECT_EQ(made->fragments[2].worker, "OTHER");
}

TEST(Planner, IsDeterministic) {
    const auto tree = query("SELECT a FROM s INTO k");
    EXPECT_EQ(*plan(tree, line()), *plan(tree, line()));
}

TEST(Planner, SaysWhichWorkerLackedWhat) {
    PlanningView view = line();
    auto cluster = std::make_shared<topology::Cluster>(*view.cluster);
    cluster->workers.at("HUB").capacity = 2;
    view.cluster = cluster;
    view.used["HUB"] = 2;
    const auto made = plan(query("SELECT a FROM s INTO k"), view);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message,
              "cannot place the query: worker \"HUB\" has no slot left (2 of 2 used, 1 needed)");
}

TEST(Planner, PlacesInlineSourcesAndSinksWhereTheyAreNamed) {
    PlanningView view = line();
    const std::string source =
        "Generator('SEQUENCE UINT64 0 9 1' AS SOURCE.GENERATOR_SCHEMA, "
        "'EDGE' AS SOURCE.HOST, SCHEMA(a UINT64) AS SOURCE.SCHEMA)";
    const auto made =
        plan(query("SELECT a FROM " + source + " INTO Void('HUB' AS SINK.HOST)"), view);
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_EQ(made->fragments.size(), 3U);
    const auto unplaced = plan(query("SELECT a FROM " + source + " INTO Void()"), view);
    ASSERT_FALSE(unplaced);
    EXPECT_EQ(unplaced.error().code, ErrorCode::invalid_configuration);
}

TEST(Planner, RowsForAClientEndOnTheWorkerNearestToTheirSources) {
    auto asked = query("SELECT a FROM s WHERE a > UINT64(5) INTO k");
    asked.sink.node = sql::ToClient{.token = "t0"};
    EXPECT_EQ(names_in(asked).sink, std::nullopt);
    const auto made = plan(asked, line());
    ASSERT_TRUE(made) << to_string(made.error());
    ASSERT_EQ(made->fragments.size(), 1U);
    EXPECT_TRUE(made->sinks.empty());
    const auto fragment = plan_format::read_plan(made->fragments.front().plan);
    ASSERT_TRUE(fragment) << to_string(fragment.error());
    EXPECT_EQ(fragment->worker, "EDGE");
    const auto& sink = std::get<SinkWrite>(fragment->roots.front().op);
    EXPECT_EQ(sink.type, kResultsSink);
    EXPECT_EQ(sink.sink, (Config{{kResultsToken, "t0"}}));
    EXPECT_EQ(fragment->roots.front().schema.columns.front().name, "A");
}

TEST(Planner, NobodyCanNameTheSinkOfAClient) {
    const auto made = plan(query("SELECT a FROM s INTO Results('t0' AS SINK.TOKEN)"), line());
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::unknown_sink_type);
}

}  // namespace
}  // namespace baton::planning
