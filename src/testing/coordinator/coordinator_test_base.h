// A coordinator over a real database that ends with the test, and a session to talk to it.
//
// The database is SQLite; with BATON_TEST_CATALOG=postgres or mariadb it is one of a server that
// the test program starts, so that the same tests show that the catalog is the same on each.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"

namespace baton::testing {

// A catalog without anything in it.
[[nodiscard]] Result<std::unique_ptr<SqlDatabase>> open_test_catalog();

class CoordinatorTest : public ::testing::Test {
protected:
    void SetUp() override { open(); }

    // Opens (again) with these options; a catalog that was open before is gone.
    void open(const coordinator::CoordinatorOptions& options = {});

    // Runs statements that must all succeed.
    std::vector<coordinator::StatementResult> run(std::string_view sql);
    std::vector<coordinator::StatementResult> run(coordinator::Session& session,
                                                  std::string_view sql);
    // Runs statements of which the last must fail.
    Error error_of(std::string_view sql);
    Error error_of(coordinator::Session& session, std::string_view sql);
    // "2030: unknown source ..." or "ok"
    std::string outcome_of(std::string_view sql);

    // The rows of the last statement: values joined by `|`, rows ended by line breaks.
    std::string rows(std::string_view sql);
    std::string rows(coordinator::Session& session, std::string_view sql);

    // Two workers EDGE -> HUB, source READINGS on EDGE, sink ALERTS on HUB.
    void make_small_cluster(const std::string& hub_settings = "");

    catalog::Answer request(const catalog::Request& request);
    Error refused(const catalog::Request& request);

    system::SystemClock clock_;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_;
    std::unique_ptr<coordinator::Session> session_;
};

}  // namespace baton::testing
