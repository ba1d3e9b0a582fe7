#include "coordinator/commit/commit_loop.h"

#include <future>
#include <latch>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "adapters/system/system_clock.h"
#include "catalog/schema.h"
#include "catalog/views/view_query.h"
#include "coordinator/coordinator_runtime.h"
#include "testing/eventually.h"
#include "testing/faulty_sql.h"

namespace baton::coordinator {
namespace {

using testing::SqlCall;
using testing::SqlFault;
using testing::SqlMoment;

class CommitLoopTest : public ::testing::Test {
protected:
    void SetUp() override {
        sqlite::SqliteOptions options;
        options.initialise = [](Sql& sql) { return catalog::migrate(sql); };
        real_ = *sqlite::open_temporary_sqlite(options);
        auto faulty = std::make_unique<testing::FaultySqlDatabase>(*real_, nullptr);
        faulty_ = faulty.get();
        coordinator_ = *CoordinatorRuntime::open(std::move(faulty), clock_);
    }

    static catalog::Request source(const std::string& name) {
        return catalog::request::CreateLogicalSource{
            name, Schema{.columns = {{.name = "X", .type = DataType::int8, .nullable = true}}},
            false};
    }
    static catalog::Request worker(const std::string& name) {
        return catalog::request::CreateWorker{{.name = name, .control = {.host = name, .port = 1}}};
    }
    static Bundle bundle_of(const catalog::Request& request) {
        Bundle bundle;
        bundle.steps.push_back({.what = request, .statement = "a statement"});
        return bundle;
    }
    static std::string text_of(const Outcome& outcome) {
        if (const auto* refused = std::get_if<Refused>(&outcome)) {
            return std::string(entry_of(refused->error.code).name);
        }
        return std::holds_alternative<Accepted>(outcome) ? "accepted" : "needs a plan";
    }
    std::string submit(const catalog::Request& request) {
        return text_of(coordinator_->commits().submit_and_wait(bundle_of(request)));
    }
    // Submits all of them so that they are taken in one batch.
    std::vector<std::string> submit_together(const std::vector<catalog::Request>& requests,
                                             const testing::SqlFaults& faults) {
        std::latch posted(1);
        std::atomic<bool> holding = true;
        faulty_->set_faults([&](const SqlMoment& moment) {
            if (moment.call == SqlCall::begin && holding.exchange(false)) posted.wait();
            return faults(moment);
        });
        std::vector<std::promise<Outcome>> answers(requests.size() + 1);
        const auto post = [&](const catalog::Request& request, std::promise<Outcome>& answer) {
            const auto done = coordinator_->commits().submit(
                bundle_of(request), [&](Outcome o) { answer.set_value(std::move(o)); });
            ASSERT_TRUE(done);
        };
        post(source("HOLD"), answers.back());
        EXPECT_TRUE(testing::eventually([&] { return !holding; }));
        for (std::size_t i = 0; i < requests.size(); ++i) post(requests[i], answers[i]);
        posted.count_down();
        std::vector<std::string> texts;
        for (auto& answer : answers) texts.push_back(text_of(answer.get_future().get()));
        texts.pop_back();
        faulty_->set_faults(nullptr);
        return texts;
    }
    std::vector<std::string> sources() {
        std::vector<std::string> names;
        const auto found = coordinator_->snapshot()->read().logical_sources();
        for (const LogicalSource& source : *found) names.push_back(source.name);
        return names;
    }

    // "statement OK" or "statement 2000", sorted: lines of different requests may change places.
    std::vector<std::string> logged() {
        coordinator_->commits().stop();  // writes what is waiting
        const auto rows = coordinator_->snapshot()->sql().query(
            "SELECT statement || ' ' || coalesce(error, 'OK') FROM statement_log ORDER BY 1");
        std::vector<std::string> lines;
        for (const SqlRow& row : *rows) lines.push_back(std::get<std::string>(row[0]));
        return lines;
    }

    system::SystemClock clock_;
    std::unique_ptr<SqlDatabase> real_;
    testing::FaultySqlDatabase* faulty_ = nullptr;
    std::unique_ptr<CoordinatorRuntime> coordinator_;
};

using Names = std::vector<std::string>;

TEST_F(CommitLoopTest, ACatalogThatTakesNoChangesIsToldOfAndSoIsItsRecovery) {
    std::vector<std::string> told;
    auto faulty = std::make_unique<testing::FaultySqlDatabase>(*real_, nullptr);
    faulty_ = faulty.get();
    CoordinatorOptions options;
    options.commits.committer.on_health = [&](const Result<Done>& health) {
        told.push_back(health ? "well" : std::string(entry_of(health.error().code).name));
    };
    coordinator_.reset();
    coordinator_ = *CoordinatorRuntime::open(std::move(faulty), clock_, options);
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::commit) return std::nullopt;
        return SqlFault{.code = ErrorCode::catalog_full};
    });
    for (std::uint64_t i = 1; i <= CommitHealth::kTroubleAfter; ++i) {
        EXPECT_FALSE(coordinator_->commit_trouble());
        EXPECT_EQ(submit(source("A")), "catalog_full");
        EXPECT_EQ(coordinator_->commit_counts().failures_in_a_row, i);
    }
    ASSERT_TRUE(coordinator_->commit_trouble());
    EXPECT_EQ(coordinator_->commit_trouble()->code, ErrorCode::catalog_full);
    faulty_->set_faults(nullptr);
    // It recovers by itself.
    ASSERT_TRUE(testing::eventually([&] { return !coordinator_->commit_trouble(); }));
    EXPECT_EQ(submit(source("A")), "accepted");
    EXPECT_EQ(told, (std::vector<std::string>{"catalog_full", "well"}));
    coordinator_.reset();
}

TEST_F(CommitLoopTest, FailuresWithACommitBetweenThemAreNoTrouble) {
    for (std::uint64_t i = 0; i < 2 * CommitHealth::kTroubleAfter; ++i) {
        faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
            if (moment.call != SqlCall::commit) return std::nullopt;
            return SqlFault{.code = ErrorCode::catalog_full};
        });
        EXPECT_EQ(submit(source("A" + std::to_string(i))), "catalog_full");
        faulty_->set_faults(nullptr);
        EXPECT_EQ(submit(source("A" + std::to_string(i))), "accepted");
        EXPECT_EQ(coordinator_->commit_counts().failures_in_a_row, 0U);
        EXPECT_FALSE(coordinator_->commit_trouble());
    }
}

// A client whose statement no database takes could depose one leader after the other.
TEST_F(CommitLoopTest, AStatementThatTheDatabaseRefusesIsNoTrouble) {
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.sql.find("INSERT INTO logical_source") == std::string_view::npos) {
            return std::nullopt;
        }
        return SqlFault{.code = ErrorCode::defect};
    });
    for (std::uint64_t i = 0; i < 3 * CommitHealth::kTroubleAfter; ++i) {
        EXPECT_EQ(submit(source("A")), "defect");
        EXPECT_FALSE(coordinator_->commit_trouble());
        EXPECT_LT(coordinator_->commit_counts().failures_in_a_row, CommitHealth::kTroubleAfter);
    }
    faulty_->set_faults(nullptr);
    EXPECT_EQ(submit(source("A")), "accepted");
}

TEST_F(CommitLoopTest, BundlesThatWaitShareOneCommit) {
    const std::uint64_t before = faulty_->calls(SqlCall::commit);
    const auto texts = submit_together({source("A"), source("B"), source("C")},
                                       [](const SqlMoment&) { return std::nullopt; });
    EXPECT_EQ(texts, (Names{"accepted", "accepted", "accepted"}));
    EXPECT_EQ(faulty_->calls(SqlCall::commit) - before, 2U);  // HOLD, then the three
    EXPECT_EQ(coordinator_->snapshot()->revision(), Revision(4));
}

TEST_F(CommitLoopTest, WhatOneBundleDoesWrongCostsNoOther) {
    const auto texts = submit_together({source("A"), source("A"), source("B")},
                                       [](const SqlMoment&) { return std::nullopt; });
    EXPECT_EQ(texts, (Names{"accepted", "source_exists", "accepted"}));
    EXPECT_EQ(sources(), (Names{"A", "B", "HOLD"}));
}

TEST_F(CommitLoopTest, ARequestThatFailsAfterItWroteLeavesNothingAndCostsNoOther) {
    const std::uint64_t savepoints = faulty_->calls(SqlCall::savepoint);
    int told = 0;
    const auto texts = submit_together({source("A"), source("B"), source("C")},
                                       [&](const SqlMoment& moment) -> std::optional<SqlFault> {
                                           if (!moment.sql.starts_with("INSERT INTO change_feed"))
                                               return std::nullopt;
                                           told += 1;  // HOLD, A, B, and with savepoints A, B, C
                                           if (told != 3 && told != 5) return std::nullopt;
                                           return SqlFault{.code = ErrorCode::write_rejected};
                                       });
    EXPECT_EQ(texts, (Names{"accepted", "write_rejected", "accepted"}));
    EXPECT_EQ(sources(), (Names{"A", "C", "HOLD"}));
    EXPECT_GT(faulty_->calls(SqlCall::savepoint), savepoints);
}

TEST_F(CommitLoopTest, ARequestThatLooksBeforeItWritesNeedsNoSavepoint) {
    const std::uint64_t savepoints = faulty_->calls(SqlCall::savepoint);
    EXPECT_EQ(submit(source("A")), "accepted");
    EXPECT_EQ(submit(source("A")), "source_exists");
    EXPECT_EQ(faulty_->calls(SqlCall::savepoint), savepoints);
}

TEST_F(CommitLoopTest, ABundleThatCostsTheTransactionIsRefusedAlone) {
    const auto texts = submit_together({source("A"), worker("W"), source("B")},
                                       [](const SqlMoment& moment) -> std::optional<SqlFault> {
                                           if (!moment.sql.starts_with("INSERT INTO worker"))
                                               return std::nullopt;
                                           return SqlFault{.code = ErrorCode::catalog_full,
                                                           .transaction_lost = true};
                                       });
    EXPECT_EQ(texts, (Names{"accepted", "catalog_full", "accepted"}));
    EXPECT_EQ(sources(), (Names{"A", "B", "HOLD"}));
}

TEST_F(CommitLoopTest, AFullDiskAtCommitLosesNothingThatWasAcknowledged) {
    ASSERT_EQ(submit(source("A")), "accepted");
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::commit) return std::nullopt;
        return SqlFault{.code = ErrorCode::catalog_full};
    });
    EXPECT_EQ(submit(source("B")), "catalog_full");
    faulty_->set_faults(nullptr);
    EXPECT_EQ(sources(), Names{"A"});
    EXPECT_EQ(submit(source("C")), "accepted");
}

TEST_F(CommitLoopTest, AnUnknownOutcomeIsToldAndItsChangesReachTheWatchers) {
    auto query = views::ViewQuery::from(sql::Show{.what = sql::ShowWhat::logical_sources});
    auto watch = *coordinator_->watch(*query);
    ASSERT_EQ(watch->poll()->size(), 1U);  // the snapshot
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::commit) return std::nullopt;
        return SqlFault{.code = ErrorCode::unknown_outcome, .took_effect = true};
    });
    EXPECT_EQ(submit(source("A")), "unknown_outcome");
    faulty_->set_faults(nullptr);
    EXPECT_EQ(sources(), Names{"A"});
    // A may be told already, with the log line of the statement, and at the latest before B.
    std::size_t told = watch->poll()->size();
    EXPECT_LE(told, 1U);
    EXPECT_EQ(submit(source("B")), "accepted");
    told += watch->poll()->size();
    EXPECT_EQ(told, 2U);
}

// Nobody else has to write first: not even a line of the log, for a request that is not logged.
TEST_F(CommitLoopTest, AnUnknownOutcomeIsSettledByItself) {
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::commit) return std::nullopt;
        return SqlFault{.code = ErrorCode::unknown_outcome, .took_effect = true};
    });
    Bundle unlogged = bundle_of(source("A"));
    unlogged.steps.front().statement.clear();
    EXPECT_EQ(text_of(coordinator_->commits().submit_and_wait(unlogged)), "unknown_outcome");
    faulty_->set_faults(nullptr);
    EXPECT_EQ(sources(), Names{"A"});
}

TEST_F(CommitLoopTest, WhatIsNotSettledWhenTheLoopStopsIsNotShown) {
    std::atomic<bool> gone = false;
    faulty_->set_faults([&](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call == SqlCall::begin && gone) return SqlFault{};
        if (moment.call != SqlCall::commit) return std::nullopt;
        gone = true;
        return SqlFault{.code = ErrorCode::unknown_outcome, .took_effect = true};
    });
    EXPECT_EQ(submit(source("A")), "unknown_outcome");
    coordinator_->commits().stop();
    faulty_->set_faults(nullptr);
    const auto snapshot = coordinator_->snapshot();
    ASSERT_FALSE(snapshot);
    EXPECT_EQ(snapshot.error().code, ErrorCode::catalog_unavailable);
}

TEST_F(CommitLoopTest, AnUnknownOutcomeThatDidNotHappenLeavesNothing) {
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::commit) return std::nullopt;
        return SqlFault{.code = ErrorCode::unknown_outcome};
    });
    EXPECT_EQ(submit(source("A")), "unknown_outcome");
    faulty_->set_faults(nullptr);
    EXPECT_EQ(sources(), Names{});
    EXPECT_EQ(submit(source("A")), "accepted");
}

// A disk that lost a write may say that all is well the next time: it is never believed again.
TEST_F(CommitLoopTest, AfterASyncThatFailedNothingIsWrittenOrShownAnyMore) {
    ASSERT_EQ(submit(source("A")), "accepted");
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::sync) return std::nullopt;
        return SqlFault{.code = ErrorCode::catalog_unavailable};
    });
    EXPECT_EQ(submit(source("B")), "unknown_outcome");
    faulty_->set_faults(nullptr);
    EXPECT_EQ(submit(source("C")), "catalog_unavailable");
    const auto snapshot = coordinator_->snapshot();
    ASSERT_FALSE(snapshot);
    EXPECT_EQ(snapshot.error().code, ErrorCode::catalog_unavailable);
    EXPECT_NE(snapshot.error().hint.find("restart"), std::string::npos);
}

TEST_F(CommitLoopTest, ADatabaseThatIsBusyIsUnavailableAndThenWorksAgain) {
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::begin) return std::nullopt;
        return SqlFault{.code = ErrorCode::catalog_unavailable};
    });
    EXPECT_EQ(submit(source("A")), "catalog_unavailable");
    faulty_->set_faults(nullptr);
    EXPECT_EQ(submit(source("A")), "accepted");
}

TEST_F(CommitLoopTest, ADeposedWriterChangesNothing) {
    auto other = *real_->connect(Access::write);
    ASSERT_TRUE(other->execute("UPDATE fence SET epoch = 7 WHERE lock_key = 'leader'"));
    EXPECT_EQ(submit(source("A")), "fenced");
    EXPECT_EQ(sources(), Names{});
}

// Its clock says that it may not act, though nobody has moved the fence yet.
TEST_F(CommitLoopTest, ATermThatIsOverChangesNothing) {
    bool leads = true;
    Committer committer(
        *real_->connect(Access::write), clock_,
        {.history = {}, .epoch = {}, .start = {}, .may_act = [&] { return leads; }});
    const auto commit = [&](const std::string& name) {
        std::string text;
        std::vector<Committer::Job> jobs;
        jobs.push_back({.bundle = std::make_shared<const Bundle>(bundle_of(source(name))),
                        .answered = [&](const Outcome& outcome) { text = text_of(outcome); }});
        committer.run(jobs, [](const CommittedBatch& batch) {
            for (const auto& answer : batch.answers) answer.answered(answer.outcome);
        });
        return text;
    };
    EXPECT_EQ(commit("A"), "accepted");
    const auto reads = *real_->connect(Access::read);
    const Revision before = *catalog::Reader(*reads).revision();
    leads = false;
    EXPECT_EQ(commit("B"), "fenced");
    EXPECT_EQ(*catalog::Reader(*reads).revision(), before);
}

TEST_F(CommitLoopTest, AStoppedLoopAnswersWhatWaitedAndRefusesTheRest) {
    ASSERT_EQ(submit(source("A")), "accepted");
    coordinator_->commits().stop();
    EXPECT_EQ(submit(source("B")), "catalog_unavailable");
}

// Who asked for what was refused is on record, also when the disk was full just then.
TEST_F(CommitLoopTest, ALineOfTheLogOutlivesACommitThatFails) {
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::commit) return std::nullopt;
        return SqlFault{.code = ErrorCode::catalog_full};
    });
    coordinator_->commits().log({.received = {},
                                 .principal = "alice",
                                 .statement = "CREATE SNIK",
                                 .error = Error{.code = ErrorCode::syntax, .message = "no"},
                                 .took = {},
                                 .revision = {}});
    EXPECT_EQ(submit(source("A")), "catalog_full");
    faulty_->set_faults(nullptr);
    EXPECT_EQ(submit(source("B")), "accepted");
    EXPECT_EQ(logged(), (Names{"CREATE SNIK 2000", "a statement 6002", "a statement OK"}));
}

TEST_F(CommitLoopTest, WhatTheDatabaseRefusedIsOnRecordToo) {
    faulty_->set_faults([](const SqlMoment& moment) -> std::optional<SqlFault> {
        if (moment.call != SqlCall::begin) return std::nullopt;
        return SqlFault{.code = ErrorCode::catalog_unavailable};
    });
    EXPECT_EQ(submit(source("A")), "catalog_unavailable");
    faulty_->set_faults(nullptr);
    EXPECT_EQ(submit(source("B")), "accepted");
    EXPECT_EQ(logged(), (Names{"a statement 6000", "a statement OK"}));
}

TEST_F(CommitLoopTest, ATrialAnswersAndLeavesNothing) {
    Bundle trial = bundle_of(source("A"));
    trial.keep = false;
    EXPECT_EQ(text_of(coordinator_->commits().submit_and_wait(trial)), "accepted");
    EXPECT_EQ(sources(), Names{});
    EXPECT_EQ(coordinator_->snapshot()->revision(), Revision(0));
}

TEST_F(CommitLoopTest, HistoryIsTrimmedAsFastAsItIsWritten) {
    coordinator_.reset();
    CoordinatorOptions options;
    options.commits.committer.history = {.changes_max = 10, .statements_max = 10};
    auto faulty = std::make_unique<testing::FaultySqlDatabase>(*real_, nullptr);
    coordinator_ = *CoordinatorRuntime::open(std::move(faulty), clock_, options);
    constexpr int kBundles = 20;
    constexpr std::size_t kSteps = 500;
    for (int i = 0; i < kBundles; ++i) {
        Bundle bundle;
        for (std::size_t k = 0; k < kSteps; ++k) {
            const std::string name = "S" + std::to_string(i) + "_" + std::to_string(k);
            bundle.steps.push_back({.what = source(name), .statement = "a statement"});
        }
        ASSERT_EQ(text_of(coordinator_->commits().submit_and_wait(bundle)), "accepted");
    }
    const auto snapshot = *coordinator_->snapshot();
    const auto lines = *snapshot.sql().query("SELECT COUNT(*) FROM statement_log");
    EXPECT_LT(std::get<std::int64_t>(lines[0][0]), std::int64_t{3 * kSteps});
    const auto changes = *snapshot.sql().query("SELECT COUNT(DISTINCT revision) FROM change_feed");
    EXPECT_LT(std::get<std::int64_t>(changes[0][0]), std::int64_t{15});
}

}  // namespace
}  // namespace baton::coordinator
