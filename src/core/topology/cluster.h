// The workers and links, which change rarely and are shared by many plans.
#pragma once

#include <map>
#include <string>

#include "base/id.h"
#include "core/topology/topology.h"
#include "model/entities.h"

namespace baton::topology {

struct Cluster {
    std::map<std::string, Worker> workers;
    Topology topology;
    Revision revision;  // of its last change
};

}  // namespace baton::topology
