#include "coordinator/reading/watch.h"

#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton::coordinator {
namespace {

class WatchTest : public testing::CoordinatorTest {
protected:
    std::unique_ptr<Watch> watch(const std::string& sql) {
        auto results = run("WATCH " + sql);
        return std::move(std::get<std::unique_ptr<Watch>>(results.at(0).value));
    }
    // "snapshot 3: A|B; ", "4 CREATE A; "
    static std::string text_of(const std::vector<WatchEvent>& events) {
        std::string text;
        for (const WatchEvent& event : events) {
            if (const auto* snapshot = std::get_if<WatchSnapshot>(&event)) {
                text += "snapshot " + to_string(snapshot->revision) + ":";
                for (const SqlRow& row : snapshot->table.rows) text += " " + text_of(row);
                if (!snapshot->reason.empty()) text += " (" + snapshot->reason + ")";
            } else {
                const auto& change = std::get<WatchChange>(event);
                text += to_string(change.revision) + " " + std::string(to_string(change.op)) + " " +
                        text_of(change.row);
            }
            text += "; ";
        }
        return text;
    }
    static std::string text_of(const SqlRow& row) {
        std::string text;
        for (const SqlValue& value : row) {
            text += (text.empty() ? "" : "|") + shown(value, kinds::ViewType::text);
        }
        return text;
    }
    std::string poll(Watch& watch) { return text_of(*watch.poll()); }
};

TEST_F(WatchTest, GivesASnapshotThenEveryChangeInOrder) {
    run("CREATE WORKER 'a:1'");
    const auto w = watch("SELECT name, draining FROM baton.workers");
    EXPECT_EQ(poll(*w), "snapshot 1: a:1|0; ");
    EXPECT_EQ(poll(*w), "");
    run("CREATE WORKER 'b:1'; DRAIN WORKER 'a:1'; DROP WORKER 'b:1'");
    EXPECT_EQ(poll(*w), "2 CREATE b:1|0; 3 UPDATE a:1|1; 4 DROP b:1|0; ");
}

TEST_F(WatchTest, RowsThatComeToMatchAreCreatedAndThoseThatCeaseAreDropped) {
    run("CREATE WORKER 'a:1'; CREATE WORKER 'b:1'");
    const auto w = watch("SELECT name FROM baton.workers WHERE draining = TRUE");
    EXPECT_EQ(poll(*w), "snapshot 2:; ");
    run("DRAIN WORKER 'a:1'; RESUME WORKER 'a:1'; DROP WORKER 'b:1'");
    EXPECT_EQ(poll(*w), "3 CREATE a:1; 4 DROP a:1; ");
}

TEST_F(WatchTest, ResumesFromARevision) {
    run("CREATE WORKER 'a:1'; CREATE WORKER 'b:1'; CREATE WORKER 'c:1'");
    const auto w = watch("SELECT name FROM baton.workers SINCE REVISION 1");
    EXPECT_EQ(poll(*w), "2 CREATE b:1; 3 CREATE c:1; ");
    EXPECT_EQ(w->revision(), Revision(3));
    const auto now = watch("SELECT name FROM baton.workers SINCE REVISION 3");
    EXPECT_EQ(poll(*now), "");
}

TEST_F(WatchTest, ResumesFromTheCatalogWhereMemoryDoesNotReach) {
    CoordinatorOptions options;
    options.changes_in_memory = 2;
    open(options);
    for (char c = 'a'; c <= 'h'; ++c) run("CREATE WORKER '" + std::string(1, c) + ":1'");
    const auto w = watch("SELECT name FROM baton.workers SINCE REVISION 5");
    EXPECT_EQ(poll(*w), "6 CREATE f:1; 7 CREATE g:1; 8 CREATE h:1; ");
}

TEST_F(WatchTest, TakenInPortionsItMissesNothing) {
    const auto w = watch("SELECT name FROM baton.workers");
    (void)poll(*w);
    run("CREATE WORKER 'a:1'; CREATE WORKER 'b:1'; CREATE WORKER 'c:1'");
    EXPECT_EQ(text_of(*w->poll(1)), "1 CREATE a:1; ");
    EXPECT_EQ(text_of(*w->poll(1)), "2 CREATE b:1; ");
    EXPECT_EQ(poll(*w), "3 CREATE c:1; ");
}

TEST_F(WatchTest, IsToldWhenItIsTooFarBehind) {
    CoordinatorOptions options;
    options.changes_in_memory = 2;
    options.commits.committer.history.changes_max = 10;
    open(options);
    const auto slow = watch("SELECT name FROM baton.workers");
    EXPECT_EQ(poll(*slow), "snapshot 0:; ");
    run("CREATE WORKER 'a:1'");
    for (int i = 0; i < 100; ++i) run("DRAIN WORKER 'a:1'; RESUME WORKER 'a:1'");
    const std::string told = poll(*slow);
    EXPECT_EQ(told.substr(0, 18), "snapshot 201: a:1 ") << told;
    EXPECT_NE(told.find("no longer kept"), std::string::npos) << told;
    const auto late = watch("SELECT name FROM baton.workers SINCE REVISION 1");
    EXPECT_NE(poll(*late).find("revision 1 is no longer kept"), std::string::npos);
    const auto future = watch("SELECT name FROM baton.workers SINCE REVISION 999");
    EXPECT_NE(poll(*future).find("has not happened here"), std::string::npos);
    run("DRAIN WORKER 'a:1'");
    EXPECT_EQ(poll(*slow), "202 UPDATE a:1; ");
}

TEST_F(WatchTest, RefusesWhatTheFeedCannotTell) {
    EXPECT_EQ(error_of("WATCH SHOW STATEMENTS").code, ErrorCode::not_supported);
    EXPECT_EQ(error_of("WATCH SHOW VERSION").code, ErrorCode::not_supported);
    EXPECT_EQ(error_of("WATCH SELECT used FROM baton.workers").code, ErrorCode::not_supported);
    EXPECT_EQ(error_of("WATCH SHOW WORKERS WHERE used > 1").code, ErrorCode::not_supported);
    const auto w = watch("SHOW WORKERS");  // leaves USED out
    for (const views::TableColumn& column : w->columns()) EXPECT_NE(column.name, "USED");
}

TEST_F(WatchTest, WaitsForNewsAndCanBeInterrupted) {
    const auto w = watch("SELECT name FROM baton.workers");
    (void)poll(*w);
    std::thread writer([&] {
        Session other(*coordinator_, "other");
        (void)other.execute("CREATE WORKER 'a:1'");
    });
    EXPECT_EQ(text_of(*w->next(std::chrono::seconds(30))), "1 CREATE a:1; ");
    writer.join();
    std::thread interrupter([&] { w->interrupt(); });
    EXPECT_EQ(text_of(*w->next(std::chrono::hours(1))), "");
    interrupter.join();
}

TEST_F(WatchTest, MissesNothingWhileOthersWrite) {
    constexpr int kWriters = 4;
    constexpr int kEach = 50;
    std::vector<std::thread> writers;
    for (int t = 0; t < kWriters; ++t) {
        writers.emplace_back([&, t] {
            Session other(*coordinator_, "writer");
            for (int i = 0; i < kEach; ++i) {
                const std::string name = "h" + std::to_string(t) + "-" + std::to_string(i);
                (void)other.execute("CREATE WORKER '" + name + ":1'");
            }
        });
    }
    const auto w = watch("SELECT name FROM baton.workers");
    std::set<std::string> seen;
    Revision last;
    while (seen.size() < kWriters * kEach) {
        const auto events = *w->next(std::chrono::seconds(30));
        ASSERT_FALSE(events.empty()) << "stuck at " << seen.size();
        for (const WatchEvent& event : events) {
            if (const auto* snapshot = std::get_if<WatchSnapshot>(&event)) {
                for (const SqlRow& row : snapshot->table.rows) seen.insert(text_of(row));
                last = snapshot->revision;
                continue;
            }
            const auto& change = std::get<WatchChange>(event);
            EXPECT_GT(change.revision, last);
            last = change.revision;
            EXPECT_TRUE(seen.insert(text_of(change.row)).second) << "told twice";
        }
    }
    for (std::thread& writer : writers) writer.join();
}

TEST_F(WatchTest, ControllersHearKeysNotEvents) {
    std::set<EntityKey> heard;
    EntitySet workers;
    workers.set(static_cast<std::size_t>(kinds::Entity::worker));
    const auto registration = coordinator_->feed().listen(
        workers, [&](const std::set<EntityKey>& keys) { heard.insert(keys.begin(), keys.end()); });
    run("BEGIN; CREATE WORKER 'a:1'; DRAIN WORKER 'a:1'; CREATE LOGICAL SOURCE s (x INT8); COMMIT");
    EXPECT_EQ(heard, (std::set<EntityKey>{{kinds::Entity::worker, "a:1"}}));
}

}  // namespace
}  // namespace baton::coordinator
