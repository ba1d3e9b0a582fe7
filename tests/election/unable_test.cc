// A leader that holds its lease and cannot commit: another one is to lead.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "catalog/lease_schema.h"
#include "catalog/schema.h"
#include "coordinator/sessions/session.h"
#include "coordinator/term/leadership_driver.h"
#include "testing/faulty_sql.h"
#include "testing/log_lines.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

constexpr std::chrono::seconds kUnablePatience{60};

// A coordinator that stands for election, with a database that can be made to fail.
class Contestant {
public:
    Contestant(const std::string& name, const std::string& url, const Clock& clock)
        : real_(*open_server_database(ServerKind::postgres, url, catalog::migrate)),
          election_(*open_server_database(ServerKind::postgres, url, catalog::migrate)) {
        auto faulty = std::make_unique<FaultySqlDatabase>(*real_, nullptr);
        faulty_ = faulty.get();
        coordinator::CoordinatorOptions options;
        options.follows = true;
        coordinator_ = *coordinator::CoordinatorRuntime::open(std::move(faulty), clock, options);
        leadership_ = std::make_unique<coordinator::LeadershipDriver>(
            coordinator::LeadershipOptions{
                .timers = *election::ElectionTimers::of(std::chrono::seconds(2)),
                .lock = std::string(catalog::kLeaderLock),
                .owner = "host:1:" + name + " " + name,
                .seed = std::hash<std::string>()(name)},
            *election_, clock, *coordinator_, log_);
    }
    [[nodiscard]] bool leads() const { return coordinator_->term().has_value(); }
    [[nodiscard]] coordinator::Execution create(const std::string& name) {
        coordinator::Session session(*coordinator_, "tester");
        return session.execute("CREATE LOGICAL SOURCE " + name + " (x INT8)");
    }
    void let_commits_fail() {
        faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
            if (moment.call != SqlCall::commit) return std::nullopt;
            return SqlFault{.code = ErrorCode::catalog_corrupt};
        });
    }

private:
    LogLines log_;
    std::unique_ptr<SqlDatabase> real_;
    std::unique_ptr<SqlDatabase> election_;
    FaultySqlDatabase* faulty_ = nullptr;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_;
    std::unique_ptr<coordinator::LeadershipDriver> leadership_;
};

TEST(UnableLeader, GivesUpItsLeaseAndAnotherLeads) {
    DatabaseServer server(ServerKind::postgres);
    const std::string url = server.new_database();
    const system::SystemClock clock;
    const auto until = [&](const std::function<bool()>& so) {
        const Instant deadline = clock.now() + kUnablePatience;
        while (!so() && clock.now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return so();
    };
    Contestant first("first", url, clock);
    ASSERT_TRUE(until([&] { return first.leads(); }));
    Contestant second("second", url, clock);
    ASSERT_FALSE(first.create("a").error);
    first.let_commits_fail();
    int failures = 0;
    ASSERT_TRUE(until([&] {
        if (first.leads() && first.create("b").error) failures += 1;
        return second.leads();
    }));
    EXPECT_GE(failures, 5);
    EXPECT_FALSE(second.create("c").error);
    EXPECT_FALSE(first.leads());
}

}  // namespace
}  // namespace baton::testing
