#include "catalog/views/view_query.h"

#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton::views {
namespace {

class ViewQueries : public testing::CoordinatorTest {};

TEST_F(ViewQueries, AnAnswerThatIsTooLargeIsRefused) {
    std::string many = "BEGIN;";
    for (int i = 0; i < 1'200; ++i) {
        many += "CREATE LOGICAL SOURCE s" + std::to_string(i) + " (a INT8);";
    }
    run(many + "COMMIT");
    std::string columns = "name";
    for (int i = 1; i < 1'500; ++i) columns += ", name";
    const std::string large = "SELECT " + columns + " FROM baton.logical_sources";
    const Error error = error_of(large);
    EXPECT_EQ(error.code, ErrorCode::too_large) << error.message;
    EXPECT_NE(error.message.find("64 MB"), std::string::npos) << error.message;
    EXPECT_NE(error.hint.find("LIMIT"), std::string::npos);
    EXPECT_NE(rows(large + " LIMIT 1").find("S0|S0|"), std::string::npos);
}

TEST_F(ViewQueries, WhatCannotBeWatchedNamesWhatCan) {
    const std::string hint = error_of("WATCH SHOW COUNTERS").hint;
    EXPECT_TRUE(hint.starts_with("watch WORKERS, LINKS, LOGICAL_SOURCES, ")) << hint;
    for (const kinds::View& view : views()) {
        const bool named = hint.find(" " + std::string(view.name)) != std::string::npos;
        EXPECT_EQ(named, view.entity.has_value()) << view.name << ": " << hint;
    }
}

}  // namespace
}  // namespace baton::views
