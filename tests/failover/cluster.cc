#include "failover/cluster.h"

#include <fstream>
#include <sstream>
#include <thread>

#include "base/check.h"
#include "testing/free_port.h"

namespace baton::failover {

namespace {

using std::chrono::steady_clock;
constexpr const char* kBaton = BATON_PROGRAMS "/baton";

}  // namespace

Cluster::Cluster(testing::ServerKind kind, int ttl_s, std::size_t coordinators, std::size_t workers,
                 Writes writes, std::string settings)
    : server_(kind),
      url_(server_.new_database()),
      ttl_s_(ttl_s),
      writes_(writes),
      settings_(std::move(settings)) {
    for (std::size_t i = 0; i < coordinators; ++i) {
        ports_.push_back(testing::free_port());
        http_ports_.push_back(testing::free_port());
    }
    coordinators_.resize(coordinators);
    for (std::size_t i = 0; i < coordinators; ++i) start(i);
    for (std::size_t i = 0; i < workers; ++i) {
        worker_ports_.push_back(testing::free_port());
        const std::string name = "w" + std::to_string(i + 1);
        // Into a file: nobody reads a pipe, and who writes to one that is full stands still.
        const std::string command = "exec " + std::string(kBaton) + " worker --name " + name +
                                    " --listen 127.0.0.1:" + std::to_string(worker_ports_.back()) +
                                    " --data-dir " + (directory_ / name) + " --files " +
                                    directory_.path() + " >" + (directory_ / (name + ".log")) +
                                    " 2>&1";
        workers_.push_back(
            std::make_unique<cli::Process>(std::vector<std::string>{"/bin/sh", "-c", command}));
    }
}

std::string Cluster::address(std::size_t coordinator) const {
    return "127.0.0.1:" + std::to_string(ports_[coordinator]);
}

std::string Cluster::http_address(std::size_t coordinator) const {
    return "127.0.0.1:" + std::to_string(http_ports_[coordinator]);
}

std::optional<std::size_t> Cluster::last_to_lead() const {
    std::optional<std::size_t> leader;
    long highest = 0;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        const std::string text = log(i);
        const std::string mark = "leads epoch=";
        const std::size_t at = text.rfind(mark);
        if (at == std::string::npos) continue;
        const long epoch = std::atol(text.c_str() + at + mark.size());
        if (epoch > highest) {
            highest = epoch;
            leader = i;
        }
    }
    return leader;
}

std::string Cluster::log_path(std::size_t coordinator) const {
    return directory_ / ("coordinator" + std::to_string(coordinator) + ".log");
}

void Cluster::start(std::size_t coordinator) {
    const std::string command =
        "exec " + std::string(kBaton) + " serve --catalog " + url_ + " --lease-ttl " +
        std::to_string(ttl_s_) + " --http " + http_address(coordinator) + " --pg " +
        address(coordinator) +
        " --set forward_writes=" + (writes_ == Writes::forwarded ? "true" : "false") + " " +
        settings_ + " 2>>" + log_path(coordinator);
    coordinators_[coordinator] =
        std::make_unique<cli::Process>(std::vector<std::string>{"/bin/sh", "-c", command});
}

void Cluster::signal(std::size_t coordinator, int number) const {
    coordinators_[coordinator]->signal(number);
}

void Cluster::wait_until_it_can_be_told(std::size_t coordinator) const {
    const auto deadline = steady_clock::now() + cli::kPatience;
    // Baton waits for signals before it has a second thread.
    while (!is_over(coordinator) && coordinators_[coordinator]->threads() < 2) {
        CHECK(steady_clock::now() < deadline);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

bool Cluster::is_over(std::size_t coordinator) const {
    return coordinators_[coordinator]->state() == 'Z';
}

int Cluster::wait(std::size_t coordinator) {
    return coordinators_[coordinator]->wait();
}

std::string Cluster::log(std::size_t coordinator) const {
    std::ostringstream text;
    text << std::ifstream(log_path(coordinator)).rdbuf();
    return text.str();
}

cli::Ended Cluster::ask(std::size_t coordinator, const std::string& statements) const {
    return cli::run({kBaton, "shell", "--connect", address(coordinator) + "?connect_timeout=2",
                     "--format", "csv", "-c", statements});
}

std::optional<std::size_t> Cluster::leader_of(const std::vector<std::size_t>& candidates) {
    const auto deadline = steady_clock::now() + cli::kPatience;
    while (steady_clock::now() < deadline) {
        for (const std::size_t one : candidates) {
            const std::string name = "L" + std::to_string(next_name_++);
            if (ask(one, "CREATE LOGICAL SOURCE " + name + " (x INT8)").status != 0) continue;
            accepted_.push_back(name);
            return one;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return std::nullopt;
}

std::string Cluster::create_workers() const {
    std::string statements;
    const std::size_t last = worker_ports_.size();
    for (std::size_t i = last; i >= 1; --i) {
        const std::string name = "w" + std::to_string(i);
        statements += "CREATE WORKER '127.0.0.1:" + std::to_string(worker_ports_[i - 1]) +
                      "' SET ('" + name + "' AS NAME" +
                      (i == last ? "" : ", 'w" + std::to_string(i + 1) + "' AS DOWNSTREAM") + ");";
    }
    return statements;
}

void Cluster::run_a_query(std::size_t leader) {
    std::string statements = create_workers();
    const std::size_t last = worker_ports_.size();
    statements += "CREATE SINK out (a UINT64 NOT NULL) TYPE Void SET ('w" + std::to_string(last) +
                  "' AS SINK.HOST);"
                  "CREATE QUERY q AS SELECT a FROM Generator('SEQUENCE UINT64 0 1000000000 1' AS "
                  "SOURCE.GENERATOR_SCHEMA, SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA, 'w1' AS "
                  "SOURCE.HOST) INTO out; WAIT FOR QUERY q STATE RUNNING TIMEOUT 30 SEC";
    const cli::Ended ended = ask(leader, statements);
    if (ended.status != 0) std::fprintf(stderr, "%s", ended.errors.c_str());
    CHECK(ended.status == 0);
}

std::int64_t Cluster::rows_out(std::size_t leader) const {
    const cli::Ended ended = ask(leader, "SELECT ROWS_OUT FROM baton.counters WHERE WORKER = 'w" +
                                             std::to_string(worker_ports_.size()) + "'");
    const std::size_t line = ended.out.find('\n');
    return line == std::string::npos ? 0 : std::atoll(ended.out.c_str() + line + 1);
}

}  // namespace baton::failover
