#include "core/tables/run_objects.h"

#include <gtest/gtest.h>

#include "core/tables/commit_plan.h"

namespace baton::tables {
namespace {

std::string key(std::string_view stamp, std::uint64_t run) {
    const Layout layout{.columns = {{.name = "day"}}, .partition_by = {"day"}};
    return object_key(layout, {{"day", "2026-11-19"}}, mark_of_run(stamp, run) + "p-1");
}

TEST(RunObjects, AnObjectTellsItsQueryAndItsRun) {
    EXPECT_TRUE(is_of_a_run(key("ab", 1)));
    EXPECT_TRUE(is_of_another_run(key("ab", 1), "ab", 2));
    EXPECT_TRUE(is_of_another_run(key("ab", 12), "ab", 1));
    EXPECT_TRUE(is_of_another_run(key("ab", 1), "ab", 12));
    EXPECT_FALSE(is_of_another_run(key("ab", 12), "ab", 12));
    EXPECT_FALSE(is_of_another_run(key("abc", 1), "ab", 2));
}

TEST(RunObjects, OtherObjectsAreOfNone) {
    for (const std::string_view key : {"part-p-1.parquet", "q-ab.1-p.parquet", "", "/",
                                       "part-q-ab.1-x/part-p.parquet", "day=1/part-0.parquet"}) {
        EXPECT_FALSE(is_of_a_run(key)) << key;
        EXPECT_FALSE(is_of_another_run(key, "ab", 2)) << key;
    }
}

}  // namespace
}  // namespace baton::tables
