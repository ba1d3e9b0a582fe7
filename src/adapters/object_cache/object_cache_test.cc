#include "adapters/object_cache/object_cache.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tables/access/access_test.h"

namespace baton::object_cache {
namespace {

using tables::Gate;
using tables::WatchedStore;

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class ObjectCacheTest : public ::testing::Test {
protected:
    ObjectCacheTest() { open(1'000); }

    void open(std::uint64_t bytes_max) {
        auto cache = ObjectCache::open(
            {.folder = folder_ / "objects", .bytes_max = bytes_max, .piece_bytes = 100});
        CHECK(cache.has_value());
        cache_ = *std::move(cache);
    }
    TableObject put(const std::string& key, const std::string& bytes) {
        CHECK(store_.put(key, bytes, Always{}, {}).has_value());
        return {.key = key, .bytes = bytes.size()};
    }
    TableObject put(const std::string& key, std::size_t size) {
        return put(key, std::string(size, key.front()));
    }
    Result<LocalFile> fetch(const TableObject& object, const StoreCall& call = {}) {
        return cache_->fetch(store_, object.key, object, call);
    }
    std::size_t files() const {
        std::size_t count = 0;
        for (const auto& file : std::filesystem::directory_iterator(folder_ / "objects")) {
            count += file.is_regular_file() ? 1 : 0;
        }
        return count;
    }
    void count_gets() {
        store_.watch_gets([this](const std::string&) -> std::optional<Error> {
            ++gets_;
            return std::nullopt;
        });
    }

    testing::TemporaryDirectory folder_;
    std::shared_ptr<testing::MemoryStore> memory_ = std::make_shared<testing::MemoryStore>();
    WatchedStore store_{memory_};
    std::atomic<int> gets_ = 0;
    std::unique_ptr<ObjectCache> cache_;
};

TEST_F(ObjectCacheTest, AnObjectComesInPiecesAndStays) {
    std::string bytes;
    for (int i = 0; i < 250; ++i) bytes += static_cast<char>(i);
    const TableObject object = put("a", bytes);
    count_gets();
    EXPECT_EQ(content_of(fetch(object)->path), bytes);
    EXPECT_EQ(gets_, 3);
    EXPECT_EQ(content_of(fetch(object)->path), bytes);
    EXPECT_EQ(gets_, 3);
    EXPECT_EQ(cache_->use().hits, 1U);
    EXPECT_EQ(cache_->use().fetched, 250U);
}

TEST_F(ObjectCacheTest, TheOneUnusedForLongestMakesRoom) {
    const TableObject a = put("a", 400);
    const TableObject b = put("b", 400);
    const TableObject c = put("c", 400);
    ASSERT_TRUE(fetch(a));
    ASSERT_TRUE(fetch(b));
    ASSERT_TRUE(fetch(a));
    ASSERT_TRUE(fetch(c));
    EXPECT_EQ(cache_->use().files, 2U);
    EXPECT_EQ(cache_->use().bytes, 800U);
    EXPECT_EQ(files(), 2U);
    count_gets();
    ASSERT_TRUE(fetch(a));
    EXPECT_EQ(gets_, 0);
    ASSERT_TRUE(fetch(b));
    EXPECT_EQ(gets_, 4);
}

TEST_F(ObjectCacheTest, AFileInUseStays) {
    const TableObject a = put("a", 600);
    const TableObject b = put("b", 600);
    auto held = fetch(a);
    ASSERT_TRUE(held);
    const auto refused = fetch(b, {.patience = Duration(0)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::slow_down);
    EXPECT_EQ(content_of(held->path), std::string(600, 'a'));
    const std::string path = held->path;
    held->held.reset();
    EXPECT_TRUE(fetch(b));
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ObjectCacheTest, RoomThatIsGivenBackIsTaken) {
    const TableObject a = put("a", 600);
    const TableObject b = put("b", 600);
    auto held = fetch(a);
    // Asked once before it looks for room, then while it waits.
    StoreCall call;
    call.given_up = [&, asked = 0]() mutable {
        if (++asked == 2) held->held.reset();
        return false;
    };
    EXPECT_TRUE(fetch(b, call));
}

TEST_F(ObjectCacheTest, AnObjectLargerThanAllRoomIsRefused) {
    EXPECT_EQ(fetch(put("a", 1'001)).error().code, ErrorCode::too_large);
    EXPECT_TRUE(fetch(put("b", 1'000)));
}

TEST_F(ObjectCacheTest, ManyCallersShareOneFetch) {
    const TableObject object = put("a", 1'000);
    count_gets();
    std::vector<std::thread> threads;
    std::atomic<int> whole = 0;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            const auto file = fetch(object);
            if (file && content_of(file->path) == std::string(1'000, 'a')) ++whole;
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(whole, 8);
    EXPECT_EQ(gets_, 10);
}

TEST_F(ObjectCacheTest, AFetchGoesOnWhereAnotherStopped) {
    const TableObject object = put("a", 1'000);
    std::atomic<int> left = 4;
    store_.watch_gets([&](const std::string&) -> std::optional<Error> {
        ++gets_;
        if (left-- > 0) return std::nullopt;
        return Error{.code = ErrorCode::store_unavailable, .message = "the store is away"};
    });
    EXPECT_EQ(fetch(object).error().code, ErrorCode::store_unavailable);
    EXPECT_EQ(gets_, 5);
    left = 100;
    gets_ = 0;
    EXPECT_EQ(content_of(fetch(object)->path), std::string(1'000, 'a'));
    EXPECT_EQ(gets_, 6);
}

TEST_F(ObjectCacheTest, ACallerThatGivesUpEndsBetweenPieces) {
    const TableObject object = put("a", 1'000);
    std::atomic<bool> halt = false;
    store_.watch_gets([&](const std::string&) -> std::optional<Error> {
        if (++gets_ == 3) halt = true;
        return std::nullopt;
    });
    const StoreCall call{.given_up = [&] { return halt.load(); }};
    EXPECT_EQ(fetch(object, call).error().code, ErrorCode::cancelled);
    EXPECT_EQ(gets_, 3);
    EXPECT_TRUE(fetch(object));
}

TEST_F(ObjectCacheTest, OneThatWaitsFetchesWhenTheOtherGaveUp) {
    const TableObject object = put("a", 1'000);
    Gate gate;
    std::atomic<bool> halt = false;
    store_.watch_gets([&](const std::string&) -> std::optional<Error> {
        if (++gets_ == 2) gate.pass();
        return std::nullopt;
    });
    std::optional<Result<LocalFile>> leaving;
    std::thread leaves([&] { leaving = fetch(object, {.given_up = [&] { return halt.load(); }}); });
    gate.await_one();
    std::optional<Result<LocalFile>> staying;
    std::atomic<bool> waits = false;
    std::thread stays([&] {
        staying = fetch(object, {.given_up = [&] {
                            waits = true;
                            return false;
                        }});
    });
    while (!waits) std::this_thread::yield();
    halt = true;
    gate.open();
    leaves.join();
    stays.join();
    EXPECT_EQ(leaving->error().code, ErrorCode::cancelled);
    ASSERT_TRUE(*staying);
    EXPECT_EQ(content_of((*staying)->path), std::string(1'000, 'a'));
}

TEST_F(ObjectCacheTest, AFlippedBitIsFound) {
    TableObject object = put("a", "abc");
    object.checksum = "78af5f94892f3950";  // XXH3 of "abc"
    ASSERT_TRUE(fetch(object)) << to_string(fetch(object).error());
    TableObject other = put("b", "abd");
    other.checksum = object.checksum;
    const auto damaged = fetch(other);
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code, ErrorCode::damaged_table);
    EXPECT_NE(damaged.error().message.find("\"b\""), std::string::npos);
    EXPECT_EQ(cache_->use().files, 1U);
    EXPECT_EQ(cache_->use().bytes, 3U);
    // Once it is mended, it is read.
    (void)put("b", "abc");
    EXPECT_TRUE(fetch(other));
}

TEST_F(ObjectCacheTest, AnObjectThatIsGoneOrOfAnotherSizeIsNamed) {
    EXPECT_EQ(fetch({.key = "gone", .bytes = 5}).error().message,
              "object \"gone\" of memory://test is not there");
    TableObject object = put("a", 200);
    object.bytes = 150;
    const auto refused = fetch(object);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::damaged_table);
    EXPECT_EQ(refused.error().message,
              "object \"a\" of memory://test has 200 bytes, and the log says 150");
    EXPECT_EQ(cache_->use().bytes, 0U);
}

TEST_F(ObjectCacheTest, PiecesOfTwoVersionsAreNotMixed) {
    const TableObject object = put("a", 300);
    std::atomic<int> changes = 1;
    store_.watch_gets([&](const std::string&) -> std::optional<Error> {
        if (++gets_ % 3 == 2 && changes-- > 0) {
            (void)memory_->put("a", std::string(300, 'z'), Always{}, {});
        }
        return std::nullopt;
    });
    EXPECT_EQ(content_of(fetch(object)->path), std::string(300, 'z'));
}

TEST_F(ObjectCacheTest, AFullDiskIsAnError) {
    const TableObject object = put("a", 100);
    std::filesystem::remove_all(folder_ / "objects");
    EXPECT_EQ(fetch(object).error().code, ErrorCode::cannot_write);
    EXPECT_EQ(cache_->use().bytes, 0U);
    std::filesystem::create_directory(folder_ / "objects");
    EXPECT_TRUE(fetch(object));
}

TEST_F(ObjectCacheTest, LeftoversOfAnotherProcessAreRemoved) {
    ASSERT_TRUE(fetch(put("a", 100)));
    std::ofstream(folder_ / "objects/99.parquet") << "half";
    open(1'000);
    EXPECT_EQ(files(), 0U);
    EXPECT_EQ(cache_->use().bytes, 0U);
}

TEST_F(ObjectCacheTest, AFileInUseOutlivesTheCache) {
    auto held = fetch(put("a", 100));
    ASSERT_TRUE(held);
    cache_.reset();
    EXPECT_EQ(content_of(held->path), std::string(100, 'a'));
    held->held.reset();
    EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace baton::object_cache
