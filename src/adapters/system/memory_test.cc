#include "adapters/system/memory.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(Memory, WhatWasFreedGoesBack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers keep what was freed";
#endif
    const std::size_t before = resident_bytes();
    std::string last;
    {
        // The last is above all others, so that they stay when they are freed.
        std::vector<std::string> many;
        for (int i = 0; i < 40'000; ++i) many.emplace_back(1'000, 'x');
        last = std::string(1'000, 'x');
    }
    EXPECT_GT(resident_bytes(), before + 30'000'000);
    give_back_memory();
    EXPECT_LT(resident_bytes(), before + 5'000'000);
}

}  // namespace
}  // namespace baton
