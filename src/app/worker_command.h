// `baton worker`: a process that runs fragments for whatever coordinator calls it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "adapters/system/certificate_files.h"
#include "worker/node/permits.h"

namespace baton::app {

struct WorkerCommand {
    std::string name;                       // as the catalog has it, in any case; empty: `listen`
    std::string listen;                     // host:port for coordinators, and for data
    std::optional<std::string> data;        // host:port for data alone
    std::optional<std::uint64_t> capacity;  // slots
    std::optional<std::string> directory;   // what must outlive the process
    system::TlsFiles tls;                   // all of them, or none
    worker::Permits permits;                // what plans may reach outside
    std::optional<std::string> join;        // a token
    bool any_role = false;                  // certificates without a role may do everything
    bool insecure = false;  // listen beyond this machine though nothing is encrypted
    std::optional<std::string> partition_program;  // run for each partition; none: nothing is
    std::uint64_t partition_grace_seconds = 10;
    // How long a worker that was asked to leave waits for running fragments.
    std::uint64_t drain_seconds = 10;
};

// Runs until SIGTERM or SIGINT, then drains and leaves; a second signal ends the drain. The exit
// status.
[[nodiscard]] int run_worker(const WorkerCommand& command);

// `baton worker release`: the worker of this data directory, which does not run, forgets which
// catalog it belongs to and which epochs it has obeyed. The exit status.
[[nodiscard]] int release_worker(const std::string& directory);

}  // namespace baton::app
