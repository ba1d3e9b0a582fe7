#include "core/allocation/allocator.h"

#include <gtest/gtest.h>

#include "base/overload.h"

namespace baton::allocation {
namespace {

using namespace std::chrono_literals;

// A catalog and its allocator; times are in seconds.
class AllocatorTest : public ::testing::Test {
protected:
    void list(std::uint32_t partitions) {
        lists_ = {{.name = "L", .partitions = partitions, .revision = Revision(1)}};
        for (std::uint32_t i = 0; i < partitions; ++i) present_.try_emplace({"L", i});
    }
    void worker(const std::string& name, WorkerState state = WorkerState::active,
                bool draining = false) {
        Worker worker;
        worker.name = name;
        worker.state = state;
        worker.draining = draining;
        allocator_.record(name, worker);
    }
    void connect(int second, const std::string& name, std::vector<control::Grant> held = {}) {
        allocator_.connected(at(std::chrono::seconds(second)), name, {.held = std::move(held)});
    }
    // What it does, after everything that it wants written was written: "a:2 b:2" is told to have.
    std::string plan(int second) {
        std::string text;
        for (int round = 0; round < 10; ++round) {
            record();
            last_ = allocator_.plan(at(std::chrono::seconds(second)));
            for (const auto& [name, assign] : last_.sends) {
                sent_[name] = assign;
                text += name + ":" + std::to_string(assign.owned.size()) + " ";
            }
            if (last_.moves.empty()) break;
            for (const PartitionMove& move : last_.moves) {
                EXPECT_EQ(move.before, present_.at(move.partition));
                if (move.after) {
                    present_[move.partition] = *move.after;
                } else {
                    present_.erase(move.partition);
                }
            }
        }
        return text;
    }
    void record() {
        std::vector<Partition> partitions;
        for (const auto& [key, ownership] : present_) {
            partitions.push_back({.key = key, .ownership = ownership});
        }
        allocator_.record(lists_, partitions);
    }
    // The worker says that it has what it was told to have, and also these.
    void confirm(const std::string& name, std::vector<control::Grant> also = {}) {
        control::Holding holding{.number = sent_.at(name).number, .held = sent_.at(name).owned};
        holding.held.insert(holding.held.end(), also.begin(), also.end());
        allocator_.heard(name, holding);
    }
    // "a a b>c -"
    [[nodiscard]] std::string owners() const {
        std::string text;
        for (const auto& [key, ownership] : present_) {
            text +=
                std::visit(
                    Overload{
                        [](const ownership::Unowned&) { return std::string("-"); },
                        [](const ownership::Owned& o) { return o.owner; },
                        [](const ownership::Releasing& r) { return r.owner + ">" + r.next_owner; },
                    },
                    ownership) +
                " ";
        }
        return text;
    }

    Allocator allocator_{{.lease = 20s, .settle = 5s, .repeat_after = 1s}, Epoch(3), at(0s)};
    std::vector<TaskList> lists_;
    std::map<PartitionKey, Ownership> present_;
    std::map<std::string, control::Assign> sent_;
    Allocator::Plan last_;
};

TEST_F(AllocatorTest, PartitionsAreSharedOutAndWorkersTold) {
    list(4);
    worker("a");
    worker("b");
    connect(1, "a");
    connect(1, "b");
    EXPECT_EQ(plan(1), "a:2 b:2 ");
    EXPECT_EQ(owners(), "a b a b ");
    EXPECT_EQ(sent_["a"].epoch, Epoch(3));
    EXPECT_EQ(sent_["a"].lease, 15s) << "the rest is for letting go";
}

TEST_F(AllocatorTest, NothingIsAllocatedBeforeAllThatAreSaidToBeActiveAreThere) {
    list(4);
    worker("a");
    worker("b");
    connect(1, "a");
    EXPECT_EQ(plan(1), "");
    EXPECT_EQ(last_.wake_at, at(5s));
    EXPECT_EQ(plan(5), "a:4 ");
}

TEST_F(AllocatorTest, WhatMovesIsConfirmedByTheLastThatItsOwnerWasTold) {
    list(2);
    worker("a");
    connect(1, "a");
    (void)plan(1);
    confirm("a");
    const auto both = sent_["a"].owned;
    worker("b");
    connect(2, "b");
    EXPECT_EQ(plan(2), "a:1 ");
    EXPECT_EQ(owners(), "a a>b ");
    allocator_.heard("a", {.number = 1, .held = {}});  // of before it was told
    EXPECT_EQ(plan(3), "a:1 ") << "repeated";
    EXPECT_EQ(owners(), "a a>b ");
    confirm("a", {both[1]});  // heard, and still at it
    EXPECT_EQ(plan(3), "");
    EXPECT_EQ(owners(), "a a>b ");
    confirm("a");
    EXPECT_EQ(plan(4), "b:1 ");
    EXPECT_EQ(owners(), "a b ");
}

TEST_F(AllocatorTest, WhoIsStillToLetGoIsAskedAgain) {
    list(2);
    worker("a");
    connect(1, "a");
    (void)plan(1);
    confirm("a");
    EXPECT_EQ(plan(5), "") << "it has what it is to have";
    const auto both = sent_["a"].owned;
    worker("b");
    connect(6, "b");
    (void)plan(6);
    confirm("a", {both[1]});
    EXPECT_EQ(plan(6), "");
    EXPECT_EQ(last_.wake_at, at(7s));
    EXPECT_EQ(plan(7), "a:1 ") << "that it let go may have been lost";
    confirm("a");
    EXPECT_EQ(plan(8), "b:1 ");
}

TEST_F(AllocatorTest, ANewStreamSaysWhatIsHeld) {
    list(2);
    worker("a");
    worker("b");
    present_[{"L", 0}] = ownership::Releasing{.owner = "a", .epoch = Epoch(2), .next_owner = "b"};
    present_[{"L", 1}] = ownership::Owned{.owner = "a", .epoch = Epoch(2)};
    connect(1, "b");
    connect(1, "a", {{.partition = {"L", 0}, .epoch = Epoch(2)}});
    EXPECT_EQ(plan(1), "a:1 ") << "it has one that it is to let go of";
    EXPECT_EQ(owners(), "a>b a ");
    connect(2, "a");
    EXPECT_EQ(plan(2), "a:1 b:1 ");
    EXPECT_EQ(owners(), "b a ");
}

TEST_F(AllocatorTest, WhoIsSilentHasWhatItHadUntilItsTimeIsOver) {
    list(2);
    worker("a");
    worker("b");
    connect(1, "a");
    connect(1, "b");
    (void)plan(1);
    confirm("a");
    allocator_.answered(at(10s), "b", 4);
    EXPECT_EQ(allocator_.last_answered("b"), 4U);
    allocator_.disconnected("b");
    worker("b", WorkerState::unreachable);
    (void)plan(11);
    EXPECT_EQ(owners(), "a b ");
    EXPECT_EQ(last_.wake_at, at(31s + 500ms)) << "10 + 20, and a twentieth, and half a second";
    (void)plan(31);
    EXPECT_EQ(owners(), "a b ");
    (void)plan(32);
    EXPECT_EQ(owners(), "a a ");
}

TEST_F(AllocatorTest, WhoNeverAnsweredThisTermIsCountedFromItsBeginning) {
    list(2);
    worker("a");
    worker("b", WorkerState::unreachable);
    present_[{"L", 0}] = ownership::Owned{.owner = "b", .epoch = Epoch(2)};
    connect(1, "a");
    (void)plan(21);
    EXPECT_EQ(owners(), "b a ");
    (void)plan(22);
    EXPECT_EQ(owners(), "a a ");
}

TEST_F(AllocatorTest, WhoIsBackInTimeKeepsWhatItHad) {
    list(2);
    worker("a");
    worker("b");
    connect(1, "a");
    connect(1, "b");
    (void)plan(1);
    const auto held = sent_["b"].owned;
    allocator_.disconnected("b");
    worker("b", WorkerState::unreachable);
    (void)plan(5);
    connect(9, "b", held);
    worker("b");
    EXPECT_EQ(plan(9), "a:1 b:1 ");  // a has not confirmed
    EXPECT_EQ(owners(), "a b ");
}

TEST_F(AllocatorTest, TheEmbeddedWorkerHasNone) {
    list(2);
    Worker embedded;
    embedded.name = "embedded";
    embedded.kind = WorkerKind::embedded;
    allocator_.record(embedded.name, embedded);
    connect(1, "embedded");
    EXPECT_EQ(plan(1), "");
    worker("a");
    connect(2, "a");
    EXPECT_EQ(plan(2), "a:2 ");
}

TEST_F(AllocatorTest, AWorkerThatDrainsIsEmptied) {
    list(2);
    worker("a");
    worker("b");
    connect(1, "a");
    connect(1, "b");
    (void)plan(1);
    confirm("b");
    worker("b", WorkerState::active, true);
    (void)plan(2);
    EXPECT_EQ(owners(), "a b>a ");
    confirm("b");
    (void)plan(3);
    EXPECT_EQ(owners(), "a a ");
}

TEST_F(AllocatorTest, ADroppedListIsReleasedAndThenGone) {
    list(2);
    worker("a");
    connect(1, "a");
    (void)plan(1);
    confirm("a");
    lists_.clear();
    EXPECT_EQ(plan(2), "a:0 ");
    EXPECT_EQ(owners(), "a> a> ");
    confirm("a");
    (void)plan(3);
    EXPECT_EQ(owners(), "");
    EXPECT_EQ(last_.wake_at, std::nullopt);
}

TEST_F(AllocatorTest, ManyChangesAreWrittenInPortions) {
    list(600);
    worker("a");
    connect(1, "a");
    record();
    EXPECT_EQ(allocator_.plan(at(1s)).moves.size(), 256U);
    EXPECT_EQ(plan(1), "a:256 a:512 a:600 ");
}

TEST_F(AllocatorTest, WithoutTaskListsThereIsNothingToDo) {
    worker("a");
    connect(1, "a");
    EXPECT_EQ(plan(1), "");
    EXPECT_EQ(last_.wake_at, std::nullopt);
}

}  // namespace
}  // namespace baton::allocation
