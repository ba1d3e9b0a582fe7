// Makes `baton` the one that was just built, and keeps everything else of the user out of it.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    const std::string path = std::string(BATON_PROGRAMS) + ":" + std::getenv("PATH");
    ::setenv("PATH", path.c_str(), 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    ::setenv("HOME", "/nonexistent", 1);
    return RUN_ALL_TESTS();
}
