// Optimising gives a plan of the same rows with less work: the rules (rules.h) until none has
// anything to say, and pruning.
//
// Works on logical plans and on those whose logical sources were expanded. The schema of the root
// stays; optimising twice changes nothing.
#pragma once

#include "model/plan.h"

namespace baton::optimizer {

[[nodiscard]] PlanNode optimized(PlanNode root);

}  // namespace baton::optimizer
