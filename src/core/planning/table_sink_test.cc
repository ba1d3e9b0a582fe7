#include "core/planning/table_sink.h"

#include <gtest/gtest.h>

#include "core/plan_format/plan_format.h"
#include "core/planning/explain.h"
#include "model/table_sink.h"
#include "sql/parser.h"

namespace baton::planning {
namespace {

sql::CreateQuery query_of(const std::string& text) {
    auto statement = sql::parse_one(text);
    EXPECT_TRUE(statement) << to_string(statement.error());
    return std::get<sql::CreateQuery>(statement->node);
}

// EDGE -> HUB; a source of each of these types on EDGE, named like it; table T.
PlanningView view_with(bool managed) {
    auto cluster = std::make_shared<topology::Cluster>();
    for (const char* name : {"EDGE", "HUB"}) cluster->workers[name].name = name;
    cluster->topology = topology::Topology(std::vector<NetworkLink>{{"EDGE", "HUB"}});
    PlanningView view;
    view.cluster = cluster;
    const Schema schema{.columns = {{.name = "A", .type = DataType::int64, .nullable = true}}};
    std::uint64_t id = 1;
    for (const auto& [name, type] : std::vector<std::pair<std::string, std::string>>{
             {"F", "File"}, {"G", "Generator"}, {"N", "TCP"}, {"M", "MQTT"}}) {
        view.logical_sources[name] = {.name = name, .schema = schema};
        view.physical_sources.push_back(
            {.id = PhysicalSourceId(id++), .logical = name, .worker = "EDGE", .type = type});
    }
    view.sink = sink_of({.name = "T",
                         .location = managed ? "t-1" : "s3://b/p?endpoint=http://h:1",
                         .managed = managed,
                         .columns = {{.name = "a", .type = {.kind = SqlType::Kind::bigint}}},
                         .revision = Revision(9)});
    return view;
}

Planner planner(const std::string& store) {
    return planner_into_tables(store, [] { return std::string("0f"); });
}

// The sink as its worker gets it.
SinkWrite sink_in(const QueryPlan& plan) {
    for (const PlannedFragment& fragment : plan.fragments) {
        if (fragment.stage != 0) continue;
        const auto read = plan_format::read_plan(fragment.plan);
        EXPECT_TRUE(read);
        if (read) return std::get<SinkWrite>(read->roots.at(0).op);
    }
    ADD_FAILURE() << "no sink";
    return {};
}

TEST(TableSinkPlan, TheWorkerGetsTheUrlTheStampAndWhetherToReplace) {
    const auto plan =
        planner("file:///data/tables/")(query_of("SELECT a FROM f INTO t"), view_with(true));
    ASSERT_TRUE(plan) << to_string(plan.error());
    const SinkWrite sink = sink_in(*plan);
    EXPECT_EQ(sink.type, kTableSink);
    EXPECT_EQ(sink.worker, "EDGE");
    EXPECT_EQ(sink.sink, (Config{{kTableLocation, std::string("file:///data/tables/t-1")},
                                 {kTableStamp, std::string("0f")},
                                 {kTableReplaces, true}}));
    EXPECT_EQ(plan->sinks, std::vector<std::string>{"T"});
    EXPECT_EQ(plan->reads.back(), (Read{ReadKind::sink, "T", Revision(9)}));
}

TEST(TableSinkPlan, SettingsNameTheWorkerAndTheBounds) {
    const auto plan = planner("")(
        query_of("SELECT a FROM n INTO t SET ('HUB' AS QUERY.TABLE_WORKER, 7 AS QUERY.TABLE_ROWS, "
                 "500 AS QUERY.TABLE_PERIOD_MS, 900 AS QUERY.TABLE_PATIENCE_MS)"),
        view_with(false));
    ASSERT_TRUE(plan) << to_string(plan.error());
    const SinkWrite sink = sink_in(*plan);
    EXPECT_EQ(sink.worker, "HUB");
    EXPECT_EQ(sink.sink, (Config{{kTableLocation, std::string("s3://b/p?endpoint=http://h:1")},
                                 {kTableStamp, std::string("0f")},
                                 {kTableReplaces, false},
                                 {kTableRows, std::int64_t{7}},
                                 {kTablePeriod, std::int64_t{500}},
                                 {kTablePatience, std::int64_t{900}}}));
    const auto unknown = planner("")(
        query_of("SELECT a FROM n INTO t SET ('HUBS' AS QUERY.TABLE_WORKER)"), view_with(false));
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, ErrorCode::unknown_worker);
}

TEST(TableSinkPlan, SourcesThatBeginAnewAndOthersDoNotMix) {
    const auto plan_of = [](const std::string& text) {
        return planner("")(query_of(text), view_with(false));
    };
    const auto mixed = plan_of("SELECT a FROM f UNION SELECT a FROM m INTO t");
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().code, ErrorCode::not_supported);
    const auto again = plan_of("SELECT a FROM f UNION SELECT a FROM g INTO t");
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(sink_in(*again).sink.at(kTableReplaces), ConfigValue(true));
    const auto once = plan_of("SELECT a FROM n UNION SELECT a FROM m INTO t");
    ASSERT_TRUE(once) << to_string(once.error());
    EXPECT_EQ(sink_in(*once).sink.at(kTableReplaces), ConfigValue(false));
}

TEST(TableSinkPlan, AManagedTableNeedsAStore) {
    const auto refused = planner("")(query_of("SELECT a FROM f INTO t"), view_with(true));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::missing_configuration);
    EXPECT_FALSE(plan(query_of("SELECT a FROM f INTO t"), view_with(false))) << "it has no stamp";
}

TEST(TableSinkPlan, ExplainShowsTheTableAndTheWayOfANewRun) {
    const auto statement = query_of("SELECT a FROM f INTO t");
    const std::optional<sql::SinkTarget> target = statement.sink;
    const auto steps =
        plan_steps({.query = statement.query, .sink = target, .settings = {}}, view_with(true));
    ASSERT_TRUE(steps) << to_string(steps.error());
    const auto shown = explain(sql::ExplainLevel::distributed, *steps);
    ASSERT_GE(shown.text.size(), 2U);
    EXPECT_EQ(shown.text[1],
              "  TABLE T ON EDGE (\"a\" INT64), LOCATION = 't-1', A NEW RUN REPLACES THE ROWS OF "
              "EARLIER RUNS");
}

TEST(TableSinkPlan, AFolderGoesBelowTheUrlOfAStore) {
    EXPECT_EQ(url_below("file:///a%20b", "t"), "file:///a%20b/t");
    EXPECT_EQ(url_below("s3://b", "t"), "s3://b/t");
    EXPECT_EQ(url_below("s3://b/p/?endpoint=http://h", "t"), "s3://b/p/t?endpoint=http://h");
}

}  // namespace
}  // namespace baton::planning
