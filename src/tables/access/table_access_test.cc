#include "tables/access/table_access.h"

#include <set>

#include "tables/access/access_test.h"

namespace baton::tables {
namespace {

class TableAccessTest : public AccessTest {
protected:
    Process one_ = process();
};

TEST_F(TableAccessTest, ATableStaysOpen) {
    const Table t = table({column("n", "BIGINT")});
    ASSERT_TRUE(one_.access->create(t, {}));
    EXPECT_EQ(*one_.access->open(t), *one_.access->open(t));
}

TEST_F(TableAccessTest, ATableThatIsNotUsedIsClosedWhenThereAreMany) {
    TableAccessParts parts = one_.access->parts();
    parts.tables_max = 2;
    TableAccess access(parts);
    const auto open = [&](const std::string& location) {
        Table t = table({column("n", "BIGINT")});
        t.location = location;
        return *access.open(t);
    };
    const auto a = open("a");
    const auto b = open("b");
    EXPECT_EQ(open("a"), a);
    (void)open("c");
    EXPECT_EQ(open("a"), a);
    EXPECT_NE(open("b"), b);
}

TEST_F(TableAccessTest, WithoutAStoreThereAreNoManagedTables) {
    TableAccessParts parts = one_.access->parts();
    parts.default_store.clear();
    TableAccess access(parts);
    const auto opened = access.open(table({column("n", "BIGINT")}));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::missing_configuration);
}

TEST_F(TableAccessTest, APlaceThatMayNotBeUsedIsRefused) {
    Table t = table({column("n", "BIGINT")});
    t.managed = false;
    t.location = "elsewhere";
    EXPECT_EQ(one_.access->open(t).error().code, ErrorCode::not_permitted);
    t.location = "store";
    ASSERT_TRUE(one_.access->create(t, {}));
    EXPECT_TRUE(std::filesystem::is_directory(store_folder_ / "_delta_log"));
}

TEST_F(TableAccessTest, PartitionsAreColumnsOfTheTable) {
    const auto refused = one_.access->create(table({column("alpha", "BIGINT")}, "alpa"), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unknown_field);
    EXPECT_NE(refused.error().hint.find("alpha"), std::string::npos);
    ASSERT_TRUE(
        one_.access->create(table({column("a", "BIGINT"), column("B", "DATE")}, " b "), {}));
    const Table t = table({column("a", "BIGINT"), column("B", "DATE")}, "b");
    EXPECT_EQ(newest(one_, t)->layout().partition_by, std::vector<std::string>{"B"});
}

TEST_F(TableAccessTest, NoPathIsGivenTwice) {
    std::set<std::string> paths;
    for (int i = 0; i < 100; ++i) paths.insert(one_.access->work_path());
    EXPECT_EQ(paths.size(), 100U);
}

}  // namespace
}  // namespace baton::tables
