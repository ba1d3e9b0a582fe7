#include "testing/coordinator/coordinator_test_base.h"

#include <cstdlib>

#include "adapters/sqlite/sqlite.h"
#include "catalog/schema.h"
#include "testing/servers/database_server.h"

namespace baton::testing {

Result<std::unique_ptr<SqlDatabase>> open_test_catalog() {
    const char* named = std::getenv("BATON_TEST_CATALOG");
    const std::string kind = named == nullptr ? "sqlite" : named;
    if (kind == "sqlite") return sqlite::open_temporary_sqlite({.initialise = catalog::migrate});
    const ServerKind server = kind == "postgres" ? ServerKind::postgres : ServerKind::mariadb;
    return open_server_database(server, DatabaseServer::shared(server).new_database(),
                                catalog::migrate);
}

void CoordinatorTest::open(const coordinator::CoordinatorOptions& options) {
    session_.reset();
    coordinator_.reset();
    auto database = open_test_catalog();
    ASSERT_TRUE(database) << to_string(database.error());
    auto opened = coordinator::CoordinatorRuntime::open(*std::move(database), clock_, options);
    ASSERT_TRUE(opened) << to_string(opened.error());
    coordinator_ = *std::move(opened);
    session_ = std::make_unique<coordinator::Session>(*coordinator_, "tester");
}

std::vector<coordinator::StatementResult> CoordinatorTest::run(coordinator::Session& session,
                                                               std::string_view sql) {
    coordinator::Execution execution = session.execute(sql);
    EXPECT_FALSE(execution.error) << sql << "\n" << to_string(*execution.error);
    return std::move(execution.results);
}

std::vector<coordinator::StatementResult> CoordinatorTest::run(std::string_view sql) {
    return run(*session_, sql);
}

Error CoordinatorTest::error_of(coordinator::Session& session, std::string_view sql) {
    const coordinator::Execution execution = session.execute(sql);
    EXPECT_TRUE(execution.error) << sql << " succeeded";
    return execution.error.value_or(Error{.code = ErrorCode::defect, .message = "no error"});
}

Error CoordinatorTest::error_of(std::string_view sql) {
    return error_of(*session_, sql);
}

std::string CoordinatorTest::outcome_of(std::string_view sql) {
    const coordinator::Execution execution = session_->execute(sql);
    if (!execution.error) return "ok";
    return std::to_string(number(execution.error->code)) + ": " + execution.error->message;
}

std::string CoordinatorTest::rows(coordinator::Session& session, std::string_view sql) {
    const auto results = run(session, sql);
    if (results.empty()) return "no result";
    const auto* table = std::get_if<views::Table>(&results.back().value);
    if (table == nullptr) return "no table";
    std::string text;
    for (const SqlRow& row : table->rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += (i > 0 ? "|" : "") + shown(row[i], table->columns[i].type);
        }
        text += "\n";
    }
    return text;
}

std::string CoordinatorTest::rows(std::string_view sql) {
    return rows(*session_, sql);
}

void CoordinatorTest::make_small_cluster(const std::string& hub_settings) {
    const std::string hub = hub_settings.empty() ? "" : ", " + hub_settings;
    run("CREATE WORKER 'hub:1' SET ('HUB' AS NAME" + hub +
        ");"
        "CREATE WORKER 'edge:1' SET ('EDGE' AS NAME, 'HUB' AS DOWNSTREAM);"
        "CREATE LOGICAL SOURCE readings (id UINT64 NOT NULL, value FLOAT64);"
        "CREATE PHYSICAL SOURCE FOR readings TYPE File "
        "SET ('in.csv' AS SOURCE.FILE_PATH, 'EDGE' AS SOURCE.HOST);"
        "CREATE SINK alerts (id UINT64 NOT NULL) TYPE Print "
        "SET ('HUB' AS SINK.HOST)");
}

catalog::Answer CoordinatorTest::request(const catalog::Request& asked) {
    auto answer = coordinator_->execute(asked);
    EXPECT_TRUE(answer) << to_string(answer.error());
    return answer ? *std::move(answer) : catalog::Answer{};
}

Error CoordinatorTest::refused(const catalog::Request& asked) {
    auto answer = coordinator_->execute(asked);
    EXPECT_FALSE(answer) << "the request succeeded";
    return answer ? Error{} : answer.error();
}

}  // namespace baton::testing
