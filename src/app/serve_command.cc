#include "app/serve_command.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>

#include <unistd.h>

#include "adapters/leader_line/leader_line.h"
#include "adapters/sqlite/data_directory.h"
#include "adapters/sqlite/sqlite.h"
#include "adapters/system/digest.h"
#include "adapters/system/log_writer.h"
#include "adapters/system/memory.h"
#include "adapters/system/service_manager.h"
#include "adapters/system/system_clock.h"
#include "adapters/system/user_secret.h"
#include "app/catalogs.h"
#include "app/client_servers.h"
#include "app/leave_signals.h"
#include "app/members.h"
#include "app/object_stores.h"
#include "app/table_parts.h"
#include "app/tls_options.h"
#include "base/text.h"
#include "catalog/coordinator_secret.h"
#include "catalog/lease_schema.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/version.h"
#include "coordinator/term/leadership_driver.h"
#include "core/topology/topology.h"
#include "doors/desk/desk.h"
#include "doors/desk/journal.h"
#include "doors/desk/logins.h"
#include "doors/pg/wire/scram.h"
#include "model/leader.h"
#include "worker/node/embedded_worker.h"

namespace baton::app {

namespace {

system::LogWriter log_of(const config::Settings& settings, const Clock& clock) {
    const std::string& level = settings.text("log.level");
    LogLevel least = LogLevel::info;
    if (level == "debug") least = LogLevel::debug;
    if (level == "warn") least = LogLevel::warn;
    if (level == "error") least = LogLevel::error;
    const bool json = settings.text("log.format") == "json";
    return {STDERR_FILENO, json ? system::LogFormat::json : system::LogFormat::text, least, clock};
}

// What plans of the embedded worker may reach: never what the daemon itself lives on.
worker::Permits permits_of(const Configuration& configuration) {
    const config::Settings& settings = configuration.settings;
    worker::Permits permits;
    permits.files.directories = settings.list("files");
    permits.targets.connect_to = settings.list("connect_to");
    permits.files.never = {settings.text("data"), system::user_secret_path()};
    if (configuration.file) permits.files.never.push_back(*configuration.file);
    for (const char* const key : {"tls.key", "workers.tls_key"}) {
        if (!settings.text(key).empty()) permits.files.never.push_back(settings.text(key));
    }
    const std::string& catalog = settings.text("catalog");
    if (constexpr std::string_view kFile = "sqlite:"; catalog.starts_with(kFile)) {
        for (const char* const ending : {"", "-wal", "-shm", "-journal", ".lock"}) {
            permits.files.never.push_back(catalog.substr(kFile.size()) + ending);
        }
    }
    for (const char* const key : {"pg.listen", "http.listen"}) {
        if (const auto address = topology::parse_address(settings.text(key))) {
            permits.targets.own_ports.push_back(address->port);
        }
    }
    return permits;
}

// Where the other coordinators reach this one.
std::string advertised(const config::Settings& settings) {
    const std::string& address = settings.text("advertise");
    return address.empty() ? settings.text("pg.listen") : address;
}

// What coordinators prove to the one at this address, which proves it to them. From one for another
// address nothing follows.
std::string password_at(const std::string& secret, const std::string& address) {
    return system::hmac_sha256_hex(secret, "the coordinator at " + address);
}

// Everything behind the doors, in the order in which it comes and, backwards, goes.
class DaemonParts {
public:
    static Result<std::unique_ptr<DaemonParts>> open(const Configuration& configuration,
                                                     const Clock& clock, Log& log) {
        const config::Settings& settings = configuration.settings;
        const std::string& shared = settings.text("catalog");
        std::unique_ptr<DaemonParts> parts(new DaemonParts);
        coordinator::CoordinatorOptions options;
        options.follows = is_server(shared);
        options.scratch = sqlite::temporary_sqlites(catalog::migrate);
        if (options.follows) {  // a server has some hundred connections for all of its clients
            options.readers_max = 12;
            options.transactions.kept_max = 4;
        }
        TRY_ASSIGN(database, parts->open_database(settings, log));
        TRY_ASSIGN(was_old, bring_up_to_date(*database));
        if (was_old) {
            log.info("the catalog was brought up to date: older programs refuse it from now on",
                     {{"version", std::to_string(catalog::schema_version())}});
        }
        if (options.follows) TRY(parts->learn_secret(*database));
        options.line = parts->open_line(settings);
        parts->signals_ = signals_of(shared);
        options.following.signals = parts->signals_.get();
        options.forwarding.patience = forward_wait(settings);
        options.control.allocation.lease = partition_lease(settings);
        TRY(parts->open_members(settings, *database, clock, log));
        parts->open_tables(configuration, clock, log);
        TRY(parts->start_worker(configuration, clock, log));
        options.transport = &parts->worker_->transport();
        options.results = &parts->worker_->results();
        if (parts->tables_) {
            options.tables = &parts->tables_->access();
            options.planner = parts->tables_->planner();
            options.upkeep.seed = random_seed();
            options.store_meters = [stores = &parts->tables_->stores()] {
                return stores->meters();
            };
        }
        options.log = &log;
        options.version = coordinator::kVersion;
        options.stale_views.on_change = [&log](const Result<Done>& look) {
            if (look) return log.info("the catalog can be read again");
            log.warn("the catalog cannot be read", {{"reason", to_string(look.error())}});
        };
        options.commits.committer.on_health = [&log](const Result<Done>& health) {
            if (health) return log.info("changes can be committed again");
            log.error("no change can be committed", {{"reason", to_string(health.error())}});
        };
        TRY_ASSIGN(coordinator,
                   coordinator::CoordinatorRuntime::open(std::move(database), clock, options));
        parts->coordinator_ = std::move(coordinator);
        if (parts->members_) TRY(parts->members_->open_door());
        if (options.follows) TRY(parts->take_seat(settings, clock, log));
        TRY_ASSIGN(journal, desk::Journal::open(*parts->coordinator_, log));
        parts->journal_ = std::move(journal);
        parts->desk_ = std::make_unique<desk::Desk>(
            *parts->coordinator_, desk::DeskOptions{.threads = settings.number("threads")});
        return parts;
    }

    // Somebody else may lead from here on.
    void give_up_seat(Duration patience) {
        if (leadership_) leadership_->leave(patience);
    }
    [[nodiscard]] desk::Desk& desk() { return *desk_; }
    // What the coordinators of one catalog know; empty: there is no other.
    [[nodiscard]] const std::string& secret() const { return secret_; }

private:
    DaemonParts() = default;

    // Coordinators that share a catalog on a server need a store that all of them reach.
    static TableSettings table_settings(const Configuration& configuration) {
        const config::Settings& settings = configuration.settings;
        worker::Permits permits = permits_of(configuration);
        constexpr std::uint64_t kMegabyte = 1ULL << 20U;
        TableSettings tables{.store = settings.text("tables.store"),
                             .work_folder = settings.text("data") + "/work",
                             .memory = settings.number("tables.memory") * kMegabyte,
                             .slots = settings.number("tables.questions"),
                             .cache = settings.number("tables.cache") * kMegabyte,
                             .files = std::move(permits.files),
                             .targets = std::move(permits.targets)};
        if (tables.store.empty() && !is_server(settings.text("catalog"))) {
            tables.folder = settings.text("data") + "/tables";
        }
        return tables;
    }

    // A coordinator without a place for files does all the rest.
    void open_tables(const Configuration& configuration, const Clock& clock, Log& log) {
        auto tables = TableParts::open(table_settings(configuration), clock);
        if (tables) {
            tables_ = *std::move(tables);
        } else {
            log.warn("tables and questions are not available",
                     {{"reason", to_string(tables.error())}});
        }
    }

    // A leader that is stopped in a transaction holds the fence: not for longer than its lease.
    static Duration standstill_max(const config::Settings& settings) {
        constexpr Duration kMost = std::chrono::seconds(5);
        const Duration ttl = std::chrono::seconds(settings.number("lease_ttl"));
        return std::clamp<Duration>(ttl / 2, std::chrono::seconds(1), kMost);
    }

    static Result<std::unique_ptr<SqlDatabase>> open_database(const config::Settings& settings,
                                                              Log& log) {
        const std::string& where = settings.text("catalog");
        if (is_server(where) || where.starts_with("sqlite:")) {
            return open_catalog_at(where, true, standstill_max(settings));
        }
        if (!where.empty()) {
            return Error{.code = ErrorCode::invalid_configuration,
                         .message = "catalog: " + in_quotes(where) + " is no place of a catalog",
                         .hint =
                             "give sqlite:PATH, postgres://.. or mysql://.., or a directory "
                             "with --data"};
        }
        TRY_ASSIGN(opened, sqlite::open_catalog_in(settings.text("data"), true, catalog::migrate));
        if (opened.is_new) {
            log.info("a new catalog was made",
                     {{"path", sqlite::catalog_path(settings.text("data"))}});
        }
        return std::move(opened.database);
    }

    Result<Done> learn_secret(SqlDatabase& database) {
        constexpr std::size_t kBytes = 32;
        TRY_ASSIGN(sql, database.connect(Access::write));
        TRY_ASSIGN(secret,
                   catalog::coordinator_secret(*sql, system::hex_of(system::random_bytes(kBytes))));
        secret_ = std::move(secret);
        return Done{};
    }

    // None: there is no other to pass anything on to, or that is not wanted.
    LeaderLine* open_line(const config::Settings& settings) {
        if (secret_.empty() || !settings.flag("forward_writes")) return nullptr;
        leader_line::LeaderLineOptions options{
            .user = std::string(desk::kCoordinatorUser),
            .password = [secret = secret_](const std::string& address) {
                return password_at(secret, address);
            }};
        // As this one wants it of its own clients.
        options.ca = settings.text("tls.ca");
        if (!settings.text("tls.cert").empty() || !options.ca.empty()) {
            options.tls = leader_line::Tls::required;
        }
        line_ = std::make_unique<leader_line::PgLeaderLine>(std::move(options));
        return line_.get();
    }

    // Workers keep their partitions while the leader changes.
    static Duration partition_lease(const config::Settings& settings) {
        const Duration ttl = std::chrono::seconds(settings.number("lease_ttl"));
        return std::max(allocation::AllocatorOptions{}.lease, 3 * ttl);
    }

    static Duration forward_wait(const config::Settings& settings) {
        constexpr std::uint64_t kBeyondTtl = 5;
        const std::uint64_t wanted = settings.number("forward_wait");
        return std::chrono::seconds(wanted > 0 ? wanted
                                               : settings.number("lease_ttl") + kBeyondTtl);
    }

    // None where all processes have certificates that were made elsewhere.
    Result<Done> open_members(const config::Settings& settings, SqlDatabase& database,
                              const Clock& clock, Log& log) {
        if (!settings.text("workers.tls_cert").empty()) return Done{};
        TRY_ASSIGN(members, Members::open(database, clock,
                                          {.listen = settings.text("workers.listen"),
                                           .life = std::chrono::seconds(
                                               settings.number("workers.certificate_seconds")),
                                           .log = [&log](const std::string& line) {
                                               log.info(line, {{"door", "workers"}});
                                           }}));
        members_ = std::move(members);
        return Done{};
    }

    Result<Done> start_worker(const Configuration& configuration, const Clock& clock, Log& log) {
        const config::Settings& settings = configuration.settings;
        TRY_ASSIGN(trust, trust_of({.ca = settings.text("workers.tls_ca"),
                                    .cert = settings.text("workers.tls_cert"),
                                    .key = settings.text("workers.tls_key")},
                                   rpc::UnmarkedCertificates::refused));
        TRY_ASSIGN(worker, worker::EmbeddedWorker::start(
                               clock, {.trust = members_ ? members_->trust() : trust,
                                       .permits = permits_of(configuration),
                                       .tables = tables_ ? &tables_->worker_access() : nullptr,
                                       .log = [&log](const std::string& line) {
                                           log.debug(line, {{"worker", "embedded"}});
                                       }}));
        worker_ = std::move(worker);
        return Done{};
    }

    Result<Done> take_seat(const config::Settings& settings, const Clock& clock, Log& log) {
        TRY_ASSIGN(timers, election::ElectionTimers::of(
                               std::chrono::seconds(settings.number("lease_ttl"))));
        TRY_ASSIGN(database,
                   open_catalog_at(settings.text("catalog"), false, standstill_max(settings)));
        election_ = std::move(database);
        const std::string id = system::sha256_hex(system::random_bytes(16)).substr(0, 16);
        std::array<char, 256> host{};
        (void)gethostname(host.data(), host.size() - 1);
        leadership_ = std::make_unique<coordinator::LeadershipDriver>(
            coordinator::LeadershipOptions{
                .timers = timers,
                .lock = std::string(catalog::kLeaderLock),
                .owner = to_string(LeaseOwner{
                    .process = std::string(host.data()) + ":" + std::to_string(getpid()) + ":" + id,
                    .address = advertised(settings)}),
                .seed = std::hash<std::string>()(id)},
            *election_, clock, *coordinator_, log);
        return Done{};
    }

    std::string secret_;
    std::unique_ptr<LeaderLine> line_;
    std::unique_ptr<SqlSignals> signals_;  // none: the database has no way to tell of commits
    std::unique_ptr<TableParts> tables_;
    std::unique_ptr<worker::EmbeddedWorker> worker_;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_;
    std::unique_ptr<Members> members_;       // reads the coordinator's database
    std::unique_ptr<SqlDatabase> election_;  // none: it leads, nobody else can
    std::unique_ptr<coordinator::LeadershipDriver> leadership_;
    std::unique_ptr<desk::Journal> journal_;
    std::unique_ptr<desk::Desk> desk_;
};

// Who may come in, with the other coordinators.
Configuration with_coordinators(Configuration configuration, const std::string& secret) {
    if (secret.empty()) return configuration;
    constexpr std::size_t kSalt = 16;
    const std::string password = password_at(secret, advertised(configuration.settings));
    configuration.access.let_coordinators_in(
        pgwire::to_string(pgwire::make_verifier(password, system::random_bytes(kSalt))));
    return configuration;
}

// Users, tokens and the certificate are used as they are now; of other settings it is said that
// they are not. Settings that cannot be used change nothing.
void reload(const ServeCommand& command, const Configuration& begun, const std::string& secret,
            ClientServers& doors, Log& log) {
    const auto again = configuration_of(command);
    if (again && again->access.trusts_everybody() && !begun.access.trusts_everybody()) {
        log.error("cannot use the settings: all stays as it was",
                  {{"reason",
                    "they no longer name users or tokens, so that every client would be "
                    "trusted; restart the daemon if that is meant"}});
        return;
    }
    const auto used = again ? doors.reload(with_coordinators(*again, secret)) : again.error();
    if (!used) {
        log.error("cannot use the settings: all stays as it was",
                  {{"reason", to_string(used.error())}});
        return;
    }
    const auto before = begun.settings.all();
    const auto now = again->settings.all();
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i].value == before[i].value) continue;
        log.warn("a setting has changed, and takes effect after a restart",
                 {{"setting", now[i].key}});
    }
    log.info("users, tokens and the certificate were read again");
}

Result<Done> serve(const ServeCommand& command, const Configuration& configuration,
                   const LeaveSignals& signals, const Clock& clock, Log& log) {
    TRY_ASSIGN(parts, DaemonParts::open(configuration, clock, log));
    desk::Metrics metrics;
    const Configuration known = with_coordinators(configuration, parts->secret());
    desk::Logins logins(clock, metrics);
    TRY_ASSIGN(doors, ClientServers::open(known, parts->desk(), metrics, logins, log));
    system::notify_service_manager("READY=1");
    log.info("ready", {{"version", std::string(coordinator::kVersion)},
                       {"data", configuration.settings.text("data")},
                       {"pid", std::to_string(getpid())}});
    while (signals.wait_for_reload()) reload(command, configuration, parts->secret(), *doors, log);
    system::notify_service_manager("STOPPING=1");
    log.info("leaving: asked to end");
    signals.release();  // the next one ends it at once
    const auto patience = std::chrono::seconds(configuration.settings.number("shutdown_seconds"));
    parts->give_up_seat(patience);
    doors->stop(patience);
    return Done{};
}

}  // namespace

int run_serve(const ServeCommand& command) {
    const LeaveSignals signals(LeaveSignals::Hangup::reloads);  // before any thread
    // What gRPC has to say of its own is said in our errors.
    (void)setenv("GRPC_VERBOSITY", "NONE", 0);  // NOLINT(concurrency-mt-unsafe)
    const auto configuration = configuration_of(command);
    if (!configuration) {
        std::cerr << to_string(configuration.error()) << "\n";
        return 1;
    }
    const system::SystemClock clock;
    const system::HeapKeeper heap;
    system::LogWriter log = log_of(configuration->settings, clock);
    for (const std::string& warning : configuration->warnings) log.warn(warning);
    const auto served = serve(command, *configuration, signals, clock, log);
    if (!served) {
        log.error("cannot serve", {{"reason", to_string(served.error())}});
        return 1;
    }
    log.info("left");
    return 0;
}

}  // namespace baton::app
