// The engine of a worker with everything that it reaches the outside through: files, sockets,
// brokers, tables.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/streams/exchange.h"
#include "ports/clock.h"
#include "ports/engine.h"

namespace baton {

// Both outlive the engine. With `fragments_max`, no more are prepared while so many live.
[[nodiscard]] std::unique_ptr<Engine> make_engine(
    Exchanges& exchanges, const Clock& clock,
    std::optional<std::uint64_t> fragments_max = std::nullopt);

}  // namespace baton
