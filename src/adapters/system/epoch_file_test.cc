#include "adapters/system/epoch_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "testing/temporary_directory.h"

namespace baton::system {
namespace {

TEST(EpochFile, WhatIsKeptIsThereForTheNextProcess) {
    const testing::TemporaryDirectory directory;
    {
        EpochFile file = *EpochFile::open(directory.path());
        EXPECT_EQ(*file.load(), control::Allegiance{});
        ASSERT_TRUE(file.keep({.catalog = "", .epoch = Epoch(7)}));
        EXPECT_EQ(*file.load(), (control::Allegiance{.catalog = "", .epoch = Epoch(7)}));
        ASSERT_TRUE(file.keep({.catalog = "4a1f", .epoch = Epoch(12)}));
    }
    EXPECT_EQ(*EpochFile::open(directory.path())->load(),
              (control::Allegiance{.catalog = "4a1f", .epoch = Epoch(12)}));
}

TEST(EpochFile, WhatIsForgottenIsAsIfNothingHadBeenKept) {
    const testing::TemporaryDirectory directory;
    EpochFile file = *EpochFile::open(directory.path());
    ASSERT_TRUE(file.forget());
    ASSERT_TRUE(file.keep({.catalog = "4a1f", .epoch = Epoch(12)}));
    ASSERT_TRUE(file.forget());
    EXPECT_EQ(*file.load(), control::Allegiance{});
}

TEST(EpochFile, OneProcessHasItAtATime) {
    const testing::TemporaryDirectory directory;
    {
        const EpochFile file = *EpochFile::open(directory.path());
        const auto refused = EpochFile::open(directory.path());
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message.find("a worker runs on it"), std::string::npos);
    }
    EXPECT_TRUE(EpochFile::open(directory.path()));
}

TEST(EpochFile, WhatCannotBeReadIsAnErrorAndNotEpochZero) {
    const testing::TemporaryDirectory directory;
    for (const std::string text :
         {"", "x\n", "7", "7 \n", "7x\n", "7 4A\n", "7 4a 4a\n", "99999999999999999999\n"}) {
        std::ofstream(directory / "epoch", std::ios::trunc) << text;
        EXPECT_FALSE(EpochFile::open(directory.path())->load()) << text;
    }
}

TEST(EpochFile, WhatCannotBeKeptIsAnError) {
    const testing::TemporaryDirectory directory;
    EXPECT_FALSE(EpochFile::open(directory / "absent"));
    EpochFile file = *EpochFile::open(directory.path());
    std::filesystem::create_directory(directory / "epoch.next");
    EXPECT_FALSE(file.keep({.catalog = "", .epoch = Epoch(7)}));
}

}  // namespace
}  // namespace baton::system
