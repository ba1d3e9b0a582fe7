// The page of /metrics: the counts of this process, and present values of the catalog.
#pragma once

#include <string>
#include <vector>

#include "doors/desk/desk.h"
#include "doors/desk/metrics.h"

namespace baton::http {

// The questions that metrics_page() needs the answers to.
[[nodiscard]] std::string metrics_questions();
[[nodiscard]] std::string metrics_page(const desk::Metrics& metrics, desk::Desk& desk,
                                       const coordinator::Execution& answers);

}  // namespace baton::http
