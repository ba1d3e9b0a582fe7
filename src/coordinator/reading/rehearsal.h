// Rehearsal tries the statements of a long transaction out, one after the other, on the
// transaction's own copy of the catalog: each costs as much as it does alone, however many came
// before, and the writer is not involved. Used by one thread at a time.
//
// A copy costs memory and the time to make it, so that short transactions are tried out on the
// catalog itself, and only so many are made at once.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "coordinator/commit/bundle.h"
#include "coordinator/commit/committer.h"
#include "coordinator/reading/readers.h"
#include "core/planning/planner.h"
#include "ports/clock.h"
#include "ports/sql.h"

namespace baton::coordinator {

// Makes a database for a copy: in memory, with the tables of this version and nothing in them.
using ScratchDatabase = std::function<Result<std::unique_ptr<SqlDatabase>>()>;

class Rehearsal {
public:
    // Counts those that there are.
    class Stage {
    public:
        explicit Stage(std::size_t most) : most_(most) {}
        [[nodiscard]] std::size_t taken() const { return taken_; }

    private:
        friend class Rehearsal;
        const std::size_t most_;
        std::atomic<std::size_t> taken_ = 0;
    };

    // Copies the catalog as the snapshot has it. The stage and the clock outlive it. Fails with
    // slow_down if there are too many, and with errors of the databases.
    [[nodiscard]] static Result<std::unique_ptr<Rehearsal>> begin(Stage& stage,
                                                                  const ScratchDatabase& scratch,
                                                                  const Snapshot& snapshot,
                                                                  planning::Planner planner,
                                                                  const Clock& clock);
    ~Rehearsal();
    Rehearsal(const Rehearsal&) = delete;
    Rehearsal& operator=(const Rehearsal&) = delete;

    // Of the catalog that was copied.
    [[nodiscard]] Revision revision() const { return revision_; }
    // Does the steps, all or none, after those before.
    [[nodiscard]] Outcome perform(std::vector<Step> steps);

private:
    Rehearsal(Stage& stage, std::unique_ptr<SqlDatabase> database, std::unique_ptr<Sql> sql,
              const CommitterOptions& options, planning::Planner planner, const Clock& clock);

    Stage& stage_;
    const Clock& clock_;
    const Revision revision_;
    const planning::Planner planner_;
    std::unique_ptr<SqlDatabase> database_;
    Committer committer_;
};

}  // namespace baton::coordinator
