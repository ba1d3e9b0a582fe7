#include "doors/desk/logins.h"

#include <gtest/gtest.h>

namespace baton::desk {
namespace {

using namespace std::chrono_literals;

class LoginsTest : public ::testing::Test {
protected:
    Duration fail(const std::string& address, const std::string& user) {
        return limits_.failed(address, user, now_);
    }
    Duration refusal(const std::string& address, const std::string& user) {
        return limits_.refusal(address, user, now_);
    }
    void exhaust(const std::string& address, const std::string& user) {
        while (refusal(address, user) == Duration::zero()) (void)fail(address, user);
    }

    LoginLimits limits_;
    Instant now_{Duration(1h)};
};

TEST_F(LoginsTest, EachFailureIsAnsweredLaterThanTheOneBefore) {
    EXPECT_EQ(fail("a", "ann"), 250ms);
    EXPECT_EQ(fail("a", "bob"), 500ms);
    EXPECT_EQ(fail("a", "ann"), 1s);
    for (int i = 0; i < 20; ++i) (void)fail("a", "ann");
    EXPECT_EQ(fail("a", "ann"), 4s);
    EXPECT_EQ(fail("b", "ann"), 250ms);
}

TEST_F(LoginsTest, AnAddressHasSoManyAndGetsThemBackWithTime) {
    int tried = 0;
    for (; refusal("a", "ann") == Duration::zero(); ++tried) (void)fail("a", "ann");
    EXPECT_EQ(tried, 10);
    EXPECT_EQ(refusal("a", "ann"), 2s);
    EXPECT_EQ(refusal("a", "somebody else"), 2s);
    EXPECT_EQ(refusal("a", ""), 2s);
    EXPECT_EQ(refusal("b", "ann"), Duration::zero());
    now_ += 2s;
    EXPECT_EQ(refusal("a", "ann"), Duration::zero());
    (void)fail("a", "ann");
    EXPECT_EQ(refusal("a", "ann"), 2s);
    now_ += 1h;
    for (tried = 0; refusal("a", "ann") == Duration::zero(); ++tried) (void)fail("a", "ann");
    EXPECT_EQ(tried, 10);
}

TEST_F(LoginsTest, AUserIsGuessedFromManyAddressesAtALimitedRate) {
    int tried = 0;
    for (int i = 0; i < 1'000; ++i) {
        const std::string address = "10.0.0." + std::to_string(i);
        if (refusal(address, "ann") > Duration::zero()) continue;
        (void)fail(address, "ann");
        tried += 1;
    }
    EXPECT_EQ(tried, 50);
    EXPECT_EQ(refusal("10.9.9.9", "bob"), Duration::zero());
}

TEST_F(LoginsTest, WhoLoggedInThereIsNotHarmedByOthers) {
    limits_.succeeded("a", "ann", now_);
    exhaust("a", "bob");
    for (int i = 0; i < 1'000; ++i) exhaust("10.0.0." + std::to_string(i % 100), "ann");
    EXPECT_EQ(refusal("a", "ann"), Duration::zero());
    EXPECT_GT(refusal("a", "bob"), Duration::zero());
    // Its own failures count, too.
    exhaust("a", "ann");
    EXPECT_GT(refusal("a", "ann"), Duration::zero());
    now_ += 1min;
    EXPECT_EQ(refusal("a", "ann"), Duration::zero());
}

TEST_F(LoginsTest, OneAddressAloneUsesUpNoUser) {
    for (int i = 0; i < 10'000; ++i) {
        if (refusal("a", "ann") == Duration::zero()) (void)fail("a", "ann");
        now_ += 100ms;
    }
    EXPECT_EQ(refusal("b", "ann"), Duration::zero());
}

TEST_F(LoginsTest, KeepsSoManyAndForgetsTheOldest) {
    LoginLimits few({.kept_max = 100});
    for (int i = 0; i < 10'000; ++i) (void)few.failed(std::to_string(i), std::to_string(i), now_);
    EXPECT_EQ(few.kept(), 100U);
    limits_ = LoginLimits();
    for (int i = 0; i < 100'000; ++i) (void)fail(std::to_string(i), "");
    EXPECT_LE(limits_.kept(), LoginLimitsOptions{}.kept_max);
}

TEST(AddressOfPeer, IsTheHostOrItsNetwork) {
    EXPECT_EQ(address_of_peer("127.0.0.1:5433"), "127.0.0.1");
    EXPECT_EQ(address_of_peer("2001:db8:1:2:3::4:5433"), "2001:db8:1:2::/64");
    EXPECT_EQ(address_of_peer("[2001:db8:1:2:9::4]:5433"), "2001:db8:1:2::/64");
    EXPECT_EQ(address_of_peer("::ffff:10.0.0.7:5433"), "10.0.0.7");
    EXPECT_EQ(address_of_peer("::1:5433"), "0:0:0:0::/64");
    EXPECT_EQ(address_of_peer("fe80::1:2:3:4:5:5433"), "fe80:0:0:1::/64");
    EXPECT_EQ(address_of_peer("1:2:3:4:5:6:7:8:5433"), "1:2:3:4::/64");
    EXPECT_EQ(address_of_peer("unknown"), "unknown");
}

}  // namespace
}  // namespace baton::desk
