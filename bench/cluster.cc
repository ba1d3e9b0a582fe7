#include "bench/cluster.h"

#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "bench/sockets.h"

namespace baton::bench {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30s;

// From what the worker says on its standard error.
std::optional<std::string> address_in(const std::string& log, std::size_t from) {
    std::ostringstream whole;
    whole << std::ifstream(log).rdbuf();
    const std::string text = whole.str();
    const std::string mark = "listens on ";
    const auto at = text.find(mark, from);
    const auto end = text.find('\n', at);
    if (at == std::string::npos || end == std::string::npos) return std::nullopt;
    return text.substr(at + mark.size(), end - at - mark.size());
}

void await(const std::string& what, const std::function<bool()>& holds) {
    const auto deadline = Clock::now() + kPatience;
    while (!holds()) {
        if (Clock::now() > deadline) give_up("waited in vain for " + what);
        std::this_thread::sleep_for(1ms);
    }
}

}  // namespace

double time_of(const std::string& text) {
    const auto number = [&](std::size_t at, std::size_t size) {
        return std::stod(text.substr(at, size));
    };
    return 1e6 * (3600 * number(11, 2) + 60 * number(14, 2) + number(17, 9));
}

double time_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<double>(
        std::chrono::duration_cast<std::chrono::microseconds>(now % 24h).count());
}

Cluster::Cluster(const Scratch& scratch, std::size_t workers, Links links) : scratch_(scratch) {
    workers_.resize(workers);
    for (std::size_t i = 0; i < workers; ++i) start(i, "127.0.0.1:0");
    coordinator_ = must(Coordinator::open({.data = scratch / "data"}));
    std::string sql;
    for (std::size_t i = workers; i-- > 0;) {
        sql += "CREATE WORKER '" + workers_[i].listen + "' SET ('" + name(i) + "' AS NAME";
        const std::size_t next = links == Links::chain ? i + 1 : workers - 1;
        if (i + 1 < workers) sql += ", '" + name(next) + "' AS DOWNSTREAM";
        sql += "); ";
    }
    run(sql);
    await("all workers to be heard", [&] {
        const auto unheard = run("SELECT name FROM baton.workers WHERE incarnation IS NULL");
        return unheard.done.front().rows.empty();
    });
}

Cluster::~Cluster() {
    coordinator_.reset();
}

void Cluster::start(std::size_t worker, const std::string& listen) {
    const std::string log = scratch_ / (name(worker) + ".log");
    const std::size_t before = file_bytes(log);
    workers_[worker].process.reset();
    workers_[worker].process = std::make_unique<chaos::Child>(
        std::vector<std::string>{BATON_PROGRAM, "worker", "--name", name(worker), "--listen",
                                 listen, "--data-dir", scratch_ / name(worker), "--files", "/",
                                 "--connect-to", "*"},
        log);
    std::optional<std::string> address;
    await("worker " + name(worker) + " to listen",
          [&] { return (address = address_in(log, before)).has_value(); });
    workers_[worker].listen = *address;
}

void Cluster::start_again(std::size_t worker) {
    start(worker, workers_[worker].listen);
}

std::string Cluster::name(std::size_t worker) {
    return "W" + std::to_string(worker + 1);
}

embedded::Answers Cluster::run(std::string_view sql, const Wait& wait) {
    auto answers = coordinator_->execute(sql, wait);
    if (answers.error) give_up(to_string(*answers.error));
    return answers;
}

std::string Cluster::ask(std::string_view sql) {
    const auto answers = run(sql);
    const auto& rows = answers.done.back().rows;
    return rows.empty() ? "" : rows.front().front().value_or("");
}

double Cluster::cpu_seconds() const {
    double sum = 0;
    for (const One& one : workers_) sum += cpu_seconds_of(one.process->pid());
    return sum;
}

}  // namespace baton::bench
