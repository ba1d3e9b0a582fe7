// The coordinator in this process as a counterpart.
#pragma once

#include <memory>
#include <string>

#include "coordinator/coordinator_runtime.h"
#include "doors/shell/counterpart.h"
#include "model/wait.h"

namespace baton::shell {

// The coordinator outlives it. `principal` is the user in whose name it asks; statements wait for
// their queries as `wait` says.
[[nodiscard]] std::unique_ptr<Counterpart> local(coordinator::CoordinatorRuntime& coordinator,
                                                 std::string principal, const Wait& wait = {});

}  // namespace baton::shell
