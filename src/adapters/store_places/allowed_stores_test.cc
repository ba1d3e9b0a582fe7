#include "adapters/store_places/allowed_stores.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "testing/stores/memory_store.h"
#include "testing/temporary_directory.h"

namespace baton::store_places {
namespace {

namespace fs = std::filesystem;

// Opens whatever it is asked for, and keeps the URL.
class AnyStores final : public ObjectStores {
public:
    Result<std::shared_ptr<ObjectStore>> open(const std::string& url) override {
        opened = url;
        return std::shared_ptr<ObjectStore>(std::make_shared<testing::MemoryStore>());
    }
    std::string opened;
};

class AllowedStoresTest : public ::testing::Test {
protected:
    AllowedStoresTest() {
        for (const char* const folder : {"allowed/t", "other", "allowed/baton/tables"}) {
            fs::create_directories(root_ / folder);
        }
        std::ofstream(root_ / "other/catalog.db") << "x";
        rules_.files.directories = {root_ / "allowed"};
        rules_.files.never = {root_ / "allowed/baton", root_ / "other/catalog.db"};
        rules_.exempt = root_ / "allowed/baton/tables";
    }
    Result<std::shared_ptr<ObjectStore>> open(const std::string& url) {
        any_.opened.clear();
        auto stores = AllowedStores::of(any_, rules_);
        CHECK(stores.has_value());
        return (*stores)->open(url);
    }
    // The code, or 0 if it was opened.
    int code(const std::string& url) {
        const auto opened = open(url);
        EXPECT_EQ(opened.has_value(), !any_.opened.empty());
        return opened ? 0 : static_cast<int>(opened.error().code);
    }
    static constexpr int kRefused = static_cast<int>(ErrorCode::not_permitted);

    testing::TemporaryDirectory root_;
    AnyStores any_;
    StoreRules rules_;
};

TEST_F(AllowedStoresTest, AFolderBeneathAnAllowedDirectoryIsOpened) {
    EXPECT_EQ(code(root_ / "allowed/t"), 0);
    EXPECT_EQ(code("file://" + (root_ / "allowed/t/")), 0);
    EXPECT_EQ(code(root_ / "allowed/new/and deeper"), 0);
    EXPECT_TRUE(any_.opened.ends_with("/allowed/new/and%20deeper")) << any_.opened;
    EXPECT_EQ(code(root_ / "allowed/t/../u"), 0);
    EXPECT_TRUE(any_.opened.ends_with("/allowed/u"));
}

TEST_F(AllowedStoresTest, OtherFoldersAreRefused) {
    for (const std::string& path :
         {root_ / "other", root_ / "", root_ / "allowed/../other", root_ / "allowedly",
          root_ / "allowed/none/../../other", "file://" + (root_ / "allowed/%2e%2e/other"),
          std::string("/"), std::string("/etc"), std::string("..")}) {
        EXPECT_EQ(code(path), kRefused) << path;
    }
    const auto refused = open(root_ / "other");
    EXPECT_NE(refused.error().hint.find("--files"), std::string::npos);
}

TEST_F(AllowedStoresTest, WithoutDirectoriesNoFolderIsOpened) {
    rules_.files.directories.clear();
    EXPECT_EQ(code(root_ / "allowed/t"), kRefused);
    EXPECT_EQ(code("./t"), kRefused);
    EXPECT_EQ(code(rules_.exempt), 0);
}

TEST_F(AllowedStoresTest, LinksLeadNowhereElse) {
    fs::create_directory_symlink(root_ / "other", root_ / "allowed/out");
    fs::create_directory_symlink(root_ / "allowed/t", root_ / "allowed/in");
    fs::create_directory_symlink("/proc/self/cwd", root_ / "allowed/proc");
    EXPECT_EQ(code(root_ / "allowed/out"), kRefused);
    EXPECT_EQ(code(root_ / "allowed/out/new"), kRefused);
    EXPECT_EQ(code(root_ / "allowed/out/../t"), kRefused) << "it is beside the link's target";
    EXPECT_EQ(code(root_ / "allowed/in"), 0);
    EXPECT_TRUE(any_.opened.ends_with("/allowed/t"));
    EXPECT_EQ(code(root_ / "allowed/proc"), kRefused);
    fs::create_directory_symlink(root_ / "allowed", root_ / "link");
    rules_.files.directories = {root_ / "link"};
    EXPECT_EQ(code(root_ / "allowed/t"), 0) << "a directory may be allowed by another name";
    EXPECT_EQ(code(root_ / "link/t"), 0);
}

TEST_F(AllowedStoresTest, BatonsOwnFilesAreOutOfReach) {
    EXPECT_EQ(code(root_ / "allowed/baton"), kRefused);
    EXPECT_EQ(code(root_ / "allowed/baton/tables/x"), kRefused);
    EXPECT_EQ(code(root_ / "allowed/t/../baton/new"), kRefused);
    EXPECT_EQ(code(root_ / "allowed"), kRefused) << "a log there could name every file of Baton";
    fs::create_directory_symlink(root_ / "allowed/baton", root_ / "allowed/alias");
    EXPECT_EQ(code(root_ / "allowed/alias/tables"), kRefused);
    rules_.files.directories = {"/"};
    EXPECT_EQ(code(root_ / "other"), kRefused) << "the catalog is there";
    EXPECT_EQ(code(root_ / "other/below"), 0);
    EXPECT_EQ(code("/"), kRefused);
}

TEST_F(AllowedStoresTest, TheKernelKeepsNoTables) {
    rules_.files.directories = {"/"};
    rules_.files.never.clear();
    for (const char* const path : {"/proc/self", "/sys/kernel", "/dev/shm/x", "/proc"}) {
        EXPECT_EQ(code(path), kRefused) << path;
    }
    EXPECT_EQ(code("/proc/self/root" + (root_ / "allowed/t")), 0);
    EXPECT_EQ(any_.opened.find("/proc"), std::string::npos) << any_.opened;
}

TEST_F(AllowedStoresTest, TheStoreThatWasSetIsExempt) {
    EXPECT_EQ(code(rules_.exempt), 0);
    EXPECT_EQ(any_.opened, rules_.exempt);
    EXPECT_EQ(code(rules_.exempt + "/"), kRefused);
}

TEST_F(AllowedStoresTest, HostsAreThoseThatTargetsAllow) {
    const std::string store = "s3://bucket/p?endpoint=";
    EXPECT_EQ(code(store + "http://192.0.2.7:9000"), 0);
    EXPECT_EQ(code(store + "http://127.0.0.1:9000"), kRefused);
    EXPECT_EQ(code(store + "http://[::1]:9000"), kRefused);
    EXPECT_EQ(code(store + "http://169.254.169.254"), kRefused);
    EXPECT_EQ(code("s3://bucket/p"), 0);
    rules_.targets.connect_to = {"127.0.0.1:9000"};
    EXPECT_EQ(code(store + "http://127.0.0.1:9000"), 0);
    EXPECT_EQ(code(store + "http://127.0.0.1:9001"), kRefused);
    EXPECT_EQ(code(store + "http://127.0.0.1"), kRefused);
    EXPECT_EQ(code(store + "http://192.0.2.7:9000"), kRefused);
    EXPECT_NE(code("s3://bucket/p"), 0) << "AWS needs a rule where there are rules";
    EXPECT_NE(code(store + "http://[::1"), 0);
    EXPECT_NE(code(store + "http://127.0.0.1:99999"), 0);
}

}  // namespace
}  // namespace baton::store_places
