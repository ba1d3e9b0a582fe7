#include "election/lease_stress.h"

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"

namespace baton::testing {
namespace {

// A database to fight on. Further ones join as parameters.
struct Arena {
    std::string name;
    std::function<std::shared_ptr<SqlDatabase>()> make;
    Fencing wrong_fencing;  // what this database cannot make good by itself
};

void PrintTo(const Arena& arena, std::ostream* out) {
    *out << arena.name;
}

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
    std::uint64_t stale = 0;
    for (std::uint64_t seed = 1; seed <= 5 && stale == 0; ++seed) {
        stale = run({.fencing = GetParam().wrong_fencing, .seed = seed}).stale;
    }
    EXPECT_GT(stale, 0U);
}

std::shared_ptr<SqlDatabase> sqlite() {
    // Nobody copies the log: SQLite does not bear two that do.
    return *open_temporary_sqlite({.log_pages_step = 10'000'000});
}

INSTANTIATE_TEST_SUITE_P(Sqlite, LeaseStressTest,
                         ::testing::Values(Arena{.name = "Sqlite",
                                                 .make = sqlite,
                                                 .wrong_fencing = Fencing::looked_at_before}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace baton::testing
