// The promises of the lock service, as tests: every database runs the same ones.
//
//     #include "testing/lease/lease_contract.h"
//     INSTANTIATE_TEST_SUITE_P(Sqlite, LeaseContract, ::testing::Values(LeaseContractCase{...}),
//                              name_of_lease_case);
//
// Include it in one file of a test program. No test waits for a lease to end: one that is to have
// ended is put into the past.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "ports/sql.h"

namespace baton::testing {

struct LeaseContractCase {
    std::string name;
    // An empty database of its own for each test.
    std::function<std::shared_ptr<SqlDatabase>()> make;
    int sessions_racing = 64;
};

inline void PrintTo(const LeaseContractCase& each, std::ostream* out) {
    *out << each.name;
}
inline std::string name_of_lease_case(const ::testing::TestParamInfo<LeaseContractCase>& each) {
    return each.param.name;
}

class LeaseContract : public ::testing::TestWithParam<LeaseContractCase> {
protected:
    static constexpr Duration kTtl = std::chrono::seconds(10);
    const std::string key_{catalog::kLeaderLock};

    void SetUp() override {
        database_ = GetParam().make();
        sql_ = connect();
        const auto created = catalog::make_lease_tables(*sql_);
        ASSERT_TRUE(created) << to_string(created.error());
        leases_ = std::make_unique<catalog::Leases>(*sql_);
    }
    std::unique_ptr<Sql> connect() {
        auto sql = database_->connect(Access::write);
        EXPECT_TRUE(sql) << to_string(sql.error());
        return *std::move(sql);
    }
    // Takes the lock, which must be free.
    Epoch taken(const std::string& owner, Epoch least = Epoch()) {
        const auto outcome = leases_->acquire(key_, owner, kTtl, least);
        EXPECT_TRUE(outcome) << to_string(outcome.error());
        const auto* term = outcome ? std::get_if<catalog::lease::Taken>(&*outcome) : nullptr;
        EXPECT_NE(term, nullptr) << "the lock is held";
        return term != nullptr ? term->epoch : Epoch();
    }
    bool refused(const std::string& owner) {
        const auto outcome = leases_->acquire(key_, owner, kTtl);
        EXPECT_TRUE(outcome) << to_string(outcome.error());
        return outcome && std::holds_alternative<catalog::lease::Refused>(*outcome);
    }
    catalog::LeaseState state() {
        const auto found = leases_->watch(key_);
        EXPECT_TRUE(found && *found);
        return found && *found ? **found : catalog::LeaseState{};
    }
    void let_it_end() {
        ASSERT_EQ(*sql_->execute("UPDATE lease SET expires_at = 1 WHERE lock_key = ?", {key_}), 1);
    }
    // The answer to a writer of this epoch: "" or its error.
    std::string write_as(Epoch epoch) {
        EXPECT_TRUE(sql_->begin(Access::write));
        const auto held = catalog::hold_fence(*sql_, key_, epoch);
        sql_->rollback();
        return held ? "" : std::string(entry_of(held.error().code).name);
    }

    std::shared_ptr<SqlDatabase> database_;
    std::unique_ptr<Sql> sql_;
    std::unique_ptr<catalog::Leases> leases_;
};

TEST_P(LeaseContract, ANewLockIsFreeAndItsFirstEpochIsOne) {
    EXPECT_LE(state().remaining, Duration::zero());
    EXPECT_EQ(taken("a"), Epoch(1));
    EXPECT_EQ(state().owner, "a");
    EXPECT_GT(state().remaining, kTtl - std::chrono::seconds(5));
    EXPECT_LE(state().remaining, kTtl);
}

TEST_P(LeaseContract, ALiveLockCannotBeTaken) {
    (void)taken("a");
    EXPECT_TRUE(refused("b"));
    EXPECT_TRUE(refused("a"));  // not even by its holder: it renews
    EXPECT_EQ(state().owner, "a");
    EXPECT_EQ(state().epoch, Epoch(1));
}

TEST_P(LeaseContract, WhoIsRefusedIsToldWhoHoldsItAndForHowLong) {
    (void)taken("a");
    const auto outcome = leases_->acquire(key_, "b", kTtl);
    ASSERT_TRUE(outcome);
    const auto& held = std::get<catalog::lease::Refused>(*outcome).held;
    EXPECT_EQ(held.owner, "a");
    EXPECT_EQ(held.epoch, Epoch(1));
    EXPECT_GT(held.remaining, Duration::zero());
}

TEST_P(LeaseContract, ALockThatHasEndedIsTakenOnceByAllWhoRaceForIt) {
    (void)taken("gone");
    let_it_end();
    std::atomic<int> taken_by{0};
    std::atomic<int> errors{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < GetParam().sessions_racing; ++i) {
        threads.emplace_back([&, i] {
            const auto sql = connect();
            catalog::Leases leases(*sql);
            while (!go) std::this_thread::yield();
            // A caller that cannot get through gets an error, and asks again.
            for (int attempt = 0; attempt < 100; ++attempt) {
                const auto outcome = leases.acquire(key_, "racer" + std::to_string(i), kTtl);
                if (!outcome) continue;
                if (std::holds_alternative<catalog::lease::Taken>(*outcome)) taken_by += 1;
                return;
            }
            errors += 1;
        });
    }
    go = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(taken_by, 1);
    EXPECT_EQ(errors, 0);
    EXPECT_EQ(state().epoch, Epoch(2));
}

TEST_P(LeaseContract, TheEpochGrowsByOnePerTermAndNeverOnRenewal) {
    for (std::uint64_t term = 1; term <= 3; ++term) {
        const std::string owner = "owner" + std::to_string(term);
        const Epoch epoch = taken(owner);
        EXPECT_EQ(epoch, Epoch(term));
        for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(*leases_->renew(key_, owner, epoch, kTtl));
        EXPECT_EQ(state().epoch, epoch);
        let_it_end();
    }
}

TEST_P(LeaseContract, ARenewalExtendsTheLease) {
    const Epoch epoch = taken("a");
    ASSERT_TRUE(*leases_->renew(key_, "a", epoch, std::chrono::minutes(5)));
    EXPECT_GT(state().remaining, std::chrono::minutes(4));
}

TEST_P(LeaseContract, WhatHasEndedIsNotRenewed) {
    const Epoch epoch = taken("a");
    let_it_end();
    EXPECT_FALSE(*leases_->renew(key_, "a", epoch, kTtl));
    EXPECT_LE(state().remaining, Duration::zero());
}

TEST_P(LeaseContract, OnlyItsOwnerUnderItsEpochRenewsALock) {
    const Epoch first = taken("a");
    EXPECT_FALSE(*leases_->renew(key_, "b", first, kTtl));
    let_it_end();
    const Epoch second = taken("a");
    EXPECT_FALSE(*leases_->renew(key_, "a", first, kTtl));
    EXPECT_TRUE(*leases_->renew(key_, "a", second, kTtl));
}

TEST_P(LeaseContract, AReleasedLockIsFreeAtOnce) {
    const Epoch epoch = taken("a");
    ASSERT_TRUE(leases_->release(key_, "a", epoch));
    EXPECT_FALSE(*leases_->renew(key_, "a", epoch, kTtl));
    EXPECT_EQ(taken("b"), epoch.next());
}

TEST_P(LeaseContract, AReleaseOfAnEarlierTermEndsNothing) {
    const Epoch first = taken("a");
    let_it_end();
    (void)taken("a");
    ASSERT_TRUE(leases_->release(key_, "a", first));
    ASSERT_TRUE(leases_->release(key_, "b", first.next()));
    EXPECT_GT(state().remaining, Duration::zero());
}

TEST_P(LeaseContract, ATakerMayAskForAHigherEpoch) {
    EXPECT_EQ(taken("a", Epoch(42)), Epoch(42));
    let_it_end();
    EXPECT_EQ(taken("b", Epoch(7)), Epoch(43));
    EXPECT_EQ(write_as(Epoch(43)), "");
}

TEST_P(LeaseContract, TheFenceLetsOnlyThePresentEpochWrite) {
    const Epoch first = taken("a");
    EXPECT_EQ(write_as(first), "");
    let_it_end();
    EXPECT_EQ(write_as(first), "");  // no other has taken over
    const Epoch second = taken("b");
    EXPECT_EQ(write_as(first), "fenced");
    EXPECT_EQ(write_as(second), "");
    EXPECT_EQ(write_as(second.next()), "fenced");
}

TEST_P(LeaseContract, AnAcquisitionThatIsRolledBackLeavesNothing) {
    (void)taken("a");
    let_it_end();
    const catalog::LeaseState before = state();
    ASSERT_TRUE(sql_->execute("DELETE FROM fence WHERE lock_key = ?", {key_}));
    const auto outcome = leases_->acquire(key_, "b", kTtl);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::catalog_corrupt);
    EXPECT_EQ(state().owner, before.owner);
    EXPECT_EQ(state().epoch, before.epoch);
}

TEST_P(LeaseContract, ALockThatIsNotThereIsMadeByWhoTakesIt) {
    EXPECT_FALSE(*leases_->watch("reports"));
    const auto outcome = leases_->acquire("reports", "a", kTtl);
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    EXPECT_EQ(std::get<catalog::lease::Taken>(*outcome).epoch, Epoch(1));
    EXPECT_LE(state().remaining, Duration::zero());  // the others are as they were
    ASSERT_TRUE(leases_->create("reports"));         // once more, for nothing
    EXPECT_EQ((**leases_->watch("reports")).owner, "a");
}

TEST_P(LeaseContract, ALockThatIsNotActiveIsNeitherTakenNorRenewed) {
    const Epoch epoch = taken("a");
    for (const LockStatus status : {LockStatus::inactive, LockStatus::deletable}) {
        ASSERT_TRUE(*leases_->set_status(key_, status));
        EXPECT_EQ(state().status, status);
        EXPECT_FALSE(*leases_->renew(key_, "a", epoch, kTtl));
    }
    let_it_end();
    EXPECT_TRUE(refused("b"));
    ASSERT_TRUE(*leases_->set_status(key_, LockStatus::active));
    EXPECT_EQ(taken("b"), epoch.next());
    EXPECT_FALSE(*leases_->set_status("nothing", LockStatus::active));
}

TEST_P(LeaseContract, ADeletableLockIsRemovedWhenItsLeaseHasEnded) {
    const Epoch epoch = taken("a");
    EXPECT_FALSE(*leases_->remove(key_));  // ACTIVE
    ASSERT_TRUE(*leases_->set_status(key_, LockStatus::deletable));
    EXPECT_FALSE(*leases_->remove(key_));  // held
    let_it_end();
    EXPECT_TRUE(*leases_->remove(key_));
    EXPECT_FALSE(*leases_->watch(key_));
    EXPECT_EQ(write_as(epoch), "fenced");
    EXPECT_GT(taken("b"), epoch);  // made again, it goes on counting
    EXPECT_EQ(write_as(epoch), "fenced");
}

// A negative control: what the first design proposed lets every later contender in.
TEST_P(LeaseContract, AnUpsertThatComparesTheOldEndWithTheNewOneStealsALiveLock) {
    (void)taken("a");
    const std::string now(catalog::now_us(sql_->dialect()));
    const std::string steals =
        "UPDATE lease SET owner = ?, epoch = epoch + 1, expires_at = " + now +
        " + ? WHERE lock_key = ? AND (owner = ? OR expires_at < " + now + " + ?)";
    const std::int64_t ttl = kTtl.count() + 1'000'000;  // a second later
    ASSERT_EQ(*sql_->execute(steals, {std::string("b"), ttl, key_, std::string("b"), ttl}), 1);
    EXPECT_EQ(state().owner, "b");
}

}  // namespace baton::testing
