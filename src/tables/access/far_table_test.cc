#include <filesystem>

#include "tables/access/access_test.h"

namespace baton::tables {
namespace {

// The whole of a table in a store that is not of this machine.
class FarTableTest : public AccessTest {
protected:
    FarTableTest() : AccessTest(std::make_shared<testing::MemoryStore>()) {}
};

TEST_F(FarTableTest, AQuestionThatNeedsMoreThanAllRoomIsRefusedAtOnce) {
    auto one = process();
    const Table t = table({column("n", "BIGINT")});
    ASSERT_TRUE(one.access->create(t, {}));
    const std::uint64_t half = one.cache->bytes_max() / 2 + 1;
    const auto refused = one.access->local_files(
        **one.access->open(t), {{.key = "a", .bytes = half}, {.key = "b", .bytes = half}}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::too_large);
    EXPECT_NE(refused.error().hint.find("tables.cache"), std::string::npos);
}

TEST_F(FarTableTest, IsReadThroughCopies) {
    auto one = process();
    const Table t = table({column("p", "BIGINT"), column("n", "BIGINT")}, "p");
    ASSERT_TRUE(one.access->create(t, {}));
    const auto added =
        answer_of(one.ingest->add(question(t, "SELECT i % 20, i FROM range(10000) r(i)")));
    ASSERT_TRUE(added) << to_string(added.error());
    EXPECT_EQ(ask(one, t, "SELECT count(*), sum(n), count(DISTINCT p) FROM t"),
              "10000|49995000|20\n");
    EXPECT_EQ(one.cache->use().files, 20U);
    auto two = process();
    const auto files = two.access->local_files(**two.access->open(t), objects(two, t), {});
    ASSERT_TRUE(files) << to_string(files.error());
    ASSERT_EQ(files->size(), 20U);
    for (const LocalFile& file : *files) EXPECT_TRUE(std::filesystem::exists(file.path));
    store_->watch_gets([](const std::string&) -> std::optional<Error> {
        return Error{.code = ErrorCode::store_unavailable, .message = "the store is away"};
    });
    auto three = process();
    std::vector<TableObject> wanted = {{.key = "a", .bytes = 1}, {.key = "b", .bytes = 1}};
    const auto away = three.access->local_files(**three.access->open(t), wanted, {});
    ASSERT_FALSE(away);
    EXPECT_EQ(away.error().code, ErrorCode::store_unavailable);
}

}  // namespace
}  // namespace baton::tables
