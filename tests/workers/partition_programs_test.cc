// With real processes; watched with deadlines.
#include "adapters/programs/partition_programs.h"

#include <csignal>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "testing/temporary_directory.h"

namespace baton {
namespace {

using std::chrono::steady_clock;

class PartitionProgramsTest : public ::testing::Test {
protected:
    static constexpr auto kPatience = std::chrono::seconds(30);

    void run(const std::string& command, Duration grace = std::chrono::seconds(30)) {
        programs_ = std::make_unique<processes::PartitionPrograms>(
            processes::PartitionProgramsOptions{.command = command, .grace = grace, .log = {}},
            clock_);
        programs_->listen([this](const PartitionKey& key) {
            const std::lock_guard lock(mutex_);
            released_.push_back(to_string(key));
        });
    }
    [[nodiscard]] std::string path(const std::string& name) const {
        return directory_.path() + "/" + name;
    }
    static bool eventually(const std::function<bool()>& is_so) {
        const auto deadline = steady_clock::now() + kPatience;
        while (steady_clock::now() < deadline) {
            if (is_so()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return false;
    }
    [[nodiscard]] std::string text_of(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(path(name)).rdbuf();
        return text.str();
    }
    bool becomes(const std::string& name, const std::string& text) {
        return eventually([&] { return text_of(name) == text; });
    }
    bool is_released(const std::string& partition) {
        return eventually([&] {
            const std::lock_guard lock(mutex_);
            return released_ == std::vector<std::string>{partition};
        });
    }
    static bool is_there(pid_t pid) { return kill(pid, 0) == 0; }

    const control::Grant grant_{.partition = {"L", 4}, .epoch = Epoch(7)};
    testing::TemporaryDirectory directory_;
    system::SystemClock clock_;
    std::mutex mutex_;
    std::vector<std::string> released_;
    std::unique_ptr<processes::PartitionPrograms> programs_;  // last: it tells the above
};

TEST_F(PartitionProgramsTest, AProgramIsToldWhatItIsFor) {
    run("echo $BATON_LIST $BATON_PARTITION $BATON_EPOCH > " + path("out") + "; exec sleep 1000");
    programs_->take(grant_);
    EXPECT_TRUE(becomes("out", "L 4 7\n")) << text_of("out");
}

TEST_F(PartitionProgramsTest, APartitionIsLetGoOfWhenItsProgramHasEnded) {
    // It takes its time, and says when it is done.
    run("trap 'echo asked >> " + path("out") + "' TERM; echo up > " + path("out") +
        "; while [ ! -e " + path("may-end") + " ]; do sleep 0.01; done; echo end >> " +
        path("out"));
    programs_->take(grant_);
    ASSERT_TRUE(becomes("out", "up\n"));
    programs_->release(grant_.partition);
    ASSERT_TRUE(becomes("out", "up\nasked\n")) << text_of("out");
    {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(released_.empty());
    }
    std::ofstream(path("may-end")) << "";
    EXPECT_TRUE(is_released("L -> 4"));
    EXPECT_EQ(text_of("out"), "up\nasked\nend\n");
}

TEST_F(PartitionProgramsTest, AProgramThatDoesNotEndIsKilledWithAllOfItsGroup) {
    run("trap '' TERM; sleep 1000 & echo $! > " + path("child") + "; echo up > " + path("out") +
            "; while :; do sleep 1000; done",
        std::chrono::milliseconds(50));
    programs_->take(grant_);
    ASSERT_TRUE(becomes("out", "up\n"));
    const pid_t child = std::stoi(text_of("child"));
    programs_->release(grant_.partition);
    EXPECT_TRUE(is_released("L -> 4"));
    // Dead at least; who has become its parent may take a moment to notice.
    EXPECT_TRUE(eventually([&] {
        if (!is_there(child)) return true;
        std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
        std::string number;
        std::string name;
        std::string state;
        stat >> number >> name >> state;
        return state == "Z";
    }));
}

TEST_F(PartitionProgramsTest, AProgramThatEndsIsStartedAgain) {
    run("echo again >> " + path("out"));
    programs_->take(grant_);
    EXPECT_TRUE(becomes("out", "again\nagain\n"));
    programs_->release(grant_.partition);
    EXPECT_TRUE(is_released("L -> 4"));
}

TEST_F(PartitionProgramsTest, NothingRunsWhenItIsOver) {
    run("echo $$ > " + path("pid") + "; exec sleep 1000");
    programs_->take(grant_);
    ASSERT_TRUE(eventually([&] { return text_of("pid").ends_with("\n"); }));
    const pid_t pid = std::stoi(text_of("pid"));
    EXPECT_TRUE(is_there(pid));
    programs_.reset();
    EXPECT_FALSE(is_there(pid));
}

}  // namespace
}  // namespace baton
