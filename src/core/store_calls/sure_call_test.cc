// Stories of calls: replies as they come, and the effects that follow.
#include "core/store_calls/sure_call.h"

#include <string>

#include <gtest/gtest.h>

#include "base/overload.h"

namespace baton::store_calls {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string text(const CallEffect& effect) {
    return std::visit(Overload{[](const SendAttempt&) -> std::string { return "send"; },
                               [](const LookAtObject&) -> std::string { return "look"; },
                               [](const WaitUntil&) -> std::string { return "wait"; },
                               [](const EndCall& end) -> std::string {
                                   switch (end.ending) {
                                       case Ending::done:
                                           return "done";
                                       case Ending::found_done:
                                           return "found done";
                                       case Ending::condition_failed:
                                           return "condition failed";
                                       case Ending::failed:
                                           return "failed";
                                       case Ending::unknown:
                                           return "unknown";
                                       case Ending::cancelled:
                                           return "cancelled";
                                   }
                                   return "?";
                               }},
                      effect);
}

class SureCallTest : public ::testing::Test {
protected:
    void begin(bool is_put, Duration patience = seconds(30)) {
        call_.emplace(CallPlan{.is_put = is_put, .patience = patience, .seed = 7}, now_);
        take(CallBegun{});
    }
    // The effect that follows; waits pass.
    std::string reply(Reply reply, Duration after = milliseconds(10)) {
        now_ += after;
        return take(AttemptEnded{.reply = reply});
    }
    std::string see(Finding finding) { return take(ObjectSeen{.finding = finding}); }
    std::string give_up() { return take(CallGivenUp{}); }
    std::string last() const { return text(effect_); }

    std::string take(const CallEvent& event) {
        effect_ = call_->step(now_, event, pace_);
        while (const auto* wait = std::get_if<WaitUntil>(&effect_)) {
            EXPECT_GE(wait->time, now_);
            longest_ = std::max<Duration>(longest_, wait->time - now_);
            now_ = wait->time;
            effect_ = call_->step(now_, WaitOver{}, pace_);
        }
        return text(effect_);
    }

    Instant now_ = at(seconds(100));
    Pace pace_;
    std::optional<SureCall> call_;
    CallEffect effect_ = SendAttempt{};
    Duration longest_{};
};

TEST_F(SureCallTest, AnAnswerEndsTheCall) {
    begin(false);
    EXPECT_EQ(last(), "send");
    EXPECT_EQ(reply(Reply::done), "done");
    EXPECT_EQ(call_->repeats(), 0U);
}

TEST_F(SureCallTest, AnAttemptHasDeadlinesAndThePatienceIsTheLast) {
    begin(false, seconds(3));
    const auto& deadlines = std::get<SendAttempt>(effect_).deadlines;
    EXPECT_EQ(deadlines.connect, seconds(2));
    EXPECT_EQ(deadlines.silence, seconds(5));
    EXPECT_EQ(deadlines.whole, seconds(3));
}

TEST_F(SureCallTest, TroubleIsRepeatedUntilItIsOver) {
    begin(false);
    EXPECT_EQ(reply(Reply::not_sent), "send");
    EXPECT_EQ(reply(Reply::server), "send");
    EXPECT_EQ(reply(Reply::unknown), "send");
    EXPECT_EQ(reply(Reply::done), "done");
    EXPECT_EQ(call_->repeats(), 3U);
}

TEST_F(SureCallTest, PausesGrowToTwoSecondsAndNoFurther) {
    begin(false, std::chrono::minutes(5));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(reply(Reply::not_sent), "send");
    EXPECT_LE(longest_, seconds(2));
    EXPECT_GT(longest_, seconds(1));
}

TEST_F(SureCallTest, AReadFailsWhenThePatienceIsOver) {
    begin(false, seconds(3));
    std::string next = "send";
    while (next == "send") next = reply(Reply::unknown, milliseconds(200));
    EXPECT_EQ(next, "failed");
    EXPECT_LE(now_, at(seconds(104)));
}

TEST_F(SureCallTest, ARefusalIsNotRepeated) {
    for (const Reply final : {Reply::refused, Reply::too_large, Reply::full}) {
        begin(true);
        EXPECT_EQ(reply(final), "failed");
    }
}

TEST_F(SureCallTest, AConditionThatFailsAtOnceHasFailed) {
    begin(true);
    EXPECT_EQ(reply(Reply::condition_failed), "condition failed");
}

TEST_F(SureCallTest, WithoutAConnectionNothingHappened) {
    begin(true);
    EXPECT_EQ(reply(Reply::not_sent), "send");
    EXPECT_EQ(reply(Reply::condition_failed), "condition failed");
}

TEST_F(SureCallTest, AConditionThatFailsAfterALostAnswerMayHaveFailedByOurselves) {
    for (const Reply trouble : {Reply::unknown, Reply::server, Reply::throttled}) {
        begin(true);
        EXPECT_EQ(reply(trouble), "send");
        EXPECT_EQ(reply(Reply::condition_failed), "look");
        EXPECT_EQ(see(Finding::ours), "found done");
    }
}

TEST_F(SureCallTest, AnObjectOfOthersSettlesThatWeLost) {
    begin(true);
    reply(Reply::unknown);
    EXPECT_EQ(reply(Reply::condition_failed), "look");
    EXPECT_EQ(see(Finding::others), "condition failed");
}

TEST_F(SureCallTest, AnUnclearObjectLeavesTheOutcomeUnknown) {
    begin(true);
    reply(Reply::unknown);
    reply(Reply::condition_failed);
    EXPECT_EQ(see(Finding::unclear), "unknown");
}

TEST_F(SureCallTest, ALookIsRepeatedToo) {
    begin(true);
    reply(Reply::unknown);
    EXPECT_EQ(reply(Reply::condition_failed), "look");
    EXPECT_EQ(reply(Reply::server), "look");
    EXPECT_EQ(reply(Reply::not_sent), "look");
    EXPECT_EQ(see(Finding::ours), "found done");
}

TEST_F(SureCallTest, ALookThatIsRefusedLeavesTheOutcomeUnknown) {
    begin(true);
    reply(Reply::unknown);
    reply(Reply::condition_failed);
    EXPECT_EQ(reply(Reply::refused), "unknown");
}

TEST_F(SureCallTest, SomePatienceIsKeptForALook) {
    begin(true, seconds(4));
    std::string next = "send";
    while (next == "send") next = reply(Reply::unknown, milliseconds(500));
    EXPECT_EQ(next, "look");
    EXPECT_LE(now_, at(seconds(104)));
    EXPECT_EQ(see(Finding::ours), "found done");
}

TEST_F(SureCallTest, AnAttemptThatTakesAllThePatienceLeavesTheOutcomeUnknown) {
    begin(true, seconds(4));
    EXPECT_EQ(reply(Reply::unknown, seconds(5)), "unknown");
}

TEST_F(SureCallTest, ARefusalAfterALostAnswerIsSettledByALook) {
    begin(true);
    reply(Reply::unknown);
    EXPECT_EQ(reply(Reply::refused), "look");
    EXPECT_EQ(see(Finding::ours), "found done");
}

TEST_F(SureCallTest, GivingUpBeforeAnythingWasSentIsCancelled) {
    begin(true);
    now_ += milliseconds(1);
    effect_ = call_->step(now_, AttemptEnded{.reply = Reply::not_sent}, pace_);
    EXPECT_EQ(give_up(), "cancelled");
}

TEST_F(SureCallTest, GivingUpAWriteThatIsUnderWayLeavesTheOutcomeUnknown) {
    begin(true);
    EXPECT_EQ(reply(Reply::given_up), "unknown");
    begin(false);
    EXPECT_EQ(reply(Reply::given_up), "cancelled");
}

TEST_F(SureCallTest, AStoreThatAsksForLessSlowsTheNextCall) {
    for (int i = 0; i < 4; ++i) begin(false);
    reply(Reply::throttled);
    now_ += seconds(1);
    begin(false);
    const Instant first = now_;
    begin(false);
    EXPECT_GE(now_ - first, milliseconds(450));
}

TEST_F(SureCallTest, NoPlaceInThePaceWithinThePatienceFailsAtOnce) {
    pace_.slow_down(now_);
    for (int i = 0; i < 20; ++i) (void)pace_.reserve(now_);
    call_.emplace(CallPlan{.is_put = true, .patience = seconds(5), .seed = 7}, now_);
    effect_ = call_->step(now_, CallBegun{}, pace_);
    EXPECT_EQ(last(), "failed");
}

TEST(Stamps, SayWhatTheObjectWasMadeFrom) {
    EXPECT_EQ(stamp_of("n1", Wanted::if_absent, ""), "n1;new");
    EXPECT_EQ(stamp_of("n1", Wanted::if_unchanged, "\"e1\""), "n1;over;\"e1\"");
    EXPECT_EQ(stamp_of("n1", Wanted::always, ""), "n1;any");
    EXPECT_EQ(stamp_of("n1", Wanted::if_unchanged, "e 1"), "n1;any");  // no header could carry it
    EXPECT_EQ(stamp_of("n1", Wanted::if_unchanged, std::string(200, 'e')), "n1;any");
}

Put made(Wanted wanted, const std::string& etag = "") {
    return {.wanted = wanted, .etag = etag, .stamp = stamp_of("n1", wanted, etag), .size = 5};
}
Finding at_sight(const Put& put, const std::string& stamp, std::uint64_t size = 5) {
    return judge(put, Sight{.stamp = stamp, .size = size});
}

TEST(Stamps, OursIsKnownByItsNonce) {
    EXPECT_EQ(at_sight(made(Wanted::if_absent), "n1;new"), Finding::ours);
    EXPECT_EQ(at_sight(made(Wanted::if_unchanged, "e1"), "n1;over;e1"), Finding::ours);
    EXPECT_EQ(at_sight(made(Wanted::always), "n1;any"), Finding::ours);
}

TEST(Stamps, OneThatMetOurConditionBeforeUsIsOfOthers) {
    EXPECT_EQ(at_sight(made(Wanted::if_absent), "n2;new"), Finding::others);
    EXPECT_EQ(at_sight(made(Wanted::if_unchanged, "e1"), "n2;over;e1"), Finding::others);
}

TEST(Stamps, OneThatMayHaveReplacedOursIsUnclear) {
    EXPECT_EQ(at_sight(made(Wanted::if_absent), "n2;over;e7"), Finding::unclear);
    EXPECT_EQ(at_sight(made(Wanted::if_absent), "n2;any"), Finding::unclear);
    EXPECT_EQ(at_sight(made(Wanted::if_unchanged, "e1"), "n2;over;e2"), Finding::unclear);
    EXPECT_EQ(at_sight(made(Wanted::if_unchanged, "e1"), "n2;new"), Finding::unclear);
    EXPECT_EQ(at_sight(made(Wanted::always), "n2;any"), Finding::unclear);
    EXPECT_EQ(judge(made(Wanted::if_absent), std::nullopt), Finding::unclear);
}

TEST(Stamps, WithoutAStampOnlyAnotherSizeIsOfOthers) {
    EXPECT_EQ(at_sight(made(Wanted::if_absent), "", 6), Finding::others);
    EXPECT_EQ(at_sight(made(Wanted::if_absent), "", 5), Finding::unclear);
    EXPECT_EQ(at_sight(made(Wanted::if_unchanged, "e1"), "", 6), Finding::unclear);
}

}  // namespace
}  // namespace baton::store_calls
