#include "coordinator/term/leadership.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "adapters/system/system_clock.h"
#include "catalog/lease_schema.h"

namespace baton::coordinator {
namespace {

using namespace std::chrono_literals;

// Calls wait while the door is closed.
class Door {
public:
    void pass() {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [&] { return open_; });
    }
    void set(bool open) {
        {
            const std::lock_guard lock(mutex_);
            open_ = open;
        }
        opened_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = true;
};

class HangingSql final : public Sql {
public:
    HangingSql(std::unique_ptr<Sql> real, Door& door) : real_(std::move(real)), door_(door) {}

    [[nodiscard]] SqlDialect dialect() const override { return real_->dialect(); }
    Result<std::int64_t> run(std::string_view sql, std::span<const SqlValue> parameters,
                             const SqlRowSink& sink) override {
        door_.pass();
        return real_->run(sql, parameters, sink);
    }
    Result<Done> run_script(const std::string& sql) override { return real_->run_script(sql); }
    Result<Done> begin(Access access) override {
        door_.pass();
        return real_->begin(access);
    }
    Result<Done> commit() override { return real_->commit(); }
    void rollback() override { real_->rollback(); }
    Result<Done> set_savepoint() override { return real_->set_savepoint(); }
    Result<Done> release_savepoint() override { return real_->release_savepoint(); }
    Result<Done> roll_back_to_savepoint() override { return real_->roll_back_to_savepoint(); }

private:
    std::unique_ptr<Sql> real_;
    Door& door_;
};

class HangingDatabase final : public SqlDatabase {
public:
    explicit HangingDatabase(SqlDatabase& real) : real_(real) {}

    [[nodiscard]] Result<std::unique_ptr<Sql>> connect(Access access) override {
        door.pass();
        TRY_ASSIGN(sql, real_.connect(access));
        return std::unique_ptr<Sql>(std::make_unique<HangingSql>(std::move(sql), door));
    }
    [[nodiscard]] Result<Done> backup_to(const std::string& path) override {
        return real_.backup_to(path);
    }

    Door door;

private:
    SqlDatabase& real_;
};

// Notes what it is told, and drains at once.
class Candidate final : public LeadershipListener {
public:
    Candidate(SqlDatabase& real, const std::string& owner, const Clock& clock, Duration ttl = 1s)
        : database(real),
          leadership_(std::make_unique<Leadership>(
              LeadershipOptions{.timers = *election::ElectionTimers::of(ttl),
                                .lock = std::string(catalog::kLeaderLock),
                                .owner = owner,
                                .seed = std::hash<std::string>()(owner)},
              database, clock, *this)) {
        leadership_->start();
    }
    ~Candidate() override {
        database.door.set(true);
        leadership_.reset();
    }

    void lead(Epoch epoch) override { note("lead " + to_string(epoch)); }
    void step_down(Epoch epoch, election::Reason reason, const std::string& /*why*/) override {
        leadership_->drained(epoch);  // before the test may go on, and end
        note("step down from " + to_string(epoch) + ": " + election::to_string(reason));
    }
    void left() override { note("left"); }

    // Whether it was told so, or is within the time.
    [[nodiscard]] bool is_told(const std::string& what, Duration within = 10s) {
        std::unique_lock lock(mutex_);
        return noted_.wait_for(lock, within, [&] {
            return std::find(notes_.begin(), notes_.end(), what) != notes_.end();
        });
    }
    Leadership* operator->() { return leadership_.get(); }

    HangingDatabase database;

private:
    void note(const std::string& what) {
        {
            const std::lock_guard lock(mutex_);
            notes_.push_back(what);
        }
        noted_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable noted_;
    std::vector<std::string> notes_;
    std::unique_ptr<Leadership> leadership_;
};

class LeadershipTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto sql = *real_->connect(Access::write);
        ASSERT_TRUE(catalog::make_lease_tables(*sql));
    }

    system::SystemClock clock_;
    // Nobody copies the log: SQLite does not bear two that do.
    std::unique_ptr<SqlDatabase> real_ =
        *sqlite::open_temporary_sqlite({.log_pages_step = 1'000'000});
};

TEST_F(LeadershipTest, WhoLeavesHandsOver) {
    Candidate first(*real_, "first", clock_);
    ASSERT_TRUE(first.is_told("lead 1"));
    EXPECT_EQ(first->acting(), Epoch(1));
    Candidate second(*real_, "second", clock_);
    EXPECT_EQ(first->status().role, election::ElectionStatus::Role::leading);
    first->leave();
    ASSERT_TRUE(first.is_told("step down from 1: leaving"));
    ASSERT_TRUE(first.is_told("left"));
    EXPECT_EQ(first->acting(), std::nullopt);
    second->hint();
    ASSERT_TRUE(second.is_told("lead 2"));
    EXPECT_EQ(second->status().leader->owner, "second");
}

TEST_F(LeadershipTest, ATermEndsInTimeWhileEveryCallHangs) {
    Candidate leader(*real_, "leader", clock_);
    ASSERT_TRUE(leader.is_told("lead 1"));
    leader.database.door.set(false);
    ASSERT_TRUE(leader.is_told("step down from 1: gave up"));
    EXPECT_EQ(leader->acting(), std::nullopt);
}

TEST_F(LeadershipTest, AnotherLeadsWhenTheCallsOfTheLeaderHang) {
    Candidate leader(*real_, "leader", clock_);
    ASSERT_TRUE(leader.is_told("lead 1"));
    Candidate standby(*real_, "standby", clock_);
    leader.database.door.set(false);
    ASSERT_TRUE(standby.is_told("lead 2"));
    EXPECT_EQ(leader->acting(), std::nullopt);
    // When its calls come back it stands by; all that hung are of an earlier term.
    leader.database.door.set(true);
    standby->leave();
    ASSERT_TRUE(standby.is_told("left"));
    ASSERT_TRUE(leader.is_told("lead 3"));
}

TEST_F(LeadershipTest, AHigherEpochHeardOfLeadsToAHigherOneStill) {
    Candidate leader(*real_, "leader", clock_);
    ASSERT_TRUE(leader.is_told("lead 1"));
    leader->heard_of(Epoch(40));
    ASSERT_TRUE(leader.is_told("step down from 1: superseded"));
    ASSERT_TRUE(leader.is_told("lead 41"));
}

TEST_F(LeadershipTest, ALeaderThatRenewsStays) {
    Candidate leader(*real_, "leader", clock_, 3s);
    ASSERT_TRUE(leader.is_told("lead 1"));
    // The other looks at the lease every two seconds, and would take it.
    Candidate standby(*real_, "standby", clock_, 3s);
    EXPECT_FALSE(standby.is_told("lead 2", 4s));
    EXPECT_EQ(leader->acting(), Epoch(1));
    EXPECT_EQ(standby->status().leader->owner, "leader");
}

TEST_F(LeadershipTest, AStandbyLeavesAtOnceAlsoWhileItsCallsHang) {
    Candidate leader(*real_, "leader", clock_);
    ASSERT_TRUE(leader.is_told("lead 1"));
    Candidate standby(*real_, "standby", clock_);
    standby.database.door.set(false);
    standby->leave();
    EXPECT_TRUE(standby.is_told("left"));
}

}  // namespace
}  // namespace baton::coordinator
