#include "core/membership/verdicts.h"

#include <gtest/gtest.h>

namespace baton::membership {
namespace {

const Judge kActive{
    .worker = "W", .state = WorkerState::active, .incarnation = Incarnation(7), .reason = {}};

// W as the catalog has it before it was ever heard.
Worker recorded() {
    Worker worker;
    worker.name = "W";
    worker.control = Address{.host = "w", .port = 1};
    return worker;
}

TEST(Verdicts, AreUnreportedUntilTheCatalogSaysTheSame) {
    Verdicts verdicts;
    Worker worker = recorded();
    verdicts.record("W", worker);
    EXPECT_EQ(verdicts.unreported("W"), std::nullopt) << "nothing is judged";
    verdicts.judge(kActive);
    EXPECT_EQ(verdicts.unreported("W"),
              (controllers::ReportWorker{.name = "W", .incarnation = Incarnation(7)}));
    worker.incarnation = Incarnation(7);
    verdicts.record("W", worker);
    EXPECT_EQ(verdicts.unreported("W"), std::nullopt);
}

TEST(Verdicts, AnUnreachableWorkerMayBeAnyProcess) {
    Verdicts verdicts;
    Worker worker = recorded();
    worker.state = WorkerState::unreachable;
    worker.incarnation = Incarnation(7);
    worker.reason = {.code = ReasonCode::silent, .text = "silence"};
    verdicts.record("W", worker);
    membership::Judge silent{.worker = "W",
                             .state = WorkerState::unreachable,
                             .incarnation = {},
                             .reason = worker.reason};
    verdicts.judge(silent);
    EXPECT_EQ(verdicts.unreported("W"), std::nullopt);
    silent.reason.text = "it refuses";
    verdicts.judge(silent);
    EXPECT_TRUE(verdicts.unreported("W"));
}

TEST(Verdicts, OnlyAnActiveWorkerLeavesAndThatIsNewsOnce) {
    Verdicts verdicts;
    verdicts.record("W", recorded());
    EXPECT_FALSE(verdicts.leaves("W"));
    verdicts.judge(kActive);
    EXPECT_TRUE(verdicts.leaves("W"));
    EXPECT_FALSE(verdicts.leaves("W"));
    EXPECT_TRUE(verdicts.unreported("W")->leaving);
}

TEST(Verdicts, NothingIsReportedOfAWorkerThatHasGoneOrMoved) {
    Verdicts verdicts;
    verdicts.record("W", recorded());
    verdicts.judge(kActive);
    Worker elsewhere = recorded();
    elsewhere.control->port = 2;
    verdicts.record("W", elsewhere);
    EXPECT_EQ(verdicts.unreported("W"), std::nullopt);
    verdicts.judge(kActive);
    verdicts.record("W", std::nullopt);
    verdicts.record("W", recorded());
    EXPECT_EQ(verdicts.unreported("W"), std::nullopt);
}

}  // namespace
}  // namespace baton::membership
