// Task lists and their partitions, as requests change them.
#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton::catalog {
namespace {

using ownership::Owned;
using ownership::Releasing;
using ownership::Unowned;
using testing::CoordinatorTest;

class TaskLists : public CoordinatorTest {
protected:
    void workers() {
        run("CREATE WORKER 'h:1' SET ('W1' AS NAME); CREATE WORKER 'h:2' SET ('W2' AS NAME)");
    }
    static PartitionMove move(std::uint32_t number, const std::optional<Ownership>& before,
                              const std::optional<Ownership>& after) {
        return {.partition = {"L", number}, .before = before, .after = after};
    }
    void assign(const PartitionMove& one) { request(controllers::AssignPartitions{{one}}); }
    std::string partitions() {
        return rows("SELECT number, state, owner, epoch, next FROM baton.partitions");
    }
};

TEST_F(TaskLists, AreCreatedOnceWithPartitionsThatNobodyOwns) {
    run("CREATE TASK LIST l PARTITIONS 2");
    EXPECT_EQ(outcome_of("CREATE TASK LIST l PARTITIONS 3"),
              "2051: task list \"L\" already exists");
    run("CREATE TASK LIST IF NOT EXISTS l PARTITIONS 3");
    EXPECT_EQ(rows("SHOW TASK LISTS"), "L|2|0\n");
    EXPECT_EQ(partitions(), "0|UNOWNED|||\n1|UNOWNED|||\n");
}

TEST_F(TaskLists, HaveABoundedNumberOfPartitions) {
    EXPECT_EQ(error_of("CREATE TASK LIST l PARTITIONS 0").code, ErrorCode::invalid_configuration);
    EXPECT_EQ(error_of("CREATE TASK LIST l PARTITIONS 1025").code,
              ErrorCode::invalid_configuration);
    run("CREATE TASK LIST l PARTITIONS 1024");
}

TEST_F(TaskLists, ThatAreDroppedLeaveWhatIsStillOwned) {
    workers();
    run("CREATE TASK LIST l PARTITIONS 2");
    assign(move(1, Unowned{}, Owned{"W1", Epoch(1)}));
    run("DROP TASK LIST l");
    EXPECT_EQ(rows("SHOW TASK LISTS"), "");
    EXPECT_EQ(partitions(), "1|OWNED|W1|1|\n");
    run("CREATE TASK LIST l PARTITIONS 3");
    EXPECT_EQ(partitions(), "0|UNOWNED|||\n1|OWNED|W1|1|\n2|UNOWNED|||\n");
    EXPECT_EQ(error_of("DROP TASK LIST x").code, ErrorCode::unknown_task_list);
    run("DROP TASK LIST IF EXISTS x");
}

TEST_F(TaskLists, PartitionsChangeOnlyAsTheyWerePlannedFor) {
    workers();
    run("CREATE TASK LIST l PARTITIONS 2");
    assign(move(0, Unowned{}, Owned{"W1", Epoch(1)}));
    const controllers::AssignPartitions stale{
        {move(1, Unowned{}, Owned{"W2", Epoch(1)}), move(0, Unowned{}, Owned{"W2", Epoch(1)})}};
    EXPECT_EQ(refused(stale).code, ErrorCode::conflict);
    EXPECT_EQ(partitions(), "0|OWNED|W1|1|\n1|UNOWNED|||\n") << "all or none";
    EXPECT_EQ(
        refused(controllers::AssignPartitions{{move(1, Unowned{}, Owned{"W9", Epoch(1)})}}).code,
        ErrorCode::unknown_worker);
}

TEST_F(TaskLists, WhoCanBeAskedReleasesFirst) {
    workers();
    run("CREATE TASK LIST l PARTITIONS 1");
    const Owned first{"W1", Epoch(1)};
    const Owned second{"W2", Epoch(2)};
    const Releasing between{"W1", Epoch(1), "W2"};
    assign(move(0, Unowned{}, first));
    EXPECT_EQ(refused(controllers::AssignPartitions{{move(0, first, second)}}).code,
              ErrorCode::conflict);
    assign(move(0, first, between));
    EXPECT_EQ(partitions(), "0|RELEASING|W1|1|W2\n");
    assign(move(0, between, second));
    EXPECT_EQ(partitions(), "0|OWNED|W2|2|\n");
    request(controllers::ReportWorker{.name = "W2",
                                      .state = WorkerState::unreachable,
                                      .incarnation = {},
                                      .reason = {.text = "gone"}});
    const std::string since = rows("SELECT since FROM baton.partitions");
    assign(move(0, second, first));
    EXPECT_EQ(partitions(), "0|OWNED|W1|1|\n");
    EXPECT_GT(rows("SELECT since FROM baton.partitions"), since) << "it has another owner";
}

TEST_F(TaskLists, AnOwnerIsNotDropped) {
    workers();
    run("CREATE TASK LIST l PARTITIONS 1");
    assign(move(0, Unowned{}, Owned{"W1", Epoch(1)}));
    const Error error = error_of("DROP WORKER W1");
    EXPECT_EQ(error.code, ErrorCode::worker_in_use);
    EXPECT_EQ(error.message, "cannot drop worker \"W1\": it is used by partitions of L");
    assign(move(0, Owned{"W1", Epoch(1)}, Releasing{"W1", Epoch(1), ""}));
    assign(move(0, Releasing{"W1", Epoch(1), ""}, std::nullopt));
    run("DROP WORKER W1");
    EXPECT_EQ(partitions(), "");
}

}  // namespace
}  // namespace baton::catalog
