#include "testing/script.h"

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace baton::testing {

namespace {

constexpr std::string_view kRule = "----";

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream in(path);
    EXPECT_TRUE(in.is_open()) << "cannot open " << path;
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

bool is_prose(const std::string& line) {
    return line.empty() || line.front() == '#';
}

}  // namespace

void run_script(const std::string& path,
                const std::function<std::string(const std::string&)>& answer) {
    const std::vector<std::string> lines = lines_of(path);
    std::string rewritten;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        rewritten += lines[i] + "\n";
        if (is_prose(lines[i])) continue;
        const std::size_t command = i;
        if (i + 1 < lines.size() && lines[i + 1] == kRule) ++i;
        std::string expected;
        while (i + 1 < lines.size() && !lines[i + 1].empty()) expected += lines[++i] + "\n";

        const std::string actual = answer(lines[command]);
        EXPECT_EQ(actual, expected) << path << ":" << command + 1 << ": " << lines[command];
        rewritten += std::string(kRule) + "\n" + actual;
    }
    if (std::getenv("BATON_REWRITE") != nullptr) std::ofstream(path) << rewritten;
}

}  // namespace baton::testing
