// Routes are the ways that the data of one query takes to the worker of its sink: a shortest path
// of links for each source, together a tree, over workers that can take part.
//
// A worker can take part if it is ACTIVE, not draining, and has a slot left: a worker that relays
// data runs a fragment too. Workers need no links to exist: whether data can get from a source to a
// sink is decided here, for each query. Among paths of one length the one through the
// alphabetically first workers wins.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/topology/cluster.h"

namespace baton::placement {

struct CapacityView {
    const topology::Cluster& cluster;
    // Slots in use on workers that have a capacity; one that is not here has none in use.
    const std::map<std::string, std::uint64_t>& used;
};

// A worker that the query cannot do without, and why: "the sink", "physical source 7".
struct Pinned {
    std::string worker;
    std::string what;
};

class Routes {
public:
    // Fails with unknown_worker if a pinned worker does not exist, and with placement if one cannot
    // take part or the data of a source cannot get to the sink; the message names every worker that
    // is in the way and its lack.
    [[nodiscard]] static Result<Routes> to(const Pinned& sink, const std::vector<Pinned>& sources,
                                           const CapacityView& view);

    [[nodiscard]] const std::string& sink() const { return sink_; }
    // Where the data of a worker on the way goes next; not of the sink's worker.
    [[nodiscard]] const std::string& next_of(const std::string& worker) const;
    // Where a worker that is some worker's next takes data: "host:port", empty if it is embedded.
    [[nodiscard]] const std::string& data_address_of(const std::string& worker) const;
    // How many steps it is from a worker on the way to the sink's.
    [[nodiscard]] std::uint64_t steps_from(const std::string& worker) const;
    // The first worker that the data of all of these passes through.
    [[nodiscard]] std::string meeting_point(const std::set<std::string>& workers) const;

private:
    std::string sink_;
    std::map<std::string, std::string> next_;  // by worker on the way, without the sink's
    std::map<std::string, std::string> data_addresses_;
};

}  // namespace baton::placement
