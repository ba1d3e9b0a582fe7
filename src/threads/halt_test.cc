#include "threads/halt.h"

#include <gtest/gtest.h>

namespace baton::threads {
namespace {

TEST(Halt, ActsOnceWhenItIsRaisedAndStaysRaised) {
    Halt halt;
    int acts = 0;
    {
        const Halt::Acting acting(halt, [&] { acts += 1; });
        EXPECT_EQ(acts, 0);
        halt.raise();
        halt.raise();
        EXPECT_EQ(acts, 1);
    }
    EXPECT_TRUE(halt.raised());
}

TEST(Halt, AnActThatComesLateIsDoneAtOnce) {
    Halt halt;
    halt.raise();
    bool acted = false;
    const Halt::Acting acting(halt, [&] { acted = true; });
    EXPECT_TRUE(acted);
}

TEST(Halt, NothingActsAfterItsEnd) {
    Halt halt;
    int acts = 0;
    {
        const Halt::Acting acting(halt, [&] { acts += 1; });
    }
    halt.raise();
    EXPECT_EQ(acts, 0);
}

}  // namespace
}  // namespace baton::threads
