#include "core/exchange/answers.h"

#include <string>

#include <gtest/gtest.h>

#include "base/overload.h"

namespace baton::exchange {
namespace {

std::string told(const std::optional<AnswersEffect>& effect) {
    if (!effect) return "";
    return std::visit(Overload{
                          [](const WriteAnswer& write) {
                              return std::string(std::holds_alternative<Opened>(write.answer)
                                                     ? "opened"
                                                     : "refused");
                          },
                          [](const WriteProgress&) { return std::string("progress"); },
                          [](const FinishStream&) { return std::string("finish"); },
                      },
                      *effect);
}

TEST(Answers, TheAnswerToTheOpeningComesFirst) {
    Answers answers;
    EXPECT_EQ(told(answers.progressed()), "");
    EXPECT_EQ(told(answers.answer(Opened{})), "opened");
    EXPECT_EQ(told(answers.written(true)), "progress");
    EXPECT_EQ(told(answers.written(true)), "");
}

TEST(Answers, ProgressDuringAWriteIsToldOnceWhenItIsDone) {
    Answers answers;
    EXPECT_EQ(told(answers.answer(Opened{})), "opened");
    EXPECT_EQ(told(answers.progressed()), "");
    EXPECT_EQ(told(answers.progressed()), "");
    EXPECT_EQ(told(answers.written(true)), "progress");
    EXPECT_EQ(told(answers.progressed()), "");
    EXPECT_EQ(told(answers.written(true)), "progress");
    EXPECT_EQ(told(answers.written(true)), "");
    EXPECT_EQ(told(answers.progressed()), "progress");
}

TEST(Answers, ARefusalIsWrittenBeforeTheStreamEnds) {
    Answers answers;
    EXPECT_EQ(told(answers.answer(Refused{.why = "no", .for_good = true})), "refused");
    EXPECT_EQ(told(answers.end()), "");
    EXPECT_EQ(told(answers.written(true)), "finish");
    EXPECT_EQ(told(answers.end()), "");
}

TEST(Answers, AStreamEndsOnceAndTellsNoProgressThen) {
    Answers answers;
    EXPECT_EQ(told(answers.answer(Opened{})), "opened");
    EXPECT_EQ(told(answers.progressed()), "");
    EXPECT_EQ(told(answers.end()), "");
    EXPECT_EQ(told(answers.written(true)), "finish");
    EXPECT_EQ(told(answers.progressed()), "");
    EXPECT_EQ(told(answers.end()), "");
}

TEST(Answers, AWriteThatFailsEndsTheStream) {
    Answers answers;
    EXPECT_EQ(told(answers.answer(Opened{})), "opened");
    EXPECT_EQ(told(answers.written(false)), "finish");
}

TEST(Answers, AStreamThatIsCutBeforeItOpensEndsAtOnce) {
    Answers answers;
    EXPECT_EQ(told(answers.end()), "finish");
}

}  // namespace
}  // namespace baton::exchange
