// EmbeddedWorker is the worker in a coordinator's own process, and the way to all other workers.
//
// Fragments of the embedded worker end with the process; when it starts again, the coordinator
// starts their queries again.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/grpc/trust.h"
#include "base/result.h"
#include "ports/clock.h"
#include "ports/result_streams.h"
#include "ports/transport.h"
#include "tables/access/table_access.h"
#include "worker/node/permits.h"

namespace baton::worker {

struct EmbeddedWorkerOptions {
    std::shared_ptr<rpc::Trust> trust = rpc::user_trust();  // on the network to other workers
    Permits permits;                                        // of its plans
    // The way to tables, of this worker alone; outlives it. None: no query writes into one.
    tables::TableAccess* tables = nullptr;
    // Gets lines that an operator may want to read, from any thread. None: no log.
    std::function<void(const std::string&)> log;
};

class EmbeddedWorker {
public:
    // `clock` outlives it.
    [[nodiscard]] static Result<std::unique_ptr<EmbeddedWorker>> start(
        const Clock& clock, const EmbeddedWorkerOptions& options = {});
    // Destroy it after the coordinator that uses its transport and results.
    ~EmbeddedWorker();
    EmbeddedWorker(const EmbeddedWorker&) = delete;
    EmbeddedWorker& operator=(const EmbeddedWorker&) = delete;

    // To the embedded worker, and over the network to workers that have an address.
    [[nodiscard]] Transport& transport();
    // Rows for clients, from the same workers.
    [[nodiscard]] ResultStreams& results();

private:
    struct Parts;
    explicit EmbeddedWorker(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace baton::worker
