// Processes that die between any two statements of an acquisition, and that stand still inside a
// transaction or while they lead: what they leave behind keeps nobody waiting for longer than it
// may, and changes nothing afterwards.
#include "cli/process.h"

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/postgres/postgres.h"
#include "adapters/sqlite/sqlite.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/reader.h"
#include "catalog/schema.h"
#include "election/arena.h"
#include "election/candidate.h"
#include "election/victim.h"
#include "testing/temporary_directory.h"

namespace baton::testing {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kStatements = 5;  // BEGIN, UPDATE lease, SELECT, UPDATE fence, COMMIT

cli::Process victim(const std::string& catalog, const std::string& what, int boundary = 0) {
    return cli::Process({BATON_VICTIM, catalog, what, std::to_string(boundary)});
}

bool stands_still(const cli::Process& process) {
    const auto deadline = steady_clock::now() + cli::kPatience;
    while (steady_clock::now() < deadline) {
        if (process.state() == 'T') return true;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

// The epoch under which the lock is had, as soon as it can be; none: not before the deadline.
std::optional<Epoch> take(Sql& sql, Duration at_most) {
    const auto deadline = steady_clock::now() + at_most;
    while (steady_clock::now() < deadline) {
        const auto outcome =
            catalog::Leases(sql).acquire(std::string(catalog::kLeaderLock), "next", 10s);
        const auto* taken = outcome ? std::get_if<catalog::lease::Taken>(&*outcome) : nullptr;
        if (taken != nullptr) return taken->epoch;
        std::this_thread::sleep_for(10ms);
    }
    return std::nullopt;
}

// ---- dying --------------------------------------------------------------------------------------

// Where a catalog is, for processes that open it one after the other.
struct Place {
    std::string name;
    std::function<std::string(const TemporaryDirectory& directory)> make;
    std::function<std::shared_ptr<SqlDatabase>(const std::string& where)> open;
};

Place on(ServerKind kind, const std::string& name) {
    return {.name = name,
            .make = [kind](const auto&) { return DatabaseServer::shared(kind).new_database(); },
            .open = [kind](const std::string& where) -> std::shared_ptr<SqlDatabase> {
                auto opened = open_server_database(kind, where, catalog::migrate);
                CHECK(opened);
                return *std::move(opened);
            }};
}

Place in_a_file() {
    return {.name = "Sqlite",
            .make = [](const TemporaryDirectory& directory) { return directory / "catalog"; },
            .open = [](const std::string& where) -> std::shared_ptr<SqlDatabase> {
                auto opened = sqlite::open_sqlite(
                    {.path = where, .create = true, .initialise = catalog::migrate});
                CHECK(opened);
                return *std::move(opened);
            }};
}

void PrintTo(const Place& place, std::ostream* out) {
    *out << place.name;
}

class DyingTest : public ::testing::TestWithParam<Place> {
protected:
    // A catalog whose lock was held once, under epoch 1.
    std::string make_catalog() {
        const std::string where = GetParam().make(directory_);
        const auto database = GetParam().open(where);
        const auto sql = *database->connect(Access::write);
        EXPECT_EQ(take(*sql, 1s), Epoch(1));
        EXPECT_TRUE(
            catalog::Leases(*sql).release(std::string(catalog::kLeaderLock), "next", Epoch(1)));
        return where;
    }
    static void expect_fence_at(Sql& sql, Epoch epoch) {
        for (const Epoch each : {Epoch(epoch.value() - 1), epoch, epoch.next()}) {
            EXPECT_EQ(catalog::WriteTransaction::begin(sql, each).has_value(), each == epoch)
                << to_string(each) << " of " << to_string(epoch);
        }
    }

    TemporaryDirectory directory_;
};

TEST_P(DyingTest, WhereverAnAcquisitionIsKilledTheNextTakesTheLockUnderAHigherEpoch) {
    for (int boundary = 0; boundary <= kStatements; ++boundary) {
        SCOPED_TRACE("killed after " + std::to_string(boundary) + " statements");
        std::error_code ignored;
        std::filesystem::remove_all(directory_ / "catalog", ignored);
        const std::string where = make_catalog();
        cli::Process dying = victim(where, "die-in-acquire", boundary);
        ASSERT_EQ(dying.wait(), 128 + SIGKILL) << dying.out() << dying.errors();
        const auto died = steady_clock::now();

        const auto database = GetParam().open(where);
        const auto sql = *database->connect(Access::write);
        const bool was_taken = boundary == kStatements;
        const Epoch expected(was_taken ? 3 : 2);
        const auto epoch = take(*sql, kVictimTtl + 5s);
        ASSERT_EQ(epoch, expected);
        if (!was_taken) {
            EXPECT_LT(steady_clock::now() - died, kVictimTtl + 5s);
        }
        expect_fence_at(*sql, *epoch);
    }
}

// So that a statement that is added is died at, too.
TEST_P(DyingTest, AnAcquisitionHasNoMoreStatementsThanItIsKilledAt) {
    cli::Process living = victim(make_catalog(), "die-in-acquire", kStatements + 1);
    EXPECT_EQ(living.wait(), 0) << living.errors();
    EXPECT_EQ(living.out(), "there are only " + std::to_string(kStatements) + " statements\n");
}

INSTANTIATE_TEST_SUITE_P(On, DyingTest,
                         ::testing::Values(in_a_file(), on(ServerKind::postgres, "Postgres"),
                                           on(ServerKind::mariadb, "Mariadb")),
                         [](const auto& each) { return each.param.name; });

// ---- standing still -----------------------------------------------------------------------------

class StandstillTest : public ::testing::TestWithParam<ServerKind> {
protected:
    std::string url_ = DatabaseServer::shared(GetParam()).new_database();
    std::unique_ptr<SqlDatabase> database_ =
        *open_server_database(GetParam(), url_, catalog::migrate);
    std::unique_ptr<Sql> sql_ = *database_->connect(Access::write);
};

TEST_P(StandstillTest, InsideATransactionItIsEndedByTheServerAndCommitsNothing) {
    cli::Process standing = victim(url_, "stand-in-write");
    ASSERT_TRUE(standing.says("holds the fence")) << standing.out() << standing.errors();
    ASSERT_TRUE(stands_still(standing));
    // What the server allows to one that is idle in a transaction, and a busy machine.
    const auto epoch = take(*sql_, postgres::PostgresOptions().idle_in_transaction + 10s);
    ASSERT_EQ(epoch, Epoch(2));
    {
        auto writing = catalog::WriteTransaction::begin(*sql_, *epoch);
        ASSERT_TRUE(writing) << to_string(writing.error());
        ASSERT_TRUE(make_source(**writing, "FRESH"));
        ASSERT_TRUE((*writing)->commit());
    }
    standing.signal(SIGCONT);
    EXPECT_EQ(standing.wait(), 0) << standing.errors();
    EXPECT_EQ(standing.out().find("commit: done"), std::string::npos) << standing.out();
    const auto found = sql_->query("SELECT name FROM logical_source");
    ASSERT_TRUE(found) << to_string(found.error());
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(std::get<std::string>((*found)[0][0]), "FRESH");
}

TEST_P(StandstillTest, ALeaderThatStoodStillForThreeTermsIsRefusedByItselfAndByTheFence) {
    cli::Process standing = victim(url_, "stand-as-leader");
    ASSERT_TRUE(standing.says("leads")) << standing.out() << standing.errors();
    ASSERT_TRUE(stands_still(standing));
    const auto since = steady_clock::now();
    Candidate next(*database_, "next", kVictimTtl);
    ASSERT_TRUE(next.is_told("lead 2"));
    std::this_thread::sleep_until(since + 3 * kVictimTtl);
    standing.signal(SIGCONT);
    EXPECT_EQ(standing.wait(), 0) << standing.errors();
    EXPECT_EQ(standing.out(), "leads\nmay not act\nwrite: fenced\n");
}

INSTANTIATE_TEST_SUITE_P(On, StandstillTest,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         name_of_server);

}  // namespace
}  // namespace baton::testing
