// What a coordinator does while its database is away, and when it comes back.
#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

class LostServer : public ::testing::TestWithParam<ServerKind> {
protected:
    LostServer() : server_(GetParam()), url_(server_.new_database()) {
        auto database = open_server_database(GetParam(), url_, catalog::migrate);
        CHECK(database);
        auto opened = coordinator::CoordinatorRuntime::open(*std::move(database), clock_);
        CHECK(opened);
        coordinator_ = *std::move(opened);
        session_ = std::make_unique<coordinator::Session>(*coordinator_, "tester");
    }
    std::optional<Error> run(const std::string& text) { return session_->execute(text).error; }

    DatabaseServer server_;  // of its own: others would suffer
    const std::string url_;
    const system::SystemClock clock_;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_;
    std::unique_ptr<coordinator::Session> session_;
};

TEST_P(LostServer, IsToldAndConnectedToAgain) {
    ASSERT_FALSE(run("CREATE SINK a (x INT8) TYPE Void"));
    server_.kill();
    const auto write = run("CREATE SINK b (x INT8) TYPE Void");
    ASSERT_TRUE(write);
    EXPECT_EQ(write->code, ErrorCode::catalog_unavailable) << to_string(*write);
    const auto read = run("SHOW SINKS");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->code, ErrorCode::catalog_unavailable) << to_string(*read);
    server_.start();
    const auto again = run("CREATE SINK b (x INT8) TYPE Void");
    EXPECT_FALSE(again) << to_string(*again);
    const auto shown = run("SHOW SINKS");
    EXPECT_FALSE(shown) << to_string(*shown);
}

TEST_P(LostServer, OneThatWasRestartedMeanwhileIsNotNoticed) {
    ASSERT_FALSE(run("CREATE SINK a (x INT8) TYPE Void"));
    ASSERT_FALSE(run("SHOW SINKS"));
    server_.kill();
    server_.start();
    const auto write = run("CREATE SINK b (x INT8) TYPE Void");
    EXPECT_FALSE(write) << to_string(*write);
    const auto read = run("SHOW SINKS");
    EXPECT_FALSE(read) << to_string(*read);
}

INSTANTIATE_TEST_SUITE_P(Servers, LostServer,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& each) {
                             return each.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::testing
