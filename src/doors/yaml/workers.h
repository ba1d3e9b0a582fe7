// Reads the workers of a deployment file and puts them into an order in which they can be created.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "doors/yaml/tree.h"
#include "sql/ast.h"

namespace baton::yaml {

struct Workers {
    std::vector<sql::Statement> statements;  // each DOWNSTREAM of this file before its upstreams
    // The control address of every address by which this file may mean a worker. In the older form
    // `host` is the data address and `grpc` the control address, and links name `host`.
    std::map<std::string, std::string> addresses;

    // The control address meant; an address that is not in the file stays as it is.
    [[nodiscard]] std::string control_of(const std::string& address) const;
};

// `node` may be null. Fails with invalid_topology if the links form a cycle, worker_exists if two
// workers have one address, or as Fields do.
[[nodiscard]] Result<Workers> read_workers(const Node* node);

}  // namespace baton::yaml
