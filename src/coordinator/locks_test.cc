// Named locks for clients, as statements.
#include "coordinator/locks.h"

#include <chrono>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "testing/coordinator/coordinator_test_base.h"
#include "testing/eventually.h"

namespace baton::coordinator {
namespace {

using testing::CoordinatorTest;

class LocksTest : public CoordinatorTest {
protected:
    static std::string acquire(const std::string& owner, const std::string& ttl = "1 HOUR") {
        return "ACQUIRE LOCK nightly OWNER '" + owner + "' TTL " + ttl;
    }
    std::string locks() {
        return rows("SELECT name, owner, epoch, status FROM baton.locks WHERE name = 'NIGHTLY'");
    }
    // Tries until it succeeds, which a lease that ends lets it do.
    std::string row_when_free(const std::string& statement) {
        const bool free = testing::eventually([&] { return outcome_of(statement) == "ok"; });
        return free ? locks() : "never";
    }
};

TEST_F(LocksTest, AreHadByOneOwnerAtATimeUnderAnEpochThatGrows) {
    EXPECT_EQ(rows(acquire("a")), "NIGHTLY|a|1|3600000000\n");
    const Error held = error_of(acquire("b"));
    EXPECT_EQ(held.code, ErrorCode::lock_held);
    EXPECT_TRUE(
        held.message.starts_with("lock \"NIGHTLY\" is held by \"a\" under epoch 1 for another 3"))
        << held.message;
    run("RELEASE LOCK nightly OWNER 'a' EPOCH 1");
    EXPECT_EQ(rows(acquire("b")), "NIGHTLY|b|2|3600000000\n");
    // What the first still sends has no effect.
    run("RELEASE LOCK nightly OWNER 'a' EPOCH 1");
    EXPECT_EQ(error_of("RENEW LOCK nightly OWNER 'a' EPOCH 1 TTL 1 HOUR").code,
              ErrorCode::lock_lost);
    EXPECT_EQ(locks(), "NIGHTLY|b|2|ACTIVE\n");
    EXPECT_TRUE(rows("SHOW LOCKS").starts_with("NIGHTLY|b|2|"));
}

TEST_F(LocksTest, AreHadForATimeUnlessTheyAreRenewed) {
    run(acquire("a", "100 MS"));
    EXPECT_EQ(row_when_free(acquire("b", "2 HOURS")), "NIGHTLY|b|2|ACTIVE\n");
    EXPECT_EQ(rows("RENEW LOCK nightly OWNER 'b' EPOCH 2 TTL 1 MINUTE"), "NIGHTLY|b|2|60000000\n");
    const Error held = error_of(acquire("c"));
    EXPECT_EQ(held.message.find("for another 7"), std::string::npos) << held.message;
}

TEST_F(LocksTest, TellSinceWhenTheyAreHeldAndForHowLong) {
    const auto since = [&] {
        return *wall_time_of(rows("SELECT since FROM baton.locks WHERE name = 'NIGHTLY'")
                                 .substr(0, to_string(WallTime()).size()));
    };
    const auto remaining = [&] {
        return std::stoll(rows("SELECT remaining_us FROM baton.locks WHERE name = 'NIGHTLY'"));
    };
    const WallTime before = system::SystemClock().wall_now() - std::chrono::milliseconds(1);
    run(acquire("a"));
    const WallTime first = since();
    EXPECT_GE(first, before);
    EXPECT_LE(first, system::SystemClock().wall_now() + std::chrono::milliseconds(1));
    EXPECT_GT(remaining(), 3'500'000'000);
    EXPECT_LE(remaining(), 3'600'000'000);
    run("RENEW LOCK nightly OWNER 'a' EPOCH 1 TTL 2 HOURS");
    EXPECT_EQ(since(), first);
    run("RELEASE LOCK nightly OWNER 'a' EPOCH 1");
    EXPECT_EQ(remaining(), 0);
    run(acquire("b"));
    EXPECT_GE(since(), first);
    EXPECT_EQ(rows("SELECT since FROM baton.locks WHERE name = 'leader'"), "\n");
}

TEST_F(LocksTest, ThatAreDisabledAreNeitherTakenNorRenewed) {
    run(acquire("a"));
    run("DISABLE LOCK nightly");
    EXPECT_EQ(outcome_of("RENEW LOCK nightly OWNER 'a' EPOCH 1 TTL 1 HOUR"),
              "2063: lock \"NIGHTLY\" is INACTIVE");
    run("RELEASE LOCK nightly OWNER 'a' EPOCH 1");
    EXPECT_EQ(error_of(acquire("b")).code, ErrorCode::lock_not_active);
    run("ENABLE LOCK nightly");
    EXPECT_EQ(rows(acquire("b")), "NIGHTLY|b|2|3600000000\n");
}

TEST_F(LocksTest, ThatAreDroppedGoWhenNobodyHoldsThemAndGoOnCounting) {
    run(acquire("a"));
    const Error held = error_of("DROP LOCK nightly");
    EXPECT_EQ(held.code, ErrorCode::lock_held);
    EXPECT_EQ(locks(), "NIGHTLY|a|1|DELETABLE\n");
    EXPECT_EQ(error_of("RENEW LOCK nightly OWNER 'a' EPOCH 1 TTL 1 HOUR").code,
              ErrorCode::lock_not_active);
    run("RELEASE LOCK nightly OWNER 'a' EPOCH 1; DROP LOCK nightly");
    EXPECT_EQ(locks(), "");
    // Its end has an epoch of its own: whatever was begun under it is over.
    EXPECT_EQ(rows(acquire("b")), "NIGHTLY|b|3|3600000000\n");
}

TEST_F(LocksTest, ThatAreNotThereAreSaidToBe) {
    for (const std::string statement :
         {"RENEW LOCK x OWNER 'a' EPOCH 1 TTL 1 SEC", "RELEASE LOCK x OWNER 'a' EPOCH 1",
          "ENABLE LOCK x", "DISABLE LOCK x", "DROP LOCK x"}) {
        EXPECT_EQ(outcome_of(statement), "2060: unknown lock \"X\"") << statement;
    }
}

TEST_F(LocksTest, HaveNamesOwnersAndTimesWithinBounds) {
    const std::string longest(255, 'x');
    run("ACQUIRE LOCK '" + longest + "' OWNER '" + longest + "' TTL 24 HOURS");
    for (const std::string& statement : {"ACQUIRE LOCK '" + longest + "y' OWNER 'a' TTL 1 SEC",
                                         "ACQUIRE LOCK x OWNER '" + longest + "y' TTL 1 SEC"}) {
        EXPECT_EQ(error_of(statement).code, ErrorCode::too_large) << statement;
    }
    for (const char* statement :
         {"ACQUIRE LOCK x OWNER 'a' TTL 99 MS", "ACQUIRE LOCK x OWNER 'a' TTL 2 DAYS"}) {
        EXPECT_EQ(error_of(statement).code, ErrorCode::invalid_configuration) << statement;
    }
}

TEST_F(LocksTest, OfTheCoordinatorsAreNotToBeHad) {
    for (const std::string statement :
         {"ACQUIRE LOCK leader OWNER 'a' TTL 1 SEC", "DISABLE LOCK 'leader'", "DROP LOCK 'Leader'",
          "RELEASE LOCK 'leader' OWNER 'a' EPOCH 0"}) {
        EXPECT_EQ(error_of(statement).code, ErrorCode::invalid_configuration) << statement;
    }
}

TEST_F(LocksTest, AreNoPartOfATransaction) {
    EXPECT_EQ(error_of("BEGIN; " + acquire("a")).code, ErrorCode::transaction_state);
    run("ROLLBACK");
    EXPECT_EQ(locks(), "");
}

TEST_F(LocksTest, AreGivenToOneOfManyWhoAskAtOnce) {
    constexpr int kOwners = 16;
    std::atomic<int> got{0};
    std::atomic<int> refused{0};
    std::vector<std::jthread> owners;
    for (int i = 0; i < kOwners; ++i) {
        owners.emplace_back([&, i] {
            Session session(*coordinator_, "test");
            const auto execution = session.execute(acquire("o" + std::to_string(i)));
            if (!execution.error) {
                got += 1;
            } else if (execution.error->code == ErrorCode::lock_held) {
                refused += 1;
            } else {
                ADD_FAILURE() << to_string(*execution.error);
            }
        });
    }
    owners.clear();
    EXPECT_EQ(got, 1);
    EXPECT_EQ(refused, kOwners - 1);
}

}  // namespace
}  // namespace baton::coordinator
