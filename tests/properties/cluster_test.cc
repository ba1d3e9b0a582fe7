// Queries are placed where they can run, and only there. One property for each invariant.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "coordinator/sessions/session.h"
#include "properties/picks.h"
#include "properties/world.h"

namespace baton::properties {

namespace {

// Performs the sequence and looks after every step.
void after_every_step(World& world, const Sequence& sequence, const std::function<void()>& look) {
    for (const Item& item : sequence.items) {
        world.perform(item);
        look();
    }
}

RC_GTEST_PROP(QueryLogic, QueriesNeedTheirSourcesAndSinks, ()) {
    World world;
    world.perform(*any_sequence(15));
    const ModelState state = world.actual();
    const std::string source = *rc::gen::element<std::string>("S1", "S2", "S3");
    const std::string sink = *rc::gen::element<std::string>("K1", "K2", "K3");
    const catalog::Request query = statement("SELECT A FROM " + source + " INTO " + sink).request;
    if (!state.logical.contains(source)) {
        world.must_refuse(query, ErrorCode::unknown_source);
    } else if (!state.sinks.contains(sink)) {
        world.must_refuse(query, ErrorCode::unknown_sink);
    }
}

// Workers W0 to W4, each linked to some of those before it; a source and a sink anywhere.
RC_GTEST_PROP(QueryLogic, APathOfLinksMustLeadFromSourceToSink, ()) {
    World world;
    constexpr int kWorkers = 5;
    for (int i = 0; i < kWorkers; ++i) {
        std::string sql = "CREATE WORKER 'h" + std::to_string(i) + ":1' SET ('W" +
                          std::to_string(i) + "' AS NAME";
        for (int peer = 0; peer < i; ++peer) {
            if (!chance(30)) continue;
            sql += ", 'W" + std::to_string(peer) + "' AS " +
                   *rc::gen::element<std::string>("UPSTREAM", "DOWNSTREAM");
        }
        (void)world.ask(statement(sql + ")").request);
    }
    const std::string from = "W" + std::to_string(between(0, kWorkers));
    const std::string to = "W" + std::to_string(between(0, kWorkers));
    const ModelState state = world.actual();
    RC_PRE(state.workers.contains(from) && state.workers.contains(to));
    for (const std::string& sql :
         {std::string("CREATE LOGICAL SOURCE S (A INT64)"),
          "CREATE PHYSICAL SOURCE FOR S TYPE File SET ('f' AS SOURCE.FILE_PATH, '" + from +
              "' AS SOURCE.HOST)",
          "CREATE SINK K (A INT64) TYPE Void SET ('" + to + "' AS SINK.HOST)"}) {
        RC_ASSERT(accepted(world.ask(statement(sql).request)));
    }
    const catalog::Request query = statement("SELECT A FROM S INTO K").request;
    if (state.reaches(from, to)) {
        RC_ASSERT(accepted(world.ask(query)));
    } else {
        world.must_refuse(query, ErrorCode::placement);
    }
}

RC_GTEST_PROP(ClusterTopology, WorkerAddressesAreValid, ()) {
    World world;
    const std::string host = *rc::gen::element<std::string>(
        "localhost", "a-b.example", "10.0.0.1", "[::1]", "", "a b", "-a", "a..b", "[::1", "a/b");
    const std::string port =
        *rc::gen::element<std::string>(":1", ":65535", ":0", ":65536", ":", "", ":x", ":-1", ":1 ");
    const bool good =
        std::set<std::string>{"localhost", "a-b.example", "10.0.0.1", "[::1]"}.contains(host) &&
        (port == ":1" || port == ":65535");
    const bool as_data = chance(30);
    const std::string sql = as_data ? "CREATE WORKER 'h:1' SET ('" + host + port + "' AS DATA)"
                                    : "CREATE WORKER '" + host + port + "'";
    const coordinator::Execution execution =
        coordinator::Session(world.coordinator(), "tester").execute(sql);
    RC_LOG() << sql << std::endl;
    if (good) {
        RC_ASSERT(!execution.error.has_value());
        RC_ASSERT(world.actual().workers.size() == 1U);
    } else {
        RC_ASSERT(execution.error.has_value());
        // No text at all is refused before it is taken for an address.
        const bool no_text = host.empty() && port.empty();
        RC_ASSERT(no_text || execution.error->code == ErrorCode::invalid_address);
        RC_ASSERT(world.actual().workers.empty());
    }
}

RC_GTEST_PROP(ClusterTopology, PeersMustExist, ()) {
    World world;
    world.perform(*any_sequence(10));
    const std::string peer = *rc::gen::element<std::string>("W1", "W2", "W3", "W8");
    const std::string direction = *rc::gen::element<std::string>("UPSTREAM", "DOWNSTREAM");
    const catalog::Request create =
        statement("CREATE WORKER 'h9:1' SET ('W9' AS NAME, '" + peer + "' AS " + direction + ")")
            .request;
    if (world.actual().workers.contains(peer)) {
        RC_ASSERT(accepted(world.ask(create)));
    } else {
        world.must_refuse(create, ErrorCode::unknown_worker);
    }
}

RC_GTEST_PROP(ClusterTopology, LinksNeverFormACycle, ()) {
    World world;
    const Sequence sequence = *any_sequence(30);
    after_every_step(world, sequence, [&] {
        const ModelState state = world.actual();
        for (const auto& [from, to] : state.links) {
            require(!state.reaches(to, from), "the link " + from + " -> " + to + " closes a cycle");
        }
    });
}

RC_GTEST_PROP(DistributedState, NothingIsPlacedOnUnreachableOrDrainingWorkers, ()) {
    World world;
    world.perform(*any_sequence(20));
    const ModelState before = world.actual();
    const coordinator::Outcome outcome = world.ask((*any_create_query()).request);
    const auto* kept = std::get_if<coordinator::Accepted>(&outcome);
    if (kept == nullptr) return;
    const auto id = *std::get<catalog::Answer>(kept->answers.front()).id;
    for (const auto& [fragment_id, f] : world.actual().fragments) {
        if (f.query != id) continue;
        const ModelWorker& worker = before.workers.at(f.worker);
        RC_ASSERT(worker.state == WorkerState::active);
        RC_ASSERT(!worker.draining);
        RC_ASSERT(!worker.leaving);
    }
}

RC_GTEST_PROP(DistributedState, UsedSlotsNeverExceedCapacity, ()) {
    World world;
    const Sequence sequence = *any_sequence(40);
    after_every_step(world, sequence, [&] {
        require_none(world, "SELECT \"NAME\" FROM baton_workers WHERE \"USED\" > \"CAPACITY\"",
                     "a worker is overloaded");
        const auto rows =
            require_value(world.sql().query("SELECT \"NAME\", \"USED\" FROM baton_workers"));
        for (const SqlRow& row : rows) {
            const auto used = world.expected().used(std::get<std::string>(row.at(0)));
            require(std::get<std::int64_t>(row.at(1)) == static_cast<std::int64_t>(used),
                    "the view counts other slots");
        }
    });
}

RC_GTEST_PROP(DistributedState, RunningMeansEveryFragmentRunsOnAnActiveWorker, ()) {
    World world;
    const Sequence sequence = *any_sequence(40);
    after_every_step(world, sequence, [&] {
        require_none(world,
                     "SELECT q.name FROM query q JOIN fragment f ON f.query = q.id JOIN worker w "
                     "ON w.name = f.worker WHERE q.state = 'RUNNING' AND f.state <> 'TERMINATED' "
                     "AND (f.state <> 'RUNNING' OR w.state <> 'ACTIVE')",
                     "a query is RUNNING that does not run everywhere");
    });
}

RC_GTEST_PROP(DistributedState, AnEndedOrPendingQueryIsOnNoWorker, ()) {
    World world;
    const Sequence sequence = *any_sequence(40);
    after_every_step(world, sequence, [&] {
        require_none(world,
                     "SELECT q.name FROM query q JOIN fragment f ON f.query = q.id WHERE "
                     "(q.state IN ('STOPPED', 'TERMINATED', 'FAILED') AND f.state NOT IN "
                     "('STOPPED', 'TERMINATED', 'FAILED')) OR (q.state = 'PENDING' AND f.state <> "
                     "'PENDING')",
                     "an ended or pending query has a live fragment");
    });
}

RC_GTEST_PROP(DistributedState, ANameIsNotReusedBeforeItsQueryIsGone, ()) {
    World world;
    world.perform(*any_sequence(25));
    (void)world.ask(statement("CREATE WORKER 'h9:1' SET ('W9' AS NAME)").request);
    const auto create = [](const std::string& name) {
        return statement("CREATE QUERY " + name +
                         " AS SELECT A FROM File('in' AS SOURCE.FILE_PATH, SCHEMA(A INT64) AS "
                         "SOURCE.SCHEMA, 'W9' AS SOURCE.HOST) INTO Void('W9' AS SINK.HOST)")
            .request;
    };
    const ModelState before = world.actual();
    for (const auto& [id, query] : before.queries) {
        world.must_refuse(create(query.name), ErrorCode::query_exists);
        (void)world.ask(catalog::request::DropQuery{QueryId(id)});
        if (world.actual().queries.contains(id)) {
            world.must_refuse(create(query.name), ErrorCode::query_exists);
            for (const auto& [fragment_id, f] : before.fragments) {
                if (f.query != id) continue;
                if (!has_ended(f.state)) {
                    world.must_refuse(controllers::ReleaseQuery{QueryId(id)},
                                      ErrorCode::query_state);
                }
                (void)world.ask(controllers::ReportFragment{
                    FragmentId(fragment_id), FragmentState::stopped, {}});
            }
            RC_ASSERT(accepted(world.ask(controllers::ReleaseQuery{QueryId(id)})));
        }
        RC_ASSERT(!world.actual().queries.contains(id));
        RC_ASSERT(accepted(world.ask(create(query.name))));
    }
}

}  // namespace

}  // namespace baton::properties
