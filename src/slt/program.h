// The program that runs test scripts of the dialect, through any Client.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "coordinator/coordinator_runtime.h"
#include "slt/client.h"

namespace baton::slt {

// The coordinator outlives the client; the patience is for one statement.
using MakeClient = std::function<Result<std::unique_ptr<Client>>(
    coordinator::CoordinatorRuntime& coordinator, Duration)>;

// The exit status: 0 only if everything was as expected.
[[nodiscard]] int program(int argc, char** argv, const MakeClient& how);

}  // namespace baton::slt
