#include "library/baton.h"

#include <thread>

#include <gtest/gtest.h>

#include "testing/temporary_directory.h"

namespace baton::embedded {
namespace {

using namespace std::chrono_literals;

class LibraryTest : public ::testing::Test {
protected:
    void SetUp() override { open(); }
    void open() {
        auto opened = Coordinator::open({.data = directory_ / "data"});
        ASSERT_TRUE(opened) << to_string(opened.error());
        baton_ = *std::move(opened);
    }

    testing::TemporaryDirectory directory_;
    std::unique_ptr<Coordinator> baton_;
};

TEST_F(LibraryTest, AnswersStatementsInOrderUntilTheFirstError) {
    const Answers answers = baton_->execute(
        "CREATE WORKER 'w1:1' SET (4 AS CAPACITY); SELECT name, capacity, address FROM "
        "baton.workers; DROP SINK nothing; SHOW VERSION");
    ASSERT_EQ(answers.done.size(), 2U);
    EXPECT_EQ(answers.done[0].statement, "CREATE WORKER");
    EXPECT_EQ(answers.done[0].name, "w1:1");
    EXPECT_TRUE(answers.done[0].changed);
    EXPECT_EQ(answers.done[1].columns, (std::vector<std::string>{"NAME", "CAPACITY", "ADDRESS"}));
    EXPECT_EQ(answers.done[1].rows, (std::vector<Row>{{"w1:1", "4", "w1:1"}}));
    ASSERT_TRUE(answers.error);
    EXPECT_EQ(answers.error->code, ErrorCode::unknown_sink);
}

TEST_F(LibraryTest, KeepsWhatWasAnsweredWhenOpenedAgain) {
    ASSERT_FALSE(baton_->execute("CREATE LOGICAL SOURCE s (a INT32)").error);
    baton_->close();
    baton_->close();
    baton_.reset();
    open();
    EXPECT_EQ(baton_->execute("SHOW LOGICAL SOURCES").done.front().rows.size(), 1U);
}

TEST_F(LibraryTest, AConversationHasTransactions) {
    Conversation conversation = baton_->converse();
    ASSERT_FALSE(conversation.execute("BEGIN; CREATE LOGICAL SOURCE s (a INT32)").error);
    EXPECT_TRUE(baton_->execute("SHOW LOGICAL SOURCES").done.front().rows.empty());
    ASSERT_FALSE(conversation.execute("COMMIT").error);
    EXPECT_EQ(baton_->execute("SHOW LOGICAL SOURCES").done.front().rows.size(), 1U);
}

TEST_F(LibraryTest, ASubscriptionGetsAllRowsThenEveryChange) {
    ASSERT_FALSE(baton_->execute("CREATE LOGICAL SOURCE s (a INT32)").error);
    auto watch = baton_->watch("WATCH SHOW LOGICAL SOURCES");
    ASSERT_TRUE(watch) << to_string(watch.error());
    const auto first = watch->next(10s);
    ASSERT_TRUE(first);
    ASSERT_EQ(first->size(), 1U);
    EXPECT_EQ(first->front().kind, Event::Kind::snapshot);
    EXPECT_EQ(first->front().rows.size(), 1U);
    ASSERT_FALSE(baton_->execute("DROP LOGICAL SOURCE s").error);
    const auto second = watch->next(10s);
    ASSERT_TRUE(second);
    ASSERT_EQ(second->size(), 1U);
    EXPECT_EQ(second->front().kind, Event::Kind::dropped);
    EXPECT_EQ(second->front().rows.front().front(), "S");
}

TEST_F(LibraryTest, ASubscriptionThatWaitsCanBeInterrupted) {
    auto watch = baton_->watch("WATCH SHOW WORKERS");
    ASSERT_TRUE(watch);
    ASSERT_TRUE(watch->next(10s));
    std::thread interrupting([&] { watch->interrupt(); });
    EXPECT_TRUE(watch->next(1h));
    interrupting.join();
}

TEST_F(LibraryTest, OnlyWatchIsWatchedAndWatchIsNotExecuted) {
    EXPECT_EQ(baton_->watch("SHOW WORKERS").error().code, ErrorCode::not_supported);
    EXPECT_EQ(baton_->watch("WATCH SHOW NONSENSE").error().code, ErrorCode::syntax);
    EXPECT_EQ(baton_->execute("WATCH SHOW WORKERS").error->code, ErrorCode::not_supported);
}

TEST_F(LibraryTest, ASecondOneOnTheSameDataIsRefused) {
    const auto second = Coordinator::open({.data = directory_ / "data"});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::catalog_in_use);
}

TEST_F(LibraryTest, WhatIsNotThereIsMadeOnlyIfAsked) {
    const auto other = Coordinator::open({.data = directory_ / "other", .create = false});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::catalog_unavailable);
}

}  // namespace
}  // namespace baton::embedded
