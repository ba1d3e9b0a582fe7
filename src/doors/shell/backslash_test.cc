#include "doors/shell/backslash.h"

#include <gtest/gtest.h>

namespace baton::shell {
namespace {

template <class T>
bool is(std::string_view line) {
    const auto command = backslash_of(line);
    return command && *command && std::holds_alternative<T>(**command);
}

TEST(BackslashTest, OnlyWhatIsACommandIsTakenForOne) {
    EXPECT_TRUE(is<Leave>("\\q"));
    EXPECT_TRUE(is<Leave>(" quit; "));
    EXPECT_TRUE(is<Help>("\\?"));
    EXPECT_TRUE(is<RunStatement>("\\dq"));
    EXPECT_TRUE(is<RunStatement>("\\d"));
    EXPECT_TRUE(is<SetFormat>("\\csv"));
    EXPECT_TRUE(is<ToggleTiming>("\\timing"));
    EXPECT_FALSE(*backslash_of("SHOW SINKS;"));
    EXPECT_FALSE(*backslash_of(""));
}

TEST(BackslashTest, ANameIsThatOfTheCatalogUnlessItIsQuoted) {
    const auto plain = backslash_of("\\d hot;");
    const auto quoted = backslash_of("\\d \"Hot\"");
    ASSERT_TRUE(plain && *plain && quoted && *quoted);
    EXPECT_EQ(std::get<Describe>(**plain).name, "HOT");
    EXPECT_EQ(std::get<Describe>(**quoted).name, "Hot");
}

TEST(BackslashTest, AnUnknownCommandNamesTheNearest) {
    const auto unknown = backslash_of("\\dqq");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().hint, "did you mean \"\\dq\"?");
    EXPECT_FALSE(backslash_of("\\i"));
}

}  // namespace
}  // namespace baton::shell
