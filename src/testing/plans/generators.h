// Plans and tables that rapidcheck draws, for the laws of planning. Each function draws one value
// and is called from within a property.
#pragma once

#include <cstddef>

#include "model/entities.h"
#include "testing/reference/reference.h"

namespace baton::testing {

// Two logical sources, S and T, with one to three physical ones each, on workers W1 to W4.
struct World {
    std::map<std::string, LogicalSource> logical;
    std::vector<PhysicalSource> physical;
    TestTables tables;
};
[[nodiscard]] World any_world();

// A logical plan over the sources of `any_world`, whose sink is on HUB. `depth` bounds the
// operators on a way from sink to source.
[[nodiscard]] PlanNode any_plan(std::size_t depth);

// Of that type, over rows of that schema.
[[nodiscard]] Expression any_predicate(const Schema& schema, std::size_t depth);

}  // namespace baton::testing
