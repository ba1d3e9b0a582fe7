// Queries are planned outside the write transaction. Whatever happens meanwhile, the outcome is
// that of one order or the other.
#include <future>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/picks.h"
#include "properties/world.h"

namespace baton::properties {

namespace {

coordinator::Bundle bundle_of(const std::vector<catalog::Request>& requests) {
    coordinator::Bundle bundle;
    for (const catalog::Request& request : requests) {
        bundle.steps.push_back({.what = request, .statement = {}});
    }
    return bundle;
}

// What happened to two parties that asked at the same time.
struct Story {
    bool first_accepted = false;
    bool second_accepted = false;
    std::set<std::string> lines;

    friend bool operator==(const Story&, const Story&) = default;
};

bool apply_all(Model& model, const std::vector<catalog::Request>& requests) {
    Model after = model;
    for (const catalog::Request& request : requests) {
        if (after.apply(request).refused()) return false;
    }
    model = after;
    return true;
}

Story told(Model model, const std::vector<catalog::Request>& planned,
           const std::vector<catalog::Request>& meanwhile, bool planned_first) {
    Story story;
    if (planned_first) story.first_accepted = apply_all(model, planned);
    story.second_accepted = apply_all(model, meanwhile);
    if (!planned_first) story.first_accepted = apply_all(model, planned);
    story.lines = lines_of(model.state());
    return story;
}

rc::Gen<std::vector<Ask>> some_groundwork(int most) {
    return rc::gen::exec([most] {
        std::vector<Ask> asks;
        const int count = between(0, most + 1);
        for (int i = 0; i < count; ++i) asks.push_back(*any_groundwork());
        return asks;
    });
}

RC_GTEST_PROP(Planning, OfABundleIsUndoneByNothingThatHappensMeanwhile, ()) {
    World world;
    world.perform(*any_sequence(6));
    std::vector<Ask> asks = *some_groundwork(3);
    asks.push_back(*any_create_query());
    const Ask other = *any_groundwork();
    std::vector<catalog::Request> planned;
    for (const Ask& ask : asks) planned.push_back(resolved(ask.request, world.expected()));
    const std::vector<catalog::Request> meanwhile = {resolved(other.request, world.expected())};

    Story actual;
    bool interfered = false;
    world.interfere([&] {
        interfered = true;
        actual.second_accepted = accepted(world.coordinator().execute(bundle_of(meanwhile)));
    });
    actual.first_accepted = accepted(world.coordinator().execute(bundle_of(planned)));
    world.interfere(nullptr);
    if (!interfered) {
        actual.second_accepted = accepted(world.coordinator().execute(bundle_of(meanwhile)));
    }
    actual.lines = lines_of(world.actual());

    const Story before = told(world.model(), planned, meanwhile, true);
    const Story after = told(world.model(), planned, meanwhile, false);
    world.check_soundness();
    if (actual == before || actual == after) return;
    RC_LOG() << "the bundle was " << (actual.first_accepted ? "accepted" : "refused")
             << ", the other " << (actual.second_accepted ? "accepted" : "refused") << std::endl;
    const Story& expected = actual.first_accepted == after.first_accepted ? after : before;
    require_same_lines(expected.lines, actual.lines, "the catalog, in either order,");
    require(false, "the answers are those of neither order");
}

// The bundle's own source gets another number at the second attempt, because the first one's went
// to somebody else.
TEST(Planning, OfWhatTheBundleMadeIsDoneAgainAfterAnotherCommit) {
    World world;
    world.perform(Sequence{small_cluster()});
    const auto source_for = [](const std::string& logical) {
        return statement("CREATE PHYSICAL SOURCE FOR " + logical +
                         " TYPE File SET ('f9' AS SOURCE.FILE_PATH, 'W2' AS SOURCE.HOST)")
            .request;
    };
    world.interfere([&] { (void)world.ask(source_for("S2")); });
    const coordinator::Outcome outcome = world.coordinator().execute(bundle_of(
        {source_for("S1"), statement("CREATE QUERY A AS SELECT A FROM S1 INTO K1").request}));
    ASSERT_TRUE(accepted(outcome)) << to_string(std::get<coordinator::Refused>(outcome).error);
    const ModelState state = world.actual();
    const ModelQuery& query = state.queries.at(*state.query_named("A"));
    EXPECT_EQ(query.sources.size(), 2U);
    for (const std::uint64_t id : query.sources) EXPECT_EQ(state.physical.at(id).logical, "S1");
}

// Both were planned while the slot was free.
TEST(Planning, ForTheLastSlotHasOneWinner) {
    World world;
    world.perform(Sequence{small_cluster()});
    for (const char* sql : {"CREATE WORKER 'h3:1' SET ('W3' AS NAME, 1 AS CAPACITY)",
                            "CREATE SINK K3 (A INT64) TYPE Void SET ('W3' AS SINK.HOST)",
                            "CREATE LOGICAL SOURCE S3 (A INT64)",
                            "CREATE PHYSICAL SOURCE FOR S3 TYPE File SET ('f' AS "
                            "SOURCE.FILE_PATH, 'W3' AS SOURCE.HOST)"}) {
        ASSERT_TRUE(accepted(world.ask(statement(sql).request)));
    }
    const catalog::Request query = statement("SELECT A FROM S3 INTO K3").request;
    bool other = false;
    world.interfere([&] { other = accepted(world.ask(query)); });
    const coordinator::Outcome outcome = world.ask(query);
    EXPECT_TRUE(other);
    ASSERT_FALSE(accepted(outcome));
    EXPECT_EQ(std::get<coordinator::Refused>(outcome).error.code, ErrorCode::placement);
}

TEST(Planning, OfABundleOfManyQueriesEnds) {
    World world;
    world.perform(Sequence{small_cluster()});
    std::vector<catalog::Request> requests = {
        statement("CREATE LOGICAL SOURCE S9 (A INT64)").request,
        statement("CREATE PHYSICAL SOURCE FOR S9 TYPE File SET ('f9' "
                  "AS SOURCE.FILE_PATH, 'W2' AS SOURCE.HOST)")
            .request};
    constexpr int kQueries = 100;
    for (int i = 0; i < kQueries; ++i) {
        requests.push_back(statement("SELECT A FROM S9 INTO K1").request);
    }
    const coordinator::Outcome outcome = world.coordinator().execute(bundle_of(requests));
    ASSERT_TRUE(accepted(outcome)) << to_string(std::get<coordinator::Refused>(outcome).error);
    EXPECT_EQ(world.actual().queries.size(), kQueries);
}

// Where nothing is said, the only worker is meant: also if it is no longer the only one because of
// what the same bundle did before.
TEST(Planning, OfADefaultPlacementSeesTheWorkersThatItsBundleMade) {
    World world;
    (void)world.ask(statement("CREATE WORKER 'h1:1' SET ('W1' AS NAME)").request);
    const catalog::Request query =
        statement(
            "SELECT A FROM File('in' AS SOURCE.FILE_PATH, SCHEMA(A INT64) AS SOURCE.SCHEMA) "
            "INTO Void()")
            .request;
    const catalog::Request another = statement("CREATE WORKER 'h2:1' SET ('W2' AS NAME)").request;
    const coordinator::Outcome outcome = world.coordinator().execute(bundle_of({another, query}));
    ASSERT_FALSE(accepted(outcome));
    EXPECT_EQ(std::get<coordinator::Refused>(outcome).error.code, ErrorCode::invalid_configuration);
    EXPECT_TRUE(accepted(world.coordinator().execute(bundle_of({query, another}))));
}

// Two that have read the same and wait for the writer together cannot both write: the second one
// is told, though nothing was committed between them.
TEST(Transactions, ThatShareACommitDoNotOvertakeEachOtherUnseen) {
    World world;
    coordinator::CommitLoop& commits = world.coordinator().commits();
    std::promise<void> gate;
    std::shared_future<void> opened = gate.get_future().share();
    const auto wait = [opened](const coordinator::Outcome&) { opened.wait(); };
    ASSERT_TRUE(commits.submit(bundle_of({catalog::request::DropSink{"NONE"}}), wait));

    std::vector<std::promise<bool>> kept(2);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const std::string n = std::to_string(i);
        coordinator::Bundle bundle = bundle_of({statement("CREATE WORKER 'h" + n + ":1'").request});
        coordinator::EntitySet workers;
        workers.set(static_cast<std::size_t>(kinds::Entity::worker));
        bundle.seen = coordinator::SeenBefore{.entities = workers, .at = world.revision()};
        ASSERT_TRUE(
            commits.submit(std::move(bundle), [&kept, i](const coordinator::Outcome& outcome) {
                kept[i].set_value(accepted(outcome));
            }));
    }
    gate.set_value();
    EXPECT_TRUE(kept[0].get_future().get());
    EXPECT_FALSE(kept[1].get_future().get());
    EXPECT_EQ(world.actual().workers.size(), 1U);
}

}  // namespace

}  // namespace baton::properties
