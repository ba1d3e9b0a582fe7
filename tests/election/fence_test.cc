// The fence against the one interleaving that matters, step by step and without chance: a leader is
// in its transaction when another takes over. What a stress finds sometimes is seen here always,
// and the same checker that finds nothing wrong with the fence finds wrong what is only like it.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/schema.h"
#include "catalog/write_transaction.h"
#include "election/arena.h"
#include "election/journal.h"

namespace baton::testing {
namespace {

constexpr Duration kTtl = std::chrono::seconds(10);

class FenceTest : public ::testing::TestWithParam<Arena> {
protected:
    void SetUp() override {
        make_journal(*old_);
        const auto taken = catalog::Leases(*old_).acquire(key_, "old", kTtl);
        ASSERT_TRUE(taken && std::holds_alternative<catalog::lease::Taken>(*taken));
    }

    // The lease of the old leader ends and another takes the lock, unless somebody is in the way.
    [[nodiscard]] bool is_taken_over() {
        // In the past already after the first time, when its row may not be had.
        (void)next_->execute("UPDATE lease SET expires_at = 1 WHERE owner = 'old'");
        const auto taken = catalog::Leases(*next_).acquire(key_, "next", kTtl);
        return taken && std::holds_alternative<catalog::lease::Taken>(*taken);
    }
    void write_as_next() {
        ASSERT_TRUE(next_->begin(Access::write));
        ASSERT_TRUE(catalog::hold_fence(*next_, key_, Epoch(2)));
        ASSERT_TRUE(append(*next_, Epoch(2)));
        ASSERT_TRUE(next_->commit());
    }

    const std::string key_{catalog::kLeaderLock};
    std::shared_ptr<SqlDatabase> database_ = GetParam().make();
    std::unique_ptr<Sql> old_ = *database_->connect(Access::write);
    std::unique_ptr<Sql> next_ = *database_->connect(Access::write);
};

TEST_P(FenceTest, WhoeverHoldsItIsWaitedForAndNobodyElseWritesAfterwards) {
    ASSERT_TRUE(next_->execute("UPDATE lease SET expires_at = 1 WHERE owner = 'old'"));
    ASSERT_TRUE(old_->begin(Access::write));
    ASSERT_TRUE(catalog::hold_fence(*old_, key_, Epoch(1)));
    EXPECT_FALSE(is_taken_over());
    ASSERT_TRUE(append(*old_, Epoch(1)));
    ASSERT_TRUE(old_->commit());
    ASSERT_TRUE(is_taken_over());
    write_as_next();
    ASSERT_TRUE(old_->begin(Access::write));
    const auto held = catalog::hold_fence(*old_, key_, Epoch(1));
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, ErrorCode::fenced);
    old_->rollback();
    const JournalFindings found = read_journal(*next_);
    EXPECT_EQ(found.writes, 2U);
    EXPECT_EQ(found.stale, 0U);
}

// ---- negative controls --------------------------------------------------------------------------

TEST_P(FenceTest, LookedAtBeforeTheTransactionItLetsADeposedLeaderWrite) {
    ASSERT_TRUE(*is_fence_of(*old_, key_, Epoch(1)));
    ASSERT_TRUE(is_taken_over());
    write_as_next();
    ASSERT_TRUE(old_->begin(Access::write));
    ASSERT_TRUE(append(*old_, Epoch(1)));
    ASSERT_TRUE(old_->commit());
    EXPECT_EQ(read_journal(*next_).stale, 1U);
}

using FenceOnServerTest = FenceTest;

TEST_P(FenceOnServerTest, LookedAtWithoutALockItLetsADeposedLeaderWrite) {
    ASSERT_TRUE(begin_weakly(*old_));
    ASSERT_TRUE(*is_fence_of(*old_, key_, Epoch(1)));
    ASSERT_TRUE(is_taken_over());
    write_as_next();
    ASSERT_TRUE(append(*old_, Epoch(1)));
    ASSERT_TRUE(old_->commit());
    EXPECT_EQ(read_journal(*next_).stale, 1U);
}

// ---- the catalog itself -------------------------------------------------------------------------

class CatalogFenceTest : public ::testing::TestWithParam<Arena> {};

TEST_P(CatalogFenceTest, ATransactionOfTheCatalogHoldsIt) {
    const auto database = GetParam().make();
    const auto old = *database->connect(Access::write);
    const auto next = *database->connect(Access::write);
    ASSERT_TRUE(catalog::migrate(*old));
    const std::string key(catalog::kLeaderLock);
    ASSERT_TRUE(catalog::Leases(*old).acquire(key, "old", kTtl));
    ASSERT_TRUE(next->execute("UPDATE lease SET expires_at = 1"));
    {
        const auto writing = catalog::WriteTransaction::begin(*old, Epoch(1));
        ASSERT_TRUE(writing) << to_string(writing.error());
        EXPECT_FALSE(catalog::Leases(*next).acquire(key, "next", kTtl))
            << "a writer was not waited for";
    }
    const auto taken = catalog::Leases(*next).acquire(key, "next", kTtl);
    ASSERT_TRUE(taken) << to_string(taken.error());
    EXPECT_EQ(std::get<catalog::lease::Taken>(*taken).epoch, Epoch(2));
    const auto late = catalog::WriteTransaction::begin(*old, Epoch(1));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::fenced);
}

const auto kAll = ::testing::Values(sqlite_arena(), postgres_arena(), mariadb_arena());
INSTANTIATE_TEST_SUITE_P(On, FenceTest, kAll, name_of_arena);
INSTANTIATE_TEST_SUITE_P(On, CatalogFenceTest, kAll, name_of_arena);
INSTANTIATE_TEST_SUITE_P(On, FenceOnServerTest,
                         ::testing::Values(postgres_arena(), mariadb_arena()), name_of_arena);

}  // namespace
}  // namespace baton::testing
