#include "coordinator/routing/forwarder.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "coordinator/routing/field_codec.h"
#include "coordinator/routing/forwarded_bundle.h"
#include "testing/coordinator/coordinator_test_base.h"

namespace baton::coordinator {
namespace {

using std::chrono::milliseconds;

// Answers as it was told to, one after the other; the last answer again and again.
class ScriptedLine final : public LeaderLine {
public:
    LineAnswer ask(const std::string& address, const std::string& order, Duration /*patience*/,
                   const std::function<bool()>& /*given_up*/) override {
        const std::lock_guard lock(mutex_);
        asked_.push_back(address);
        orders_.push_back(order);
        if (when_asked) when_asked();
        LineAnswer answer = answers_.front();
        if (answers_.size() > 1) answers_.pop_front();
        return answer;
    }
    void will(LineAnswer answer) { answers_.push_back(std::move(answer)); }
    [[nodiscard]] std::vector<std::string> asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }
    [[nodiscard]] std::size_t times_asked(std::string_view part) const {
        const std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(std::count_if(
            orders_.begin(), orders_.end(),
            [&](const std::string& order) { return order.find(part) != std::string::npos; }));
    }
    std::function<void()> when_asked;

private:
    mutable std::mutex mutex_;
    std::deque<LineAnswer> answers_;
    std::vector<std::string> asked_;
    std::vector<std::string> orders_;
};

std::string refused_with(ErrorCode code) {
    Packer to;
    to.text("refused");
    to.number(0);
    to.number(number(code));
    to.text("why");
    to.text("");
    for (int i = 0; i < 4; ++i) to.number(0);
    to.number(0);
    return to.packed();
}

std::string accepted() {
    Packer to;
    to.text("accepted");
    to.number(7);
    to.number(1);
    to.number(0);
    to.number(0);
    to.text("S");
    to.flag(false);
    to.number(0);
    to.number(0);
    return to.packed();
}

NotSent not_sent(ErrorCode code = ErrorCode::cannot_connect) {
    return {Error{.code = code, .message = "nobody is there"}};
}
Leader leader_at(const std::string& address) {
    return {.address = address, .epoch = Epoch(1)};
}

AnswerLost no_answer() {
    return {Error{.code = ErrorCode::unknown_outcome, .message = "the connection was lost"}};
}

class ForwarderTest : public ::testing::Test {
protected:
    ForwarderTest() {
        bundle_.steps.push_back(
            {.what = catalog::Request(catalog::request::DropSink{.name = "S"}),
             .statement = {},
             .source = std::make_shared<StepSource>(StepSource{.text = "DROP SINK s"})});
    }

    // "accepted", "here", or the number of the error.
    std::string forwarded(Duration patience = std::chrono::seconds(30)) {
        Forwarder forwarder(line_, board_, clock_,
                            {.patience = patience, .pause = milliseconds(1)});
        bundle_.started = clock_.now();
        auto done = forwarder.forward(bundle_, bundle_.started + patience);
        if (std::holds_alternative<LeadsHere>(done)) return "here";
        const auto& outcome = std::get<Outcome>(done);
        if (std::holds_alternative<Accepted>(outcome)) return "accepted";
        return std::to_string(number(std::get<Refused>(outcome).error.code));
    }

    system::SystemClock clock_;
    LeaderBoard board_;
    ScriptedLine line_;
    Bundle bundle_;
};

TEST_F(ForwarderTest, WhatTheLeaderAnswersIsTheAnswer) {
    board_.set_leader(leader_at("a:1"));
    line_.will(accepted());
    EXPECT_EQ(forwarded(), "accepted");
    EXPECT_EQ(line_.asked(), std::vector<std::string>{"a:1"});
}

TEST_F(ForwarderTest, ARefusalOfTheLeaderIsNotTriedAgain) {
    board_.set_leader(leader_at("a:1"));
    line_.will(refused_with(ErrorCode::unknown_sink));
    EXPECT_EQ(forwarded(), "2033");
    EXPECT_EQ(line_.asked().size(), 1U);
}

TEST_F(ForwarderTest, WhileNobodyLeadsItWaitsForWhoDoes) {
    line_.will(accepted());
    std::thread later([&] { board_.set_leader(leader_at("b:2")); });
    EXPECT_EQ(forwarded(), "accepted");
    later.join();
}

TEST_F(ForwarderTest, IfNobodyComesToLeadInTimeNothingWasSent) {
    EXPECT_EQ(forwarded(milliseconds(5)), "6007");
    EXPECT_TRUE(line_.asked().empty());
}

TEST_F(ForwarderTest, WhoDoesNotLeadAnyMoreIsAskedAgainOrTheNext) {
    board_.set_leader(leader_at("a:1"));
    line_.will(refused_with(ErrorCode::fenced));
    line_.will(accepted());
    line_.when_asked = [&] { board_.set_leader(leader_at("b:2")); };
    EXPECT_EQ(forwarded(), "accepted");
    EXPECT_EQ(line_.asked(), (std::vector<std::string>{"a:1", "b:2"}));
}

TEST_F(ForwarderTest, WhatWasNotSentIsTriedAgainAndWhoLeadsIsLookedFor) {
    board_.set_leader(leader_at("a:1"));
    line_.will(not_sent());
    line_.will(accepted());
    int doubts = 0;
    board_.on_doubt([&] { doubts += 1; });
    EXPECT_EQ(forwarded(), "accepted");
    EXPECT_EQ(doubts, 1);
}

TEST_F(ForwarderTest, WhatWasSentAndNotAnsweredIsUnknownAndNeverTriedAgain) {
    board_.set_leader(leader_at("a:1"));
    line_.will(no_answer());
    line_.will(accepted());
    EXPECT_EQ(forwarded(), "6006");
    EXPECT_EQ(line_.asked().size(), 1U);
}

TEST_F(ForwarderTest, ATrialIsTriedAgainWhateverBecameOfIt) {
    bundle_.keep = false;
    board_.set_leader(leader_at("a:1"));
    line_.will(no_answer());
    line_.will(accepted());
    EXPECT_EQ(forwarded(), "accepted");
}

TEST_F(ForwarderTest, AnAnswerThatCannotBeReadIsUnknown) {
    board_.set_leader(leader_at("a:1"));
    line_.will(std::string("8:accepted"));
    EXPECT_EQ(forwarded(), "6006");
}

TEST_F(ForwarderTest, AnErrandThatCouldNotBeDoneIsDoneWithTheNext) {
    board_.set_leader(leader_at("a:1"));
    line_.will(not_sent());
    line_.will(accepted());
    Forwarder forwarder(line_, board_, clock_, {.patience = Duration::zero()});
    forwarder.run_errand(bundle_);
    while (line_.asked().empty()) std::this_thread::yield();
    Bundle next = bundle_;
    next.steps[0].source = std::make_shared<StepSource>(StepSource{.text = "DROP SINK next"});
    while (line_.times_asked("DROP SINK s") < 2) forwarder.run_errand(next);
}

TEST_F(ForwarderTest, OneThatDoesNotLetUsInIsNotAskedUntilTheTimeIsOver) {
    board_.set_leader(leader_at("a:1"));
    line_.will(not_sent(ErrorCode::not_authenticated));
    EXPECT_EQ(forwarded(), "6007");
    EXPECT_EQ(line_.asked().size(), 1U);
}

TEST_F(ForwarderTest, WhoHasComeToLeadDoesItItself) {
    board_.set_here(true);
    EXPECT_EQ(forwarded(), "here");
}

TEST_F(ForwarderTest, AnInterruptEndsTheWaitForALeader) {
    Interrupt interrupt;
    bundle_.interrupt = &interrupt;
    std::thread later([&] { interrupt.raise(); });
    EXPECT_EQ(forwarded(), "5002");
    later.join();
}

TEST_F(ForwarderTest, WhatDoesNotSayHowItWasWrittenIsNotPassedOn) {
    bundle_.steps.front().source = nullptr;
    board_.set_leader(leader_at("a:1"));
    EXPECT_EQ(forwarded(), "6007");
}

// ---- a follower and its leader ------------------------------------------------------------------

// Brings orders to a coordinator in this process.
class ShortLine final : public LeaderLine {
public:
    LineAnswer ask(const std::string& /*address*/, const std::string& order, Duration /*patience*/,
                   const std::function<bool()>& /*given_up*/) override {
        return carry_out(leader->executor(), order);
    }
    CoordinatorRuntime* leader = nullptr;
};

// Two catalogs, so that it is seen where something happened.
class FollowerTest : public testing::CoordinatorTest {
protected:
    void SetUp() override {
        CoordinatorTest::SetUp();
        line_.leader = coordinator_.get();
        auto catalog = testing::open_test_catalog();
        ASSERT_TRUE(catalog);
        CoordinatorOptions options;
        options.line = &line_;
        options.forwarding.patience = milliseconds(200);
        options.forwarding.pause = milliseconds(1);
        auto follower = CoordinatorRuntime::open(*std::move(catalog), clock_, options);
        ASSERT_TRUE(follower) << to_string(follower.error());
        follower_ = *std::move(follower);
        follower_->follow();
        follower_->leader().set_leader(leader_at("leader:1"));
        there_ = std::make_unique<Session>(*follower_, "ann");
    }
    void TearDown() override { there_.reset(); }

    ShortLine line_;
    std::unique_ptr<CoordinatorRuntime> follower_;
    std::unique_ptr<Session> there_;
};

TEST_F(FollowerTest, AChangeHappensWhereTheLeaderIsUnderTheNameOfTheClient) {
    const auto results = run(*there_, "CREATE LOGICAL SOURCE s (x INT8)");
    EXPECT_EQ(std::get<catalog::Answer>(results.back().value).name, "S");
    EXPECT_TRUE(results.back().revision);
    EXPECT_EQ(rows("SELECT NAME FROM baton.logical_sources"), "S\n");
    EXPECT_EQ(rows("SELECT PRINCIPAL FROM baton.statements"), "ann\n");
}

TEST_F(FollowerTest, ParametersGoWithIt) {
    const std::vector<sql::Literal> parameters = {std::string("W1")};
    const auto done =
        there_->execute("CREATE WORKER '127.0.0.1:9' SET ($1 AS NAME)", {}, parameters);
    ASSERT_FALSE(done.error) << to_string(*done.error);
    EXPECT_EQ(rows("SELECT NAME, ADDRESS FROM baton.workers"), "W1|127.0.0.1:9\n");
}

TEST_F(FollowerTest, AnErrorStandsWhereTheClientWroteIt) {
    const std::string text =
        "CREATE LOGICAL SOURCE s (x INT8);\n  CREATE QUERY q AS SELECT nosuch\n  FROM s INTO t";
    const Error here = error_of(*there_, text);
    run("DROP LOGICAL SOURCE s");
    const Error at_leader = error_of(text);
    EXPECT_EQ(to_string(here), to_string(at_leader));
    ASSERT_TRUE(here.at);
    EXPECT_EQ(here.at->offset, at_leader.at->offset);
}

TEST_F(FollowerTest, ATransactionIsTriedOutAndLookedAtWhereTheLeaderIs) {
    run(*there_, "BEGIN; CREATE LOGICAL SOURCE a (x INT8)");
    run(*there_, "CREATE LOGICAL SOURCE b (x INT8)");
    EXPECT_EQ(rows(*there_, "SELECT NAME FROM baton.logical_sources"), "A\nB\n");
    EXPECT_EQ(rows("SELECT NAME FROM baton.logical_sources"), "");
    EXPECT_EQ(error_of(*there_, "CREATE LOGICAL SOURCE a (x INT8)").code, ErrorCode::source_exists);
    run(*there_, "ROLLBACK; BEGIN; CREATE LOGICAL SOURCE c (x INT8); COMMIT");
    EXPECT_EQ(rows("SELECT NAME FROM baton.logical_sources"), "C\n");
}

TEST_F(FollowerTest, WhatIsDroppedIsCounted) {
    run(*there_, "CREATE LOGICAL SOURCE a (x INT8); CREATE LOGICAL SOURCE b (x INT8)");
    const auto dropped = run(*there_, "DROP LOGICAL SOURCE a");
    EXPECT_EQ(std::get<catalog::Answer>(dropped.back().value).dropped.size(), 1U);
    const auto absent = run(*there_, "DROP LOGICAL SOURCE IF EXISTS a");
    EXPECT_EQ(std::get<catalog::Answer>(absent.back().value).did, catalog::Did::absent);
}

TEST_F(FollowerTest, WhatIsDroppedIsToldAsWhatItWas) {
    run(*there_, "CREATE TASK LIST l PARTITIONS 2");
    const auto dropped = run(*there_, "DROP TASK LIST l");
    const auto& what = std::get<catalog::Answer>(dropped.back().value).dropped;
    ASSERT_EQ(what.size(), 1U);
    EXPECT_EQ(what.front().kind, sql::EntityKind::task_list);
    EXPECT_EQ(what.front().name, "L");
}

TEST_F(FollowerTest, AnOrderIsNeverPassedOn) {
    line_.leader = follower_.get();  // a mistake of the board
    const Error error = error_of(*there_, "CREATE LOGICAL SOURCE s (x INT8)");
    EXPECT_EQ(error.code, ErrorCode::fenced);
}

TEST_F(FollowerTest, OneWhoseTermEndsHasTheNextLeaderDoIt) {
    ASSERT_TRUE(follower_->lead(Epoch(1)));
    follower_->follow();
    follower_->leader().set_leader(leader_at("leader:1"));
    run(*there_, "CREATE LOGICAL SOURCE s (x INT8)");
    EXPECT_EQ(rows("SELECT NAME FROM baton.logical_sources"), "S\n");
}

// ---- what cannot be read ------------------------------------------------------------------------

TEST_F(FollowerTest, AnOrderThatCannotBeReadIsRefused) {
    for (const std::string order : {"", "x", "3:abc", "14:baton bundle 1", "14:baton bundle 11:x",
                                    "999999999999999999999:x", "2:\\q"}) {
        Bundle bundle;
        bundle.steps.push_back(
            {.what = catalog::Request(catalog::request::DropSink{.name = "S"}), .statement = {}});
        const auto outcome =
            baton::coordinator::outcome_of(carry_out(coordinator_->executor(), order), bundle);
        ASSERT_TRUE(outcome) << order;
        EXPECT_EQ(std::get<Refused>(*outcome).error.code, ErrorCode::malformed_message) << order;
    }
}

TEST(Packed, EveryByteComesBackInPrintableText) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    Packer to;
    to.text(bytes);
    to.integer(INT64_MIN);
    to.real(0.1);
    for (const char c : to.packed()) EXPECT_TRUE(c >= ' ' && c <= '~');
    Unpacker from(to.packed());
    EXPECT_EQ(*from.text(), bytes);
    EXPECT_EQ(*from.integer(), INT64_MIN);
    EXPECT_EQ(*from.real(), 0.1);
    EXPECT_TRUE(from.end());
    EXPECT_FALSE(from.text());
}

}  // namespace
}  // namespace baton::coordinator
