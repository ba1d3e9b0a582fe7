#include "core/worker/station.h"

#include <gtest/gtest.h>

#include "base/epoch.h"

namespace baton::worker {
namespace {

using namespace fragments;  // NOLINT
using namespace sessions;   // NOLINT
using namespace station;    // NOLINT
using control::Fault;

constexpr FragmentKey kKey{.query = QueryId(3), .run = 1, .fragment = FragmentId(7)};

AllegianceKept kept(std::uint64_t epoch) {
    return {.allegiance = {.catalog = "", .epoch = Epoch(epoch)}};
}

// A worker that session 1 of epoch 5 has greeted.
class StationTest : public ::testing::Test {
protected:
    StationTest() {
        (void)step(Greeted{.session = 1, .hello = {.epoch = Epoch(5)}});
        (void)step(kept(5));
    }

    std::string step(const station::Event& event) {
        std::string text;
        for (const Effect& effect : machine_.step(Instant(), event))
            text += to_string(effect) + "; ";
        return text;
    }
    std::string tell(const control::WorkerCommand& order, Epoch epoch = Epoch(5)) {
        return step(MessageArrived{
            .session = session_,
            .message = control::Command{.request = ++request_, .epoch = epoch, .what = order}});
    }
    std::string beat(std::uint64_t seen) {
        return step(MessageArrived{.session = session_,
                                   .message = control::Beat{.number = ++beat_, .seen = seen}});
    }
    void make_running() {
        (void)tell(control::RegisterFragment{.key = kKey, .plan = "plan"});
        (void)step(Prepared{kKey});
        (void)tell(control::StartFragment{kKey});
        (void)step(BeganToRun{kKey});
    }
    FragmentState state() { return *machine_.held().at(kKey).state; }

    Station machine_{Incarnation(9)};
    Session session_ = 1;
    std::uint64_t request_ = 0;
    std::uint64_t beat_ = 0;
};

TEST_F(StationTest, AFragmentIsPreparedThenStartedThenRuns) {
    EXPECT_EQ(tell(control::RegisterFragment{.key = kKey, .plan = "plan"}),
              "prepare 3/1/7; answer 1: 3/1/7 is PENDING; ");
    EXPECT_EQ(step(Prepared{kKey}), "pulse 0 through 2: 3/1/7 is REGISTERED; ");
    EXPECT_EQ(tell(control::StartFragment{kKey}), "start 3/1/7; answer 2: 3/1/7 is STARTED; ");
    EXPECT_EQ(step(BeganToRun{kKey}), "pulse 0 through 4: 3/1/7 is RUNNING; ");
}

TEST_F(StationTest, ARepeatedCommandIsAnsweredAndDoesNothing) {
    make_running();
    EXPECT_EQ(tell(control::RegisterFragment{.key = kKey, .plan = "plan"}),
              "answer 3: 3/1/7 is RUNNING; ");
    EXPECT_EQ(tell(control::StartFragment{kKey}), "answer 4: 3/1/7 is RUNNING; ");
    (void)tell(control::StopFragment{.key = kKey, .mode = StopMode::graceful});
    EXPECT_EQ(tell(control::StopFragment{.key = kKey, .mode = StopMode::graceful}),
              "answer 6: 3/1/7 is RUNNING stopping GRACEFUL; ");
}

TEST_F(StationTest, ALowerEpochIsRefused) {
    EXPECT_EQ(tell(control::StartFragment{kKey}, Epoch(4)), "answer 1: refused, epoch 4 is over; ");
    EXPECT_EQ(step(Greeted{.session = 2, .hello = {.epoch = Epoch(4)}}),
              "refuse: epoch 4 is over: 5 was seen; ");
    EXPECT_EQ(tell(control::StartFragment{kKey}), "answer 2: 3/1/7 is gone; ");
}

TEST_F(StationTest, OnlyTheNewestSessionIsListenedTo) {
    EXPECT_EQ(step(Greeted{.session = 2, .hello = {.epoch = Epoch(5)}}), "welcome as 9: nothing; ");
    EXPECT_EQ(tell(control::RegisterFragment{.key = kKey, .plan = "plan"}), "");
    EXPECT_TRUE(machine_.held().empty());
}

TEST_F(StationTest, AnotherProtocolIsRefused) {
    EXPECT_EQ(
        step(Greeted{.session = 2, .hello = {.epoch = Epoch(5), .worker = "", .protocol = 1}}),
        "refuse: protocol 1 is not spoken here; ");
}

TEST_F(StationTest, FragmentsGoOnWithoutACoordinatorAndAreAllInTheWelcome) {
    make_running();
    EXPECT_EQ(step(HungUp{1}), "");
    EXPECT_EQ(step(Ended{kKey}), "");
    EXPECT_EQ(step(Greeted{.session = 2, .hello = {.epoch = Epoch(5)}}),
              "welcome as 9: 3/1/7 is TERMINATED; ");
}

TEST_F(StationTest, AChangeIsRepeatedUntilItWasSeen) {
    make_running();
    EXPECT_EQ(beat(0), "pulse 1 through 4: 3/1/7 is RUNNING; ");
    EXPECT_EQ(beat(3), "pulse 2 through 4: 3/1/7 is RUNNING; ");
    EXPECT_EQ(beat(4), "pulse 3 through 4: nothing; ");
}

TEST_F(StationTest, WhatACommandChangesIsToldOnceByItsAnswerAndRepeatedUntilItWasSeen) {
    EXPECT_EQ(tell(control::RegisterFragment{.key = kKey, .plan = "plan"}),
              "prepare 3/1/7; answer 1: 3/1/7 is PENDING; ");
    EXPECT_EQ(beat(0), "pulse 1 through 1: 3/1/7 is PENDING; ");
    (void)step(Prepared{kKey});
    EXPECT_EQ(tell(control::StartFragment{kKey}), "start 3/1/7; answer 2: 3/1/7 is STARTED; ");
    // The next change of anything tells all numbers since, so that none seems to be missing.
    const FragmentKey other{.query = QueryId(4), .run = 1, .fragment = FragmentId(8)};
    EXPECT_EQ(tell(control::RegisterFragment{.key = other, .plan = "plan"}),
              "prepare 4/1/8; answer 3: 4/1/8 is PENDING; ");
    EXPECT_EQ(step(Prepared{other}), "pulse 0 through 5: 3/1/7 is STARTED, 4/1/8 is REGISTERED; ");
}

TEST_F(StationTest, WhatEndedIsRememberedUntilItMayBeForgotten) {
    make_running();
    EXPECT_EQ(tell(control::ForgetFragment{kKey}), "answer 3: 3/1/7 is RUNNING; ");
    (void)step(Ended{kKey});
    EXPECT_EQ(tell(control::StopFragment{.key = kKey}), "answer 4: 3/1/7 is TERMINATED; ");
    EXPECT_EQ(tell(control::ForgetFragment{kKey}), "answer 5: 3/1/7 is gone; ");
    EXPECT_TRUE(machine_.held().empty());
}

TEST_F(StationTest, WhatWasCountedIsToldWithTheEnd) {
    make_running();
    (void)step(Ended{.key = kKey, .counts = {.rows_in = 5, .late = 1}});
    const auto& held = machine_.held().at(kKey);
    EXPECT_EQ(held.state, FragmentState::terminated);
    EXPECT_EQ(held.counts, (Counts{.rows_in = 5, .late = 1}));
}

TEST_F(StationTest, AGracefulStopDrainsAndAForcefulOneOverridesIt) {
    make_running();
    EXPECT_EQ(tell(control::StopFragment{.key = kKey, .mode = StopMode::graceful}).substr(0, 13),
              "drain 3/1/7; ");
    EXPECT_EQ(tell(control::StopFragment{.key = kKey, .mode = StopMode::forceful}).substr(0, 13),
              "abort 3/1/7; ");
    (void)step(Halted{kKey});
    EXPECT_EQ(state(), FragmentState::stopped);
}

TEST_F(StationTest, WhatWasNotStartedIsNotDrained) {
    (void)tell(control::RegisterFragment{.key = kKey, .plan = "plan"});
    EXPECT_EQ(tell(control::StopFragment{.key = kKey, .mode = StopMode::graceful}).substr(0, 13),
              "abort 3/1/7; ");
    (void)step(Prepared{kKey});  // too late
    EXPECT_EQ(tell(control::StartFragment{kKey}), "answer 3: 3/1/7 is PENDING stopping FORCEFUL; ");
    (void)step(Halted{kKey});
    EXPECT_EQ(state(), FragmentState::stopped);
}

TEST_F(StationTest, AnEndByItselfIsTerminatedUnlessItWasToldToStop) {
    make_running();
    (void)tell(control::StopFragment{.key = kKey, .mode = StopMode::graceful});
    (void)step(Ended{kKey});
    EXPECT_EQ(state(), FragmentState::stopped);
}

TEST_F(StationTest, APlanThatCannotBePreparedFailsAndOneThatCannotBeNowIsGone) {
    (void)tell(control::RegisterFragment{.key = kKey, .plan = "plan"});
    EXPECT_EQ(step(PrepareFailed{.key = kKey, .fault = Fault::transient, .why = "no memory"}),
              "pulse 0 through 2: 3/1/7 is gone (no memory); ");
    EXPECT_TRUE(machine_.held().empty());
    (void)tell(control::RegisterFragment{.key = kKey, .plan = "plan"});
    EXPECT_EQ(step(PrepareFailed{.key = kKey, .fault = Fault::terminal, .why = "no such file"}),
              "pulse 0 through 4: 3/1/7 is FAILED (no such file); ");
    EXPECT_EQ(machine_.held().at(kKey).fault, Fault::terminal);
}

TEST_F(StationTest, AHigherEpochIsKeptBeforeAnybodyIsWelcomedUnderIt) {
    EXPECT_EQ(step(Greeted{.session = 2, .hello = {.epoch = Epoch(6)}}), "keep 6; ");
    EXPECT_EQ(machine_.epoch(), Epoch(5));
    // Until then it is as if nobody had called.
    EXPECT_EQ(tell(control::StartFragment{kKey}), "answer 1: 3/1/7 is gone; ");
    EXPECT_EQ(step(kept(6)), "welcome as 9: nothing; ");
    EXPECT_EQ(machine_.epoch(), Epoch(6));
    EXPECT_EQ(tell(control::StartFragment{kKey}), "");
}

TEST_F(StationTest, AnEpochThatCannotBeKeptIsRefused) {
    (void)step(Greeted{.session = 2, .hello = {.epoch = Epoch(6)}});
    EXPECT_EQ(step(AllegianceNotKept{.allegiance = kept(6).allegiance, .why = "disk full"}),
              "refuse: epoch 6 cannot be kept: disk full; ");
    EXPECT_EQ(step(kept(6)), "");
    (void)step(Greeted{.session = 3, .hello = {.epoch = Epoch(7)}});
    (void)step(HungUp{3});
    EXPECT_EQ(step(kept(7)), "");
}

TEST_F(StationTest, WhatWasKeptHoldsAfterARestart) {
    Station next(Incarnation(10), {.catalog = "", .epoch = Epoch(6)});
    const auto effects = next.step(Instant(), Greeted{.session = 1, .hello = {.epoch = Epoch(5)}});
    ASSERT_EQ(effects.size(), 1U);
    EXPECT_EQ(to_string(effects[0]), "refuse: epoch 5 is over: 6 was seen");
}

TEST_F(StationTest, ACommandOfAnEpochThatNeverGreetedIsRefused) {
    EXPECT_EQ(tell(control::StartFragment{kKey}, Epoch(6)),
              "answer 1: refused, epoch 6 has not greeted; ");
}

TEST_F(StationTest, WhoLeavesSaysSoAndTakesNothingNew) {
    make_running();
    EXPECT_EQ(step(Leaving{}), "pulse 0 through 4: nothing, draining; ");
    EXPECT_EQ(step(Leaving{}), "");
    EXPECT_EQ(tell(control::RegisterFragment{.key = kKey, .plan = "plan"}),
              "answer 3: 3/1/7 is RUNNING; ");
    const FragmentKey other{.query = QueryId(4), .run = 1, .fragment = FragmentId(8)};
    EXPECT_EQ(tell(control::RegisterFragment{.key = other, .plan = "plan"}),
              "answer 4: refused, the worker is draining; ");
    EXPECT_FALSE(machine_.may_leave());
    (void)step(Ended{kKey});
    EXPECT_FALSE(machine_.may_leave());  // perhaps nobody has heard of it
    (void)tell(control::ForgetFragment{kKey});
    EXPECT_TRUE(machine_.may_leave());
}

TEST_F(StationTest, WhoIsListenedToByNobodyLeavesWhenNothingLives) {
    make_running();
    (void)step(HungUp{1});
    EXPECT_FALSE(machine_.may_leave());
    (void)step(Ended{kKey});
    EXPECT_TRUE(machine_.may_leave());
}

TEST_F(StationTest, WhatTheEngineSaysOfWhatHasEndedIsTooLate) {
    make_running();
    EXPECT_NE(step(Broke{.key = kKey, .fault = Fault::transient, .why = "out of memory"}), "");
    EXPECT_EQ(step(Ended{kKey}), "");
    EXPECT_EQ(step(Halted{kKey}), "");
    EXPECT_EQ(state(), FragmentState::failed);
}

// ---- whom a worker obeys ------------------------------------------------------------------------

// A new worker, and what it says to those who greet it.
class AllegianceTest : public ::testing::Test {
protected:
    std::string greet(const std::string& catalog, Epoch epoch) {
        std::string text;
        std::vector<station::Event> events = {Greeted{
            .session = ++session_, .hello = {.epoch = epoch, .worker = "W", .catalog = catalog}}};
        for (std::size_t i = 0; i < events.size(); ++i) {
            const station::Event event = events[i];
            for (const Effect& effect : machine_.step(Instant(), event)) {
                text += to_string(effect) + "; ";
                if (const auto* keep = std::get_if<Keep>(&effect)) {
                    events.emplace_back(AllegianceKept{keep->allegiance});
                }
                const auto* said = std::get_if<AnswerGreeting>(&effect);
                if (said == nullptr) continue;
                const auto* refusal = std::get_if<control::Refusal>(&said->answer);
                highest_ = refusal == nullptr ? Epoch() : refusal->highest;
            }
        }
        return text;
    }
    static bool is_welcome(const std::string& text) {
        return text.find("welcome") != std::string::npos;
    }

    Station machine_{Incarnation(9)};
    Session session_ = 0;
    Epoch highest_;  // of the last refusal
};

TEST_F(AllegianceTest, AWorkerBelongsToTheFirstCatalogThatGreetsIt) {
    EXPECT_EQ(greet("aa", Epoch(3)), "keep 3 of aa; welcome as 9: nothing; ");
    EXPECT_EQ(greet("bb", Epoch(40)),
              "refuse: the worker belongs to catalog aa, not to bb; to change that, stop the "
              "worker, run `baton worker release --data-dir DIR` and start it again; ");
    EXPECT_EQ(highest_, Epoch(0)) << "nobody is to step down for the epoch of another catalog";
    EXPECT_EQ(greet("aa", Epoch(3)), "welcome as 9: nothing; ");
    Station restarted(Incarnation(10), {.catalog = "aa", .epoch = Epoch(3)});
    const auto said = restarted.step(
        Instant(),
        Greeted{.session = 1, .hello = {.epoch = Epoch(4), .worker = "W", .catalog = "bb"}});
    EXPECT_EQ(to_string(said.at(0)).substr(0, 7), "refuse:");
}

TEST_F(AllegianceTest, AWorkerThatKeptOnlyAnEpochIsBoundByTheNextGreeting) {
    Station old(Incarnation(10), {.catalog = "", .epoch = Epoch(3)});
    const auto said = old.step(
        Instant(),
        Greeted{.session = 1, .hello = {.epoch = Epoch(3), .worker = "W", .catalog = "aa"}});
    EXPECT_EQ(to_string(said.at(0)), "keep 3 of aa");
}

TEST_F(AllegianceTest, AnEpochIsBelievedOnlyAsFarAsTermsCanHavePassed) {
    EXPECT_TRUE(is_welcome(greet("aa", Epoch(3))));
    EXPECT_TRUE(is_welcome(greet("aa", Epoch(3 + kEpochJumpMax))));
    for (const Epoch absurd :
         {Epoch(4 + 2 * kEpochJumpMax), kEpochMax.next(), Epoch((1ULL << 63U) - 2), Epoch(~0ULL)}) {
        EXPECT_EQ(greet("aa", absurd)
                      .find("refuse: epoch " + baton::to_string(absurd) +
                            " is too far above 1000003, the highest seen here"),
                  0U);
    }
    EXPECT_TRUE(is_welcome(greet("aa", Epoch(4 + kEpochJumpMax))));
}

TEST_F(AllegianceTest, ANewWorkerBelievesWhateverEpochThereCanBe) {
    EXPECT_FALSE(is_welcome(greet("aa", kEpochMax.next())));
    EXPECT_TRUE(is_welcome(greet("aa", kEpochMax)));
}

TEST_F(AllegianceTest, AFragmentIsToldWithTheFingerprintItWasRegisteredWith) {
    (void)greet("aa", Epoch(3));
    const auto order = [&](const std::string& fingerprint) {
        const auto effects = machine_.step(
            Instant(),
            MessageArrived{.session = session_,
                           .message = control::Command{
                               .request = 1,
                               .epoch = Epoch(3),
                               .what = control::RegisterFragment{
                                   .key = kKey, .plan = "plan", .fingerprint = fingerprint}}});
        const auto& reply = std::get<Reply>(effects.back());
        const auto& answer = std::get<control::CommandAnswer>(reply.message);
        return std::get<control::FragmentStatus>(answer.outcome).fingerprint;
    };
    EXPECT_EQ(order("f1"), "f1");
    EXPECT_EQ(order("f2"), "f1") << "what is there stays until it is told to end";
}

}  // namespace
}  // namespace baton::worker
