#include "core/programs/programs.h"

#include <gtest/gtest.h>

namespace baton::programs {
namespace {

using programs::AskToEnd;
using programs::MakeEnd;
using programs::SayReleased;
using programs::Start;
using std::chrono::seconds;

class ProgramsTest : public ::testing::Test {
protected:
    using Effects = Programs::Effects;
    static constexpr Instant second(int n) { return at(seconds(n)); }

    const PartitionKey one_{"L", 1};
    const control::Grant grant_{.partition = one_, .epoch = Epoch(3)};
    Programs programs_{seconds(5)};
};

TEST_F(ProgramsTest, APartitionThatIsTakenHasAProcess) {
    EXPECT_EQ(programs_.take(second(0), grant_), Effects{Start{grant_}});
    EXPECT_EQ(programs_.wake_at(), std::nullopt);
    EXPECT_EQ(programs_.tick(second(1000)), Effects{});
}

TEST_F(ProgramsTest, APartitionIsLetGoOfWhenItsProcessHasEnded) {
    (void)programs_.take(second(0), grant_);
    EXPECT_EQ(programs_.release(second(1), one_), Effects{AskToEnd{one_}});
    EXPECT_EQ(programs_.tick(second(2)), Effects{});
    EXPECT_EQ(programs_.ended(second(3), one_), Effects{SayReleased{one_}});
    EXPECT_EQ(programs_.wake_at(), std::nullopt);
    // And may be taken again.
    EXPECT_EQ(programs_.take(second(4), grant_), Effects{Start{grant_}});
}

TEST_F(ProgramsTest, AProcessThatDoesNotEndInItsGraceIsMadeToOnce) {
    (void)programs_.take(second(0), grant_);
    (void)programs_.release(second(1), one_);
    EXPECT_EQ(programs_.wake_at(), second(6));
    EXPECT_EQ(programs_.tick(second(6)), Effects{MakeEnd{one_}});
    EXPECT_EQ(programs_.tick(second(7)), Effects{});
    EXPECT_EQ(programs_.wake_at(), std::nullopt);
    EXPECT_EQ(programs_.ended(second(8), one_), Effects{SayReleased{one_}});
}

TEST_F(ProgramsTest, AProcessThatEndsByItselfIsStartedAgainAfterPausesThatGrow) {
    (void)programs_.take(second(0), grant_);
    Instant now = second(0);
    for (const int pause : {1, 2, 4, 8, 16, 32, 60, 60}) {
        EXPECT_EQ(programs_.ended(now, one_), Effects{});
        EXPECT_EQ(programs_.starts_at(one_), now + seconds(pause));
        EXPECT_EQ(programs_.tick(now + seconds(pause) - Duration(1)), Effects{});
        now += seconds(pause);
        EXPECT_EQ(programs_.wake_at(), now);
        EXPECT_EQ(programs_.tick(now), Effects{Start{grant_}});
    }
    // One that ran for long begins anew.
    now += seconds(61);
    (void)programs_.ended(now, one_);
    EXPECT_EQ(programs_.wake_at(), now + seconds(1));
}

TEST_F(ProgramsTest, WhatIsLetGoOfWhileItPausesIsGoneAtOnce) {
    (void)programs_.take(second(0), grant_);
    (void)programs_.ended(second(1), one_);
    EXPECT_EQ(programs_.release(second(1), one_), Effects{SayReleased{one_}});
    EXPECT_EQ(programs_.tick(second(100)), Effects{});
}

}  // namespace
}  // namespace baton::programs
