// Expanding replaces each logical source by all of its physical ones, as a union.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "model/entities.h"
#include "model/plan.h"

namespace baton::optimizer {

struct SourcesView {
    const std::map<std::string, LogicalSource>& logical;  // every one that the plan names
    std::span<const PhysicalSource> physical;
};

// Every physical source of a logical one takes part, in the order of their numbers.
// Fails with placement if a logical source has none.
[[nodiscard]] Result<PlanNode> expanded(PlanNode root, const SourcesView& sources);

}  // namespace baton::optimizer
