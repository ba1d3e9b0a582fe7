#include "app/serve_command.h"

#include <cstdlib>
#include <iostream>
#include <memory>

#include <unistd.h>

#include "adapters/sqlite/data_directory.h"
#include "adapters/system/log_writer.h"
#include "adapters/system/service_manager.h"
#include "adapters/system/system_clock.h"
#include "app/doors.h"
#include "app/leave_signals.h"
#include "app/tls_options.h"
#include "catalog/schema.h"
#include "front/desk.h"
#include "front/journal.h"
#include "node/embedded_worker.h"
#include "runtime/coordinator_runtime.h"
#include "runtime/version.h"

namespace baton {

namespace {

LogWriter log_of(const config::Settings& settings, const Clock& clock) {
    const std::string& level = settings.text("log.level");
    LogLevel least = LogLevel::info;
    if (level == "debug") least = LogLevel::debug;
    if (level == "warn") least = LogLevel::warn;
    if (level == "error") least = LogLevel::error;
    const bool json = settings.text("log.format") == "json";
    return {STDERR_FILENO, json ? LogFormat::json : LogFormat::text, least, clock};
}

// Everything behind the doors, in the order in which it comes and, backwards, goes.
class House {
public:
    static Result<std::unique_ptr<House>> open(const Configuration& configuration,
                                               const Clock& clock, Log& log) {
        const config::Settings& settings = configuration.settings;
        std::unique_ptr<House> house(new House);
        TRY_ASSIGN(opened, open_catalog_in(settings.text("data"), true, migrate));
        if (opened.is_new) {
            log.info("a new catalog was made", {{"path", catalog_path(settings.text("data"))}});
        }
        TRY_ASSIGN(tls, all_or_none({.ca = settings.text("workers.tls_ca"),
                                     .cert = settings.text("workers.tls_cert"),
                                     .key = settings.text("workers.tls_key")}));
        TRY_ASSIGN(worker, EmbeddedWorker::start(
                               clock, {.tls = tls, .log = [&log](const std::string& line) {
                                           log.debug(line, {{"worker", "embedded"}});
                                       }}));
        house->worker_ = std::move(worker);
        CoordinatorOptions options;
        options.transport = &house->worker_->transport();
        options.results = &house->worker_->results();
        TRY_ASSIGN(coordinator,
                   CoordinatorRuntime::open(std::move(opened.database), clock, options));
        house->coordinator_ = std::move(coordinator);
        TRY_ASSIGN(journal, front::Journal::open(*house->coordinator_, log));
        house->journal_ = std::move(journal);
        house->desk_ = std::make_unique<front::Desk>(
            *house->coordinator_, front::DeskOptions{.threads = settings.number("threads")});
        return house;
    }

    [[nodiscard]] front::Desk& desk() { return *desk_; }

private:
    House() = default;

    std::unique_ptr<EmbeddedWorker> worker_;
    std::unique_ptr<CoordinatorRuntime> coordinator_;
    std::unique_ptr<front::Journal> journal_;
    std::unique_ptr<front::Desk> desk_;
};

Result<Done> serve(const Configuration& configuration, const LeaveSignals& signals,
                   const Clock& clock, Log& log) {
    TRY_ASSIGN(house, House::open(configuration, clock, log));
    front::Metrics metrics;
    TRY_ASSIGN(doors, Doors::open(configuration, house->desk(), metrics, log));
    notify_service_manager("READY=1");
    log.info("ready", {{"version", std::string(kVersion)},
                       {"data", configuration.settings.text("data")},
                       {"pid", std::to_string(getpid())}});
    signals.wait();
    notify_service_manager("STOPPING=1");
    log.info("leaving: told so");
    signals.release();  // the next one ends it at once
    doors->stop(std::chrono::seconds(configuration.settings.number("shutdown_seconds")));
    return Done{};
}

}  // namespace

int run_serve(const ServeCommand& command) {
    const LeaveSignals signals;  // before any thread
    // What gRPC has to say of its own is said in our errors.
    (void)setenv("GRPC_VERBOSITY", "NONE", 0);  // NOLINT(concurrency-mt-unsafe)
    const auto configuration = configuration_of(command);
    if (!configuration) {
        std::cerr << to_string(configuration.error()) << "\n";
        return 1;
    }
    const SystemClock clock;
    LogWriter log = log_of(configuration->settings, clock);
    const auto served = serve(*configuration, signals, clock, log);
    if (!served) {
        log.error("cannot serve", {{"reason", to_string(served.error())}});
        return 1;
    }
    log.info("left");
    return 0;
}

}  // namespace baton
