#include "adapters/system/user_secret.h"

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/system/private_file.h"
#include "testing/temporary_directory.h"

namespace baton::system {
namespace {

TEST(UserSecret, IsMadeOnceAndForItsOwnerAlone) {
    const testing::TemporaryDirectory directory;
    const std::string path = directory / "state/baton/secret";
    std::vector<std::string> seen(8);
    {
        std::vector<std::jthread> processes;
        for (std::string& secret : seen) {
            processes.emplace_back([&secret, &path] { secret = *user_secret(path); });
        }
    }
    for (const std::string& secret : seen) EXPECT_EQ(secret, seen.front());
    EXPECT_EQ(seen.front().size(), 65U);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    ASSERT_EQ(::stat((directory / "state/baton").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST(UserSecret, AFileThatOthersCanReadIsNotTrusted) {
    const testing::TemporaryDirectory directory;
    const std::string path = directory / "secret";
    ASSERT_TRUE(user_secret(path));
    ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
    const auto refused = user_secret(path);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("other users may read"), std::string::npos);
}

TEST(UserSecret, AFileOfAnotherUserOrALinkIsNotTrusted) {
    const testing::TemporaryDirectory directory;
    const std::string path = directory / "secret";
    ASSERT_TRUE(user_secret(path));
    ASSERT_EQ(::symlink(path.c_str(), (directory / "link").c_str()), 0);
    EXPECT_FALSE(user_secret(directory / "link"));
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_NE(user_secret(path).error().message.find("another user"), std::string::npos);
}

TEST(UserSecret, AnEmptyFileIsNoSecret) {
    const testing::TemporaryDirectory directory;
    ASSERT_TRUE(write_private_file(directory / "secret", ""));
    EXPECT_NE(user_secret(directory / "secret").error().message.find("holds no secret"),
              std::string::npos);
}

TEST(PrivateFile, IsReplacedAsAWhole) {
    const testing::TemporaryDirectory directory;
    EXPECT_FALSE(*read_private_file(directory / "f"));
    ASSERT_TRUE(write_private_file(directory / "f", "one"));
    ASSERT_TRUE(write_private_file(directory / "f", "two"));
    EXPECT_EQ(**read_private_file(directory / "f"), "two");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

}  // namespace
}  // namespace baton::system
