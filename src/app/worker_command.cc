#include "app/worker_command.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <utility>

#include "adapters/system/descriptors.h"
#include "adapters/system/epoch_file.h"
#include "adapters/system/line_writer.h"
#include "adapters/system/private_directory.h"
#include "adapters/system/system_clock.h"
#include "adapters/system/user_secret.h"
#include "app/counterparts.h"
#include "app/joined_worker.h"
#include "app/leave_signals.h"
#include "app/table_parts.h"
#include "app/tls_options.h"
#include "base/text.h"
#include "core/identity/join_token.h"
#include "core/topology/topology.h"
#include "worker/node/network_worker.h"

namespace baton::app {

namespace {

using Say = std::function<void(const std::string&)>;

Say log_to_stderr() {
    return [lines = std::make_shared<system::LineWriter>(STDERR_FILENO)](const std::string& line) {
        const std::string time = to_string(system::SystemClock().wall_now()) + " ";
        lines->write(time + line + "\n", [&](std::size_t lost) {
            return time + std::to_string(lost) +
                   " lines of this log were lost: their reader was too slow\n";
        });
    };
}

Result<Address> address_of(const std::string& text) {
    if (text.ends_with(":0")) {  // any port that is free, for tests and for those who ask
        TRY_ASSIGN(address, topology::parse_address(text.substr(0, text.size() - 1) + "1"));
        address.port = 0;
        return address;
    }
    return topology::parse_address(text);
}

Result<std::vector<Address>> addresses_of(const WorkerCommand& command) {
    std::vector<Address> addresses;
    TRY_ASSIGN(listen, address_of(command.listen));
    addresses.push_back(listen);
    if (command.data && *command.data != command.listen) {
        TRY_ASSIGN(data, address_of(*command.data));
        addresses.push_back(data);
    }
    return addresses;
}

Result<Done> check_addresses(const std::vector<Address>& addresses, const WorkerCommand& command,
                             const Say& log) {
    for (const Address& address : addresses) {
        if (identity::is_loopback(address.host)) continue;
        if (!command.insecure) {
            return Error{
                .code = ErrorCode::invalid_configuration,
                .message = "cannot listen on " + baton::in_quotes(to_string(address)) +
                           ": it is beyond this machine, and nothing would be encrypted",
                .at = {},
                .hint =
                    "join the cluster (`baton token worker NAME`, then --join TOKEN), give "
                    "certificates (--tls-ca, --tls-cert, --tls-key), listen on "
                    "127.0.0.1, or --insecure if the network is trusted"};
        }
        log("warning: " + to_string(address) +
            " is beyond this machine, and nothing is encrypted: an attacker on the network can "
            "read "
            "and change all rows");
    }
    return Done{};
}

void drain(worker::NetworkWorker& worker, const LeaveSignals& signals, std::uint64_t seconds,
           const Say& log) {
    constexpr Duration kLook = std::chrono::milliseconds(100);
    const system::SystemClock clock;
    const Instant deadline = clock.now() + std::chrono::seconds(seconds);
    while (!worker.drain(kLook)) {
        if (signals.again()) return log("leaving at once: asked twice");
        if (clock.now() >= deadline)
            return log("leaving: fragments still run that were not stopped");
    }
    log("leaving: no fragment runs");
}

// The cluster that it joins now, or has joined before; none: it stands by itself.
Result<std::optional<Joined>> membership_of(const WorkerCommand& command) {
    const bool own = !command.tls.cert.empty();
    if (!command.join) {
        if (own || !command.directory) return std::optional<Joined>();
        return joined_in(*command.directory);
    }
    if (own || !command.directory) {
        return Error{.code = ErrorCode::missing_configuration,
                     .message = own ? "cannot join with certificates of one's own"
                                    : "cannot join without a place to keep the certificate",
                     .at = {},
                     .hint = own ? "leave --join or --tls-.. out" : "give --data-dir DIRECTORY"};
    }
    // A token is good once, and a worker may be started with it again.
    const auto before = joined_in(*command.directory);  // broken: it is made anew
    TRY_ASSIGN(token, identity::join_token_in(*command.join));
    if (!command.name.empty() && !equal_ignoring_case(command.name, token.worker)) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "cannot join as worker " + baton::in_quotes(command.name) +
                                ": the token is for worker " + baton::in_quotes(token.worker),
                     .at = {},
                     .hint = "leave --name out, or make a token for that name"};
    }
    const bool used =
        before && *before && (*before)->cluster == token.cluster && (*before)->nonce == token.nonce;
    if (used) return *before;
    if (before && *before && !equal_ignoring_case((*before)->worker, token.worker)) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "cannot join as worker " + baton::in_quotes(token.worker) + ": " +
                                baton::in_quotes(*command.directory) + " is that of worker " +
                                baton::in_quotes((*before)->worker),
                     .at = {},
                     .hint = "give each worker a --data-dir of its own"};
    }
    TRY_ASSIGN(joined, join_with(*command.join, *command.directory));
    return std::optional(std::move(joined));
}

// Its own directory and ports are out of reach of plans.
Result<std::unique_ptr<TableParts>> tables_for(const std::string& directory,
                                               worker::Permits permits,
                                               const std::vector<Address>& addresses,
                                               const Clock& clock) {
    TRY(system::make_private_directory(directory, ErrorCode::unreadable_configuration));
    permits.files.never.push_back(directory);
    for (const Address& address : addresses) permits.targets.own_ports.push_back(address.port);
    return TableParts::open({.work_folder = directory + "/work",
                             .slots = 2,
                             .files = permits.files,
                             .targets = permits.targets,
                             .foreign_plans = true},
                            clock);
}

Result<Done> serve_worker(WorkerCommand command, const LeaveSignals& signals, const Say& log) {
    const system::SystemClock clock;
    TRY_ASSIGN(joined, membership_of(command));
    if (joined && command.name.empty()) command.name = joined->worker;
    if (joined && !equal_ignoring_case(command.name, joined->worker)) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "cannot be worker " + baton::in_quotes(command.name) +
                                ": its certificate is that of worker " +
                                baton::in_quotes(joined->worker),
                     .at = {},
                     .hint = "leave --name out, or use another --data-dir"};
    }
    if (command.name.empty()) command.name = command.listen;  // as in the catalog
    const bool encrypted = joined || !command.tls.cert.empty();
    TRY_ASSIGN(trust, joined ? rpc::cluster_trust(joined->files(), joined->cluster)
                             : trust_of(command.tls, command.any_role
                                                         ? rpc::UnmarkedCertificates::accepted
                                                         : rpc::UnmarkedCertificates::refused));
    TRY_ASSIGN(addresses, addresses_of(command));
    if (!encrypted) TRY(check_addresses(addresses, command, log));
    if (command.any_role) log("warning: certificates without a role may do everything here");
    worker::Permits permits = command.permits;
    permits.files.never.push_back(system::user_secret_path());
    if (encrypted) permits.files.never.push_back(command.tls.key);
    std::unique_ptr<TableParts> tables;  // ends after the worker
    if (command.directory) {
        TRY_ASSIGN(opened, tables_for(*command.directory, permits, addresses, clock));
        tables = std::move(opened);
    }
    TRY_ASSIGN(worker,
               worker::NetworkWorker::start(
                   clock, {.name = command.name,
                           .listen = addresses,
                           .directory = command.directory,
                           .fragments_max = command.capacity,
                           .trust = trust,
                           .permits = permits,
                           .tables = tables ? &tables->worker_access() : nullptr,
                           .partition_program = command.partition_program,
                           .partition_grace = std::chrono::seconds(command.partition_grace_seconds),
                           .log = log}));
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const Address here{.host = addresses[i].host, .port = worker->ports()[i]};
        log("worker " + baton::in_quotes(command.name) + " listens on " + to_string(here) +
            (i == 0 ? "" : " for data") + (encrypted ? ", encrypted" : ""));
    }
    std::optional<Renewal> renewal;
    if (joined) renewal.emplace(*joined, log);
    signals.wait();
    drain(*worker, signals, command.drain_seconds, log);
    return Done{};
}

Result<Done> release(const std::string& directory) {
    if (!std::filesystem::is_directory(directory)) {
        return Error{.code = ErrorCode::unreadable_configuration,
                     .message = "cannot release the worker of " + baton::in_quotes(directory) +
                                ": there is no such directory",
                     .hint = "name the directory that `baton worker --data-dir` was given"};
    }
    TRY_ASSIGN(file, system::EpochFile::open(directory));
    const auto kept = file.load();  // what cannot be read is cleared, too
    TRY(file.forget());
    if (kept && *kept == control::Allegiance{}) {
        std::cout << "the worker of " << directory << " belonged to no catalog\n";
    } else if (kept) {
        std::cout << "the worker of " << directory << " is released from catalog "
                  << (kept->catalog.empty() ? "(none)" : kept->catalog) << ", epoch "
                  << to_string(kept->epoch) << "; it obeys the next one that greets it\n";
    } else {
        std::cout << "the worker of " << directory
                  << " is released; its catalog and epoch could not be read\n";
    }
    return Done{};
}

}  // namespace

int release_worker(const std::string& directory) {
    if (const auto released = release(directory); !released) return fail(released.error());
    return 0;
}

int run_worker(const WorkerCommand& command) {
    const LeaveSignals signals;  // before any thread
    // What gRPC has to say of its own is said in our errors.
    (void)setenv("GRPC_VERBOSITY", "NONE", 0);  // NOLINT(concurrency-mt-unsafe)
    (void)system::raise_descriptor_limit();
    const Say log = log_to_stderr();
    if (const auto served = serve_worker(command, signals, log); !served) {
        return fail(served.error());
    }
    return 0;
}

}  // namespace baton::app
