// A Bundle is the changes that one client wants to happen together: all of them or none.
#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "catalog/requests.h"
#include "catalog/views/view_query.h"
#include "coordinator/commit/interrupt.h"
#include "core/planning/planner.h"
#include "sql/ast.h"

namespace baton::coordinator {

using EntitySet = std::bitset<kinds::kEntityCount>;

// The step as the client wrote it, so that another coordinator can parse it again.
struct StepSource {
    std::string text;  // of one statement
    std::vector<sql::Literal> parameters = {};
    std::optional<Position> at = {};  // where it begins in what the client wrote; none: nowhere
    std::string token = {};           // of a SELECT whose rows the client is given, or of a table
};

// A change, or a look at what the changes before it made.
struct Step {
    std::variant<catalog::Request, views::ViewQuery> what;
    std::string statement;  // for the log, secrets masked; empty: not logged
    std::shared_ptr<const StepSource> source = nullptr;  // none: it is done here or nowhere
};
using StepAnswer = std::variant<catalog::Answer, views::Table>;

// The reads of a client's transaction before its first write: if any of the rows has changed since,
// the bundle is refused with conflict.
struct SeenBefore {
    EntitySet entities;
    Revision at;  // the oldest revision that something was read at
};

struct Bundle {
    std::vector<Step> steps;
    bool keep = true;  // false: a trial; the answers are given and everything is undone
    std::optional<SeenBefore> seen;
    planning::Planner plan_in_place;  // if set, the writer plans queries without a valid plan
    std::string principal;
    WallTime received;
    Instant started;
    bool passed_on = false;          // by another coordinator: it is done here or not at all
    Interrupt* interrupt = nullptr;  // ends a wait for the leader; outlives the bundle
};

// Everything happened, durably (or would have, for a trial).
struct Accepted {
    std::vector<StepAnswer> answers;
    Revision revision;  // of the catalog after it; of a trial, the one it was tried on
};
// Nothing happened.
struct Refused {
    std::size_t step = 0;
    Error error;
};
// Nothing happened: the query of that step needs a plan for this view.
struct NeedsPlan {
    std::size_t step = 0;
    planning::PlanningView view;
};
using Outcome = std::variant<Accepted, Refused, NeedsPlan>;

}  // namespace baton::coordinator
