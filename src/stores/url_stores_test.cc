#include "stores/url_stores.h"

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "testing/stores/memory_store.h"
#include "testing/temporary_directory.h"

namespace baton::stores {
namespace {

class UrlStoresTest : public ::testing::Test {
protected:
    StoreFactories memory() {
        return {.folder = [this](const FolderUrl& url) -> OpenedAttempts {
                    ++opened_;
                    return std::unique_ptr<StoreAttempts>(
                        std::make_unique<testing::MemoryStore>(url.path));
                },
                .s3 = {}};
    }
    const system::SystemClock clock_;
    int opened_ = 0;
};

TEST_F(UrlStoresTest, TheSameFolderIsOpenedOnce) {
    const testing::TemporaryDirectory directory;
    UrlStores stores(memory(), clock_, 1);
    const auto first = stores.open(directory.path());
    ASSERT_TRUE(first);
    for (const std::string& name :
         {directory.path() + "/", "file://" + directory.path(), directory / "./"}) {
        const auto again = stores.open(name);
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, *first) << name;
    }
    EXPECT_EQ(opened_, 1);
    const auto other = stores.open(directory / "other");
    ASSERT_TRUE(other);
    EXPECT_NE(*other, *first);
}

TEST_F(UrlStoresTest, AKindThatCannotBeOpenedIsRefused) {
    UrlStores stores(memory(), clock_, 1);
    const auto store = stores.open("s3://bucket/prefix");
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::not_supported);
    EXPECT_FALSE(stores.open("nothing"));
}

TEST_F(UrlStoresTest, AFailureIsTriedAgainAtTheNextOpening) {
    bool works = false;
    UrlStores stores(
        {.folder = [&](const FolderUrl&) -> OpenedAttempts {
             if (!works) return Error{.code = ErrorCode::store_unavailable, .message = "not now"};
             return std::unique_ptr<StoreAttempts>(std::make_unique<testing::MemoryStore>());
         },
         .s3 = {}},
        clock_, 1);
    EXPECT_FALSE(stores.open("/a"));
    works = true;
    EXPECT_TRUE(stores.open("/a"));
}

TEST_F(UrlStoresTest, EveryStoreHasItsMeter) {
    UrlStores stores(memory(), clock_, 1);
    const auto a = stores.open("/a");
    const auto b = stores.open("/b");
    ASSERT_TRUE(a && b);
    ASSERT_TRUE((*b)->put("k", "123", Always{}, {}));
    const auto meters = stores.meters();
    ASSERT_EQ(meters.size(), 2U);
    EXPECT_EQ(meters[0].url, "/a");
    EXPECT_EQ(meters[0].use, StoreUse());
    EXPECT_EQ(meters[1].use.of(StoreRequest::put), 1U);
    EXPECT_EQ(meters[1].use.bytes_out, 3U);
}

}  // namespace
}  // namespace baton::stores
