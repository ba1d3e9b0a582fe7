#include "testing/script.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace baton::testing {
namespace {

class Script : public ::testing::Test {
protected:
    // Writes the script to a file of its own and returns the path.
    static std::string script(const std::string& text) {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        std::string path = ::testing::TempDir() + "script_" + test->name() + ".txt";
        std::ofstream(path) << text;
        return path;
    }

    static std::string contents_of(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }

    void TearDown() override { unsetenv("BATON_REWRITE"); }
};

std::string echo(const std::string& command) {
    return "said " + command + "\n";
}

TEST_F(Script, AsksEachCommandInOrder) {
    const std::string path = script(
        "# A comment is for the reader.\n"
        "one\n"
        "----\n"
        "said one\n"
        "\n"
        "two\n"
        "----\n"
        "said two\n");
    std::vector<std::string> asked;
    run_script(path, [&](const std::string& command) {
        asked.push_back(command);
        return echo(command);
    });
    EXPECT_EQ(asked, (std::vector<std::string>{"one", "two"}));
}

TEST_F(Script, ReportsADifferentAnswerWithItsPlace) {
    const std::string path = script("\none\n----\nsaid two\n");
    EXPECT_NONFATAL_FAILURE(run_script(path, echo), ".txt:2: one");
}

TEST_F(Script, ReportsAnAnswerThatIsMissing) {
    const std::string path = script("one\n----\n\n");
    EXPECT_NONFATAL_FAILURE(run_script(path, echo), "said one");
}

TEST_F(Script, ReportsAFileThatIsNotThere) {
    EXPECT_NONFATAL_FAILURE(run_script("/no/such/script.txt", echo), "cannot open");
}

TEST_F(Script, LeavesTheFileAloneUnlessAskedToRewrite) {
    const std::string text = "one\n----\nsaid two\n";
    const std::string path = script(text);
    EXPECT_NONFATAL_FAILURE(run_script(path, echo), "said one");
    EXPECT_EQ(contents_of(path), text);
}

TEST_F(Script, RewritesAnswersAndKeepsTheProse) {
    const std::string path = script("# Prose.\n\none\n----\nsaid two\n\n# More.\nthree\n");
    setenv("BATON_REWRITE", "1", 1);
    const auto answer = [](const std::string& command) {
        return command == "one" ? echo(command) : std::string();
    };
    EXPECT_NONFATAL_FAILURE(run_script(path, answer), "said one");
    EXPECT_EQ(contents_of(path), "# Prose.\n\none\n----\nsaid one\n\n# More.\nthree\n----\n");
}

}  // namespace
}  // namespace baton::testing
