#include "testing/faulty_sql.h"

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"

namespace baton::testing {
namespace {

constexpr auto kInsert = "INSERT INTO t (a) VALUES (?)";

class FaultySqlTest : public ::testing::Test {
protected:
    FaultySqlTest() {
        real_ = *sqlite::open_temporary_sqlite({.initialise = [](Sql& sql) {
            return sql.run_script("CREATE TABLE t (a INTEGER) STRICT");
        }});
        faulty_ = std::make_unique<FaultySqlDatabase>(*real_, nullptr);
        sql_ = *faulty_->connect(Access::write);
    }
    void plan(std::vector<PlannedFault> plan) { faulty_->set_faults(as_planned(std::move(plan))); }
    Result<std::int64_t> insert(std::int64_t a) { return sql_->execute(kInsert, {a}); }
    std::size_t rows() { return (*real_->connect(Access::read))->query("SELECT a FROM t")->size(); }

    std::unique_ptr<SqlDatabase> real_;
    std::unique_ptr<FaultySqlDatabase> faulty_;
    std::unique_ptr<Sql> sql_;
};

TEST_F(FaultySqlTest, FailsTheNthWriteAndNoOther) {
    plan({{SqlCall::write, 2, {.code = ErrorCode::catalog_full}}});
    EXPECT_TRUE(insert(1));
    EXPECT_TRUE(sql_->query("SELECT a FROM t"));
    EXPECT_EQ(insert(2).error().code, ErrorCode::catalog_full);
    EXPECT_TRUE(insert(3));
    EXPECT_EQ(rows(), 2U);
    EXPECT_EQ(faulty_->calls(SqlCall::write), 3U);
    EXPECT_EQ(faulty_->calls(SqlCall::read), 1U);
}

TEST_F(FaultySqlTest, LosesTheAnswerOfACommitThatTookEffectOrNot) {
    for (const bool took_effect : {false, true}) {
        const std::size_t before = rows();
        plan({{SqlCall::commit,
               faulty_->calls(SqlCall::commit) + 1,
               {.code = ErrorCode::unknown_outcome, .took_effect = took_effect}}});
        ASSERT_TRUE(sql_->begin(Access::write));
        ASSERT_TRUE(insert(1));
        const auto committed = sql_->commit();
        ASSERT_FALSE(committed);
        EXPECT_EQ(committed.error().reaction(), Reaction::unknown_outcome);
        EXPECT_EQ(rows(), before + (took_effect ? 1 : 0));
    }
    ASSERT_TRUE(sql_->begin(Access::write));  // the transaction has ended either way
    ASSERT_TRUE(sql_->commit());
}

TEST_F(FaultySqlTest, LosesAWholeTransaction) {
    plan({{SqlCall::write, 2, {.code = ErrorCode::catalog_full, .transaction_lost = true}}});
    ASSERT_TRUE(sql_->begin(Access::write));
    ASSERT_TRUE(insert(1));
    ASSERT_TRUE(sql_->set_savepoint());
    EXPECT_FALSE(insert(2));
    EXPECT_FALSE(sql_->roll_back_to_savepoint());
    EXPECT_FALSE(insert(3));
    EXPECT_EQ(sql_->commit().error().code, ErrorCode::catalog_full);
    EXPECT_EQ(rows(), 0U);
    EXPECT_TRUE(insert(4));
    EXPECT_EQ(rows(), 1U);
}

TEST_F(FaultySqlTest, BeginsNoTransactionWhenBusy) {
    plan({{SqlCall::begin, 1, {.code = ErrorCode::catalog_unavailable}}});
    EXPECT_FALSE(sql_->begin(Access::write));
    ASSERT_TRUE(sql_->begin(Access::write));
    sql_->rollback();
}

TEST_F(FaultySqlTest, FailsByTheTextOfAStatement) {
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.sql == kInsert) return SqlFault{.code = ErrorCode::catalog_corrupt};
        return std::nullopt;
    });
    EXPECT_EQ(insert(1).error().code, ErrorCode::catalog_corrupt);
    EXPECT_TRUE(sql_->execute("INSERT INTO t (a) VALUES (1)"));
    faulty_->set_faults(nullptr);
    EXPECT_TRUE(insert(1));
}

}  // namespace
}  // namespace baton::testing
