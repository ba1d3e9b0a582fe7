// A catalog for benchmarks of the coordinator, and how they measure.
#pragma once

#include <memory>
#include <string>

#include "adapters/sqlite/sqlite.h"
#include "adapters/system/system_clock.h"
#include "bench/measure.h"
#include "coordinator/coordinator_runtime.h"

namespace baton::bench {

// A catalog in a file, with a coordinator over it.
struct Catalog {
    system::SystemClock clock;
    SqlDatabase* database = nullptr;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator;
};
[[nodiscard]] std::unique_ptr<Catalog> open_catalog(const std::string& path);
// Runs statements that must succeed.
void run_all(coordinator::CoordinatorRuntime& coordinator, const std::string& statements);

}  // namespace baton::bench
