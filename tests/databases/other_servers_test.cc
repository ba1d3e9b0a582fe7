// Servers that speak a protocol that Baton knows, and are not what it needs.
#include <gtest/gtest.h>

#include "testing/servers/database_server.h"
#include "testing/servers/relay.h"

namespace baton::testing {
namespace {

// What the server calls itself is all that tells them apart.
TEST(OtherServers, ThatAreNotMariadbAreRefusedByWhatTheyCallThemselves) {
    auto& server = DatabaseServer::shared(ServerKind::mariadb);
    Relay relay(server.port());
    const std::string url = relay.instead_in(server.new_database());
    ASSERT_TRUE(open_server_database(ServerKind::mariadb, url));
    relay.say_instead("MariaDB", "Percona");
    const auto refused = open_server_database(ServerKind::mariadb, url);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_configuration);
    EXPECT_NE(refused.error().message.find("-Percona"), std::string::npos)
        << refused.error().message;
}

TEST(OtherServers, ThatAreTooOldAreRefused) {
    auto& server = DatabaseServer::shared(ServerKind::mariadb);
    Relay relay(server.port());
    const std::string url = relay.instead_in(server.new_database());
    relay.say_instead("10.11.", "10.04.");
    const auto refused = open_server_database(ServerKind::mariadb, url);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("10.04."), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace baton::testing
