// Stories of the command line, as transcripts of a terminal: testdata/*.txt.
//
// Each has a directory of its own. What differs between two runs is replaced: DIR, TIME, PID.
#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

#include "cli/process.h"
#include "testing/script.h"
#include "testing/temporary_directory.h"

namespace baton::cli {
namespace {

std::string without_what_varies(std::string text, const std::string& directory) {
    for (std::size_t at = text.find(directory); at != std::string::npos;
         at = text.find(directory)) {
        text.replace(at, directory.size(), "DIR");
    }
    text = std::regex_replace(text, std::regex(R"(\d{4}-\d\d-\d\dT[0-9:.]+Z)"), "TIME");
    text = std::regex_replace(text, std::regex(R"(replaced-\d{8}T\d{6})"), "replaced-TIME");
    text = std::regex_replace(text, std::regex(R"(\d+ pages of)"), "N pages of");
    text = std::regex_replace(text, std::regex(R"(tmp-\d+-\d+)"), "tmp-PID");
    return std::regex_replace(text, std::regex(R"(process \d+)"), "process PID");
}

// An empty line would end the answer.
std::string without_empty_lines(const std::string& text) {
    return std::regex_replace(text, std::regex(R"(\n(?=\n))"), "\n.");
}

class Transcript : public ::testing::TestWithParam<std::string> {};

TEST_P(Transcript, IsWhatATerminalShows) {
    const testing::TemporaryDirectory directory;
    testing::run_script(GetParam(), [&](const std::string& command) {
        const Ended ended =
            run({"sh", "-c", "cd " + directory.path() + " && { " + command + "\n} 2>&1"});
        std::string answer = ended.out + ended.errors;
        if (!answer.empty() && answer.back() != '\n') answer += "\n";
        if (ended.status != 0) answer += "exit " + std::to_string(ended.status) + "\n";
        return without_empty_lines(without_what_varies(answer, directory.path()));
    });
}

std::vector<std::string> transcripts() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(BATON_TESTDATA)) {
        paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& transcript) {
    return std::filesystem::path(transcript.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Cli, Transcript, ::testing::ValuesIn(transcripts()), name_of);

}  // namespace
}  // namespace baton::cli
