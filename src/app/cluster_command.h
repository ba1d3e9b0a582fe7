// `baton cluster`: worker processes on this machine, and a shell of a coordinator that has them.
// For demonstrations and tests; everything ends with it.
#pragma once

#include <cstdint>

#include "app/commands.h"

namespace baton::app {

struct ClusterCommand {
    ShellCommand shell;
    std::uint64_t workers = 3;
    // Worker 1, into which all others lead, listens here, worker 2 on the next port, and so on.
    std::uint16_t port = 7400;
};

[[nodiscard]] int run_cluster(const ClusterCommand& command);

}  // namespace baton::app
