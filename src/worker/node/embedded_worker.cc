#include "worker/node/embedded_worker.h"

#include <utility>

#include "adapters/grpc/grpc_exchanges.h"
#include "adapters/grpc/grpc_result_streams.h"
#include "adapters/grpc/grpc_transport.h"
#include "engine/results/local_result_streams.h"
#include "engine/results/result_hub.h"
#include "worker/host/local_transport.h"
#include "worker/host/worker_host.h"
#include "worker/node/engine_kit.h"

namespace baton::worker {

// In the order in which they end backwards.
struct EmbeddedWorker::Parts {
    std::unique_ptr<rpc::GrpcTransport> remote;
    std::unique_ptr<rpc::GrpcExchanges> exchanges;
    std::unique_ptr<rpc::GrpcResultStreams> remote_results;
    engine::ResultHub hub;
    std::unique_ptr<engine::LocalResultStreams> results;
    std::unique_ptr<LocalTransport> local;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<WorkerHost> host;
};

Result<std::unique_ptr<EmbeddedWorker>> EmbeddedWorker::start(
    const Clock& clock, const EmbeddedWorkerOptions& options) {
    auto parts = std::make_unique<Parts>();
    rpc::GrpcTransportOptions transport_options;
    transport_options.trust = options.trust;
    parts->remote = std::make_unique<rpc::GrpcTransport>(transport_options);
    parts->exchanges = std::make_unique<rpc::GrpcExchanges>(rpc::GrpcExchangesOptions{
        .limits = {}, .trust = options.trust, .worker = {}, .log = options.log});
    parts->remote_results = std::make_unique<rpc::GrpcResultStreams>(options.trust);
    parts->results =
        std::make_unique<engine::LocalResultStreams>(parts->hub, parts->remote_results.get());
    parts->local = std::make_unique<LocalTransport>(parts->remote.get());
    TRY_ASSIGN(engine, make_engine(*parts->exchanges, parts->hub, clock,
                                   {.permits = options.permits,
                                    .fragments_max = std::nullopt,
                                    .tables = options.tables}));
    parts->engine = std::move(engine);
    const auto now = clock.wall_now().time_since_epoch().count();
    TRY_ASSIGN(
        host,
        WorkerHost::start(
            {.incarnation = Incarnation(static_cast<std::uint64_t>(now)), .log = options.log},
            {.engine = *parts->engine, .doors = {&parts->local->sessions()}, .clock = clock}));
    parts->host = std::move(host);
    return std::unique_ptr<EmbeddedWorker>(new EmbeddedWorker(std::move(parts)));
}

EmbeddedWorker::EmbeddedWorker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
EmbeddedWorker::~EmbeddedWorker() = default;

Transport& EmbeddedWorker::transport() {
    return parts_->local->transport();
}

ResultStreams& EmbeddedWorker::results() {
    return *parts_->results;
}

}  // namespace baton::worker
