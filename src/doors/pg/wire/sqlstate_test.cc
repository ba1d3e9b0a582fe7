#include "doors/pg/wire/sqlstate.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace baton::pgwire {
namespace {

TEST(SqlState, EveryErrorHasOneOfAKnownClass) {
    const std::set<std::string_view> classes = {"08", "0A", "22", "23", "25", "28",
                                                "2B", "34", "40", "42", "53", "54",
                                                "55", "57", "58", "F0", "XX"};
    for (const ErrorEntry& entry : error_list()) {
        const std::string_view state = sqlstate_of(entry.code);
        ASSERT_EQ(state.size(), 5U) << entry.name;
        EXPECT_TRUE(std::all_of(state.begin(), state.end(), [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
        })) << entry.name;
        EXPECT_TRUE(classes.contains(state.substr(0, 2))) << entry.name << " " << state;
    }
}

TEST(SqlState, OnlyADefectIsAnInternalError) {
    for (const ErrorEntry& entry : error_list()) {
        EXPECT_EQ(sqlstate_of(entry.code) == "XX000", entry.code == ErrorCode::defect)
            << entry.name;
    }
}

TEST(SqlState, WhatDriversDecideByIsExact) {
    EXPECT_EQ(sqlstate_of(ErrorCode::syntax), "42601");
    EXPECT_EQ(sqlstate_of(ErrorCode::unknown_source), "42P01");
    EXPECT_EQ(sqlstate_of(ErrorCode::unknown_field), "42703");
    EXPECT_EQ(sqlstate_of(ErrorCode::type_mismatch), "42804");
    EXPECT_EQ(sqlstate_of(ErrorCode::conflict), "40001");
    EXPECT_EQ(sqlstate_of(ErrorCode::cancelled), "57014");
    EXPECT_EQ(sqlstate_of(ErrorCode::not_supported), "0A000");
}

TEST(SqlState, OnlyWhatMakesTheConnectionUselessIsOfTheClassThatSaysSo) {
    for (const ErrorEntry& entry : error_list()) {
        const std::string_view state = sqlstate_of(entry.code);
        const bool useless = state.starts_with("08") || state.starts_with("57P");
        EXPECT_EQ(useless,
                  entry.code == ErrorCode::malformed_message || entry.code == ErrorCode::fenced)
            << entry.name;
    }
}

TEST(SqlState, AnErrorOfTheTransactionDependsOnItsState) {
    const auto state = [](TransactionStatus status) {
        return sqlstate_of(ErrorCode::transaction_state, status);
    };
    EXPECT_EQ(state(TransactionStatus::idle), "25P01");
    EXPECT_EQ(state(TransactionStatus::open), "25001");
    EXPECT_EQ(state(TransactionStatus::failed), "25P02");
}

TEST(ReportOf, CarriesTextHintNumberAndWhatStandsInTheWay) {
    const Report report = report_of({.code = ErrorCode::source_in_use,
                                     .message = "source \"S\" is in use",
                                     .hint = "drop the queries first",
                                     .related = {"Q1", "Q2"}});
    EXPECT_EQ(report, (Report{.sqlstate = "2BP01",
                              .message = "source \"S\" is in use",
                              .detail = "it concerns Q1, Q2",
                              .hint = "drop the queries first",
                              .code = ErrorCode::source_in_use}));
}

TEST(ReportOf, APlaceIsCountedInCharactersNotBytes) {
    const Error error{.code = ErrorCode::syntax, .message = "no", .at = Position{.offset = 5}};
    EXPECT_EQ(report_of(error, "äé x y").position, 5 - 2 + 1U);
    EXPECT_EQ(report_of(error, "abcde").position, 6U);           // at its end
    EXPECT_EQ(report_of(error, "abcd").position, std::nullopt);  // of another text
}

}  // namespace
}  // namespace baton::pgwire
