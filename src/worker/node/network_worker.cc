#include "worker/node/network_worker.h"

#include <utility>

#include "adapters/grpc/control_server.h"
#include "adapters/grpc/grpc_exchanges.h"
#include "adapters/grpc/grpc_server.h"
#include "adapters/grpc/result_service.h"
#include "adapters/programs/partition_programs.h"
#include "adapters/system/epoch_file.h"
#include "adapters/system/private_directory.h"
#include "engine/results/result_hub.h"
#include "worker/host/worker_host.h"
#include "worker/node/engine_kit.h"

namespace baton::worker {

namespace {

Result<std::unique_ptr<EpochStore>> epochs_in(const std::optional<std::string>& directory) {
    if (!directory) return std::unique_ptr<EpochStore>();
    TRY(system::make_private_directory(*directory, ErrorCode::unreadable_configuration));
    TRY_ASSIGN(file, system::EpochFile::open(*directory));
    return std::unique_ptr<EpochStore>(std::make_unique<system::EpochFile>(std::move(file)));
}

Permits permits_of(const NetworkWorkerOptions& options) {
    Permits permits = options.permits;
    if (options.directory) permits.files.never.push_back(*options.directory);
    for (const Address& address : options.listen) {
        permits.targets.own_ports.push_back(address.port);
    }
    return permits;
}

}  // namespace

// In the order in which they end backwards, but for the host, which ends before the server.
struct NetworkWorker::Parts {
    std::unique_ptr<EpochStore> epochs;
    std::unique_ptr<rpc::GrpcExchanges> exchanges;
    engine::ResultHub hub;
    std::unique_ptr<rpc::ResultService> results;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<processes::PartitionPrograms> programs;
    std::unique_ptr<rpc::ControlServer> control;
    std::unique_ptr<rpc::GrpcServer> server;
    std::unique_ptr<WorkerHost> host;
};

Result<std::unique_ptr<NetworkWorker>> NetworkWorker::start(const Clock& clock,
                                                            const NetworkWorkerOptions& options) {
    auto parts = std::make_unique<Parts>();
    TRY_ASSIGN(epochs, epochs_in(options.directory));
    parts->epochs = std::move(epochs);
    parts->exchanges = std::make_unique<rpc::GrpcExchanges>(rpc::GrpcExchangesOptions{
        .limits = {}, .trust = options.trust, .worker = options.name, .log = options.log});
    parts->results =
        std::make_unique<rpc::ResultService>(parts->hub, options.name, options.trust, options.log);
    TRY_ASSIGN(engine, make_engine(*parts->exchanges, parts->hub, clock,
                                   {.permits = permits_of(options),
                                    .fragments_max = options.fragments_max,
                                    .tables = options.tables}));
    parts->engine = std::move(engine);
    parts->control = std::make_unique<rpc::ControlServer>(rpc::ControlServerOptions{
        .worker = options.name, .trust = options.trust, .log = options.log});
    if (options.partition_program) {
        parts->programs = std::make_unique<processes::PartitionPrograms>(
            processes::PartitionProgramsOptions{.command = *options.partition_program,
                                                .grace = options.partition_grace,
                                                .log = options.log},
            clock);
    }
    const auto now = clock.wall_now().time_since_epoch().count();
    TRY_ASSIGN(host, WorkerHost::start({.incarnation = Incarnation(static_cast<std::uint64_t>(now)),
                                        .log = options.log},
                                       {.engine = *parts->engine,
                                        .doors = {parts->control.get()},
                                        .clock = clock,
                                        .epochs = parts->epochs.get(),
                                        .partitions = parts->programs.get()}));
    parts->host = std::move(host);
    TRY_ASSIGN(server, rpc::GrpcServer::start(
                           {.listen = options.listen, .trust = options.trust, .log = options.log},
                           {&parts->control->service(), &parts->exchanges->service(),
                            &parts->results->service()}));
    parts->server = std::move(server);
    return std::unique_ptr<NetworkWorker>(new NetworkWorker(std::move(parts)));
}

NetworkWorker::NetworkWorker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
NetworkWorker::~NetworkWorker() = default;

const std::vector<std::uint16_t>& NetworkWorker::ports() const {
    return parts_->server->ports();
}

bool NetworkWorker::drain(Duration patience) {
    return parts_->host->drain(patience);
}

}  // namespace baton::worker
