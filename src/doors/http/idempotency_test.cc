#include "doors/http/idempotency.h"

#include <gtest/gtest.h>

namespace baton::http {
namespace {

using namespace std::chrono_literals;

Response answer(const std::string& body) {
    return {.status = 200, .headers = {}, .body = body};
}
bool goes(const Idempotency::Verdict& verdict) {
    return std::holds_alternative<Idempotency::Go>(verdict);
}

TEST(Idempotency, WhatWasAnsweredIsAnsweredTheSame) {
    Idempotency answers;
    EXPECT_TRUE(goes(answers.begin(at(0s), "ann", "k", "r")));
    answers.finish("ann", "k", answer("done"));
    EXPECT_EQ(std::get<Response>(answers.begin(at(1h), "ann", "k", "r")).body, "done");
}

TEST(Idempotency, WhatIsUnderWayIsNotDoneTwice) {
    Idempotency answers;
    (void)answers.begin(at(0s), "ann", "k", "r");
    EXPECT_TRUE(
        std::holds_alternative<Idempotency::Underway>(answers.begin(at(48h), "ann", "k", "r")));
}

TEST(Idempotency, AKeyIsForOneRequest) {
    Idempotency answers;
    (void)answers.begin(at(0s), "ann", "k", "r");
    answers.finish("ann", "k", answer("done"));
    EXPECT_TRUE(
        std::holds_alternative<Idempotency::Misused>(answers.begin(at(1s), "ann", "k", "other")));
}

TEST(Idempotency, EverybodyHasKeysOfTheirOwn) {
    Idempotency answers;
    (void)answers.begin(at(0s), "ann", "k", "r");
    EXPECT_TRUE(goes(answers.begin(at(0s), "bob", "k", "other")));
}

TEST(Idempotency, WhatDidNotHappenMayBeTriedAgain) {
    Idempotency answers;
    (void)answers.begin(at(0s), "ann", "k", "r");
    answers.finish("ann", "k", std::nullopt);
    EXPECT_TRUE(goes(answers.begin(at(1s), "ann", "k", "other")));
}

TEST(Idempotency, AnswersAreForgottenAfterADay) {
    Idempotency answers;
    (void)answers.begin(at(0s), "ann", "k", "r");
    answers.finish("ann", "k", answer("done"));
    EXPECT_FALSE(goes(answers.begin(at(24h - 1us), "ann", "k", "r")));
    EXPECT_TRUE(goes(answers.begin(at(24h), "ann", "k", "r")));
}

TEST(Idempotency, TheOldestAnswersMakeRoom) {
    Idempotency answers({.answers_max = 3, .bytes_max = 100});
    for (const char* key : {"a", "b", "c", "d", "e"}) {
        (void)answers.begin(at(0s), "ann", key, "r");
        answers.finish("ann", key, answer("x"));
    }
    EXPECT_FALSE(goes(answers.begin(at(0s), "ann", "e", "r")));
    (void)answers.begin(at(0s), "ann", "large", "r");
    answers.finish("ann", "large", answer(std::string(101, 'x')));
    EXPECT_TRUE(goes(answers.begin(at(0s), "ann", "e", "r")));
}

}  // namespace
}  // namespace baton::http
