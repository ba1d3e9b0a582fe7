#include "core/routing/route.h"

#include <gtest/gtest.h>

namespace baton::routing {
namespace {

using namespace routing;  // NOLINT: its events and steps
using std::chrono::milliseconds;
using std::chrono::seconds;

// Takes a route through what a test says happens, and tells each step in a word or two.
class RouteTest : public ::testing::Test {
protected:
    void begin_with(Reach reach, bool trial = false) {
        route_.emplace(Request{.reach = reach, .trial = trial, .deadline = at(seconds(15))});
    }
    static Instant at(Duration time) { return Instant(seconds(1'000) + time); }
    void pass(Duration time) { sight_.now += time; }
    void own_term(std::uint64_t number) {
        sight_.own_term = TermNumber(number);
        sight_.news += 1;
    }
    void no_term() {
        sight_.own_term.reset();
        sight_.news += 1;
    }
    void leader(const std::string& address) {
        sight_.leader = Leader{.address = address, .epoch = Epoch(7)};
        sight_.news += 1;
    }
    void nobody_leads() {
        sight_.leader.reset();
        sight_.news += 1;
    }

    std::string after(const Event& event) {
        if (!route_) begin_with(Reach::anywhere);
        last_ = route_->step(sight_, event);
        return std::visit([](const auto& step) { return told(step); }, *last_);
    }
    [[nodiscard]] const Wait& wait() const { return std::get<Wait>(std::get<There>(*last_)); }
    [[nodiscard]] const Error& refusal() const {
        return std::get<Refuse>(std::get<End>(*last_)).why;
    }

    Sight sight_{.now = at({}), .own_term = {}, .leader = {}};

private:
    static std::string told(const Here& step) {
        if (std::holds_alternative<Plan>(step)) return "plan";
        if (std::holds_alternative<PlanAgain>(step)) return "plan again";
        if (std::holds_alternative<LookAtDatabase>(step)) return "look at the database";
        return std::get<Commit>(step).writer_plans ? "commit with the writer's plan" : "commit";
    }
    static std::string told(const There& step) {
        if (std::holds_alternative<WriteOrder>(step)) return "write";
        if (const auto* forward = std::get_if<Forward>(&step)) return "ask " + forward->address;
        return "wait";
    }
    static std::string told(const End& step) {
        if (std::holds_alternative<Answer>(step)) return "answer";
        if (std::holds_alternative<Elsewhere>(step)) return "elsewhere";
        return "refuse " + std::to_string(number(std::get<Refuse>(step).why.code));
    }

    std::optional<Route> route_;
    std::optional<Step> last_;
};

Error error(ErrorCode code) {
    return {.code = code, .message = "why"};
}

TEST_F(RouteTest, OneThatLeadsPlansCommitsAndAnswers) {
    own_term(1);
    EXPECT_EQ(after(Begun{}), "plan");
    EXPECT_EQ(after(Planned{}), "commit");
    EXPECT_EQ(after(Happened{}), "answer");
}

TEST_F(RouteTest, ARefusalInTheTermIsTheAnswer) {
    own_term(1);
    (void)after(Begun{});
    (void)after(Planned{});
    EXPECT_EQ(after(RefusedHere{ErrorCode::unknown_sink}), "answer");
}

TEST_F(RouteTest, AnOvertakenPlanIsMadeAgainAndAtLastByTheWriter) {
    own_term(1);
    (void)after(Begun{});
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(after(Planned{}), "commit");
        EXPECT_EQ(after(NeedsPlan{2}), "plan again");
    }
    EXPECT_EQ(after(Planned{}), "commit");
    EXPECT_EQ(after(NeedsPlan{2}), "plan again");
    EXPECT_EQ(after(Planned{}), "commit with the writer's plan");
}

TEST_F(RouteTest, AFollowerForwards) {
    leader("a:1");
    EXPECT_EQ(after(Begun{}), "write");
    EXPECT_EQ(after(OrderWritten{}), "ask a:1");
    EXPECT_EQ(after(HappenedThere{}), "answer");
}

TEST_F(RouteTest, ARefusalOfTheLeaderIsTheAnswer) {
    leader("a:1");
    (void)after(Begun{});
    (void)after(OrderWritten{});
    EXPECT_EQ(after(RefusedThere{error(ErrorCode::unknown_sink)}), "answer");
}

TEST_F(RouteTest, AnOrderThatCannotBeWrittenIsRefusedThoughNobodyLeads) {
    (void)after(Begun{});
    EXPECT_EQ(after(DatabaseLooked{}), "write");
    EXPECT_EQ(after(OrderNotWritten{error(ErrorCode::too_large)}), "refuse 2005");
}

TEST_F(RouteTest, WithoutALeaderItWaitsForNewsAndDoubts) {
    (void)after(Begun{});
    (void)after(DatabaseLooked{});
    EXPECT_EQ(after(OrderWritten{}), "wait");
    EXPECT_TRUE(wait().doubts_leader);
    EXPECT_EQ(wait().news, sight_.news);
    EXPECT_EQ(wait().until, at(milliseconds(50)));
    leader("b:2");
    EXPECT_EQ(after(Woken{}), "ask b:2");
}

TEST_F(RouteTest, NobodyLeadsInTime) {
    (void)after(Begun{});
    (void)after(DatabaseLooked{});
    (void)after(OrderWritten{});
    pass(seconds(15));
    EXPECT_EQ(after(Woken{}), "look at the database");
    EXPECT_EQ(after(DatabaseLooked{}), "refuse 6007");
    EXPECT_EQ(refusal().message, "no coordinator leads now, so nothing is changed");
}

TEST_F(RouteTest, WhileNobodyLeadsTheDatabaseIsLookedAtEachHalfSecond) {
    (void)after(Begun{});
    (void)after(DatabaseLooked{});
    EXPECT_EQ(after(OrderWritten{}), "wait");
    for (int i = 1; i < 10; ++i) {
        pass(milliseconds(50));
        EXPECT_EQ(after(Woken{}), "wait");
    }
    pass(milliseconds(50));
    EXPECT_EQ(after(Woken{}), "look at the database");
    EXPECT_EQ(after(DatabaseLooked{error(ErrorCode::slow_down)}), "wait");
    pass(milliseconds(500));
    EXPECT_EQ(after(Woken{}), "look at the database");
    EXPECT_EQ(after(DatabaseLooked{error(ErrorCode::catalog_unavailable)}), "refuse 6000");
}

TEST_F(RouteTest, WhereALeaderIsKnownTheDatabaseIsNotLookedAt) {
    leader("a:1");
    (void)after(Begun{});
    EXPECT_EQ(after(OrderWritten{}), "ask a:1");
    pass(milliseconds(500));
    EXPECT_EQ(after(NotSent{error(ErrorCode::cannot_connect)}), "ask a:1");
}

TEST_F(RouteTest, AnOrderThatWasNotSentIsSentAgainToWhoeverLeadsThen) {
    leader("a:1");
    (void)after(Begun{});
    (void)after(OrderWritten{});
    const std::uint64_t before = sight_.news;
    leader("b:2");
    EXPECT_EQ(after(NotSent{error(ErrorCode::cannot_connect)}), "wait");
    EXPECT_EQ(wait().news, before) << "the news that came meanwhile would be slept over";
    EXPECT_EQ(after(Woken{}), "ask b:2");
}

TEST_F(RouteTest, OneThatDoesNotLeadAnyMoreIsAskedAgain) {
    leader("a:1");
    (void)after(Begun{});
    (void)after(OrderWritten{});
    EXPECT_EQ(after(RefusedThere{error(ErrorCode::fenced)}), "wait");
    EXPECT_EQ(after(Woken{}), "ask a:1");
}

TEST_F(RouteTest, TheLastReasonIsToldWhenTheTimeIsOver) {
    leader("a:1");
    (void)after(Begun{});
    (void)after(OrderWritten{});
    pass(seconds(20));
    EXPECT_EQ(after(NotSent{error(ErrorCode::cannot_connect)}), "refuse 6007");
    EXPECT_EQ(refusal().message, "the coordinator that leads, at a:1, cannot be asked: why");
}

TEST_F(RouteTest, OneThatLetsNobodyInIsNotAskedAgain) {
    leader("a:1");
    (void)after(Begun{});
    (void)after(OrderWritten{});
    pass(seconds(1));
    EXPECT_EQ(after(NotSent{error(ErrorCode::not_authenticated)}), "refuse 6007");
}

TEST_F(RouteTest, AnAnswerThatWasLostIsAnUnknownOutcome) {
    leader("a:1");
    (void)after(Begun{});
    (void)after(OrderWritten{});
    EXPECT_EQ(after(AnswerLost{{.message = "it broke"}}), "refuse 6006");
}

TEST_F(RouteTest, ATrialIsSentAgainUnlessItIsCancelled) {
    begin_with(Reach::anywhere, true);
    leader("a:1");
    (void)after(Begun{});
    (void)after(OrderWritten{});
    EXPECT_EQ(after(AnswerLost{{.message = "it broke"}}), "wait");
    EXPECT_EQ(after(Woken{}), "ask a:1");
    sight_.cancelled = true;
    EXPECT_EQ(after(AnswerLost{{.message = "it was given up"}}), "refuse 6006");
}

TEST_F(RouteTest, ACancelEndsTheWaitForALeader) {
    (void)after(Begun{});
    (void)after(DatabaseLooked{});
    (void)after(OrderWritten{});
    sight_.cancelled = true;
    EXPECT_EQ(after(Woken{}), "refuse 5002");
}

TEST_F(RouteTest, OneThatHasComeToLeadDoesItItself) {
    (void)after(Begun{});
    (void)after(DatabaseLooked{});
    (void)after(OrderWritten{});
    own_term(1);
    EXPECT_EQ(after(Woken{}), "plan");
}

TEST_F(RouteTest, OneWhoseTermEndsForwards) {
    own_term(1);
    (void)after(Begun{});
    (void)after(Planned{});
    no_term();
    leader("b:2");
    EXPECT_EQ(after(RefusedHere{ErrorCode::fenced}), "write");
    EXPECT_EQ(after(OrderWritten{}), "ask b:2");
}

TEST_F(RouteTest, AnUnreachableDatabaseIsTheAnswerOfATermThatGoesOn) {
    own_term(1);
    (void)after(Begun{});
    EXPECT_EQ(after(RefusedHere{ErrorCode::catalog_unavailable}), "answer");
}

TEST_F(RouteTest, AnUnreachableDatabaseIsNoAnswerOfATermThatIsOver) {
    own_term(1);
    (void)after(Begun{});
    own_term(2);
    leader("b:2");
    EXPECT_EQ(after(RefusedHere{ErrorCode::catalog_unavailable}), "write");
    EXPECT_EQ(after(OrderWritten{}), "plan") << "it leads again";
}

TEST_F(RouteTest, AnUnknownOutcomeInTheTermIsTheAnswer) {
    own_term(1);
    (void)after(Begun{});
    (void)after(Planned{});
    no_term();
    EXPECT_EQ(after(RefusedHere{ErrorCode::unknown_outcome}), "answer");
}

TEST_F(RouteTest, OneThatIsDeposedAndNotToldYetWaitsForThat) {
    own_term(1);
    (void)after(Begun{});
    (void)after(Planned{});
    const std::uint64_t before = sight_.news;
    EXPECT_EQ(after(RefusedHere{ErrorCode::fenced}), "wait");
    EXPECT_FALSE(wait().doubts_leader);
    EXPECT_EQ(wait().news, before);
    no_term();
    leader("b:2");
    EXPECT_EQ(after(Woken{}), "write");
}

TEST_F(RouteTest, OneThatStaysDeposedRefusesInTimeOrWhenCancelled) {
    for (const bool cancelled : {false, true}) {
        begin_with(Reach::anywhere);
        own_term(1);
        (void)after(Begun{});
        sight_.cancelled = cancelled;
        if (!cancelled) pass(seconds(15));
        EXPECT_EQ(after(RefusedHere{ErrorCode::fenced}), "refuse 6007");
    }
}

TEST_F(RouteTest, WhatWasForwardedIsDoneHereOrNotAtAll) {
    begin_with(Reach::passed_on);
    leader("b:2");
    EXPECT_EQ(after(Begun{}), "refuse 6007");
    EXPECT_EQ(refusal().hint, "ask the coordinator that leads: b:2");
    begin_with(Reach::passed_on);
    own_term(1);
    EXPECT_EQ(after(Begun{}), "plan");
    EXPECT_EQ(after(RefusedHere{ErrorCode::fenced}), "refuse 6007");
}

TEST_F(RouteTest, WithoutAWayToOthersItIsRefused) {
    begin_with(Reach::here);
    EXPECT_EQ(after(Begun{}), "refuse 6007");
    EXPECT_EQ(refusal().hint, "no coordinator leads now; try again in a moment");
    begin_with(Reach::here);
    own_term(1);
    (void)after(Begun{});
    EXPECT_EQ(after(RefusedHere{ErrorCode::fenced}), "answer");
}

TEST_F(RouteTest, AThreadThatMayNotWaitIsToldThatItIsForAnother) {
    begin_with(Reach::here_now);
    EXPECT_EQ(after(Begun{}), "elsewhere");
    begin_with(Reach::here_now);
    own_term(1);
    (void)after(Begun{});
    EXPECT_EQ(after(RefusedHere{ErrorCode::fenced}), "elsewhere");
}

TEST_F(RouteTest, AnErrandIsNoneWhereThisCoordinatorLeads) {
    begin_with(Reach::leader_alone);
    EXPECT_EQ(after(Begun{}), "write");
    own_term(1);
    EXPECT_EQ(after(OrderWritten{}), "elsewhere");
}

TEST_F(RouteTest, AnErrandWithoutPatienceIsTriedOnce) {
    begin_with(Reach::leader_alone);
    pass(seconds(15));
    leader("a:1");
    (void)after(Begun{});
    EXPECT_EQ(after(OrderWritten{}), "ask a:1");
    EXPECT_EQ(after(NotSent{error(ErrorCode::cannot_connect)}), "refuse 6007");
}

}  // namespace
}  // namespace baton::routing
