// Many clients at once: what the catalog promises must hold for every interleaving.
#include <atomic>
#include <barrier>
#include <latch>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "catalog/check.h"
#include "testing/coordinator/coordinator_test_base.h"

namespace baton::coordinator {
namespace {

class Concurrency : public testing::CoordinatorTest {
protected:
    // Runs `work(i)` on `count` threads at once.
    static void in_parallel(int count, const std::function<void(int)>& work) {
        std::barrier start(count);
        std::vector<std::thread> threads;
        for (int i = 0; i < count; ++i) {
            threads.emplace_back([&, i] {
                start.arrive_and_wait();
                work(i);
            });
        }
        for (std::thread& thread : threads) thread.join();
    }
    std::string used(const std::string& worker) {
        return rows("SELECT used FROM baton.workers WHERE name = '" + worker + "'");
    }
    void expect_sound() {
        auto snapshot = coordinator_->snapshot();
        snapshot->sql().rollback();  // the check takes a snapshot of its own
        const auto problems = catalog::catalog_problems(snapshot->sql());
        ASSERT_TRUE(problems) << to_string(problems.error());
        EXPECT_EQ(*problems, std::vector<std::string>());
    }
};

// Write skew: two planners see the last free slot, and both decide to take it.
TEST_F(Concurrency, TwoPlannersThatSeeTheSameFreeSlotDoNotBothGetIt) {
    CoordinatorOptions options;
    std::latch both_planned(2);
    std::atomic<int> plans = 0;
    options.planner = [&](const sql::CreateQuery& query, const planning::PlanningView& view) {
        auto made = plan(query, view);
        // The first plan of each waits until the other has planned too.
        if (plans++ < 2) both_planned.arrive_and_wait();
        return made;
    };
    open(options);
    make_small_cluster("1 AS CAPACITY");
    std::atomic<int> accepted = 0;
    std::atomic<int> without_slot = 0;
    in_parallel(2, [&](int i) {
        Session session(*coordinator_, "client");
        const Execution done = session.execute("CREATE QUERY q" + std::to_string(i) +
                                               " AS SELECT id FROM readings INTO alerts");
        if (!done.error) accepted += 1;
        if (done.error && done.error->code == ErrorCode::placement) without_slot += 1;
    });
    EXPECT_EQ(accepted, 1);
    EXPECT_EQ(without_slot, 1);
    EXPECT_EQ(used("HUB"), "1\n");
    EXPECT_GE(plans, 3) << "the loser planned again";
    expect_sound();
}

// A bundle's query is planned with the numbers that its sources have in one attempt; in the next
// attempt another client may have these.
TEST_F(Concurrency, AQueryReadsTheSourcesOfItsOwnBundleThoughOthersTakeTheirNumbers) {
    CoordinatorOptions options;
    int plans = 0;
    options.planner = [&](const sql::CreateQuery& query, const planning::PlanningView& view) {
        if (plans++ == 0) {
            Session other(*coordinator_, "other");
            run(other,
                "CREATE PHYSICAL SOURCE FOR readings TYPE File SET ('other' AS SOURCE.FILE_PATH, "
                "'EDGE' AS SOURCE.HOST)");
        }
        return plan(query, view);
    };
    open(options);
    make_small_cluster();
    run("BEGIN; CREATE LOGICAL SOURCE own (id UINT64 NOT NULL);"
        "CREATE PHYSICAL SOURCE FOR own TYPE File SET ('own' AS SOURCE.FILE_PATH, "
        "'EDGE' AS SOURCE.HOST);"
        "CREATE QUERY q AS SELECT id FROM own INTO alerts; COMMIT");
    EXPECT_EQ(rows("SELECT id, logical FROM baton.physical_sources"),
              "1|READINGS\n2|READINGS\n3|OWN\n");
    EXPECT_EQ(rows("SELECT source FROM baton.query_sources"), "3\n");
    EXPECT_EQ(plans, 2);
    expect_sound();
}

// Lost update: a query is placed while another one gives its slot back.
TEST_F(Concurrency, ASlotGivenBackWhileAnotherIsTakenIsNeitherLostNorDoubled) {
    make_small_cluster("2 AS CAPACITY");
    for (int round = 0; round < 100; ++round) {
        run("CREATE QUERY old AS SELECT id FROM readings INTO alerts");
        in_parallel(2, [&](int i) {
            Session session(*coordinator_, "client");
            const Execution done =
                session.execute(i == 0 ? "DROP QUERY old"
                                       : "CREATE QUERY new AS SELECT id FROM readings INTO alerts");
            EXPECT_FALSE(done.error) << to_string(*done.error);
        });
        ASSERT_EQ(used("HUB"), "1\n");
        run("DROP QUERY new");
        ASSERT_EQ(used("HUB"), "0\n");
    }
    expect_sound();
}

TEST_F(Concurrency, ManyClientsFightingForFewSlotsNeverExceedThem) {
    make_small_cluster("3 AS CAPACITY");
    std::atomic<bool> over = false;
    std::atomic<int> accepted = 0;
    in_parallel(8, [&](int t) {
        Session session(*coordinator_, "client");
        for (int i = 0; i < 25; ++i) {
            const std::string name = "q" + std::to_string(t) + "_" + std::to_string(i);
            const Execution made =
                session.execute("CREATE QUERY " + name + " AS SELECT id FROM readings INTO alerts");
            if (made.error) {
                EXPECT_EQ(made.error->code, ErrorCode::placement) << to_string(*made.error);
                continue;
            }
            accepted += 1;
            if (*coordinator_->snapshot()->read().used_slots("HUB") > 3) over = true;
            EXPECT_FALSE(session.execute("DROP QUERY " + name).error);
        }
    });
    EXPECT_FALSE(over);
    EXPECT_GT(accepted, 0);
    EXPECT_EQ(used("HUB"), "0\n");
    expect_sound();
}

TEST_F(Concurrency, APhysicalSourceThatAppearsWhilePlanningTakesPart) {
    CoordinatorOptions options;
    std::atomic<bool> add = false;
    options.planner = [&](const sql::CreateQuery& query, const planning::PlanningView& view) {
        auto made = plan(query, view);
        if (add.exchange(false)) {
            Session other(*coordinator_, "other");
            EXPECT_FALSE(other
                             .execute("CREATE PHYSICAL SOURCE FOR readings TYPE File SET "
                                      "('new.csv' AS SOURCE.FILE_PATH, 'EDGE' AS SOURCE.HOST)")
                             .error);
        }
        return made;
    };
    open(options);
    make_small_cluster();
    add = true;
    run("SELECT id FROM readings INTO alerts");
    EXPECT_EQ(rows("SELECT source FROM baton.query_sources"), "1\n2\n");
}

TEST_F(Concurrency, AWorkerLostWhilePlanningIsNotUsed) {
    CoordinatorOptions options;
    std::atomic<bool> lose = false;
    options.planner = [&](const sql::CreateQuery& query, const planning::PlanningView& view) {
        auto made = plan(query, view);
        if (lose.exchange(false)) {
            request(
                controllers::ReportWorker{"EDGE", WorkerState::unreachable, {}, {.text = "gone"}});
        }
        return made;
    };
    open(options);
    make_small_cluster();
    lose = true;
    EXPECT_EQ(error_of("SELECT id FROM readings INTO alerts").code, ErrorCode::placement);
    EXPECT_EQ(rows("SHOW QUERIES"), "");
}

TEST_F(Concurrency, APlanThatDoesNotSettleIsMadeByTheWriter) {
    CoordinatorOptions options;
    const std::thread::id client = std::this_thread::get_id();
    std::atomic<bool> meddle = false;
    options.planner = [&](const sql::CreateQuery& query, const planning::PlanningView& view) {
        auto made = plan(query, view);
        if (meddle && std::this_thread::get_id() == client) {
            const bool draining = view.cluster->workers.at("SPARE").draining;
            request(catalog::request::DrainWorker{"SPARE", !draining});
            const auto path = request(controllers::ReportWorker{
                "EDGE", WorkerState::active, {}, {.text = draining ? "a" : "b"}});
        }
        return made;
    };
    open(options);
    make_small_cluster();
    run("CREATE WORKER 'spare:1' SET ('SPARE' AS NAME)");
    meddle = true;
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(rows("SELECT name, state FROM baton.queries"), "Q|PENDING\n");
}

TEST_F(Concurrency, ReadersSeeWholeBundlesOnly) {
    run("CREATE WORKER 'a:1'");
    std::atomic<bool> stop = false;
    std::thread reader([&] {
        while (!stop) {
            auto snapshot = coordinator_->snapshot();
            const auto sources = snapshot->read().logical_sources();
            const auto sinks = snapshot->read().sinks();
            EXPECT_EQ(sources->size(), sinks->size());
        }
    });
    for (int i = 0; i < 100; ++i) {
        const std::string n = std::to_string(i);
        run("BEGIN; CREATE LOGICAL SOURCE s" + n + " (x INT8); CREATE SINK k" + n +
            " (x INT8) TYPE Void; COMMIT");
    }
    stop = true;
    reader.join();
}

TEST_F(Concurrency, AFullMailboxSaysSlowDownAndLosesNothing) {
    CoordinatorOptions options;
    options.commits.waiting_max = 2;
    options.commits.batch_max = 1;
    open(options);
    std::atomic<int> slow = 0;
    std::atomic<int> done = 0;
    std::mutex mutex;
    std::set<std::string> acknowledged;
    in_parallel(16, [&](int t) {
        Session session(*coordinator_, "client");
        for (int i = 0; i < 20; ++i) {
            const std::string name = "S" + std::to_string(t) + "_" + std::to_string(i);
            const Execution e = session.execute("CREATE LOGICAL SOURCE " + name + " (x INT8)");
            if (!e.error) {
                const std::lock_guard lock(mutex);
                acknowledged.insert(name);
                done += 1;
            } else if (e.error->code == ErrorCode::slow_down) {
                EXPECT_EQ(e.error->reaction(), Reaction::unavailable);
                slow += 1;
            }
        }
    });
    EXPECT_GT(slow, 0);
    EXPECT_EQ(slow + done, 16 * 20);
    std::set<std::string> there;
    const auto sources = coordinator_->snapshot()->read().logical_sources();
    for (const LogicalSource& source : *sources) there.insert(source.name);
    EXPECT_EQ(there, acknowledged);
}

}  // namespace
}  // namespace baton::coordinator
