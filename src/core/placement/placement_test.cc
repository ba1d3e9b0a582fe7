#include <gtest/gtest.h>

#include "core/placement/cut.h"
#include "core/placement/routes.h"
#include "testing/plans/builders.h"

namespace baton::placement {
namespace {

using namespace testing;  // NOLINT: the builders read better without a prefix

constexpr WindowSpec kWindow{.size = 10, .advance = 10};

const Schema kSchema{.columns = {{.name = "TS", .type = DataType::uint64, .nullable = false},
                                 {.name = "A", .type = DataType::int64, .nullable = true}}};

// Links are written "A B": data flows from A to B.
topology::Cluster cluster(const std::vector<std::pair<std::string, std::string>>& links) {
    topology::Cluster made;
    std::vector<NetworkLink> all;
    for (const auto& [from, to] : links) {
        all.push_back({.upstream = from, .downstream = to});
        for (const std::string& name : {from, to}) made.workers[name].name = name;
    }
    made.topology = topology::Topology(all);
    return made;
}

struct Setting {
    topology::Cluster cluster;
    std::map<std::string, std::uint64_t> used = {};

    [[nodiscard]] Result<Routes> routes(const std::vector<std::string>& sources) const {
        std::vector<Pinned> pinned;
        for (const std::string& worker : sources) {
            pinned.push_back({.worker = worker, .what = "physical source 1"});
        }
        return Routes::to({.worker = "HUB", .what = "the sink"}, pinned,
                          {.cluster = cluster, .used = used});
    }
    void fill(const std::string& worker) {
        cluster.workers.at(worker).capacity = 4;
        used[worker] = 4;
    }
};

std::string error_of(const Result<Routes>& result) {
    return result ? ""
                  : std::to_string(number(result.error().code)) + ": " + result.error().message;
}

// What runs where, one line per root: "W1: SEND 1 TO HUB (SCAN)".
std::string shape(const PlanNode& node) {
    static const std::vector<std::string> kNames = {"LOGICAL", "SCAN",      "RECEIVE", "FILTER",
                                                    "PROJECT", "AGGREGATE", "JOIN",    "UNION",
                                                    "SEND",    "SINK"};
    std::string text = kNames.at(node.op.index());
    if (const auto* send = std::get_if<Send>(&node.op)) {
        text += " " + std::to_string(send->exchange) + " TO " + send->to;
    }
    if (const auto* receive = std::get_if<Receive>(&node.op)) {
        text += " " + std::to_string(receive->exchange) + " FROM";
        for (const std::string& sender : receive->senders) text += " " + sender;
    }
    if (node.inputs.empty()) return text;
    std::string below;
    for (const PlanNode& input : node.inputs) below += (below.empty() ? "" : ", ") + shape(input);
    return text + "(" + below + ")";
}

std::vector<std::string> lines(const PlanNode& root, const Setting& setting) {
    std::vector<std::string> workers;
    for (const Pinned& source : pinned_in(root).sources) workers.push_back(source.worker);
    const auto routes = setting.routes(workers);
    if (!routes) return {error_of(routes)};
    std::vector<std::string> result;
    for (const FragmentPlan& fragment : cut(root, *routes, {})) {
        for (const PlanNode& tree : fragment.roots) {
            result.push_back(fragment.worker + ": " + shape(tree));
        }
    }
    return result;
}
using Lines = std::vector<std::string>;

PlanNode scan(std::uint64_t id, const std::string& worker) {
    return source_scan(id, "S", worker, kSchema);
}

PlanNode joined(PlanNode left, PlanNode right) {
    return window_join(std::move(left), std::move(right),
                       {.sides = JoinSides::inner,
                        .predicate = truth(true),
                        .window = kWindow,
                        .left_time = 0,
                        .right_time = 0});
}

// ---- routes -------------------------------------------------------------------------------------

TEST(Routes, TakeTheShortestWayAndTheFirstByName) {
    const Setting setting{
        cluster({{"E", "M2"}, {"E", "M1"}, {"M1", "HUB"}, {"M2", "HUB"}, {"E", "A"}, {"A", "M1"}})};
    const auto routes = setting.routes({"E"});
    ASSERT_TRUE(routes) << error_of(routes);
    EXPECT_EQ(routes->next_of("E"), "M1");
    EXPECT_EQ(routes->steps_from("E"), 2U);
    EXPECT_EQ(routes->steps_from("HUB"), 0U);
}

TEST(Routes, LeadAroundWorkersThatCannotTakePart) {
    Setting setting{cluster({{"E", "M1"},
                             {"M1", "HUB"},
                             {"E", "M2"},
                             {"M2", "HUB"},
                             {"E", "M3"},
                             {"M3", "HUB"},
                             {"E", "M4"},
                             {"M4", "HUB"}})};
    setting.cluster.workers.at("M1").state = WorkerState::unreachable;
    setting.cluster.workers.at("M2").draining = true;
    setting.fill("M3");
    const auto routes = setting.routes({"E"});
    ASSERT_TRUE(routes) << error_of(routes);
    EXPECT_EQ(routes->next_of("E"), "M4");
}

TEST(Routes, MeetWhereTheWaysFirstJoin) {
    const Setting setting{
        cluster({{"A", "L"}, {"B", "L"}, {"C", "R"}, {"L", "HUB"}, {"R", "HUB"}})};
    const auto routes = setting.routes({"A", "B", "C"});
    ASSERT_TRUE(routes) << error_of(routes);
    EXPECT_EQ(routes->meeting_point({"A", "B"}), "L");
    EXPECT_EQ(routes->meeting_point({"A", "C"}), "HUB");
    EXPECT_EQ(routes->meeting_point({"A"}), "A");
    EXPECT_EQ(routes->meeting_point({"A", "L"}), "L");
}

TEST(Routes, SayWhoIsInTheWayAndWhatTheyLack) {
    Setting setting{
        cluster({{"E", "M1"}, {"M1", "HUB"}, {"E", "M2"}, {"M2", "HUB"}, {"E", "OTHER"}})};
    setting.cluster.workers.at("M1").state = WorkerState::unreachable;
    setting.cluster.workers.at("M1").reason.text = "no beat";
    setting.fill("M2");
    setting.fill("OTHER");
    EXPECT_EQ(error_of(setting.routes({"E"})),
              "2300: cannot place the query: every path of links from worker \"E\" to \"HUB\" is "
              "blocked: worker \"M1\" is UNREACHABLE (no beat), worker \"M2\" has no slot left (4 "
              "of 4 used, 1 needed)");
    EXPECT_EQ(error_of(Setting{cluster({{"HUB", "E"}})}.routes({"E"})),
              "2300: cannot place the query: no path of links leads from worker \"E\" to \"HUB\"");
}

TEST(Routes, NamePinnedWorkersThatCannotTakePart) {
    Setting setting{cluster({{"E", "HUB"}, {"F", "HUB"}})};
    setting.cluster.workers.at("E").draining = true;
    setting.fill("HUB");
    EXPECT_EQ(error_of(setting.routes({"E", "F"})),
              "2300: cannot place the query: worker \"E\" of physical source 1 is draining, worker "
              "\"HUB\" has no slot left (4 of 4 used, 1 needed)");
    EXPECT_EQ(error_of(setting.routes({"G"})), "2302: unknown worker \"G\" for physical source 1");
}

// ---- cutting ------------------------------------------------------------------------------------

TEST(Cut, OneWorkerGetsThePlanAsItIs) {
    const PlanNode plan = sink(filter(scan(1, "HUB"), truth(true)));
    Setting setting{cluster({{"E", "HUB"}})};
    const auto routes = setting.routes({"HUB"});
    ASSERT_TRUE(routes);
    EXPECT_EQ(
        cut(plan, *routes, {{"LATE", std::string("FAIL")}}),
        (std::vector<FragmentPlan>{
            {.worker = "HUB", .roots = {plan}, .settings = {{"LATE", std::string("FAIL")}}}}));
}

TEST(Cut, FiltersRunAtTheSourceAndWorkersBetweenPassDataOn) {
    const Setting setting{cluster({{"E", "M"}, {"M", "HUB"}})};
    EXPECT_EQ(lines(sink(filter(scan(1, "E"), truth(true))), setting),
              (Lines{"E: SEND 1 TO M(FILTER(SCAN))", "HUB: SINK(RECEIVE 2 FROM M)",
                     "M: SEND 2 TO HUB(RECEIVE 1 FROM E)"}));
}

TEST(Cut, AProjectionThatMakesMoreRunsWhereItsRowsAreUsed) {
    const Setting setting{cluster({{"E", "HUB"}})};
    const PlanNode source = scan(1, "E");
    const Expression a = column(source, 1);
    EXPECT_EQ(lines(sink(project(source, {a, a, a}, {"X", "Y", "Z"})), setting),
              (Lines{"E: SEND 1 TO HUB(SCAN)", "HUB: SINK(PROJECT(RECEIVE 1 FROM E))"}));
    EXPECT_EQ(lines(sink(project(source, {a})), setting),
              (Lines{"E: SEND 1 TO HUB(PROJECT(SCAN))", "HUB: SINK(RECEIVE 1 FROM E)"}));
}

TEST(Cut, JoinsRunWhereTheirInputsMeet) {
    const Setting setting{cluster({{"A", "M"}, {"B", "M"}, {"M", "N"}, {"N", "HUB"}})};
    EXPECT_EQ(lines(sink(joined(scan(1, "A"), scan(2, "B"))), setting),
              (Lines{"A: SEND 1 TO M(SCAN)", "B: SEND 2 TO M(SCAN)", "HUB: SINK(RECEIVE 4 FROM N)",
                     "M: SEND 3 TO N(JOIN(RECEIVE 1 FROM A, RECEIVE 2 FROM B))",
                     "N: SEND 4 TO HUB(RECEIVE 3 FROM M)"}));
}

TEST(Cut, AUnionTakesInWhatItCanOnTheWay) {
    const Setting setting{cluster({{"A", "L"}, {"B", "L"}, {"L", "HUB"}, {"C", "HUB"}})};
    EXPECT_EQ(
        lines(sink(union_all({scan(1, "A"), scan(2, "B"), scan(3, "C"), scan(4, "L")})), setting),
        (Lines{"A: SEND 1 TO L(SCAN)", "B: SEND 1 TO L(SCAN)", "C: SEND 2 TO HUB(SCAN)",
               "HUB: SINK(RECEIVE 2 FROM C L)",
               "L: SEND 2 TO HUB(UNION(SCAN, RECEIVE 1 FROM A B))"}));
}

TEST(Cut, ABranchOfAUnionIsSentUnderTheNamesOfTheUnion) {
    const Setting setting{cluster({{"A", "HUB"}, {"B", "HUB"}})};
    Schema renamed = kSchema;
    renamed.columns.front().name = "OTHER";
    const PlanNode root = sink(union_all({scan(1, "A"), source_scan(2, "R", "B", renamed)}));
    const auto routes = setting.routes({"A", "B"});
    ASSERT_TRUE(routes) << error_of(routes);
    for (const FragmentPlan& fragment : cut(root, *routes, {})) {
        EXPECT_EQ(fragment.roots.front().schema, kSchema) << fragment.worker;
    }
}

TEST(Cut, AWorkerMayPassOnSeveralStreams) {
    const Setting setting{cluster({{"A", "M"}, {"B", "N"}, {"N", "M"}, {"M", "HUB"}})};
    const PlanNode shared = joined(scan(1, "A"), scan(2, "HUB"));
    EXPECT_EQ(lines(sink(joined(shared, scan(3, "B"))), setting),
              (Lines{"A: SEND 1 TO M(SCAN)", "B: SEND 3 TO N(SCAN)",
                     "HUB: SINK(JOIN(JOIN(RECEIVE 2 FROM M, SCAN), RECEIVE 5 FROM M))",
                     "M: SEND 2 TO HUB(RECEIVE 1 FROM A)", "M: SEND 5 TO HUB(RECEIVE 4 FROM N)",
                     "N: SEND 4 TO M(RECEIVE 3 FROM B)"}));
}

}  // namespace
}  // namespace baton::placement
