// Transcripts: a statement, and its normal form or the error it gives.
#include "testing/script.h"

#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sql/parser.h"
#include "sql/printer.h"

namespace baton::sql {
namespace {

std::string answer(const std::string& text) {
    const Result<std::vector<Statement>> statements = parse(text);
    if (!statements) return to_string(statements.error()) + "\n";
    std::string answers;
    for (const Statement& statement : *statements) {
        const std::string printed = print(statement);
        answers += printed + "\n";
        const Result<Statement> again = parse_one(printed);
        if (!again) return "not parsed again: " + to_string(again.error()) + "\n" + answers;
        if (*again != statement) return "parsed again differently:\n" + answers;
    }
    return answers.empty() ? "nothing\n" : answers;
}

TEST(Scripts, AnswerAsTheTranscriptsSay) {
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(BATON_TESTDATA)) {
        paths.insert(entry.path().string());
    }
    EXPECT_FALSE(paths.empty());
    for (const std::string& path : paths) testing::run_script(path, answer);
}

}  // namespace
}  // namespace baton::sql
