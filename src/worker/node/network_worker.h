// NetworkWorker is a worker that listens: all of `baton worker` but its command line and signals.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/grpc/trust.h"
#include "base/result.h"
#include "base/time.h"
#include "model/entities.h"
#include "ports/clock.h"
#include "tables/access/table_access.h"
#include "worker/node/permits.h"

namespace baton::worker {

struct NetworkWorkerOptions {
    std::string name;             // as the catalog has it, in any case
    std::vector<Address> listen;  // for coordinators and for data, each; port 0: any that is free
    std::optional<std::string> directory;  // what must outlive the process; none: nothing does
    std::optional<std::uint64_t> fragments_max;
    std::shared_ptr<rpc::Trust> trust = rpc::user_trust();
    Permits permits;  // of its plans; its own directory and ports are out of reach in any case
    // The way to tables, within the permits; outlives the worker. None: no query writes into one.
    tables::TableAccess* tables = nullptr;
    // The program that is run for each partition of the worker (adapters/programs); none: none is.
    std::optional<std::string> partition_program;
    Duration partition_grace{};  // that such a program has to end
    // Gets lines that an operator may want to read, from any thread.
    std::function<void(const std::string&)> log;
};

class NetworkWorker {
public:
    // `clock` outlives it. Fails where an address cannot be had or a file cannot be read.
    [[nodiscard]] static Result<std::unique_ptr<NetworkWorker>> start(
        const Clock& clock, const NetworkWorkerOptions& options);
    // Stops listening to coordinators, then closes its ports; fragments end.
    ~NetworkWorker();
    NetworkWorker(const NetworkWorker&) = delete;
    NetworkWorker& operator=(const NetworkWorker&) = delete;

    // In the order of the addresses.
    [[nodiscard]] const std::vector<std::uint16_t>& ports() const;

    // Takes no new fragments from now on. Waits until no fragment lives, but no longer than
    // `patience`; false if some still do.
    [[nodiscard]] bool drain(Duration patience);

private:
    struct Parts;
    explicit NetworkWorker(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace baton::worker
