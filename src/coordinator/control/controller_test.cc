// The controller with a real catalog and workers' own machines, on one thread in simulated time.
#include "coordinator/control/controller.h"

#include <gtest/gtest.h>

#include "testing/control/control_world.h"

namespace baton::coordinator {
namespace {

using namespace std::chrono_literals;
using testing::ControlWorld;
using testing::DoubleEngine;

constexpr std::string_view kQuery = "CREATE QUERY q AS SELECT id FROM readings INTO alerts";

class ControllerTest : public ::testing::Test {
protected:
    void deploy() {
        world_.run(kQuery);
        world_.run_for(1s);
        ASSERT_EQ(world_.state("Q"), "RUNNING");
    }
    // The commands since the last call, in one line.
    std::string commands() {
        const auto all = world_.workers().commands();
        std::string text;
        for (; told_ < all.size(); ++told_) text += all[told_] + "; ";
        return text;
    }
    FragmentKey key_on(const std::string& worker) {
        const Query query = *world_.query("Q");
        for (const Fragment& fragment : world_.fragments("Q")) {
            if (fragment.worker != worker) continue;
            return {.query = query.id, .run = query.run, .fragment = fragment.id};
        }
        return {};
    }

    ControlWorld world_;
    std::size_t told_ = 0;
};

TEST_F(ControllerTest, AnAcceptedQueryComesToRunOnAllOfItsWorkers) {
    world_.run(kQuery);
    EXPECT_EQ(world_.state("Q"), "PENDING");
    world_.settle();
    EXPECT_EQ(world_.state("Q"), "RUNNING");
    for (const std::string worker : {"EDGE", "HUB"}) {
        EXPECT_TRUE(world_.workers().running(worker).contains(key_on(worker)));
    }
}

TEST_F(ControllerTest, RegistersEverywhereThenStartsDownstreamFirst) {
    deploy();
    const std::string edge = to_string(key_on("EDGE"));
    const std::string hub = to_string(key_on("HUB"));
    EXPECT_EQ(commands(), "EDGE register " + edge + "; HUB register " + hub + "; HUB start " + hub +
                              "; EDGE start " + edge + "; ");
}

TEST_F(ControllerTest, NothingIsSentBeforeTheQueryIsDurable) {
    world_.hold_catalog(true);
    world_.run(kQuery);
    world_.run_for(1s);
    EXPECT_EQ(commands(), "");
    world_.hold_catalog(false);
    world_.run_for(1s);
    EXPECT_NE(commands(), "");
}

TEST_F(ControllerTest, InASteadyStateNothingIsWrittenAndNothingIsSent) {
    deploy();
    (void)commands();
    const Revision before = world_.revision();
    world_.run_for(1h);
    EXPECT_EQ(world_.revision(), before);
    EXPECT_EQ(commands(), "");
}

TEST_F(ControllerTest, ARestartOfTheCoordinatorTouchesNothingThatRuns) {
    deploy();
    (void)commands();
    const Revision before = world_.revision();
    world_.crash();
    world_.run_for(5min);
    world_.start();
    world_.run_for(1min);
    EXPECT_EQ(world_.state("Q"), "RUNNING");
    EXPECT_EQ(world_.revision(), before);
    EXPECT_EQ(commands(), "");
}

// The row of restarts is in the catalog: a change of leader does not make them quick again.
TEST_F(ControllerTest, RestartsStaySlowAcrossARestartOfTheCoordinator) {
    deploy();
    const auto fail_it = [&] {
        world_.workers().with_engine("HUB", [&](DoubleEngine& engine) {
            return engine.fail(key_on("HUB"), {.why = "out of memory"});
        });
    };
    for (int i = 0; i < 8; ++i) {
        fail_it();
        world_.run_for(11s);
        ASSERT_EQ(world_.state("Q"), "RUNNING");
    }
    const std::uint64_t run = world_.query("Q")->run;
    EXPECT_EQ(run, 9U);
    EXPECT_EQ(world_.query("Q")->restarts, 8U);
    fail_it();
    world_.run_for(1s);
    ASSERT_EQ(world_.state("Q"), "RUNNING");
    EXPECT_EQ(world_.query("Q")->run, run + 1);
    fail_it();
    world_.crash();
    world_.start();
    world_.run_for(5s);
    EXPECT_EQ(world_.query("Q")->run, run + 1) << "the next one is due 10 s after the last";
    world_.run_for(8s);
    EXPECT_EQ(world_.query("Q")->run, run + 2);
    world_.run_for(2min);
    fail_it();
    world_.run_for(1s);
    EXPECT_EQ(world_.query("Q")->restarts, 1U) << "a steady run ends the row";
}

// ControlWorld fails what happens again and again at the same time.
TEST_F(ControllerTest, PartitionsThatWaitForTheCatalogKeepNobodyBusy) {
    world_.workers().cut("EDGE");
    world_.run_for(5s);
    world_.hold_catalog(true);
    world_.run("CREATE TASK LIST l PARTITIONS 2");
    world_.run_for(1min);  // EDGE is gone meanwhile
    world_.hold_catalog(false);
    world_.run_for(1s);
    for (const Partition& partition : world_.partitions()) {
        EXPECT_EQ(partition.ownership, (Ownership(ownership::Owned{"HUB", Epoch()})));
    }
}

TEST_F(ControllerTest, ACoordinatorThatDiesWhileItDeploysGoesOnWhereItWas) {
    for (int events = 0; events < 12; ++events) {
        const std::string name = "Q" + std::to_string(events);
        world_.run("CREATE QUERY " + name + " AS SELECT id FROM readings INTO alerts");
        world_.hold_catalog(true);
        world_.settle();
        for (int i = 0; i < events && world_.door().waiting(); ++i) {
            world_.door().settle_next();
            world_.settle();
        }
        world_.crash();
        world_.hold_catalog(false);
        world_.start();
        world_.run_for(10s);
        EXPECT_EQ(world_.state(name), "RUNNING") << "after " << events;
        EXPECT_EQ(world_.query(name)->run, 1U);
    }
}

TEST_F(ControllerTest, AStopEndsUpstreamFirstAndIsThenForgotten) {
    deploy();
    (void)commands();
    const std::string edge = to_string(key_on("EDGE"));
    const std::string hub = to_string(key_on("HUB"));
    world_.run("STOP QUERY q");
    world_.settle();
    EXPECT_EQ(world_.state("Q"), "STOPPED");
    EXPECT_TRUE(world_.workers().held("EDGE").empty());
    EXPECT_TRUE(world_.workers().held("HUB").empty());
    EXPECT_EQ(commands(), "EDGE stop " + edge + " GRACEFUL; HUB stop " + hub +
                              " GRACEFUL; EDGE forget " + edge + "; HUB forget " + hub + "; ");
}

TEST_F(ControllerTest, ADropReleasesTheNameWhenTheLastFragmentIsGone) {
    deploy();
    world_.workers().cut("EDGE");
    world_.run_for(10s);
    EXPECT_EQ(world_.worker("EDGE").state, WorkerState::unreachable);
    EXPECT_EQ(world_.state("Q"), "DEPLOYING");
    world_.run("DROP QUERY q MODE FORCEFUL");
    world_.run_for(1h);
    EXPECT_EQ(world_.state("Q"), "STOPPING");
    EXPECT_EQ(world_.query("Q")->lagging, std::vector<std::string>{"EDGE"});
    EXPECT_TRUE(world_.workers().running("HUB").empty());
    EXPECT_EQ(world_.try_run(kQuery).error().code, ErrorCode::query_exists);
    world_.workers().mend("EDGE");
    world_.run_for(30s);
    EXPECT_EQ(world_.state("Q"), "none");
    EXPECT_TRUE(world_.workers().held("EDGE").empty());
    world_.run(kQuery);
}

TEST_F(ControllerTest, AWorkerThatIsBackWithItsFragmentNeedsNoRestart) {
    deploy();
    (void)commands();
    world_.workers().cut("EDGE");
    world_.run_for(1min);
    EXPECT_EQ(world_.state("Q"), "DEPLOYING");
    EXPECT_EQ(world_.query("Q")->lagging, std::vector<std::string>{"EDGE"});
    world_.workers().mend("EDGE");
    world_.run_for(30s);
    EXPECT_EQ(world_.state("Q"), "RUNNING");
    EXPECT_EQ(world_.query("Q")->run, 1U);
    EXPECT_TRUE(world_.query("Q")->lagging.empty());
    EXPECT_EQ(commands(), "");
}

TEST_F(ControllerTest, AWorkerThatLostTheFragmentMakesANextRun) {
    deploy();
    world_.workers().start("EDGE");  // another incarnation
    world_.run_for(10s);
    EXPECT_EQ(world_.state("Q"), "RUNNING");
    EXPECT_EQ(world_.query("Q")->run, 2U);
    for (const std::string worker : {"EDGE", "HUB"}) {
        EXPECT_EQ(world_.workers().held(worker).size(), 1U);
        EXPECT_TRUE(world_.workers().running(worker).contains(key_on(worker)));
    }
}

TEST_F(ControllerTest, AFragmentThatFailsMakesANextRunSoonerAtFirst) {
    deploy();
    for (std::uint64_t run = 2; run < 6; ++run) {
        world_.workers().with_engine("HUB", [&](DoubleEngine& engine) {
            return engine.fail(key_on("HUB"), {.why = "out of memory"});
        });
        world_.run_for(10s);
        EXPECT_EQ(world_.state("Q"), "RUNNING");
        EXPECT_EQ(world_.query("Q")->run, run);
    }
}

TEST_F(ControllerTest, AQueryThatIsToFailDoes) {
    world_.run(
        "CREATE QUERY q SET ('FAIL' AS QUERY.ON_FAILURE) AS "
        "SELECT id FROM readings INTO alerts");
    world_.run_for(1s);
    world_.workers().start("EDGE");
    world_.run_for(10s);
    EXPECT_EQ(world_.state("Q"), "FAILED");
    EXPECT_EQ(world_.query("Q")->reason.code, ReasonCode::fragment_lost);
    EXPECT_EQ(world_.query("Q")->reason.who, "EDGE");
    EXPECT_TRUE(world_.workers().held("HUB").empty());
}

TEST_F(ControllerTest, APlanThatNoWorkerCanRunIsTakenBackEverywhere) {
    world_.workers().with_engine("EDGE", [](DoubleEngine& engine) -> DoubleEngine::Reports {
        engine.fail_prepares(DoubleEngine::Trouble{control::Fault::terminal,
                                                   "cannot compile: no such function",
                                                   number(ErrorCode::not_supported)});
        return {};
    });
    world_.run(kQuery);
    world_.run_for(10s);
    EXPECT_EQ(world_.state("Q"), "FAILED");
    EXPECT_NE(world_.query("Q")->reason.text.find("no such function"), std::string::npos);
    EXPECT_EQ(world_.query("Q")->reason.who, "EDGE");
    EXPECT_EQ(world_.query("Q")->reason.code, ReasonCode::fragment_failed);
    EXPECT_EQ(world_.query("Q")->reason.error, number(ErrorCode::not_supported));
    EXPECT_TRUE(world_.workers().held("HUB").empty());
    EXPECT_TRUE(world_.workers().held("EDGE").empty());
}

TEST_F(ControllerTest, WhatDoesNotWorkNowIsTriedAgainUntilTheTimeIsOver) {
    const auto trouble = [&](std::optional<DoubleEngine::Trouble> given) {
        world_.workers().with_engine("EDGE", [&](DoubleEngine& engine) -> DoubleEngine::Reports {
            engine.fail_prepares(given);
            return {};
        });
    };
    trouble(DoubleEngine::Trouble{control::Fault::transient, "no memory just now"});
    world_.run(kQuery);
    world_.run_for(1min);
    EXPECT_EQ(world_.state("Q"), "DEPLOYING");
    EXPECT_NE(world_.query("Q")->reason.text.find("no memory just now"), std::string::npos);
    EXPECT_EQ(world_.query("Q")->reason.code, ReasonCode::fragment_refused);
    trouble(std::nullopt);
    world_.run_for(15s);
    EXPECT_EQ(world_.state("Q"), "RUNNING");

    trouble(DoubleEngine::Trouble{control::Fault::transient, "no memory just now"});
    world_.run(
        "CREATE QUERY r SET (60000 AS QUERY.DEPLOY_TIMEOUT_MS) AS "
        "SELECT id FROM readings INTO alerts");
    world_.run_for(61s);
    EXPECT_EQ(world_.state("R"), "FAILED");
    EXPECT_EQ(world_.workers().held("HUB").size(), 1U);
}

TEST_F(ControllerTest, AQueryWhoseSourcesEndIsTerminated) {
    deploy();
    world_.workers().with_engine("EDGE",
                                 [&](DoubleEngine& engine) { return engine.end(key_on("EDGE")); });
    world_.settle();
    EXPECT_EQ(world_.state("Q"), "RUNNING");
    world_.workers().with_engine("HUB",
                                 [&](DoubleEngine& engine) { return engine.end(key_on("HUB")); });
    world_.settle();
    EXPECT_EQ(world_.state("Q"), "TERMINATED");
    EXPECT_TRUE(world_.workers().held("EDGE").empty());
}

TEST_F(ControllerTest, AQueryWaitsForItsWorkersBeforeAnyIsTold) {
    world_.workers().kill("HUB");
    world_.run(kQuery);
    world_.run_for(5s);
    EXPECT_EQ(world_.state("Q"), "PENDING");
    EXPECT_EQ(world_.query("Q")->lagging, std::vector<std::string>{"HUB"});
    EXPECT_TRUE(world_.workers().held("EDGE").empty());
    world_.workers().start("HUB");
    world_.run_for(15s);
    EXPECT_EQ(world_.state("Q"), "RUNNING");
}

TEST_F(ControllerTest, AZombieIsStoppedWhenItsWorkerIsBack) {
    deploy();
    world_.workers().cut("EDGE");
    world_.run_for(1min);
    const FragmentKey zombie = key_on("EDGE");
    // As if the catalog had been restored from before the query was created.
    world_.crash();
    const Query query = *world_.query("Q");
    const catalog::Request reports[] = {
        controllers::FailQuery{.query = query.id, .reason = {.text = "restored"}},
        controllers::ReportFragment{.fragment = zombie.fragment, .state = FragmentState::stopped},
        controllers::ReportFragment{.fragment = key_on("HUB").fragment,
                                    .state = FragmentState::stopped},
        controllers::MarkQuery{.query = query.id, .state = QueryState::failed},
        catalog::request::DropQuery{.query = query.id}};
    for (const catalog::Request& request : reports) ASSERT_TRUE(world_.door().execute(request));
    world_.start();
    world_.workers().mend("EDGE");
    EXPECT_TRUE(world_.workers().running("EDGE").contains(zombie));
    world_.run_for(30s);
    EXPECT_TRUE(world_.workers().held("EDGE").empty());
    EXPECT_TRUE(world_.workers().held("HUB").empty());
}

TEST_F(ControllerTest, AFailedWriteIsTriedAgain) {
    world_.hold_catalog(true);
    world_.run(kQuery);
    world_.settle();
    ASSERT_TRUE(world_.door().waiting());
    const Error full{.code = ErrorCode::catalog_full, .message = "no space left"};
    while (world_.door().waiting()) {
        world_.door().settle_next(full);
        world_.settle();
    }
    world_.hold_catalog(false);
    world_.run_for(10s);
    EXPECT_EQ(world_.state("Q"), "RUNNING");
}

TEST_F(ControllerTest, ADrainedWorkerKeepsWhatItHas) {
    deploy();
    (void)commands();
    world_.run("DRAIN WORKER 'EDGE'");
    world_.run_for(1min);
    EXPECT_EQ(world_.state("Q"), "RUNNING");
    EXPECT_EQ(commands(), "");
    EXPECT_EQ(world_.try_run("CREATE QUERY r AS SELECT id FROM readings INTO alerts").error().code,
              ErrorCode::placement);
    world_.workers().start("EDGE");
    world_.run_for(10s);
    EXPECT_EQ(world_.state("Q"), "RUNNING");
    EXPECT_EQ(world_.query("Q")->run, 2U);
}

}  // namespace
}  // namespace baton::coordinator
