#include "slt/cluster.h"

#include <algorithm>
#include <utility>

#include "adapters/sqlite/sqlite.h"
#include "base/text.h"
#include "catalog/schema.h"
#include "coordinator/sessions/session.h"
#include "worker/node/embedded_worker.h"
#include "worker/node/network_worker.h"

namespace baton::slt {

// In the order in which they end backwards.
struct TestCluster::Parts {
    std::vector<std::unique_ptr<worker::NetworkWorker>> workers;
    std::unique_ptr<worker::EmbeddedWorker> embedded;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator;
    Places places;
};

namespace {

constexpr const char* kHere = "127.0.0.1";

// Scripts say themselves which files there are.
worker::Permits permits_of_scripts() {
    worker::Permits permits;
    permits.files.directories = {"/"};
    permits.targets.connect_to = {"*"};
    return permits;
}

bool has_key(const sql::Setting& setting, const char* key) {
    return setting.key.size() == 1 && setting.key.front() == key;
}

// The name that the statement gives its worker, and that it keeps.
std::string name_of(const sql::CreateWorker& worker) {
    for (const sql::Setting& setting : worker.settings) {
        if (!has_key(setting, "NAME")) continue;
        if (const auto* literal = std::get_if<sql::Literal>(&setting.value)) {
            if (const auto* name = std::get_if<std::string>(literal)) return *name;
        }
    }
    return worker.address;
}

// The same worker, but listening here.
sql::CreateWorker moved(const sql::CreateWorker& worker, std::uint16_t port) {
    sql::CreateWorker here = worker;
    here.address = std::string(kHere) + ":" + std::to_string(port);
    std::erase_if(here.settings, [](const sql::Setting& setting) {
        return has_key(setting, "DATA") || has_key(setting, "NAME");
    });
    sql::Setting name;
    name.key = {"NAME"};
    name.value = sql::Literal(name_of(worker));
    here.settings.push_back(std::move(name));
    return here;
}

// Those that nothing flows into may have sources, those that nothing flows out of sinks.
Places places_in(const yaml::Deployment& topology, const std::vector<sql::CreateWorker>& workers) {
    Places places{.sources = topology.allow_source_placement,
                  .sinks = topology.allow_sink_placement};
    std::vector<std::string> fed;
    std::vector<std::string> feeding;
    for (const sql::CreateWorker& worker : workers) {
        for (const sql::Setting& setting : worker.settings) {
            if (!has_key(setting, "DOWNSTREAM")) continue;
            fed.push_back(std::get<std::string>(std::get<sql::Literal>(setting.value)));
            feeding.push_back(name_of(worker));
        }
    }
    const auto add_all_but = [&](const std::vector<std::string>& others,
                                 std::vector<std::string>& to) {
        if (!to.empty()) return;
        for (const sql::CreateWorker& worker : workers) {
            const std::string name = name_of(worker);
            if (std::find(others.begin(), others.end(), name) == others.end()) to.push_back(name);
        }
    };
    add_all_but(fed, places.sources);
    add_all_but(feeding, places.sinks);
    if (places.sinks.size() > 1) places.sinks.resize(1);  // all sources lead there, if any do
    return places;
}

// An ACTIVE worker that was never heard has no incarnation yet.
Result<Done> wait_until_heard(coordinator::CoordinatorRuntime& coordinator, std::size_t workers) {
    constexpr Duration kPatience = std::chrono::seconds(30);
    const Instant deadline = coordinator.clock().now() + kPatience;
    TRY_ASSIGN(query, views::ViewQuery::from(sql::Show{.what = sql::ShowWhat::workers}));
    TRY_ASSIGN(watch, coordinator.watch(query));
    for (;;) {
        TRY_ASSIGN(snapshot, coordinator.snapshot());
        TRY_ASSIGN(all, snapshot.read().workers());
        { const coordinator::Snapshot over = std::move(snapshot); }
        const auto heard = std::count_if(all.begin(), all.end(), [](const Worker& worker) {
            return worker.state == WorkerState::active && worker.incarnation;
        });
        if (static_cast<std::size_t>(heard) == workers) return Done{};
        const Instant now = coordinator.clock().now();
        if (now >= deadline) {
            return Error{.code = ErrorCode::worker_unreachable,
                         .message = "the workers of the topology do not answer"};
        }
        TRY(watch->next(deadline - now));
    }
}

}  // namespace

Result<std::unique_ptr<TestCluster>> TestCluster::start(
    const Clock& clock, const std::optional<yaml::Deployment>& topology,
    const TestClusterOptions& with) {
    auto parts = std::make_unique<Parts>();
    worker::EmbeddedWorkerOptions embedded_options;
    embedded_options.permits = permits_of_scripts();
    TRY_ASSIGN(embedded, worker::EmbeddedWorker::start(clock, embedded_options));
    parts->embedded = std::move(embedded);
    sqlite::SqliteOptions options;
    options.initialise = catalog::migrate;
    TRY_ASSIGN(database, sqlite::open_temporary_sqlite(options));
    coordinator::CoordinatorOptions how;
    how.transport = &parts->embedded->transport();
    if (with.rows_for_clients) how.results = &parts->embedded->results();
    TRY_ASSIGN(coordinator, coordinator::CoordinatorRuntime::open(std::move(database), clock, how));
    parts->coordinator = std::move(coordinator);
    if (topology) {
        coordinator::Session session(*parts->coordinator, "baton-slt");
        std::vector<sql::CreateWorker> workers;
        for (const sql::Statement& statement : topology->statements) {
            const auto* worker = std::get_if<sql::CreateWorker>(&statement.node);
            if (worker == nullptr) continue;
            workers.push_back(*worker);
            TRY_ASSIGN(started,
                       worker::NetworkWorker::start(clock, {.name = name_of(*worker),
                                                            .listen = {{.host = kHere, .port = 0}},
                                                            .directory = {},
                                                            .fragments_max = {},
                                                            .permits = permits_of_scripts(),
                                                            .log = {}}));
            const sql::CreateWorker here = moved(*worker, started->ports().front());
            parts->workers.push_back(std::move(started));
            coordinator::Execution made = session.execute({sql::Statement{.node = here, .at = {}}});
            if (made.error) return *std::move(made.error);
        }
        parts->places = places_in(*topology, workers);
        TRY(wait_until_heard(*parts->coordinator, workers.size()));
    }
    return std::unique_ptr<TestCluster>(new TestCluster(std::move(parts)));
}

TestCluster::TestCluster(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TestCluster::~TestCluster() = default;

coordinator::CoordinatorRuntime& TestCluster::coordinator() {
    return *parts_->coordinator;
}

const Places& TestCluster::places() const {
    return parts_->places;
}

}  // namespace baton::slt
