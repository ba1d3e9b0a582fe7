// The ways of a folder that other stores do not have: links, leftovers, clocks, names, permissions.
#include "adapters/folder/folder_store.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "adapters/folder/file_systems.h"
#include "adapters/system/system_clock.h"
#include "testing/temporary_directory.h"

namespace baton::folder {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

class FolderStoreTest : public ::testing::Test {
protected:
    void SetUp() override { store_ = open(); }

    std::unique_ptr<FolderStore> open(Duration leftovers_age = seconds(600)) {
        auto opened = FolderStore::open({.path = path(), .leftovers_age = leftovers_age}, clock_);
        EXPECT_TRUE(opened) << to_string(opened.error());
        return opened ? *std::move(opened) : nullptr;
    }
    [[nodiscard]] std::string path(const std::string& name = "") const {
        return directory_ / ("store" + (name.empty() ? "" : "/" + name));
    }
    static std::string word(AttemptTrouble trouble) {
        switch (trouble) {
            case AttemptTrouble::refused:
                return "refused";
            case AttemptTrouble::full:
                return "full";
            case AttemptTrouble::too_large:
                return "too large";
            case AttemptTrouble::not_sent:
                return "not sent";
            case AttemptTrouble::given_up:
                return "given up";
            case AttemptTrouble::unknown:
                return "unknown";
            case AttemptTrouble::server:
            case AttemptTrouble::throttled:
                return "?";
        }
        return "?";
    }
    // The etag; "condition failed" or the trouble.
    std::string put(const std::string& key, std::string_view bytes,
                    const PutCondition& condition = Always{}, const AttemptCall& call = {}) {
        const auto put =
            store_->put(key, {.body = bytes, .condition = condition, .stamp = {}}, call);
        if (const auto* failure = std::get_if<AttemptFailure>(&put.outcome)) {
            return word(failure->trouble);
        }
        const auto* stored = std::get_if<Stored>(&std::get<PutOutcome>(put.outcome));
        return stored == nullptr ? "condition failed" : stored->etag;
    }
    std::string get(const std::string& key) {
        const auto got = store_->get(key, {}, {});
        if (const auto* failure = std::get_if<AttemptFailure>(&got.outcome)) {
            return word(failure->trouble);
        }
        const auto* object = std::get_if<StoredObject>(&std::get<GotWithStamp>(got.outcome).got);
        return object == nullptr ? "none" : object->bytes;
    }
    std::vector<std::string> keys() {
        const auto listed = store_->list({.prefix = {}, .after = {}}, {});
        std::vector<std::string> keys;
        for (const auto& each : std::get<ListPage>(listed.outcome).objects)
            keys.push_back(each.key);
        return keys;
    }
    [[nodiscard]] std::size_t leftovers() const {
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(path(".baton"))) {
            count += entry.path().filename().string().starts_with("put-") ? 1 : 0;
        }
        return count;
    }
    static void set_time(const std::string& file, std::int64_t second) {
        const timespec times[2] = {{.tv_sec = second, .tv_nsec = 5},
                                   {.tv_sec = second, .tv_nsec = 5}};
        ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    }

    const testing::TemporaryDirectory directory_;
    const system::SystemClock clock_;
    std::unique_ptr<FolderStore> store_;
};

TEST_F(FolderStoreTest, AFolderIsMadeAndItsObjectsAreFiles) {
    put("a/b.parquet", "bytes");
    EXPECT_EQ(*store_->path_of("a/b.parquet"), fs::canonical(path("a/b.parquet")).string());
    std::ifstream file(*store_->path_of("a/b.parquet"));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "bytes");
    EXPECT_EQ(store_->url(), "file://" + fs::canonical(path()).string());
    EXPECT_EQ(leftovers(), 0U);
}

TEST_F(FolderStoreTest, FilesThatOthersPutThereAreObjects) {
    fs::create_directories(path("data"));
    std::ofstream(path("data/x.parquet")) << "theirs";
    EXPECT_EQ(get("data/x.parquet"), "theirs");
    EXPECT_EQ(keys(), std::vector<std::string>({"data/x.parquet"}));
}

TEST_F(FolderStoreTest, LinksAreNotFollowedAndAreNoObjects) {
    std::ofstream(directory_ / "secret") << "secret";
    fs::create_directories(directory_ / "outside");
    put("real", "x");
    fs::create_symlink(directory_ / "secret", path("file-link"));
    fs::create_symlink("../secret", path("relative-link"));
    fs::create_directory_symlink(directory_ / "outside", path("folder-link"));
    fs::create_symlink("real", path("inner-link"));
    for (const char* link : {"file-link", "relative-link", "inner-link"}) {
        EXPECT_EQ(get(link), "refused") << link;
    }
    EXPECT_EQ(put("folder-link/x", "x"), "refused");
    EXPECT_EQ(get("folder-link/x"), "refused");
    EXPECT_EQ(keys(), std::vector<std::string>({"real"}));
    EXPECT_TRUE(fs::is_empty(directory_ / "outside"));
    // A write replaces a link; the file behind it stays as it is.
    put("file-link", "mine");
    EXPECT_EQ(get("file-link"), "mine");
    std::ifstream file(directory_ / "secret");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "secret");
}

TEST_F(FolderStoreTest, PipesAndDirectoriesAreNoObjects) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    fs::create_directories(path("empty/deep"));
    EXPECT_EQ(get("pipe"), "none");
    EXPECT_EQ(get("empty"), "none");
    EXPECT_TRUE(keys().empty());
    const auto folders = store_->list({.prefix = {}, .after = {}, .folders = true}, {});
    EXPECT_TRUE(std::get<ListPage>(folders.outcome).folders.empty());
}

TEST_F(FolderStoreTest, AKeyCannotLieBelowAnotherOne) {
    put("a", "x");
    EXPECT_EQ(put("a/b", "x"), "refused");
    put("c/d", "x");
    EXPECT_EQ(put("c", "x"), "refused");
    EXPECT_EQ(put("c", "x", IfAbsent{}), "refused");
    EXPECT_EQ(get("c/d"), "x");
}

TEST_F(FolderStoreTest, ThePrivateFolderIsNoKey) {
    EXPECT_EQ(put(".baton/lock", "x"), "refused");
    EXPECT_EQ(get(".baton/lock"), "refused");
    EXPECT_EQ(put(".batonx", "x").find("refused"), std::string::npos);
    put("a/.baton/b", "x");  // only at the top
    EXPECT_EQ(keys(), std::vector<std::string>({".batonx", "a/.baton/b"}));
    EXPECT_FALSE(store_->path_of(".baton"));
}

TEST_F(FolderStoreTest, APartThatIsTooLongIsRefused) {
    EXPECT_EQ(put(std::string(256, 'a'), "x"), "refused");
    EXPECT_EQ(get(std::string(256, 'a')), "none");
    EXPECT_EQ(put(std::string(255, 'a'), "x").find("refused"), std::string::npos);
}

TEST_F(FolderStoreTest, NoTwoVersionsHaveOneEtagThoughInodesAreUsedAgain) {
    std::set<std::string> etags;
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(etags.insert(put("same", "1")).second);
}

TEST_F(FolderStoreTest, NorWhenTheClockWasSetBack) {
    put("same", "1");
    constexpr std::int64_t kFar = 4'000'000'000;  // in the year 2096
    set_time(path("same"), kFar);
    std::set<std::string> etags;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(etags.insert(put("same", "1")).second);
    struct stat state {};
    ASSERT_EQ(::stat(path("same").c_str(), &state), 0);
    EXPECT_EQ(state.st_mtim.tv_sec, kFar);
    EXPECT_EQ(state.st_mtim.tv_nsec, 25);
}

TEST_F(FolderStoreTest, AnEtagIsTheSameForAllProcessesAndOverRestarts) {
    const std::string etag = put("a", "x");
    store_ = open();
    const auto listed = store_->list({.prefix = {}, .after = {}}, {});
    EXPECT_EQ(std::get<ListPage>(listed.outcome).objects.front().etag, etag);
    EXPECT_NE(put("a", "y", IfUnchanged{etag}), "condition failed");
}

TEST_F(FolderStoreTest, LeftoversOfDeadWritersAreSweptWhenTheyAreOld) {
    const std::string old_one = path(".baton/put-0");
    const std::string fresh = path(".baton/put-1");
    const std::string alive = path(".baton/put-2");
    const std::string other = path(".baton/notes");
    for (const std::string& each : {old_one, fresh, alive, other}) std::ofstream(each) << "x";
    for (const std::string& each : {old_one, alive, other}) set_time(each, 1'600'000'000);
    const system::OpenFile writer(::open(alive.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::flock(*writer, LOCK_SH), 0);
    store_ = open();
    EXPECT_FALSE(fs::exists(old_one));
    EXPECT_TRUE(fs::exists(fresh));
    EXPECT_TRUE(fs::exists(alive));
    EXPECT_TRUE(fs::exists(other));
}

TEST_F(FolderStoreTest, AWriteThatWasGivenUpLeavesNothing) {
    AttemptCall call;
    call.given_up = [] { return true; };
    EXPECT_EQ(put("a", "x", Always{}, call), "not sent");
    EXPECT_EQ(get("a"), "none");
    EXPECT_EQ(leftovers(), 0U);
}

TEST_F(FolderStoreTest, AHeldLockEndsAWriteInTime) {
    put("a", "x");
    const system::OpenFile lock(::open(path(".baton/lock").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(*lock, LOCK_EX), 0);
    AttemptCall call;
    call.time_max = std::chrono::milliseconds(20);
    EXPECT_EQ(put("a", "y", Always{}, call), "not sent");
    EXPECT_EQ(get("a"), "x");
    EXPECT_EQ(leftovers(), 0U);
    // Making what is not there needs no lock.
    EXPECT_NE(put("b", "y", IfAbsent{}, call), "not sent");
}

TEST_F(FolderStoreTest, AFolderThatWasRemovedIsNotTakenForAnEmptyOne) {
    fs::remove_all(path());
    EXPECT_EQ(get("a"), "refused");
    EXPECT_EQ(put("a", "x"), "refused");
    const auto listed = store_->list({.prefix = {}, .after = {}}, {});
    EXPECT_TRUE(std::holds_alternative<AttemptFailure>(listed.outcome));
}

TEST_F(FolderStoreTest, NamesThatAreNoKeysAreSkipped) {
    std::ofstream(path("a\nb")) << "x";
    std::ofstream(path("\xff")) << "x";
    put("fine", "x");
    EXPECT_EQ(keys(), std::vector<std::string>({"fine"}));
}

TEST_F(FolderStoreTest, APathThatIsAFileIsRefused) {
    std::ofstream(directory_ / "file") << "x";
    const auto opened = FolderStore::open({.path = directory_ / "file"}, clock_);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::store_refused);
}

TEST(FileSystems, ThoseOfANetworkAreRefused) {
    EXPECT_EQ(unfit_file_system(0x6969), "NFS");
    EXPECT_EQ(unfit_file_system(0xff534d42), "CIFS");
    EXPECT_EQ(unfit_file_system(0xffffffffff534d42UL), "CIFS");  // statfs' field has a sign
    EXPECT_EQ(unfit_file_system(0x65735546), "FUSE");
    for (const unsigned long type : {0xef53UL, 0x58465342UL, 0x9123683eUL, 0x01021994UL}) {
        EXPECT_FALSE(unfit_file_system(type)) << type;  // ext4, XFS, Btrfs, tmpfs
    }
}

}  // namespace
}  // namespace baton::folder
