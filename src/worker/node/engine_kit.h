// The engine of a worker with everything that it reaches the outside through: files, sockets,
// brokers, tables.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "engine/results/result_hub.h"
#include "engine/streams/exchange.h"
#include "ports/clock.h"
#include "ports/engine.h"
#include "worker/node/permits.h"

namespace baton::worker {

// All three outlive the engine; rows for clients go into `results`. With `fragments_max`, no more
// are prepared while so many live. Fails with invalid_configuration for permits that cannot be.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_engine(
    engine::Exchanges& exchanges, engine::ResultHub& results, const Clock& clock,
    const Permits& permits, std::optional<std::uint64_t> fragments_max = std::nullopt);

}  // namespace baton::worker
