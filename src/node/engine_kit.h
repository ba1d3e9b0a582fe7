// The engine of a worker with everything that it reaches the outside through: files, sockets,
// brokers, tables.
#pragma once

#include <memory>

#include "engine/streams/exchange.h"
#include "ports/clock.h"
#include "ports/engine.h"

namespace baton {

// Both outlive the engine.
[[nodiscard]] std::unique_ptr<Engine> make_engine(Exchanges& exchanges, const Clock& clock);

}  // namespace baton
