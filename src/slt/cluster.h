// TestCluster is what scripts run on: a coordinator with a catalog of its own, and either one
// embedded worker or those of a topology, which talk to each other over the network of this
// machine.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "coordinator/coordinator_runtime.h"
#include "doors/yaml/deployment.h"
#include "ports/clock.h"
#include "slt/supply.h"

namespace baton::slt {

struct TestClusterOptions {
    bool rows_for_clients = false;  // SELECT without INTO gives rows; scripts count on an error
};

class TestCluster {
public:
    // Waits until every worker is heard. Workers listen on free ports of this machine, whatever
    // their addresses say; these stay their names. `clock` outlives it.
    [[nodiscard]] static Result<std::unique_ptr<TestCluster>> start(
        const Clock& clock, const std::optional<yaml::Deployment>& topology,
        const TestClusterOptions& options = {});
    ~TestCluster();
    TestCluster(const TestCluster&) = delete;
    TestCluster& operator=(const TestCluster&) = delete;

    [[nodiscard]] coordinator::CoordinatorRuntime& coordinator();
    [[nodiscard]] const Places& places() const;

private:
    struct Parts;
    explicit TestCluster(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace baton::slt
