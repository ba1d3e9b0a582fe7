// The contract of ports/sql.h on real servers.
#include "testing/servers/database_server.h"
#include "testing/sql_contract.h"

namespace baton::testing {
namespace {

class OnServer final : public SqlUnderTest {
public:
    explicit OnServer(ServerKind kind)
        : kind_(kind), url_(DatabaseServer::shared(kind).new_database()) {
        reopen();
    }
    SqlDatabase& database() override { return *database_; }
    void reopen() override {
        database_.reset();
        auto opened = open_server_database(kind_, url_);
        CHECK(opened);
        database_ = *std::move(opened);
    }

private:
    const ServerKind kind_;
    const std::string url_;
    std::unique_ptr<SqlDatabase> database_;
};

std::unique_ptr<SqlUnderTest> on(ServerKind kind) {
    return std::make_unique<OnServer>(kind);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Servers, SqlContract,
    ::testing::Values(SqlContractCase{"Postgres", [] { return on(ServerKind::postgres); }},
                      SqlContractCase{"Mariadb", [] { return on(ServerKind::mariadb); }}),
    [](const auto& each) { return each.param.name; });

}  // namespace baton::testing
