#include "doors/shell/advice.h"

#include <gtest/gtest.h>

#include "sql/parser.h"

namespace baton::shell {
namespace {

std::string advice(const std::string& text) {
    return advice_on(*sql::parse_one(text));
}

TEST(Advice, AnEmptyListOfWorkersSaysWhereQueriesRun) {
    EXPECT_NE(advice("SHOW WORKERS").find("CREATE WORKER"), std::string::npos);
}

TEST(Advice, NothingIsSaidOfAnAnswerThatSpeaksForItself) {
    EXPECT_EQ(advice("SHOW QUERIES"), "");
    EXPECT_EQ(advice("SHOW WORKERS WHERE name = 'x'"), "");
}

}  // namespace
}  // namespace baton::shell
