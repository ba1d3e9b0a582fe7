#include "app/worker_command.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <utility>

#include <sys/stat.h>

#include "adapters/grpc/control_server.h"
#include "adapters/grpc/grpc_exchanges.h"
#include "adapters/grpc/grpc_server.h"
#include "adapters/system/epoch_file.h"
#include "adapters/system/system_clock.h"
#include "base/text.h"
#include "core/topology/topology.h"
#include "runtime/worker/worker_host.h"

namespace baton {

namespace {

using Log = std::function<void(const std::string&)>;

Log log_to_stderr() {
    return [mutex = std::make_shared<std::mutex>()](const std::string& line) {
        const std::string text = to_string(SystemClock().wall_now()) + " " + line + "\n";
        const std::lock_guard lock(*mutex);
        std::cerr << text << std::flush;
    };
}

int fail(const Error& error) {
    std::cerr << to_string(error) << "\n";
    return 1;
}

Result<std::optional<TlsFiles>> tls_of(const WorkerCommand& command) {
    const std::array given = {!command.tls_ca.empty(), !command.tls_cert.empty(),
                              !command.tls_key.empty()};
    const auto count = std::count(given.begin(), given.end(), true);
    if (count == 0) return std::optional<TlsFiles>();
    if (count != static_cast<std::ptrdiff_t>(given.size())) {
        return Error{.code = ErrorCode::missing_configuration,
                     .message = "cannot encrypt with only some of the files",
                     .at = {},
                     .hint = "give --tls-ca, --tls-cert and --tls-key, or none of them"};
    }
    return std::optional(
        TlsFiles{.ca = command.tls_ca, .cert = command.tls_cert, .key = command.tls_key});
}

Result<Address> address_of(const std::string& text) {
    if (text.ends_with(":0")) {  // any port that is free, for tests and for those who ask
        TRY_ASSIGN(address, parse_address(text.substr(0, text.size() - 1) + "1"));
        address.port = 0;
        return address;
    }
    return parse_address(text);
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

Result<std::unique_ptr<EpochStore>> epochs_in(const std::optional<std::string>& directory) {
    if (!directory) return std::unique_ptr<EpochStore>();
    std::error_code problem;
    const bool made = std::filesystem::create_directories(*directory, problem);
    if (problem) {
        return Error{.code = ErrorCode::unreadable_configuration,
                     .message = "cannot create the data directory " + baton::quoted(*directory) +
                                ": " + problem.message()};
    }
    if (made) (void)chmod(directory->c_str(), S_IRWXU);
    return std::unique_ptr<EpochStore>(std::make_unique<EpochFile>(*directory));
}

// SIGTERM and SIGINT, for whoever waits for them; no thread is interrupted by them.
class LeaveSignals {
public:
    LeaveSignals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGTERM);
        sigaddset(&set_, SIGINT);
        pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    }
    void wait() const {
        int signal = 0;
        while (sigwait(&set_, &signal) != 0) continue;
    }
    [[nodiscard]] bool again() const {
        const timespec none{};
        return sigtimedwait(&set_, nullptr, &none) > 0;
    }

private:
    sigset_t set_{};
};

void drain(WorkerHost& host, const LeaveSignals& signals, std::uint64_t seconds, const Log& log) {
    constexpr Duration kLook = std::chrono::milliseconds(100);
    const SystemClock clock;
    const Instant deadline = clock.now() + std::chrono::seconds(seconds);
    while (!host.drain(kLook)) {
        if (signals.again()) return log("leaving at once: told so twice");
        if (clock.now() >= deadline) return log("leaving: fragments run that nobody has stopped");
    }
    log("leaving: no fragment runs");
}

// Everything is there, in the order in which it ends backwards.
Result<Done> serve(const WorkerCommand& command, const EngineFactory& make_engine,
                   const LeaveSignals& signals, const Log& log) {
    TRY_ASSIGN(tls, tls_of(command));
    TRY_ASSIGN(addresses, addresses_of(command));
    TRY_ASSIGN(epochs, epochs_in(command.directory));
    TRY_ASSIGN(exchanges, GrpcExchanges::make({.limits = {}, .tls = tls, .log = log}));
    TRY_ASSIGN(engine, make_engine({.worker = command.name,
                                    .exchanges = *exchanges,
                                    .capacity = command.capacity,
                                    .directory = command.directory}));
    ControlServer control({.worker = command.name, .log = log});
    const auto started = SystemClock().wall_now().time_since_epoch();
    TRY_ASSIGN(host, WorkerHost::start(
                         {.incarnation = Incarnation(static_cast<std::uint64_t>(started.count())),
                          .log = log},
                         {.engine = *engine, .doors = {&control}, .epochs = epochs.get()}));
    TRY_ASSIGN(server, GrpcServer::start({.listen = addresses, .tls = tls},
                                         {&control.service(), &exchanges->service()}));
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const Address here{.host = addresses[i].host, .port = server->ports()[i]};
        log("worker " + baton::quoted(command.name) + " listens on " + to_string(here) +
            (i == 0 ? "" : " for data") + (tls ? ", encrypted" : ""));
    }
    signals.wait();
    drain(*host, signals, command.drain_seconds, log);
    host.reset();    // nothing is heard any more
    server.reset();  // and nobody is let in
    return Done{};
}

class NoEngine final : public Engine {
public:
    void listen(Listener listener) override {
        const std::lock_guard lock(mutex_);
        listener_ = std::move(listener);
    }
    void prepare(const FragmentKey& key, const std::string& /*plan*/) override {
        tell({.key = key,
              .what = engine::PrepareFailed{.fault = control::Fault::terminal,
                                            .why = "this worker was built without an engine"}});
    }
    void start(const FragmentKey& /*key*/) override {}
    void drain(const FragmentKey& /*key*/) override {}
    void abort(const FragmentKey& key) override { tell({.key = key, .what = engine::Halted{}}); }
    [[nodiscard]] std::vector<control::FragmentCounts> counts() const override { return {}; }

private:
    void tell(engine::Report report) {
        const std::lock_guard lock(mutex_);
        if (listener_) listener_(std::move(report));
    }
    std::mutex mutex_;
    Listener listener_;
};

}  // namespace

int run_worker(const WorkerCommand& command, const EngineFactory& make_engine) {
    const LeaveSignals signals;  // before any thread
    // What gRPC has to say of its own is said in our errors.
    (void)setenv("GRPC_VERBOSITY", "NONE", 0);  // NOLINT(concurrency-mt-unsafe)
    const Log log = log_to_stderr();
    WorkerCommand named = command;
    if (named.name.empty()) named.name = command.listen;  // as in the catalog
    if (const auto served = serve(named, make_engine, signals, log); !served) {
        return fail(served.error());
    }
    return 0;
}

Result<std::unique_ptr<Engine>> make_no_engine(const EngineSite& /*site*/) {
    return std::unique_ptr<Engine>(std::make_unique<NoEngine>());
}

}  // namespace baton
