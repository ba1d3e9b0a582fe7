// Each way out of a directory that somebody has thought of.
#include "adapters/file/allowed_files.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "testing/temporary_directory.h"

namespace baton::files {
namespace {

namespace fs = std::filesystem;

using testing::TemporaryDirectory;

class AllowedFilesTest : public ::testing::Test {
protected:
    AllowedFilesTest() {
        fs::create_directories(home_ / "rows/deep");
        fs::create_directories(home_ / "rows/data/sub");
        fs::create_directories(home_ / "other");
        make("rows/a.csv", "1\n");
        make("rows/deep/b.csv", "2\n");
        make("rows/data/catalog.db", "own\n");
        make("rows/data/sub/key.pem", "own\n");
        make("other/secret", "secret\n");
        files_ = *AllowedFiles::of(
            {.directories = {home_ / "rows"}, .never = {home_ / "rows/data", home_ / "none"}});
    }

    void make(const std::string& name, const std::string& text) const {
        std::ofstream(home_ / name, std::ios::binary) << text;
    }
    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(home_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] bool is_read(const std::string& path) const {
        return files_.read(path).has_value();
    }
    // Also says that it may not, rather than that it cannot.
    [[nodiscard]] bool is_refused(const std::string& path) const {
        const auto read = files_.read(path);
        const auto written = files_.write(path);
        return !read && read.error().code == ErrorCode::not_permitted && !written &&
               written.error().code == ErrorCode::not_permitted;
    }

    const TemporaryDirectory home_;
    AllowedFiles files_;
};

TEST_F(AllowedFilesTest, PathsBeneathTheDirectoryAreOpened) {
    EXPECT_TRUE(is_read("a.csv"));
    EXPECT_TRUE(is_read("deep/../a.csv"));
    EXPECT_TRUE(is_read(home_ / "rows/a.csv"));
    EXPECT_TRUE(is_read(home_ / "rows//deep/b.csv"));
    fs::create_symlink("deep/b.csv", home_ / "rows/within");
    EXPECT_TRUE(is_read("within"));
    ASSERT_TRUE(files_.write("deep/new.csv").has_value());
    EXPECT_TRUE(fs::exists(home_ / "rows/deep/new.csv"));
}

TEST_F(AllowedFilesTest, PathsThatLeadOutAreRefused) {
    EXPECT_TRUE(is_refused("../other/secret"));
    EXPECT_TRUE(is_refused("deep/../../other/secret"));
    EXPECT_TRUE(is_refused(home_ / "rows/../other/secret"));
    EXPECT_TRUE(is_refused(home_ / "other/secret"));
    EXPECT_TRUE(is_refused(home_ / "rows-not/a"));
    EXPECT_TRUE(is_refused("/etc/passwd"));
    EXPECT_TRUE(is_refused("/proc/self/environ"));
    fs::create_symlink(home_ / "other/secret", home_ / "rows/absolute");
    fs::create_symlink("../other/secret", home_ / "rows/relative");
    fs::create_directory_symlink(home_ / "other", home_ / "rows/directory");
    EXPECT_TRUE(is_refused("absolute"));
    EXPECT_TRUE(is_refused("relative"));
    EXPECT_TRUE(is_refused("directory/secret"));
    EXPECT_EQ(text("other/secret"), "secret\n");
    // A link to what is not there yet makes nothing.
    fs::create_symlink("../other/new", home_ / "rows/dangling");
    EXPECT_FALSE(files_.write("dangling").has_value());
    EXPECT_FALSE(fs::exists(home_ / "other/new"));
    EXPECT_EQ(to_string(files_.read("../other/secret").error()),
              "error 5003: cannot read \"../other/secret\": it leads out of the directories that "
              "its worker allows; put the file there, or start the worker with --files DIR");
}

TEST_F(AllowedFilesTest, BatonsOwnFilesAreRefusedByWhateverName) {
    EXPECT_TRUE(is_refused("data/catalog.db"));
    EXPECT_TRUE(is_refused("data/sub/key.pem"));
    EXPECT_TRUE(is_refused(home_ / "rows/data/catalog.db"));
    fs::create_hard_link(home_ / "rows/data/catalog.db", home_ / "rows/hard");
    fs::create_symlink("data/catalog.db", home_ / "rows/soft");
    fs::create_directory_symlink("../data/sub", home_ / "rows/deep/sub");
    EXPECT_TRUE(is_refused("hard"));
    EXPECT_TRUE(is_refused("soft"));
    EXPECT_TRUE(is_refused("deep/sub/key.pem"));
    for (const char* made : {"data/new", "data/sub/new", "deep/../data/new"}) {
        EXPECT_EQ(files_.write(made).error().code, ErrorCode::not_permitted) << made;
        EXPECT_FALSE(files_.place(made).has_value()) << made;
    }
    EXPECT_EQ(text("rows/data/catalog.db"), "own\n");
    EXPECT_EQ(std::distance(fs::directory_iterator(home_ / "rows/data"), {}), 2);
}

// A catalog of another process, of which this one knows nothing, and a copy of it.
// A sink that writes beside and renames names its place before it opens anything there.
TEST_F(AllowedFilesTest, BatonsOwnFilesAreNoPlaceForOthers) {
    make("rows/settings.yaml", "own\n");
    files_ = *AllowedFiles::of({.directories = {home_ / "rows"},
                                .never = {home_ / "rows/settings.yaml", home_ / "rows/c.db-wal"}});
    for (const char* const name : {"rows/settings.yaml", "rows/c.db-wal"}) {
        const auto place = files_.place(home_ / name);
        ASSERT_FALSE(place) << name;
        EXPECT_EQ(place.error().code, ErrorCode::not_permitted) << name;
        EXPECT_FALSE(files_.write(home_ / name)) << name;
    }
    EXPECT_FALSE(fs::exists(home_ / "rows/c.db-wal"));
    EXPECT_TRUE(files_.place(home_ / "rows/a.csv"));
    EXPECT_TRUE(files_.place(home_ / "rows/new.parquet"));
}

TEST_F(AllowedFilesTest, CatalogsAreKnownByTheirFirstBytes) {
    std::string header("SQLite format 3\0", 16);
    header.resize(68);
    make("rows/sqlite", header + std::string(100, '\0'));
    EXPECT_TRUE(is_read("sqlite"));
    make("rows/copy", header + "Bato" + std::string(100, '\0'));
    EXPECT_TRUE(is_refused("copy"));
    make("rows/copy-wal", std::string("\x37\x7f\x06\x82", 4) + std::string(100, '\0'));
    EXPECT_TRUE(is_refused("copy-wal"));
}

TEST_F(AllowedFilesTest, PipesAreOpenedAndDevicesAndSocketsAreNot) {
    ASSERT_EQ(::mkfifo((home_ / "rows/pipe").c_str(), 0600), 0);
    EXPECT_TRUE(is_read("pipe"));
    const auto devices = AllowedFiles::of({.directories = {"/dev", "/proc/self"}, .never = {}});
    ASSERT_TRUE(devices.has_value());
    EXPECT_EQ(devices->read("/dev/zero").error().code, ErrorCode::not_permitted);
    EXPECT_EQ(devices->write("null").error().code, ErrorCode::not_permitted);
    EXPECT_EQ(devices->read("/proc/self/environ").error().code, ErrorCode::not_permitted);
    const int own = ::open((home_ / "other/secret").c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_FALSE(devices->read("/proc/self/fd/" + std::to_string(own)).has_value());
    ::close(own);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (home_ / "rows/socket").copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_FALSE(is_read("socket"));
    ::close(socket);
}

TEST_F(AllowedFilesTest, WithoutADirectoryTheErrorNamesTheOption) {
    EXPECT_EQ(to_string(AllowedFiles().read("a.csv").error()),
              "error 5003: cannot read \"a.csv\": its worker opens no files; start the worker with "
              "--files DIR, or set files of the daemon, and put the file there");
    EXPECT_EQ(AllowedFiles::of({.directories = {home_ / "none"}, .never = {}}).error().code,
              ErrorCode::invalid_configuration);
}

TEST_F(AllowedFilesTest, SeveralDirectoriesAndAllOfThem) {
    const auto both =
        AllowedFiles::of({.directories = {home_ / "rows/deep", home_ / "other"}, .never = {}});
    EXPECT_TRUE(both->read("b.csv").has_value());
    EXPECT_TRUE(both->read(home_ / "other/secret").has_value());
    EXPECT_FALSE(both->read(home_ / "rows/a.csv").has_value());
    const auto all = AllowedFiles::of({.directories = {"/"}, .never = {home_ / "rows/data"}});
    fs::create_symlink(home_ / "other/secret", home_ / "rows/absolute");
    EXPECT_TRUE(all->read(home_ / "rows/absolute").has_value());
    EXPECT_FALSE(all->read(home_ / "rows/data/catalog.db").has_value());
    EXPECT_FALSE(all->read("/proc/self/environ").has_value());
    const fs::path before = fs::current_path();
    fs::current_path(home_ / "rows");
    EXPECT_TRUE(all->read("a.csv").has_value());
    EXPECT_TRUE(all->read("../other/secret").has_value());
    fs::current_path(before);
}

}  // namespace
}  // namespace baton::files
