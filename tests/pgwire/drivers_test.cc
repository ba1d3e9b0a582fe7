// Drivers of several languages, each with a program in clients/ that says what it saw.
#include "pgwire/server_test_base.h"

namespace baton {
namespace {

class Drivers : public ServerTest {
protected:
    // Without TLS and trusted, then with TLS and a password: it sees the same.
    void expect_twice(const std::string& expected,
                      const std::function<std::vector<std::string>(bool tls)>& command) {
        const auto plain = cli::run(command(false));
        EXPECT_EQ(plain.out, expected) << plain.errors;
        EXPECT_TRUE(eventually([&] { return desk_->load().visitors == 0; }));
        serve({.users = true, .tls = true, .tls_required = true});
        const auto encrypted = cli::run(command(true));
        EXPECT_EQ(encrypted.out, expected) << encrypted.errors;
        EXPECT_TRUE(eventually([&] { return server_->load().connections == 0; }));
    }
    [[nodiscard]] std::vector<std::string> node(const std::string& script, bool tls) const {
        std::vector<std::string> command = {"/usr/bin/env", "NODE_PATH=" BATON_NODE_MODULES, "node",
                                            BATON_CLIENTS "/" + script,
                                            std::to_string(server_->port())};
        if (tls) command.push_back(directory_ / "cert.pem");
        return command;
    }
};

TEST_F(Drivers, Psycopg2) {
    if (!has("/usr/bin/python3 -c 'import psycopg2'", "psycopg2")) {
        GTEST_SKIP() << "psycopg2 is not installed; scripts/setup gets it";
    }
    expect_twice(
        "[('HUB', 0, False)] ['NAME', 'USED', 'DRAINING']\n"
        "(1,)\n"
        "[('READINGS',)]\n"
        "42703 UndefinedColumn 8\n"
        "25P02 InFailedSqlTransaction 1\n"
        "2\n"
        "['EDGE,REMOTE', 'HUB,REMOTE']\n"
        "57014 QueryCanceled\n"
        "[('EDGE', 'HUB')]\n",
        [&](bool tls) -> std::vector<std::string> {
            const std::string more =
                tls ? "sslmode=verify-full sslrootcert=" + (directory_ / "cert.pem") : "";
            return {"/usr/bin/python3", BATON_CLIENTS "/psycopg2_client.py", address(more)};
        });
}

TEST_F(Drivers, NodePg) {
    if (!has("NODE_PATH=" BATON_NODE_MODULES " node -e 'require(\"pg\")'", "pg")) {
        GTEST_SKIP() << "the npm package pg is not installed; scripts/setup gets it";
    }
    expect_twice(
        R"([{"one":1}]
[{"NAME":"HUB","DRAINING":false}]
[{"UPSTREAM":"EDGE"}]
1
0
[["SHOW",1],["SELECT",2],["SET",null]]
["42703","8","unknown_field"]
["25P02","1","transaction_state"]
["57014",["snapshot READINGS","create FRESH","drop FRESH"]]
[{"d":"baton"}]
)",
        [&](bool tls) { return node("pg_client.js", tls); });
}

TEST_F(Drivers, NodePostgres) {
    if (!has("NODE_PATH=" BATON_NODE_MODULES " node -e 'require(\"postgres\")'", "postgres")) {
        GTEST_SKIP() << "the npm package postgres is not installed; scripts/setup gets it";
    }
    const std::string expected = R"([{"NAME":"HUB","DRAINING":false}]
1
2
[{"x":1}]
["42703","8"]
"changed my mind"
["KEPT","READINGS"]
2
"57014"
)";
    expect_twice(expected, [&](bool tls) {
        if (tls) run("DROP LOGICAL SOURCE kept");
        return node("postgres_client.js", tls);
    });
}

TEST_F(Drivers, Jdbc) {
    const std::string jar = "/usr/share/java/postgresql.jar";
    if (!has("test -e " + jar + " && java --list-modules | grep -q jdk.compiler", "JDBC")) {
        GTEST_SKIP() << "no JDK, or no driver: scripts/setup gets the driver";
    }
    expect_twice(
        "true\nHUB0false\nHUB0false\n2\nid 2\nvalue 8\n4\n0\n2\n42703\n25P02\n57014\n"
        "baton baton\n",
        [&](bool tls) -> std::vector<std::string> {
            std::string url =
                "jdbc:postgresql://localhost:" + std::to_string(server_->port()) + "/baton";
            if (tls) url += "?sslmode=verify-ca&sslrootcert=" + (directory_ / "cert.pem");
            return {"java", "-cp", jar, BATON_CLIENTS "/JdbcClient.java", url};
        });
}

}  // namespace
}  // namespace baton
