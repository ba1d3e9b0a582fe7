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
#include "tables/access/table_access.h"
#include "worker/node/permits.h"

namespace baton::worker {

struct EngineOptions {
    Permits permits;
    std::optional<std::uint64_t> fragments_max;  // while so many live, no more are prepared
    // The way to tables, of this worker alone; outlives the engine. None: no query writes into one.
    tables::TableAccess* tables = nullptr;
};

// All three outlive the engine; rows for clients go into `results`. Fails with
// invalid_configuration for permits that cannot be.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_engine(engine::Exchanges& exchanges,
                                                          engine::ResultHub& results,
                                                          const Clock& clock,
                                                          const EngineOptions& options);

}  // namespace baton::worker
