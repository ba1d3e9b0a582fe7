// `baton worker`: a process that runs fragments for whatever coordinator calls it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/streams/exchange.h"
#include "ports/engine.h"

namespace baton {

struct WorkerCommand {
    std::string name;                       // as the catalog has it, in any case; empty: `listen`
    std::string listen;                     // host:port for coordinators, and for data
    std::optional<std::string> data;        // host:port for data alone
    std::optional<std::uint64_t> capacity;  // slots
    std::optional<std::string> directory;   // what must outlive the process
    std::string tls_ca;                     // with the other two, or none of them
    std::string tls_cert;
    std::string tls_key;
    // How long fragments that run are waited for once it was told to leave.
    std::uint64_t drain_seconds = 10;
};

// What an engine is given to run in a worker.
struct EngineSite {
    std::string worker;
    Exchanges& exchanges;  // outlive the engine
    std::optional<std::uint64_t> capacity;
    std::optional<std::string> directory;
};
using EngineFactory = std::function<Result<std::unique_ptr<Engine>>(const EngineSite&)>;

// Runs until SIGTERM or SIGINT, then drains and leaves; a second signal ends the drain. The exit
// status.
[[nodiscard]] int run_worker(const WorkerCommand& command, const EngineFactory& make_engine);

// An engine that can run nothing and says so.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_no_engine(const EngineSite& site);

}  // namespace baton
