#include "tables/access/ingest.h"

#include <atomic>
#include <thread>

#include "tables/access/access_test.h"

namespace baton::tables {
namespace {

class IngestTest : public AccessTest {
protected:
    IngestTest() : one_(process()), t_(table({column("n", "BIGINT"), column("s", "VARCHAR")})) {
        CHECK(one_.access->create(t_, {}).has_value());
    }

    static ConstantRow row(std::int64_t n, const std::string& s) { return {Constant(n), s}; }
    Result<Added> add(Process& process, Addition addition) {
        return answer_of(process.ingest->add(std::move(addition)));
    }
    // An addition that waits in the gate with its object, so that others gather behind it.
    std::shared_ptr<AddedLater> hold(Process& process, Gate& gate, std::int64_t n) {
        store_->watch_puts([&gate, held = std::make_shared<std::atomic<bool>>(false)](
                               const std::string&) -> std::optional<Error> {
            if (!held->exchange(true)) gate.pass();
            return std::nullopt;
        });
        auto later = process.ingest->add(rows(t_, {row(n, "held")}));
        gate.await_one();
        return later;
    }
    std::string all() { return ask(one_, t_, "SELECT n, s FROM t ORDER BY n, s"); }

    Process one_;
    Table t_;
};

TEST_F(IngestTest, RowsAreInTheTableOnceAnswered) {
    const auto added = add(one_, rows(t_, {row(1, "a"), {Constant(std::int64_t{2}), Constant()}}));
    ASSERT_TRUE(added) << to_string(added.error());
    EXPECT_EQ(added->rows, 2U);
    EXPECT_EQ(added->version, 1);
    EXPECT_FALSE(added->before);
    EXPECT_EQ(all(), "1|a\n2|NULL\n");
    auto other = process();
    EXPECT_EQ(ask(other, t_, "SELECT count(*) FROM t"), "2\n");
}

TEST_F(IngestTest, NamedColumnsComeInTheirOrder) {
    Addition addition = rows(t_, {{Constant(std::string("x")), Constant(std::int64_t{1})}});
    addition.columns = {"S", "n"};
    ASSERT_TRUE(add(one_, std::move(addition)));
    EXPECT_EQ(all(), "1|x\n");
}

TEST_F(IngestTest, AdditionsThatWaitTogetherAreOneObjectAndOneCommit) {
    Gate gate;
    const auto first = hold(one_, gate, 0);
    std::vector<std::shared_ptr<AddedLater>> others;
    for (std::int64_t n = 1; n <= 50; ++n) {
        others.push_back(one_.ingest->add(rows(t_, {row(n, "x"), row(n, "y")})));
    }
    gate.open();
    ASSERT_TRUE(answer_of(first));
    for (const auto& other : others) {
        const auto added = answer_of(other);
        ASSERT_TRUE(added) << to_string(added.error());
        EXPECT_EQ(added->rows, 2U);
        EXPECT_EQ(added->version, 2);
    }
    EXPECT_EQ(objects(one_, t_).size(), 2U);
    EXPECT_EQ(ask(one_, t_, "SELECT count(*), sum(n) FROM t"), "101|2550\n");
}

TEST_F(IngestTest, ABadRowIsRefusedAlone) {
    const Table dated = [&] {
        Table made = table({column("n", "BIGINT", false), column("d", "DATE")});
        made.location = "tables/dated";
        return made;
    }();
    ASSERT_TRUE(one_.access->create(dated, {}));
    Gate gate;
    store_->watch_puts([&, held = std::make_shared<std::atomic<bool>>(false)](
                           const std::string&) -> std::optional<Error> {
        if (!held->exchange(true)) gate.pass();
        return std::nullopt;
    });
    const auto date = [&](std::int64_t n, const std::string& text) {
        return rows(dated, {{Constant(n), Constant(text)}});
    };
    const auto first = one_.ingest->add(date(0, "2026-01-01"));
    gate.await_one();
    const auto good = one_.ingest->add(date(1, "2026-01-02"));
    // The engine finds this one, and constants the other two.
    const auto bad = one_.ingest->add(date(2, "tomorrow"));
    const auto empty = one_.ingest->add(rows(dated, {{Constant(), Constant()}}));
    const auto wide = one_.ingest->add(rows(dated, {{Constant(std::int64_t{4})}}));
    const auto last = one_.ingest->add(date(3, "2026-01-03"));
    gate.open();
    EXPECT_TRUE(answer_of(first));
    EXPECT_TRUE(answer_of(good));
    const auto refused = answer_of(bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::cannot_convert);
    EXPECT_NE(refused.error().message.find("\"d\""), std::string::npos) << refused.error().message;
    EXPECT_EQ(answer_of(empty).error().code, ErrorCode::not_null_violation);
    EXPECT_EQ(answer_of(wide).error().code, ErrorCode::arity);
    EXPECT_TRUE(answer_of(last));
    EXPECT_EQ(ask(one_, dated, "SELECT n, d FROM t ORDER BY n"),
              "0|2026-01-01\n1|2026-01-02\n3|2026-01-03\n");
}

TEST_F(IngestTest, OneThatGivesUpTakesNoOtherWithIt) {
    Gate gate;
    const auto first = hold(one_, gate, 0);
    const auto halt = std::make_shared<std::atomic<bool>>(false);
    Addition leaving = rows(t_, {row(1, "leaves")});
    leaving.given_up = [halt] { return halt->load(); };
    // It is the first of those that are gathered, and gives up once they are being written.
    const auto left = one_.ingest->add(std::move(leaving));
    const auto stays = one_.ingest->add(rows(t_, {row(2, "stays")}));
    store_->watch_puts([halt](const std::string&) -> std::optional<Error> {
        *halt = true;
        return std::nullopt;
    });
    gate.open();
    EXPECT_TRUE(answer_of(first));
    const auto stayed = answer_of(stays);
    EXPECT_TRUE(stayed) << to_string(stayed.error());
    (void)answer_of(left);  // either way
    EXPECT_EQ(ask(one_, t_, "SELECT count(*) FROM t WHERE s = 'stays'"), "1\n");
}

TEST_F(IngestTest, WhatIsGivenUpIsNotAdded) {
    Gate gate;
    const auto first = hold(one_, gate, 0);
    Addition leaving = rows(t_, {row(1, "leaves")});
    leaving.given_up = [] { return true; };
    const auto left = one_.ingest->add(std::move(leaving));
    Addition slow = question(t_, "SELECT i, 'x' FROM range(100000000000) r(i)");
    const auto halt = std::make_shared<std::atomic<bool>>(false);
    slow.given_up = [halt] { return halt->load(); };
    const auto endless = one_.ingest->add(std::move(slow));
    gate.open();
    EXPECT_TRUE(answer_of(first));
    EXPECT_EQ(answer_of(left).error().code, ErrorCode::cancelled);
    *halt = true;
    EXPECT_EQ(answer_of(endless).error().code, ErrorCode::cancelled);
    EXPECT_EQ(all(), "0|held\n");
    EXPECT_EQ(stored_objects().size(), 1U);
}

TEST_F(IngestTest, OneGivenUpBeforeTheCommitLeavesNoObject) {
    const auto halt = std::make_shared<std::atomic<bool>>(false);
    store_->watch_puts({}, [halt](const std::string&) -> std::optional<Error> {
        *halt = true;
        return std::nullopt;
    });
    Addition addition = rows(t_, {row(1, "x")});
    addition.given_up = [halt] { return halt->load(); };
    EXPECT_EQ(add(one_, std::move(addition)).error().code, ErrorCode::cancelled);
    EXPECT_EQ(newest(one_, t_)->version(), 0);
    EXPECT_TRUE(stored_objects().empty());
}

TEST_F(IngestTest, AKeyHappensOnce) {
    const auto keyed = [&] {
        Addition addition = rows(t_, {row(1, "x")});
        addition.key = "k";
        return addition;
    };
    EXPECT_FALSE(add(one_, keyed())->before);
    const auto again = add(one_, keyed());
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->before);
    EXPECT_EQ(again->rows, 0U);
    auto two = process();
    EXPECT_TRUE(add(two, keyed())->before);
    EXPECT_EQ(all(), "1|x\n");
    EXPECT_EQ(stored_objects().size(), 1U);
}

TEST_F(IngestTest, AKeyHappensOnceWhenProcessesRace) {
    constexpr int kProcesses = 3;
    constexpr int kKeys = 8;
    std::vector<Process> processes;
    for (int i = 0; i < kProcesses; ++i) processes.push_back(process());
    std::vector<std::shared_ptr<AddedLater>> answers;
    for (int key = 0; key < kKeys; ++key) {
        for (Process& each : processes) {
            Addition addition = rows(t_, {row(key, "x")});
            addition.key = "k" + std::to_string(key);
            answers.push_back(each.ingest->add(std::move(addition)));
        }
    }
    int did = 0;
    for (const auto& answer : answers) {
        const auto added = answer_of(answer);
        ASSERT_TRUE(added) << to_string(added.error());
        did += added->before ? 0 : 1;
    }
    EXPECT_EQ(did, kKeys);
    EXPECT_EQ(ask(one_, t_, "SELECT count(*), count(DISTINCT n) FROM t"), "8|8\n");
    EXPECT_EQ(stored_objects().size(), 8U);
}

TEST_F(IngestTest, AQuestionIsAdded) {
    const auto added = add(one_, question(t_, "SELECT i, 'r' || i FROM range(1000) r(i)"));
    ASSERT_TRUE(added) << to_string(added.error());
    EXPECT_EQ(added->rows, 1'000U);
    EXPECT_EQ(ask(one_, t_, "SELECT count(*), max(s) FROM t"), "1000|r999\n");
    EXPECT_EQ(add(one_, question(t_, "SELECT 1")).error().code, ErrorCode::arity);
}

TEST_F(IngestTest, AQuestionWithoutRowsMakesNoVersion) {
    const auto added = add(one_, question(t_, "SELECT 1, 'x' WHERE false"));
    ASSERT_TRUE(added) << to_string(added.error());
    EXPECT_EQ(added->rows, 0U);
    EXPECT_EQ(newest(one_, t_)->version(), 0);
    EXPECT_TRUE(stored_objects().empty());
}

TEST_F(IngestTest, AStoreThatIsFullAddsNothing) {
    store_->watch_puts([](const std::string&) -> std::optional<Error> {
        return Error{.code = ErrorCode::store_full, .message = "the disk is full"};
    });
    EXPECT_EQ(add(one_, rows(t_, {row(1, "x")})).error().code, ErrorCode::store_full);
    store_->watch_puts({});
    EXPECT_EQ(newest(one_, t_)->version(), 0);
    EXPECT_TRUE(stored_objects().empty());
    EXPECT_TRUE(add(one_, rows(t_, {row(2, "y")})));
    EXPECT_EQ(all(), "2|y\n");
}

TEST_F(IngestTest, AnObjectIsTakenBackWhenItsCommitFails) {
    store_->watch_puts([](const std::string& key) -> std::optional<Error> {
        if (key.find("_delta_log") == std::string::npos) return std::nullopt;
        return Error{.code = ErrorCode::store_unavailable, .message = "the store is away"};
    });
    EXPECT_EQ(add(one_, rows(t_, {row(1, "x")})).error().code, ErrorCode::store_unavailable);
    store_->watch_puts({});
    EXPECT_TRUE(stored_objects().empty());
    EXPECT_EQ(newest(one_, t_)->version(), 0);
}

TEST_F(IngestTest, AnObjectOfUnknownOutcomeIsTakenBack) {
    store_->watch_puts({}, [](const std::string& key) -> std::optional<Error> {
        if (key.find("_delta_log") != std::string::npos) return std::nullopt;
        return Error{.code = ErrorCode::unknown_outcome, .message = "the answer was lost"};
    });
    EXPECT_EQ(add(one_, rows(t_, {row(1, "x")})).error().code, ErrorCode::unknown_outcome);
    EXPECT_TRUE(stored_objects().empty());
}

TEST_F(IngestTest, ObjectsStayWhenTheirCommitMayHaveHappened) {
    store_->watch_puts({}, [](const std::string& key) -> std::optional<Error> {
        if (key.find("_delta_log") == std::string::npos) return std::nullopt;
        return Error{.code = ErrorCode::unknown_outcome, .message = "the answer was lost"};
    });
    // The log finds its own entry; without reading it cannot.
    EXPECT_TRUE(add(one_, rows(t_, {row(1, "x")})));
    store_->watch_puts({}, [&](const std::string& key) -> std::optional<Error> {
        if (key.find("_delta_log") == std::string::npos) return std::nullopt;
        store_->watch_gets([](const std::string&) -> std::optional<Error> {
            return Error{.code = ErrorCode::store_unavailable, .message = "the store is away"};
        });
        return Error{.code = ErrorCode::unknown_outcome, .message = "the answer was lost"};
    });
    EXPECT_EQ(add(one_, rows(t_, {row(2, "y")})).error().code, ErrorCode::unknown_outcome);
    store_->watch_puts({});
    store_->watch_gets({});
    EXPECT_EQ(all(), "1|x\n2|y\n");
}

TEST_F(IngestTest, TooManyThatWaitAreRefused) {
    auto small = process({.threads = 1, .waiting_max = 2});
    Gate gate;
    const auto first = hold(small, gate, 0);
    const auto second = small.ingest->add(rows(t_, {row(1, "x")}));
    const auto third = small.ingest->add(rows(t_, {row(2, "x")}));
    const auto fourth = small.ingest->add(rows(t_, {row(3, "x")}));
    ASSERT_TRUE(fourth->given());
    EXPECT_EQ(fourth->take().error().code, ErrorCode::slow_down);
    gate.open();
    EXPECT_TRUE(answer_of(first));
    EXPECT_TRUE(answer_of(second));
    EXPECT_TRUE(answer_of(third));
    EXPECT_TRUE(add(small, rows(t_, {row(4, "x")})));
}

TEST_F(IngestTest, TooManyBytesAreRefused) {
    auto small = process({.bytes_waiting_max = 1'000});
    const auto large = small.ingest->add(rows(t_, {row(1, std::string(2'000, 'x'))}));
    EXPECT_EQ(large->take().error().code, ErrorCode::slow_down);
    EXPECT_TRUE(add(small, rows(t_, {row(1, "x")})));
}

TEST_F(IngestTest, TheEndAnswersEveryAddition) {
    auto ending = process();
    Gate gate;
    const auto first = hold(ending, gate, 0);
    std::vector<std::shared_ptr<AddedLater>> others;
    for (int i = 1; i < 20; ++i) {
        Addition addition = rows(t_, {row(i, "x")});
        addition.key = "k" + std::to_string(i);  // each has a commit of its own
        others.push_back(ending.ingest->add(std::move(addition)));
    }
    std::thread closing([&] { ending.ingest.reset(); });
    // The end has begun once the lane of additions is closed; how far it got does not matter.
    std::this_thread::yield();
    gate.open();
    closing.join();
    ASSERT_TRUE(first->given());
    std::uint64_t added = 0;
    if (first->take()) added += 1;
    for (const auto& other : others) {
        ASSERT_TRUE(other->given());
        const auto answer = other->take();
        if (answer) {
            added += 1;
        } else {
            EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
        }
    }
    EXPECT_EQ(ask(one_, t_, "SELECT count(*) FROM t"), std::to_string(added) + "\n");
}

TEST_F(IngestTest, EveryRowIsThereOnceWhenManyAdd) {
    constexpr int kThreads = 4;
    constexpr int kEach = 40;
    auto two = process();
    std::vector<std::thread> threads;
    std::atomic<int> failed = 0;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            Process& mine = i % 2 == 0 ? one_ : two;
            for (int n = 0; n < kEach; ++n) {
                if (!add(mine, rows(t_, {row(i * kEach + n, "x")}))) ++failed;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(ask(one_, t_, "SELECT count(*), count(DISTINCT n), max(n) FROM t"), "160|160|159\n");
}

}  // namespace
}  // namespace baton::tables
