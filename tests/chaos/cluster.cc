#include "chaos/cluster.h"

#include <condition_variable>
#include <csignal>
#include <fstream>
#include <mutex>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/grpc/grpc_transport.h"
#include "base/check.h"
#include "testing/free_port.h"

namespace baton::chaos {

namespace {

// Long enough for some fragments, not for all.
constexpr std::chrono::seconds kDrain{2};
constexpr std::chrono::seconds kLeaves = kDrain + std::chrono::seconds(20);  // at the latest
constexpr std::chrono::seconds kStarts{2};

// As the coordinator says that it obeys.
control::Hello greeting_for(const std::string& worker, const std::string& directory) {
    std::ifstream file(directory + "/epoch");
    std::uint64_t epoch = 0;  // there is no file as long as there was no other
    control::Hello hello{.worker = worker};
    file >> epoch >> hello.catalog;
    hello.epoch = Epoch(epoch);
    return hello;
}

}  // namespace

Workers::Workers(std::string program, std::string directory, const Network* network)
    : program_(std::move(program)), directory_(std::move(directory)), network_(network) {
    for (One& one : workers_) one.port = testing::free_port();
}

std::string Workers::name(std::size_t worker) {
    return "W" + std::to_string(worker + 1);
}

std::string Workers::path(std::size_t worker) const {
    return directory_ + "/" + name(worker);
}

std::string Workers::host(std::size_t worker) const {
    return network_ != nullptr ? Network::host(worker) : "127.0.0.1";
}

std::string Workers::statements() const {
    std::string sql;
    for (std::size_t i = 0; i < kWorkers; ++i) {
        sql += "CREATE WORKER '" + host(i) + ":" + std::to_string(workers_[i].port) + "' SET ('" +
               name(i) + "' AS NAME";
        for (const auto& [from, to] : links()) {
            if (from == i) sql += ", '" + name(to) + "' AS DOWNSTREAM";
        }
        sql += "); ";
    }
    return sql;
}

std::vector<std::pair<std::size_t, std::size_t>> Workers::links() {
    return {{1, 0}, {2, 0}, {3, 1}, {3, 2}};
}

std::vector<std::size_t> Workers::downstream_of(std::size_t worker) {
    if (worker == 3) return {0, 1, 2};
    return {0};
}

void Workers::start(std::size_t worker) {
    One& one = workers_[worker];
    one.back_at.reset();
    one.paused_until.reset();
    one.left_by.reset();
    one.started = std::chrono::steady_clock::now();
    one.process = std::make_unique<Child>(
        std::vector<std::string>{program_, "worker", "--name", name(worker), "--listen",
                                 host(worker) + ":" + std::to_string(one.port), "--data-dir",
                                 path(worker), "--insecure", "--drain",
                                 std::to_string(kDrain.count()), "--files", "/"},
        path(worker) + ".log", network_ != nullptr ? network_->space(worker) : -1);
}

void Workers::kill(std::size_t worker, Time back_at) {
    workers_[worker].process->end();
    workers_[worker].back_at = back_at;
    workers_[worker].paused_until.reset();
}

void Workers::pause(std::size_t worker, Time until) {
    workers_[worker].process->signal(SIGSTOP);
    workers_[worker].paused_until = until;
}

void Workers::dismiss(std::size_t worker, bool at_once, std::chrono::milliseconds away) {
    One& one = workers_[worker];
    one.process->signal(SIGTERM);
    if (at_once) one.process->signal(SIGTERM);
    one.left_by = std::chrono::steady_clock::now() + kLeaves;
    one.away = away;
}

bool Workers::untroubled(std::size_t worker) const {
    const One& one = workers_[worker];
    return !one.back_at && !one.paused_until && !one.left_by;
}

std::string Workers::look(Time now) {
    for (std::size_t i = 0; i < kWorkers; ++i) {
        One& one = workers_[i];
        const auto status = one.process->ended_by_itself();
        // Who is asked to leave before it listens to that ends like any other program.
        constexpr int kTerminated = 128 + SIGTERM;
        const bool is_new = one.left_by && *one.left_by - one.started < kLeaves + kStarts;
        if (one.left_by && (status == 0 || (status == kTerminated && is_new))) {
            one.left_by.reset();
            one.back_at = now + one.away;
        } else if (status) {
            return name(i) + " ended by itself with status " + std::to_string(*status);
        }
        if (one.left_by && *one.left_by <= now) return name(i) + " was asked to leave and does not";
        resume(one, i, now);
    }
    return "";
}

void Workers::resume(One& one, std::size_t worker, Time now) {
    if (one.back_at && *one.back_at <= now) start(worker);
    if (one.paused_until && *one.paused_until <= now) {
        one.process->signal(SIGCONT);
        one.paused_until.reset();
    }
}

void Workers::heal() {
    for (std::size_t i = 0; i < kWorkers; ++i) {
        workers_[i].away = {};
        resume(workers_[i], i, Time::max());
    }
}

std::optional<std::vector<control::FragmentStatus>> Workers::held(std::size_t worker) const {
    auto transport = std::make_unique<rpc::GrpcTransport>();
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<transport::Event> told;
    transport->listen([&](transport::Event event) {
        const std::lock_guard lock(mutex);
        if (!told) told = std::move(event);
        changed.notify_all();
    });
    transport->dial(name(worker), Address{host(worker), workers_[worker].port}, 1,
                    greeting_for(name(worker), path(worker)));
    {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, std::chrono::seconds(10), [&] { return told.has_value(); });
    }
    transport->listen(nullptr);
    if (!told || !std::holds_alternative<transport::Dialled>(*told)) return std::nullopt;
    return std::get<transport::Dialled>(*told).welcome.fragments;
}

}  // namespace baton::chaos
