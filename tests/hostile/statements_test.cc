// Single statements that once stopped the daemon, or every write to it.
#include <string>

#include <gtest/gtest.h>

#include "hostile/daemon.h"

namespace baton::hostile {
namespace {

TEST(HostileStatements, BytesThatAreNoTextDoNotStopWrites) {
    Daemon daemon;
    for (const std::string& text : {std::string("SHOW \xff"), std::string("SHOW a\0b", 8),
                                    "SHOW " + std::string(9'994, ' ') + "\xc3\xa9"}) {
        const cli::Ended refused = daemon.post_sql(text);
        EXPECT_TRUE(refused.out.ends_with("\n400\n")) << refused.out;
        EXPECT_TRUE(daemon.takes_a_write());
    }
}

TEST(HostileStatements, ManyNestedOrManyStatementsAreRefused) {
    Daemon daemon;
    std::string nested = "SELECT * FROM pg_class WHERE ";
    for (int i = 0; i < 10'000; ++i) nested += "EXISTS (SELECT 1 FROM unnest(";
    EXPECT_NE(daemon.psql(nested).status, 0);
    std::string many;
    for (int i = 0; i < 40'000; ++i) many += "a;";
    const cli::Ended refused = daemon.post_sql(many);
    EXPECT_TRUE(refused.out.ends_with("\n400\n")) << refused.out;
    EXPECT_TRUE(daemon.takes_a_write());
}

}  // namespace
}  // namespace baton::hostile
