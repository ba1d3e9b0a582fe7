// Secrets in statements that are refused: in quotes that are wrong, under keys that are misspelt.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hostile/daemon.h"

namespace baton::hostile {
namespace {

constexpr const char* kCanary = "geh31mnis";

std::vector<std::string> refused_statements() {
    const std::string secret = kCanary;
    const auto source = [](const std::string& settings) {
        return "CREATE PHYSICAL SOURCE FOR r TYPE MQTT SET ('tcp://b:1883' AS SOURCE.SERVER_URI, "
               "'t' AS SOURCE.TOPIC, " +
               settings + ")";
    };
    const auto inline_source = [](const std::string& settings) {
        return "CREATE QUERY q AS SELECT id FROM MQTT('tcp://b:1883' AS SOURCE.SERVER_URI, 't' AS "
               "SOURCE.TOPIC, SCHEMA(id UINT64) AS SOURCE.SCHEMA, " +
               settings + ") INTO plain";
    };
    return {
        source("'" + secret + "' AS SOURCE.PASSWROD"),
        source("'" + secret + "' AS SOURCE.PW"),
        source("'" + secret + "' AS SOURCE.KEY_FILE, 1 AS SOURCE.NOPE"),
        source("\"" + secret + "\" AS SOURCE.PASSWORD"),
        source("`" + secret + "` AS SOURCE.PASSWORD"),
        source(secret + " AS SOURCE.PASSWORD"),
        source("$$" + secret + "$$ AS SOURCE.PASSWORD"),
        source("\u201c" + secret + "\u201d AS SOURCE.PASSWORD"),
        source("'" + secret),
        source("-- " + secret + "\n"),
        source("/* " + secret + " */"),
        source("'me' AS SOURCE.USERNAME, '" + secret + "' AS SINK.PASSWORD"),
        source("'" + secret + "' AS SOURCE.QOS"),
        "CREATE SINK s (id UINT64) TYPE MQTT SET ('tcp://me:" + secret +
            "@b:1883' AS SINK.SERVER_URI, 't' AS SINK.TOPIC)",
        "CREATE SINK s (id UINT64) TYPE MQTT SET (tcp://me:" + secret +
            "@b:1883 AS SINK.SERVER_URI)",
        "CREATE SINK s (id UINT64) TYPE MQTT SET (\"tcp://me:" + secret +
            "@b:1883\" AS SINK.SERVER_URI)",
        "CREATE WORKER 'h:1' SET ('" + secret + "' AS TOKN)",
        "CREATE WORKER 'me:" + secret + "@h:1'",
        inline_source("'" + secret + "' AS SOURCE.PASSWROD"),
        inline_source("'" + secret + "' AS SOURCE.PW") + "_NOT_THERE",
        "CREATE QUERY q SET ('" + secret + "' AS QUERY.NOPE) AS SELECT * FROM r INTO plain",
        "ALTER USER me PASSWORD '" + secret + "'",
        "CREATE USER me WITH PASSWORD \"" + secret + "\"",
        "\"" + secret + "\"",
        "COMMENT ON SINK s IS $x$" + secret + "$x$",
        "SHOW \"" + secret + std::string(300, 'x') + "\"",
    };
}

// Every byte below the directory.
std::string files_with_canary(const std::string& directory) {
    std::string found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream in(entry.path(), std::ios::binary);
        std::ostringstream bytes;
        bytes << in.rdbuf();
        if (bytes.str().find(kCanary) != std::string::npos) found += entry.path().string() + " ";
    }
    return found;
}

TEST(HostileSecrets, OfRefusedStatementsAreKeptNowhere) {
    Daemon daemon({"--set", "log.level=debug"});
    ASSERT_EQ(daemon
                  .psql("CREATE LOGICAL SOURCE r (id UINT64 NOT NULL); CREATE SINK plain (id "
                        "UINT64) TYPE Void")
                  .status,
              0);
    for (const std::string& statement : refused_statements()) {
        EXPECT_NE(daemon.psql(statement).status, 0) << statement;
        const cli::Ended refused = daemon.post_sql(statement);
        EXPECT_TRUE(refused.out.ends_with("\n400\n") || refused.out.ends_with("\n404\n") ||
                    refused.out.ends_with("\n413\n") || refused.out.ends_with("\n422\n"))
            << statement << refused.out;
    }
    ASSERT_TRUE(daemon.takes_a_write());  // with which the log of statements is written, too
    for (const std::string path : {"/v1/statements", "/v1/changes", "/metrics", "/v1/sinks"}) {
        const cli::Ended page = daemon.curl(path);
        EXPECT_EQ(page.out.find(kCanary), std::string::npos) << page.out;
    }
    const cli::Ended logged = daemon.psql("SELECT STATEMENT, MESSAGE FROM baton.statements");
    EXPECT_EQ(logged.status, 0) << logged.errors;
    EXPECT_EQ(logged.out.find(kCanary), std::string::npos) << logged.out;
    EXPECT_NE(logged.out.find("PASSWROD"), std::string::npos) << logged.out;
    EXPECT_EQ(files_with_canary(daemon.data()), "");
    EXPECT_EQ(daemon.ended_log().find(kCanary), std::string::npos);
    EXPECT_EQ(files_with_canary(daemon.data()), "");
}

}  // namespace
}  // namespace baton::hostile
