#include "shell/advice.h"

#include <gtest/gtest.h>

#include "sql/parser.h"

namespace baton::shell {
namespace {

std::string advice(const std::string& text, const Table& table = {}) {
    return advice_on(*sql::parse_one(text), table);
}

TEST(Advice, AnEmptyListOfWorkersSaysWhereQueriesRun) {
    EXPECT_NE(advice("SHOW WORKERS").find("CREATE WORKER"), std::string::npos);
}

TEST(Advice, NothingIsSaidOfAnAnswerThatSpeaksForItself) {
    EXPECT_EQ(advice("SHOW QUERIES"), "");
    EXPECT_EQ(advice("SHOW WORKERS WHERE name = 'x'"), "");
    Table table;
    table.rows.emplace_back();
    EXPECT_EQ(advice("SHOW WORKERS", table), "");
}

}  // namespace
}  // namespace baton::shell
