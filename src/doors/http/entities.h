// The statements that requests for entities stand for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doors/http/api.h"
#include "doors/http/target.h"

namespace baton::http {

[[nodiscard]] Result<Ask> plan_list(const Collection& collection, const Target& target);
[[nodiscard]] Result<Ask> plan_one(const Routed& routed, const Request& request);
// Everything of the collection that the filters admit, as a WATCH.
[[nodiscard]] Result<sql::Statement> watch_of(const Collection& collection, const Target& target);

// DELETE, and the POSTs to existing entities; the wait is the caller's.
[[nodiscard]] Result<Ask> plan_change(const Routed& routed, const Target& target,
                                      const Request& request);

}  // namespace baton::http
