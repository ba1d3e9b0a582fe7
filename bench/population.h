// A catalog of a given size, made with real statements.
//
//   worker Wi      downstream to hub Hj; each has its sink and its logical source with some
//                  physical ones
//   query  Qk      from the source of a worker to its sink, every other one to the hub's sink
#pragma once

#include <cstdint>
#include <string>

#include "coordinator/coordinator_runtime.h"

namespace baton::bench {

struct Population {
    unsigned workers = 10'000;  // hubs included
    unsigned sources_per_worker = 5;
    unsigned queries = 100'000;
    unsigned failed = 100;  // of the queries

    [[nodiscard]] unsigned hubs() const { return workers / 100 + 1; }
    [[nodiscard]] unsigned edges() const { return workers - hubs(); }
    [[nodiscard]] unsigned sources() const { return edges() * sources_per_worker; }
};

[[nodiscard]] std::string worker_name(unsigned edge);  // without quotes

void populate(coordinator::CoordinatorRuntime& coordinator, const Population& population);

}  // namespace baton::bench
