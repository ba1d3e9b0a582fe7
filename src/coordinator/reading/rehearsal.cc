#include "coordinator/reading/rehearsal.h"

#include <utility>

#include "base/check.h"
#include "catalog/copy.h"

namespace baton::coordinator {

Rehearsal::Rehearsal(Stage& stage, std::unique_ptr<SqlDatabase> database, std::unique_ptr<Sql> sql,
                     const CommitterOptions& options, planning::Planner planner, const Clock& clock)
    : stage_(stage),
      clock_(clock),
      revision_(options.start),
      planner_(std::move(planner)),
      database_(std::move(database)),
      committer_(std::move(sql), clock, options) {}

Rehearsal::~Rehearsal() {
    stage_.taken_ -= 1;
}

Result<std::unique_ptr<Rehearsal>> Rehearsal::begin(Stage& stage, const ScratchDatabase& scratch,
                                                    const Snapshot& snapshot,
                                                    planning::Planner planner, const Clock& clock) {
    if (++stage.taken_ > stage.most_) {
        stage.taken_ -= 1;
        return Error{.code = ErrorCode::slow_down,
                     .message = "too many long transactions are open",
                     .hint = "try again when others have ended, or send BEGIN .. COMMIT at once"};
    }
    auto begun = [&]() -> Result<std::unique_ptr<Rehearsal>> {
        TRY_ASSIGN(database, scratch());
        TRY_ASSIGN(sql, database->connect(Access::write));
        TRY_ASSIGN(epoch, catalog::copy_state(snapshot.sql(), *sql));
        CommitterOptions options;
        options.epoch = epoch;
        options.start = snapshot.revision();
        return std::unique_ptr<Rehearsal>(new Rehearsal(stage, std::move(database), std::move(sql),
                                                        options, std::move(planner), clock));
    }();
    if (!begun) stage.taken_ -= 1;
    return begun;
}

Outcome Rehearsal::perform(std::vector<Step> steps) {
    auto bundle = std::make_shared<Bundle>();
    bundle->steps = std::move(steps);
    for (Step& step : bundle->steps) step.statement.clear();  // nobody reads that log
    bundle->plan_in_place = planner_;
    bundle->received = clock_.wall_now();
    bundle->started = clock_.now();
    std::vector<Committer::Job> jobs;
    jobs.push_back({.bundle = std::move(bundle), .answered = nullptr});
    std::optional<Outcome> outcome;
    committer_.run(jobs, [&](CommittedBatch batch) {
        for (auto& answer : batch.answers) outcome = std::move(answer.outcome);
    });
    CHECK(outcome);
    return *std::move(outcome);
}

}  // namespace baton::coordinator
