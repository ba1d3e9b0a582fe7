#include "engine/run/fragment_engine.h"

#include <stdexcept>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

#include "core/plan_format/plan_format.h"
#include "model/plan_check.h"
#include "testing/engine/doubles.h"
#include "testing/engine/engine_run.h"
#include "testing/engine/local_exchanges.h"
#include "testing/plans/builders.h"

namespace baton::engine {
namespace {

using testing::Row;

const Schema& schema() {
    static const Schema kSchema{
        .columns = {{.name = "TS", .type = DataType::uint64, .nullable = false},
                    {.name = "V", .type = DataType::int64, .nullable = true}}};
    return kSchema;
}

Row row(std::uint64_t time, std::int64_t value) {
    return {time, value};
}

PlanNode scan(std::uint64_t id = 1, const std::string& worker = "HUB") {
    return testing::source_scan(id, "S", worker, schema());
}

PlanNode counted(PlanNode input, std::optional<std::size_t> time = 0) {
    return testing::window_aggregate(std::move(input), {.size = 10, .advance = 10}, time, {},
                                     {testing::aggregate(AggregateFunction::count_all)});
}

FragmentPlan plan_of(PlanNode input) {
    return {.worker = "HUB", .roots = {testing::sink(std::move(input))}, .settings = {}};
}

template <class What>
const What* as(const fragments::Event& report) {
    return std::get_if<What>(&report);
}

class FragmentEngineTest : public ::testing::Test {
protected:
    FragmentEngineTest() { engine().listen(reports.listener()); }
    ~FragmentEngineTest() override { made_.reset(); }

    FragmentEngine& engine() {
        if (!made_) made_ = std::make_unique<FragmentEngine>(connectors, exchanges, clock, options);
        return *made_;
    }
    void restart() {  // with other options
        made_.reset();
        engine().listen(reports.listener());
    }
    void start(const FragmentPlan& plan) {
        engine().prepare(key, plan_format::write_plan(plan));
        engine().start(key);
        reports.wait_until_ran(key);
    }
    testing::SourceScript& source(std::uint64_t id = 1) {
        return connectors.source(PhysicalSourceId(id));
    }
    static Batch batch(const std::vector<Row>& rows) { return testing::batch_of(schema(), rows); }

    testing::DoubleConnectors connectors;
    testing::LocalExchanges exchanges;
    testing::FixedClock clock;
    FragmentOptions options;
    testing::Reports reports;
    const FragmentKey key = testing::fragment_key(1);

private:
    std::unique_ptr<FragmentEngine> made_;
};

TEST_F(FragmentEngineTest, AFragmentEndsWithItsSources) {
    source().give(batch({row(1, 5)}));
    source().end();
    start(plan_of(scan()));
    EXPECT_NE(as<fragments::Ended>(reports.end_of(key)), nullptr);
    EXPECT_EQ(reports.heard_of(key), "Prepared BeganToRun Ended");
    EXPECT_EQ(testing::to_string(connectors.sink().rows()), "1, 5\n");
    EXPECT_TRUE(connectors.sink().finished());
}

TEST_F(FragmentEngineTest, WhatIsWrittenIsSeenWhenNoMoreIsAtHand) {
    start(plan_of(scan()));
    source().give(batch({row(1, 5)}));
    connectors.sink().wait_for_flushed(1);
    EXPECT_FALSE(connectors.sink().finished());
    source().give(batch({row(2, 6)}));
    connectors.sink().wait_for_flushed(2);
}

TEST_F(FragmentEngineTest, DrainingFlushesWindowsAndCompletesTheSink) {
    start(plan_of(counted(scan())));
    source().give(batch({row(1, 5), row(2, 5)}));
    source().wait_until_asked_for_more();
    engine().drain(key);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(key)), nullptr);
    EXPECT_EQ(testing::to_string(connectors.sink().rows()), "0, 10, 2\n");
    EXPECT_TRUE(connectors.sink().finished());
}

TEST_F(FragmentEngineTest, AbortingFlushesNothing) {
    start(plan_of(counted(scan())));
    source().give(batch({row(1, 5)}));
    source().wait_until_asked_for_more();
    engine().abort(key);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(key)), nullptr);
    EXPECT_TRUE(connectors.sink().rows().empty());
    EXPECT_FALSE(connectors.sink().finished());
}

TEST_F(FragmentEngineTest, AbortingReachesWhoWaitsForTheSink) {
    connectors.sink().block();
    source(1).give(batch({row(1, 5)}));
    source(2).give(batch({row(1, 5)}));
    start(plan_of(testing::union_all({scan(1), scan(2)})));
    connectors.sink().wait_until_blocked();
    engine().abort(key);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(key)), nullptr);
}

TEST_F(FragmentEngineTest, DrainOrAbortBeforeTheStartHalts) {
    engine().prepare(key, plan_format::write_plan(plan_of(scan())));
    reports.wait_until_prepared(key);
    engine().drain(key);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(key)), nullptr);
    const FragmentKey unknown = testing::fragment_key(9);
    engine().abort(unknown);
    EXPECT_EQ(reports.heard_of(unknown), "Halted");
    engine().drain(unknown);
    engine().start(unknown);
    EXPECT_EQ(reports.heard_of(unknown), "Halted");
}

TEST_F(FragmentEngineTest, ErrorsOfTheDataAreTerminal) {
    start(plan_of(testing::project(
        scan(),
        {testing::call(Function::divide, {testing::number(1), testing::column(schema(), 1)})})));
    source(1).give(batch({row(1, 5)}));
    source(1).give(batch({row(2, 0)}));
    const auto end = reports.end_of(key);
    const auto* broke = as<fragments::Broke>(end);
    ASSERT_NE(broke, nullptr);
    EXPECT_EQ(broke->fault, control::Fault::terminal);
    EXPECT_EQ(broke->why, "error 3013: division by zero");
    EXPECT_FALSE(connectors.sink().finished());
}

TEST_F(FragmentEngineTest, ErrorsOfTheWorldAreTransient) {
    start(plan_of(testing::union_all({scan(1), scan(2)})));
    source(2).fail({.code = ErrorCode::worker_unreachable, .message = "gone"});
    const auto end = reports.end_of(key);
    const auto* broke = as<fragments::Broke>(end);
    ASSERT_NE(broke, nullptr);
    EXPECT_EQ(broke->fault, control::Fault::transient);
}

TEST_F(FragmentEngineTest, WhatIsRefusedForGoodIsTerminal) {
    start(plan_of(scan(1)));
    source(1).fail({.code = ErrorCode::not_supported, .message = "rows with another schema"});
    const auto end = reports.end_of(key);
    const auto* broke = as<fragments::Broke>(end);
    ASSERT_NE(broke, nullptr);
    EXPECT_EQ(broke->fault, control::Fault::terminal);
}

TEST_F(FragmentEngineTest, AThreadThatLacksMemoryBreaksItsFragmentForGood) {
    start(plan_of(counted(testing::union_all({scan(1), scan(2)}))));
    source(2).fail_with(std::make_exception_ptr(std::bad_alloc()));
    const auto end = reports.end_of(key);
    const auto* broke = as<fragments::Broke>(end);
    ASSERT_NE(broke, nullptr);
    EXPECT_EQ(broke->fault, control::Fault::terminal);
    EXPECT_EQ(broke->why,
              "error 3015: cannot go on with the query: the worker has no memory left for it; read "
              "shorter texts or fewer rows at once, or give the worker more memory");
    EXPECT_FALSE(connectors.sink().finished());
}

TEST_F(FragmentEngineTest, AnyOtherExceptionBreaksItsFragmentForGood) {
    start(plan_of(scan()));
    source().fail_with(std::make_exception_ptr(std::out_of_range("no such place")));
    const auto end = reports.end_of(key);
    const auto* broke = as<fragments::Broke>(end);
    ASSERT_NE(broke, nullptr);
    EXPECT_EQ(broke->fault, control::Fault::terminal);
    EXPECT_NE(broke->why.find("no such place"), std::string::npos);
}

TEST_F(FragmentEngineTest, AThreadThatCannotBeStartedBreaksItsFragmentForNow) {
    std::size_t left = 2;
    options.thread = [&](std::function<void()> work) {
        if (left == 0)
            throw std::system_error(
                std::make_error_code(std::errc::resource_unavailable_try_again));
        left -= 1;
        return std::thread(std::move(work));
    };
    restart();
    engine().prepare(
        key, plan_format::write_plan(plan_of(testing::union_all({scan(1), scan(2), scan(3)}))));
    engine().start(key);
    const auto end = reports.end_of(key);
    const auto* broke = as<fragments::Broke>(end);
    ASSERT_NE(broke, nullptr);
    EXPECT_EQ(broke->fault, control::Fault::transient);
    EXPECT_NE(broke->why.find("cannot start a thread for the query"), std::string::npos);
    EXPECT_EQ(reports.heard_of(key), "Prepared Broke");
    EXPECT_FALSE(connectors.sink().finished());
}

TEST_F(FragmentEngineTest, AFragmentThatReadsInTooManyPlacesIsRefusedForGood) {
    const std::vector<PlanNode> scans(kLeavesMost + 1, scan());
    engine().prepare(key, plan_format::write_plan(plan_of(testing::union_all(scans))));
    const auto end = reports.end_of(key);
    ASSERT_NE(as<fragments::PrepareFailed>(end), nullptr);
    EXPECT_EQ(as<fragments::PrepareFailed>(end)->fault, control::Fault::terminal);
    EXPECT_EQ(as<fragments::PrepareFailed>(end)->why,
              "error 2005: cannot run the query: worker \"HUB\" would read in 2001 places at once, "
              "but can in 2000; name fewer sources in a query, or spread them over more workers");
}

TEST_F(FragmentEngineTest, FragmentsThatReadInTooManyPlacesTogetherAreRefusedForNow) {
    options.leaves_most = 3;
    restart();
    start(plan_of(testing::union_all({scan(1), scan(2)})));
    const FragmentKey other = testing::fragment_key(2);
    const std::string plan =
        plan_format::write_plan(plan_of(testing::union_all({scan(3), scan(4)})));
    engine().prepare(other, plan);
    const auto end = reports.end_of(other);
    ASSERT_NE(as<fragments::PrepareFailed>(end), nullptr);
    EXPECT_EQ(as<fragments::PrepareFailed>(end)->fault, control::Fault::transient);
    EXPECT_EQ(
        as<fragments::PrepareFailed>(end)->why,
        "error 5000: cannot run the query: the queries of this worker would read in more than "
        "3 places at once; stop other queries, or run this one on another worker");
    engine().abort(key);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(key)), nullptr);
    const FragmentKey later = testing::fragment_key(3);
    engine().prepare(later, plan);
    reports.wait_until_prepared(later);
}

TEST(WindowMemoryMost, IsHalfOfWhatThereIsButAtLeastWhatOneFragmentMayHold) {
    EXPECT_EQ(window_memory_most(std::uint64_t{8} << 30U), std::uint64_t{4} << 30U);
    EXPECT_EQ(window_memory_most(std::uint64_t{256} << 20U), FragmentOptions().memory_most);
}

TEST_F(FragmentEngineTest, TheWindowsOfAllFragmentsAreBoundedTogether) {
    options.memory_most_in_all = 1;
    restart();
    start(plan_of(counted(scan())));
    source().give(batch({row(1, 5)}));
    const auto end = reports.end_of(key);
    ASSERT_NE(as<fragments::Broke>(end), nullptr);
    EXPECT_EQ(as<fragments::Broke>(end)->fault, control::Fault::terminal);
    EXPECT_NE(as<fragments::Broke>(end)->why.find("all queries of this worker"), std::string::npos);
}

TEST_F(FragmentEngineTest, ASinkThatFailsBreaksTheFragment) {
    connectors.sink().fail_with({.code = ErrorCode::catalog_full, .message = "no space"});
    source().give(batch({row(1, 5)}));
    start(plan_of(scan()));
    EXPECT_NE(as<fragments::Broke>(reports.end_of(key)), nullptr);
}

TEST_F(FragmentEngineTest, WhatCannotBePreparedSaysWhetherItEverCan) {
    const auto failure = [&](const std::string& plan) {
        engine().prepare(key, plan);
        const auto end = reports.end_of(key);
        const auto* failed = as<fragments::PrepareFailed>(end);
        return failed == nullptr ? std::optional<control::Fault>() : failed->fault;
    };
    EXPECT_EQ(failure("nonsense"), control::Fault::terminal);
}

TEST_F(FragmentEngineTest, APlanWhoseTypesLieIsRefusedBeforeItRuns) {
    FragmentPlan plan = plan_of(scan());
    for (Column& column : plan.roots[0].inputs[0].schema.columns) column.type = DataType::varsized;
    plan.roots[0].schema = plan.roots[0].inputs[0].schema;
    engine().prepare(key, plan_format::write_plan(plan));
    const auto end = reports.end_of(key);
    ASSERT_NE(as<fragments::PrepareFailed>(end), nullptr);
    EXPECT_EQ(as<fragments::PrepareFailed>(end)->fault, control::Fault::terminal);
    EXPECT_NE(
        as<fragments::PrepareFailed>(end)->why.find("a source has other columns than are wanted"),
        std::string::npos)
        << as<fragments::PrepareFailed>(end)->why;
}

TEST_F(FragmentEngineTest, AConfigurationThatCannotWorkIsTerminal) {
    connectors.refuse({.code = ErrorCode::invalid_configuration, .message = "no such file"});
    engine().prepare(key, plan_format::write_plan(plan_of(scan())));
    const auto end = reports.end_of(key);
    ASSERT_NE(as<fragments::PrepareFailed>(end), nullptr);
    EXPECT_EQ(as<fragments::PrepareFailed>(end)->fault, control::Fault::terminal);
}

TEST_F(FragmentEngineTest, WhatIsNotThereNowIsTransient) {
    connectors.refuse({.code = ErrorCode::worker_unreachable, .message = "no answer"});
    engine().prepare(key, plan_format::write_plan(plan_of(scan())));
    const auto end = reports.end_of(key);
    ASSERT_NE(as<fragments::PrepareFailed>(end), nullptr);
    EXPECT_EQ(as<fragments::PrepareFailed>(end)->fault, control::Fault::transient);
}

TEST_F(FragmentEngineTest, AFilterDoesNotHoldTimeBack) {
    const auto old =
        testing::call(Function::less, {testing::column(schema(), 1), testing::number(100)});
    start(plan_of(counted(testing::filter(scan(), old))));
    source().give(batch({row(1, 5)}));
    source().give(batch({row(20, 500)}));  // does not pass, but tells the time
    connectors.sink().wait_for_flushed(1);
    EXPECT_EQ(testing::to_string(connectors.sink().rows()), "0, 10, 1\n");
}

TEST_F(FragmentEngineTest, LateRowsAreCounted) {
    start(plan_of(counted(scan())));
    source().give(batch({row(20, 1)}));
    source().give(batch({row(3, 1)}));
    source().wait_until_asked_for_more();
    const auto counts = engine().counts();
    ASSERT_EQ(counts.size(), 1U);
    EXPECT_EQ(counts[0].key, key);
    EXPECT_EQ(counts[0].counts.late, 1U);
    EXPECT_EQ(counts[0].counts.rows_in, 2U);
    EXPECT_GT(counts[0].counts.memory, 0U);
}

TEST_F(FragmentEngineTest, LateRowsFailIfTheQuerySaysSo) {
    FragmentPlan plan = plan_of(counted(scan()));
    plan.settings["LATE"] = std::string("FAIL");
    start(plan);
    source().give(batch({row(20, 1)}));
    source().give(batch({row(3, 1)}));
    const auto end = reports.end_of(key);
    ASSERT_NE(as<fragments::Broke>(end), nullptr);
    EXPECT_EQ(as<fragments::Broke>(end)->fault, control::Fault::terminal);
}

TEST_F(FragmentEngineTest, WindowsOfArrivalCloseWithoutRows) {
    clock.set_wall_ms(1005);
    start(plan_of(counted(scan(), std::nullopt)));
    source().give(batch({row(1, 1)}));
    source().wait_until_asked_for_more();
    clock.set_wall_ms(1010);
    connectors.sink().wait_for_flushed(1);
    EXPECT_EQ(testing::to_string(connectors.sink().rows()), "1000, 1010, 1\n");
}

TEST_F(FragmentEngineTest, WhoHasNothingToDoDoesNothing) {
    start(plan_of(scan()));
    source().give(batch({row(1, 5)}));
    connectors.sink().wait_for_flushed(1);
    source().wait_until_asked_for_more();
    EXPECT_LE(source().idle_pulls(), 3U);
}

TEST_F(FragmentEngineTest, OriginsAreKnownAcrossWorkers) {
    const auto remote = [&](const std::string& worker, std::uint64_t id) {
        PlanNode input = scan(id, worker);
        PlanNode send{.op = Send{.exchange = 1, .to = "HUB", .address = ""},
                      .inputs = {input},
                      .schema = schema()};
        return FragmentPlan{.worker = worker, .roots = {send}, .settings = {}};
    };
    PlanNode receive{
        .op = Receive{.exchange = 1, .senders = {"A", "B"}}, .inputs = {}, .schema = schema()};
    const FragmentKey a = testing::fragment_key(2);
    const FragmentKey b = testing::fragment_key(3);
    start(plan_of(counted(receive)));
    engine().prepare(a, plan_format::write_plan(remote("A", 1)));
    engine().start(a);
    source(1).give(batch({row(50, 1)}));
    source(1).wait_until_asked_for_more();
    EXPECT_TRUE(connectors.sink().rows().empty());  // B has not even been heard of
    engine().prepare(b, plan_format::write_plan(remote("B", 2)));
    engine().start(b);
    source(2).give(batch({row(5, 1), row(7, 1)}));
    source(2).give(batch({row(12, 1)}));
    connectors.sink().wait_for_flushed(1);
    EXPECT_EQ(testing::to_string(connectors.sink().rows()), "0, 10, 2\n");
    source(1).end();
    source(2).end();
    EXPECT_NE(as<fragments::Ended>(reports.end_of(key)), nullptr);
    EXPECT_NE(as<fragments::Ended>(reports.end_of(a)), nullptr);
}

TEST_F(FragmentEngineTest, WhoWaitsForAnotherWorkerCanBeAborted) {
    PlanNode receive{
        .op = Receive{.exchange = 1, .senders = {"A"}}, .inputs = {}, .schema = schema()};
    start(plan_of(receive));
    engine().abort(key);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(key)), nullptr);
}

TEST_F(FragmentEngineTest, WhoIsDrainedDoesNotWaitForWhoNeverRan) {
    PlanNode receive{
        .op = Receive{.exchange = 1, .senders = {"A"}}, .inputs = {}, .schema = schema()};
    start(plan_of(receive));
    engine().drain(key);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(key)), nullptr);
}

TEST_F(FragmentEngineTest, WhoIsDrainedFlushesWhatCameFromWhoWasLost) {
    PlanNode receive{
        .op = Receive{.exchange = 1, .senders = {"A"}}, .inputs = {}, .schema = schema()};
    PlanNode send{.op = Send{.exchange = 1, .to = "HUB", .address = ""},
                  .inputs = {scan(1, "A")},
                  .schema = schema()};
    const FragmentKey lost = testing::fragment_key(2);
    start(plan_of(counted(receive)));
    engine().prepare(lost,
                     plan_format::write_plan({.worker = "A", .roots = {send}, .settings = {}}));
    engine().start(lost);
    source(1).give(batch({row(5, 1), row(7, 1), row(12, 1)}));
    connectors.sink().wait_for_flushed(1);
    engine().abort(lost);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(lost)), nullptr);
    engine().drain(key);
    EXPECT_NE(as<fragments::Halted>(reports.end_of(key)), nullptr);
    EXPECT_EQ(testing::to_string(connectors.sink().rows()), "0, 10, 2\n10, 20, 1\n");
    EXPECT_TRUE(connectors.sink().finished());
}

TEST_F(FragmentEngineTest, AnEngineThatGoesTakesItsFragmentsAlong) {
    start(plan_of(scan()));
    engine().prepare(testing::fragment_key(2), plan_format::write_plan(plan_of(scan(2))));
}

TEST_F(FragmentEngineTest, AKeyIsFreeAfterItsEnd) {
    source().end();
    for (int i = 0; i < 3; ++i) {
        testing::Reports heard;
        engine().listen(heard.listener());
        engine().prepare(key, plan_format::write_plan(plan_of(scan())));
        engine().start(key);
        EXPECT_NE(as<fragments::Ended>(heard.end_of(key)), nullptr);
        engine().listen({});
    }
}

}  // namespace
}  // namespace baton::engine
