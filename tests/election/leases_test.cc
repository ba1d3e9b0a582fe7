#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "base/check.h"
#include "election/lease_stress.h"
#include "testing/lease/lease_contract.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

// A database to fight on.
struct Arena {
    std::string name;
    std::function<std::shared_ptr<SqlDatabase>()> make;
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
        stale = run({.fencing = Fencing::looked_at_before, .seed = seed}).stale;
    }
    EXPECT_GT(stale, 0U);
}

std::shared_ptr<SqlDatabase> sqlite() {
    // Nobody copies the log: SQLite does not bear two that do.
    return *open_temporary_sqlite({.log_pages_step = 10'000'000});
}

std::shared_ptr<SqlDatabase> on_server(ServerKind kind) {
    auto database = open_server_database(kind, DatabaseServer::shared(kind).new_database());
    CHECK(database);
    return *std::move(database);
}

const auto kPostgres = [] { return on_server(ServerKind::postgres); };
const auto kMariadb = [] { return on_server(ServerKind::mariadb); };

INSTANTIATE_TEST_SUITE_P(On, LeaseStressTest,
                         ::testing::Values(Arena{.name = "Sqlite", .make = sqlite},
                                           Arena{.name = "Postgres", .make = kPostgres},
                                           Arena{.name = "Mariadb", .make = kMariadb}),
                         [](const auto& each) { return each.param.name; });

// On SQLite they run beside the lock service.
INSTANTIATE_TEST_SUITE_P(Servers, LeaseContract,
                         ::testing::Values(LeaseContractCase{.name = "Postgres", .make = kPostgres},
                                           LeaseContractCase{.name = "Mariadb", .make = kMariadb}),
                         name_of_lease_case);

}  // namespace
}  // namespace baton::testing
