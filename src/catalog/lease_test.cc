#include "catalog/lease.h"

#include "adapters/sqlite/sqlite.h"
#include "testing/faulty_sql.h"
#include "testing/lease/lease_contract.h"

namespace baton::testing {
namespace {

std::shared_ptr<SqlDatabase> sqlite() {
    // Nobody copies the log: SQLite does not bear two that do.
    return *sqlite::open_temporary_sqlite(
        {.busy_deadline = std::chrono::seconds(10), .log_pages_step = 1'000'000});
}

INSTANTIATE_TEST_SUITE_P(Sqlite, LeaseContract,
                         ::testing::Values(LeaseContractCase{.name = "Sqlite", .make = sqlite}),
                         name_of_lease_case);

class LeaseFaultTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto sql = *real_->connect(Access::write);
        ASSERT_TRUE(catalog::make_lease_tables(*sql));
    }
    Result<catalog::LeaseOutcome> acquire(const SqlFault& at_commit) {
        FaultySqlDatabase faulty(*real_, as_planned({{SqlCall::commit, 1, at_commit}}));
        const auto sql = *faulty.connect(Access::write);
        return catalog::Leases(*sql).acquire(std::string(catalog::kLeaderLock), "a",
                                             std::chrono::seconds(10));
    }
    catalog::LeaseState state() {
        const auto sql = *real_->connect(Access::write);
        return **catalog::Leases(*sql).watch(std::string(catalog::kLeaderLock));
    }

    std::shared_ptr<SqlDatabase> real_ = sqlite();
};

TEST_F(LeaseFaultTest, ALostAnswerToACommitIsUncertainUnderTheEpochToRelease) {
    const auto outcome = acquire({.code = ErrorCode::unknown_outcome, .took_effect = true});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(std::get<catalog::lease::Uncertain>(*outcome).epoch, Epoch(1));
    EXPECT_EQ(state().owner, "a");
    const auto sql = *real_->connect(Access::write);
    ASSERT_TRUE(catalog::Leases(*sql).release(std::string(catalog::kLeaderLock), "a", Epoch(1)));
    EXPECT_LE(state().remaining, Duration::zero());
}

TEST_F(LeaseFaultTest, ACommitThatFailsHasTakenNothing) {
    const auto outcome = acquire({.code = ErrorCode::catalog_full});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::catalog_full);
    EXPECT_EQ(state().owner, "");
}

TEST_F(LeaseFaultTest, ALockThatIsGivenUpWhileItIsAskedForIsTaken) {
    const std::string key(catalog::kLeaderLock);
    const auto other = *real_->connect(Access::write);
    ASSERT_TRUE(catalog::Leases(*other).acquire(key, "b", std::chrono::hours(1)));
    FaultySqlDatabase faulty(*real_, [&](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call == SqlCall::read && moment.number == 1) {
            EXPECT_TRUE(catalog::Leases(*other).release(key, "b", Epoch(1)));
        }
        return std::nullopt;
    });
    const auto sql = *faulty.connect(Access::write);
    const auto outcome = catalog::Leases(*sql).acquire(key, "a", std::chrono::hours(1));
    ASSERT_TRUE(outcome);
    ASSERT_TRUE(std::holds_alternative<catalog::lease::Taken>(*outcome));
    EXPECT_EQ(state().owner, "a");
}

// Whatever statement of an acquisition fails, nothing of it stays.
TEST_F(LeaseFaultTest, AFailureAtAnyStatementLeavesTheLockFree) {
    for (const auto& [call, number] : std::vector<std::pair<SqlCall, std::uint64_t>>{
             {SqlCall::begin, 1}, {SqlCall::write, 1}, {SqlCall::read, 1}, {SqlCall::write, 2}}) {
        FaultySqlDatabase faulty(*real_, as_planned({{call, number, SqlFault{}}}));
        const auto sql = *faulty.connect(Access::write);
        EXPECT_FALSE(catalog::Leases(*sql).acquire(std::string(catalog::kLeaderLock), "a",
                                                   std::chrono::seconds(10)));
        EXPECT_EQ(state().owner, "");
    }
}

}  // namespace
}  // namespace baton::testing
