#include "doors/http/problems.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace baton::http {
namespace {

TEST(Problems, EveryErrorHasAStatusThatFitsItsReaction) {
    for (const ErrorEntry& entry : error_list()) {
        const unsigned status = status_of(entry.code);
        EXPECT_TRUE(status >= 400 && status < 600) << entry.name;
        if (entry.reaction == Reaction::unknown_outcome) {
            EXPECT_EQ(status, 500U) << entry.name;
        }
        if (entry.reaction == Reaction::conflict) {
            EXPECT_EQ(status, 409U) << entry.name;
        }
        if (entry.reaction == Reaction::not_found) {
            EXPECT_TRUE(status == 404 || status == 400) << entry.name;
        }
        // Whoever retries what is said to be the client's fault would do so for ever.
        if (entry.reaction == Reaction::unavailable) {
            EXPECT_GE(status, 500U) << entry.name;
        }
    }
}

TEST(Problems, AProblemTellsEverythingTheErrorKnows) {
    const Response response = problem({.code = ErrorCode::unknown_source,
                                       .message = "unknown source \"ORDRES\"",
                                       .at = Position{.offset = 14, .line = 1, .column = 15},
                                       .hint = "did you mean \"ORDERS\"?",
                                       .related = {"Q1", "Q2"}});
    EXPECT_EQ(response.status, 404U);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(nlohmann::json::parse(response.body), nlohmann::json::parse(R"({
        "type": "urn:baton:error:2030", "title": "a source of that name does not exist",
        "status": 404, "detail": "unknown source \"ORDRES\"", "code": 2030,
        "name": "unknown_source", "position": {"line": 1, "column": 15, "offset": 14},
        "hint": "did you mean \"ORDERS\"?", "related": ["Q1", "Q2"]})"));
}

TEST(Problems, WhoIsToTryAgainIsToldWhen) {
    const Response response = problem({.code = ErrorCode::slow_down, .message = "too many"});
    EXPECT_EQ(response.status, 503U);
    EXPECT_EQ(response.headers, (Headers{{"Retry-After", "1"}}));
}

TEST(Problems, WhoIsNotKnownIsToldHowToShowIt) {
    const Response response = problem({.code = ErrorCode::not_authenticated, .message = "who?"});
    EXPECT_EQ(response.status, 401U);
    EXPECT_EQ(response.headers, (Headers{{"WWW-Authenticate", "Bearer"}}));
}

TEST(Problems, BytesThatAreNoTextDoNotBreakTheJson) {
    const Response response =
        problem({.code = ErrorCode::syntax, .message = "unexpected \xff\xc3", .hint = "\xed\xa0"});
    EXPECT_TRUE(nlohmann::json::accept(response.body)) << response.body;
}

}  // namespace
}  // namespace baton::http
