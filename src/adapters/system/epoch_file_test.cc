#include "adapters/system/epoch_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "testing/temporary_directory.h"

namespace baton {
namespace {

TEST(EpochFile, WhatIsKeptIsThereForTheNextProcess) {
    const testing::TemporaryDirectory directory;
    EpochFile file(directory.path());
    ASSERT_TRUE(file.load());
    EXPECT_EQ(*file.load(), Epoch(0));
    ASSERT_TRUE(file.keep(Epoch(7)));
    ASSERT_TRUE(file.keep(Epoch(12)));
    EXPECT_EQ(*EpochFile(directory.path()).load(), Epoch(12));
}

TEST(EpochFile, WhatCannotBeReadIsAnErrorAndNotEpochZero) {
    const testing::TemporaryDirectory directory;
    for (const std::string text : {"", "x\n", "7", "7 \n", "99999999999999999999\n"}) {
        std::ofstream(directory / "epoch", std::ios::trunc) << text;
        EXPECT_FALSE(EpochFile(directory.path()).load()) << text;
    }
}

TEST(EpochFile, WhatCannotBeKeptIsAnError) {
    const testing::TemporaryDirectory directory;
    EpochFile file(directory / "absent");
    EXPECT_FALSE(file.keep(Epoch(7)));
}

}  // namespace
}  // namespace baton
