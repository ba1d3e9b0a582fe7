#include "coordinator/reading/transaction_views.h"

#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton::coordinator {
namespace {

using namespace std::chrono_literals;

class TransactionViewsTest : public testing::CoordinatorTest {
protected:
    void open_with(const TransactionViewsOptions& options) {
        CoordinatorOptions all;
        all.transactions = options;
        open(all);
    }
    void sweep() { coordinator_->transaction_views().sweep(coordinator_->feed().last()); }
    std::size_t kept() { return coordinator_->transaction_views().kept(); }
};

TEST_F(TransactionViewsTest, ATransactionSeesOneRevision) {
    Session other(*coordinator_, "bob");
    run("BEGIN; SHOW SINKS");
    run(other, "CREATE WORKER 'a:1'");
    EXPECT_EQ(rows("SHOW WORKERS"), "");
    run("COMMIT");
    EXPECT_EQ(kept(), 0U);
}

TEST_F(TransactionViewsTest, TheOldestGivesWayAndTheNewestIsKept) {
    open_with({.kept_max = 1});
    Session other(*coordinator_, "bob");
    run("BEGIN; SHOW SINKS");
    run(other, "BEGIN; SHOW SINKS");
    EXPECT_EQ(kept(), 1U);
    Session writer(*coordinator_, "eve");
    run(writer, "CREATE WORKER 'a:1'");
    EXPECT_EQ(rows(other, "SHOW WORKERS"), "");
    EXPECT_EQ(rows("SHOW SINKS"), "");  // unchanged, so it is the same
    EXPECT_EQ(error_of("SHOW WORKERS").code, ErrorCode::conflict);
}

TEST_F(TransactionViewsTest, WhatIsTooOldGivesWay) {
    open_with({.age_max = 0s});
    run("BEGIN; SHOW SINKS");
    EXPECT_EQ(kept(), 1U);
    sweep();
    EXPECT_EQ(kept(), 0U);
    EXPECT_EQ(rows("SHOW SINKS"), "");
}

TEST_F(TransactionViewsTest, WhatIsTooFarBehindGivesWay) {
    open_with({.behind_max = 2});
    Session writer(*coordinator_, "eve");
    run("BEGIN; SHOW WORKERS");
    for (int i = 1; i <= 3; ++i) {
        sweep();
        EXPECT_EQ(kept(), 1U);
        run(writer, "CREATE WORKER 'a:" + std::to_string(i) + "'");
    }
    sweep();
    EXPECT_EQ(kept(), 0U);
    EXPECT_EQ(error_of("SHOW WORKERS").code, ErrorCode::conflict);
}

TEST_F(TransactionViewsTest, WhatWasReadBeforeItGaveWayIsCheckedAtCommit) {
    open_with({.age_max = 0s});
    Session writer(*coordinator_, "eve");
    run("BEGIN; SHOW WORKERS");
    sweep();
    run(writer, "CREATE WORKER 'a:1'");
    EXPECT_EQ(error_of("CREATE LOGICAL SOURCE s (a INT8)").code, ErrorCode::conflict);
}

}  // namespace
}  // namespace baton::coordinator
