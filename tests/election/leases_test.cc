#include <string>

#include <gtest/gtest.h>

#include "election/arena.h"
#include "election/lease_stress.h"
#include "testing/lease/lease_contract.h"

namespace baton::testing {
namespace {

class LeaseStressTest : public ::testing::TestWithParam<Arena> {
protected:
    static LeaseFindings run(const LeaseStress& stress) {
        const auto database = GetParam().make();
        const LeaseFindings findings = fight(*database, stress);
        RecordProperty("terms", std::to_string(findings.terms));
        RecordProperty("writes", std::to_string(findings.writes));
        RecordProperty("overlaps", std::to_string(findings.overlaps));
        RecordProperty("stale", std::to_string(findings.stale));
        RecordProperty("fenced", std::to_string(findings.fenced));
        EXPECT_GT(findings.terms, 5U);
        EXPECT_GT(findings.writes, 20U);
        return findings;
    }
    // In one of several fights at the latest; FenceTest shows it without chance.
    static void expect_stale_writes(Fencing fencing) {
        std::uint64_t stale = 0;
        for (std::uint64_t seed = 1; seed <= 5 && stale == 0; ++seed) {
            stale = run({.fencing = fencing, .seed = seed}).stale;
        }
        EXPECT_GT(stale, 0U);
    }
};

TEST_P(LeaseStressTest, NoTwoLeadAtOnceAndNoDeposedLeaderWrites) {
    const LeaseFindings findings = run({});
    EXPECT_EQ(findings.overlaps, 0U);
    EXPECT_EQ(findings.stale, 0U);
}

// The negative controls: the checker finds what is known to be wrong.
TEST_P(LeaseStressTest, AnUpsertThatComparesTheOldEndWithTheNewOneIsFoundWrong) {
    const LeaseFindings findings = run({.locking = Locking::upsert, .fencing = Fencing::none});
    EXPECT_GT(findings.overlaps, 0U);
    EXPECT_GT(findings.stale, 0U);
}

TEST_P(LeaseStressTest, AFenceThatIsNotHeldIsFoundWrong) {
    expect_stale_writes(Fencing::looked_at_before);
}

INSTANTIATE_TEST_SUITE_P(On, LeaseStressTest,
                         ::testing::Values(sqlite_arena(), postgres_arena(), mariadb_arena()),
                         name_of_arena);

// SQLite has one writer at a time: there, a look within the transaction is enough.
using LeaseStressOnServerTest = LeaseStressTest;
TEST_P(LeaseStressOnServerTest, AFenceThatIsLookedAtWithoutALockIsFoundWrong) {
    expect_stale_writes(Fencing::looked_at_within);
}
INSTANTIATE_TEST_SUITE_P(On, LeaseStressOnServerTest,
                         ::testing::Values(postgres_arena(), mariadb_arena()), name_of_arena);

// On SQLite they run beside the lock service.
INSTANTIATE_TEST_SUITE_P(
    Servers, LeaseContract,
    ::testing::Values(LeaseContractCase{.name = "Postgres", .make = postgres_arena().make},
                      LeaseContractCase{.name = "Mariadb", .make = mariadb_arena().make}),
    name_of_lease_case);

}  // namespace
}  // namespace baton::testing
