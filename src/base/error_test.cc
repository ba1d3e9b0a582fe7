#include "base/error.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(ErrorList, IsInTheOrderOfTheNumbersAndRepeatsNone) {
    unsigned last = 0;
    for (const ErrorEntry& entry : error_list()) {
        EXPECT_GT(number(entry.code), last) << entry.name;
        last = number(entry.code);
    }
}

TEST(ErrorList, GivesEveryErrorItsOwnNameAndMeaning) {
    std::set<std::string_view> names;
    std::set<std::string_view> meanings;
    for (const ErrorEntry& entry : error_list()) {
        EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
        EXPECT_TRUE(meanings.insert(entry.meaning).second) << entry.meaning;
        EXPECT_FALSE(entry.meaning.empty()) << entry.name;
        EXPECT_FALSE(entry.meaning.ends_with('.')) << entry.name;
    }
}

TEST(ErrorList, FindsTheEntryOfEveryCode) {
    for (const ErrorEntry& entry : error_list()) {
        EXPECT_EQ(entry_of(entry.code).name, entry.name);
        EXPECT_EQ(Error{.code = entry.code}.reaction(), entry.reaction);
    }
}

// The enumerators are in the header and the entries in error.cc: neither may know one more.
TEST(ErrorList, HasAnEntryForEveryCodeOfTheHeader) {
    std::map<std::string, unsigned> declared;
    std::ifstream header(std::filesystem::path(BATON_TESTDATA).parent_path() / "error.h");
    const std::regex enumerator(R"(^    ([a-z_]+) = (\d{4}),)");
    for (std::string line; std::getline(header, line);) {
        std::smatch match;
        if (std::regex_search(line, match, enumerator)) {
            declared[match[1]] = static_cast<unsigned>(std::stoul(match[2]));
        }
    }
    std::map<std::string, unsigned> listed;
    for (const ErrorEntry& entry : error_list()) {
        listed[std::string(entry.name)] = number(entry.code);
    }
    EXPECT_FALSE(declared.empty());
    EXPECT_EQ(listed, declared);
}

// A contract with every client: these numbers never change.
TEST(ErrorList, KeepsTheNumbersThatClientsKnow) {
    EXPECT_EQ(number(ErrorCode::invalid_configuration), 1000U);
    EXPECT_EQ(number(ErrorCode::syntax), 2000U);
    EXPECT_EQ(number(ErrorCode::arity), 2002U);
    EXPECT_EQ(number(ErrorCode::schema), 2003U);
    EXPECT_EQ(number(ErrorCode::unknown_field), 2004U);
    EXPECT_EQ(number(ErrorCode::type_mismatch), 2006U);
    EXPECT_EQ(number(ErrorCode::type_inference), 2007U);
    EXPECT_EQ(number(ErrorCode::unknown_source), 2030U);
    EXPECT_EQ(number(ErrorCode::source_exists), 2031U);
    EXPECT_EQ(number(ErrorCode::unknown_sink), 2033U);
    EXPECT_EQ(number(ErrorCode::sink_exists), 2034U);
    EXPECT_EQ(number(ErrorCode::placement), 2300U);
    EXPECT_EQ(number(ErrorCode::unknown_worker), 2302U);
    EXPECT_EQ(number(ErrorCode::worker_unreachable), 2304U);
    EXPECT_EQ(number(ErrorCode::worker_exists), 2305U);
    EXPECT_EQ(number(ErrorCode::arithmetic), 3013U);
    EXPECT_EQ(number(ErrorCode::late_row), 3014U);
    EXPECT_EQ(number(ErrorCode::cannot_format), 4003U);
    EXPECT_EQ(number(ErrorCode::wait_timed_out), 5006U);
    EXPECT_EQ(number(ErrorCode::catalog_unavailable), 6000U);
    EXPECT_EQ(number(ErrorCode::write_rejected), 6001U);
}

TEST(Error, IsPrintedWithItsNumber) {
    EXPECT_EQ(to_string(Error{.code = ErrorCode::catalog_full, .message = "no space left"}),
              "error 6002: no space left");
}

TEST(Error, IsPrintedWithItsPlaceAndItsHint) {
    const Error error{.code = ErrorCode::unknown_source,
                      .message = "unknown source \"ORDRES\"",
                      .at = Position{.offset = 14, .line = 2, .column = 15},
                      .hint = "did you mean \"ORDERS\"?"};
    EXPECT_EQ(to_string(error),
              "error 2030 at 2:15: unknown source \"ORDRES\"; did you mean \"ORDERS\"?");
}

TEST(Position, IsNoPartOfWhatWasWritten) {
    EXPECT_EQ((Position{.offset = 3, .line = 1, .column = 4}), Position{});
}

}  // namespace
}  // namespace baton
