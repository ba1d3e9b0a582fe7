// Plans as text for transcripts of tests: one operator per line, inputs below it, types everywhere.
#pragma once

#include <string>

#include "model/plan.h"

namespace baton::testing {

[[nodiscard]] std::string plan_text(const PlanNode& root);

}  // namespace baton::testing
