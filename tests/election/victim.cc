// A process that dies or stands still at the worst moment, and says on its standard output what
// becomes of it:  election_victim CATALOG die-in-acquire N | stand-in-write | stand-as-leader
#include "election/victim.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "adapters/sqlite/sqlite.h"
#include "base/check.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/write_transaction.h"
#include "election/candidate.h"
#include "testing/faulty_sql.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

std::unique_ptr<SqlDatabase> open(const std::string& where) {
    auto opened = where.starts_with("postgres:") ? open_server_database(ServerKind::postgres, where)
                  : where.starts_with("mysql:")  ? open_server_database(ServerKind::mariadb, where)
                                                 : sqlite::open_sqlite({.path = where});
    if (!opened) say(to_string(opened.error()));
    CHECK(opened);
    return *std::move(opened);
}

std::string name_of(const Error& error) {
    return std::string(entry_of(error.code).name);
}

// Between the statements of an acquisition: before the first, after the last, and all between.
[[noreturn]] void die_in_acquire(SqlDatabase& database, int boundary) {
    int made = 0;
    FaultySqlDatabase dying(database, [&](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::connect && made++ == boundary) std::raise(SIGKILL);
        return std::nullopt;
    });
    const auto sql = *dying.connect(Access::write);
    const auto outcome =
        catalog::Leases(*sql).acquire(std::string(catalog::kLeaderLock), "victim", kVictimTtl);
    CHECK(outcome && std::holds_alternative<catalog::lease::Taken>(*outcome));
    if (made == boundary) std::raise(SIGKILL);
    say("there are only " + std::to_string(made) + " statements");
    std::_Exit(0);
}

void stand_in_write(SqlDatabase& database) {
    const auto sql = *database.connect(Access::write);
    const auto outcome =
        catalog::Leases(*sql).acquire(std::string(catalog::kLeaderLock), "victim", kVictimTtl);
    CHECK(outcome && std::holds_alternative<catalog::lease::Taken>(*outcome));
    auto transaction =
        catalog::WriteTransaction::begin(*sql, std::get<catalog::lease::Taken>(*outcome).epoch);
    CHECK(transaction);
    CHECK(make_source(**transaction, "STALE"));
    say("holds the fence");
    std::raise(SIGSTOP);
    const auto done = (*transaction)->commit();
    say("commit: " + (done ? std::string("done") : name_of(done.error())));
}

void stand_as_leader(SqlDatabase& database) {
    Candidate candidate(database, "victim", kVictimTtl);
    CHECK(candidate.is_told("lead 1"));
    const auto sql = *database.connect(Access::write);
    say("leads");
    std::raise(SIGSTOP);
    say(candidate->acting() ? "may act" : "may not act");
    const auto writing = catalog::WriteTransaction::begin(*sql, Epoch(1));  // though it may not
    say("write: " + (writing ? std::string("begun") : name_of(writing.error())));
}

}  // namespace
}  // namespace baton::testing

int main(int argc, char** argv) {
    using namespace baton::testing;  // NOLINT: there is nothing else here
    CHECK(argc >= 3);
    const auto database = open(argv[1]);
    const std::string what = argv[2];
    if (what == "die-in-acquire") die_in_acquire(*database, std::atoi(argv[3]));
    if (what == "stand-in-write") stand_in_write(*database);
    if (what == "stand-as-leader") stand_as_leader(*database);
    return 0;
}
