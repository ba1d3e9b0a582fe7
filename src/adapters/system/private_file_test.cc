#include "adapters/system/private_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "testing/temporary_directory.h"

namespace baton::system {
namespace {

namespace fs = std::filesystem;

class PrivateFileTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::ofstream(path_) << "secret";
        fs::permissions(fs::path(path_).parent_path(), fs::perms(0755));
    }
    [[nodiscard]] bool is_private(unsigned mode, const std::string& path = {}) const {
        fs::permissions(path_, fs::perms(mode));
        return require_private("the file", path.empty() ? path_ : path).has_value();
    }

    testing::TemporaryDirectory directory_;
    const std::string path_ = directory_ / "file";
};

TEST_F(PrivateFileTest, MayBeReadByItsOwnerAndItsGroup) {
    EXPECT_TRUE(is_private(0600));
    EXPECT_TRUE(is_private(0400));
    EXPECT_TRUE(is_private(0640));
    EXPECT_FALSE(is_private(0644));
    EXPECT_FALSE(is_private(0604));
    const auto refused = require_private("the file", path_);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().hint.find("chmod 600"), std::string::npos);
    EXPECT_NE(refused.error().message.find(path_), std::string::npos);
}

TEST_F(PrivateFileTest, IsJudgedByWhatALinkLeadsTo) {
    fs::create_symlink(path_, directory_ / "link");
    EXPECT_TRUE(is_private(0640, directory_ / "link"));
    EXPECT_FALSE(is_private(0644, directory_ / "link"));
}

TEST_F(PrivateFileTest, InADirectoryThatLetsNobodyInIsPrivate) {
    fs::permissions(fs::path(path_).parent_path(), fs::perms(0700));
    EXPECT_TRUE(is_private(0644));
}

TEST_F(PrivateFileTest, ThatIsNotThereIsSomebodyElsesProblem) {
    EXPECT_TRUE(require_private("the file", directory_ / "nope").has_value());
}

}  // namespace
}  // namespace baton::system
