// Three coordinators, four workers and clients on one database, for as long as one likes:
//
//     failover_long_run postgres|mariadb SECONDS [--seed N] [--ttl SECONDS] [--keep DIRECTORY]
//
// Coordinators are killed, stopped and asked to leave, leaders more often than others, and the
// database is killed and started again. Meanwhile and at the end it is looked at whether
//   - two ever led at once (witness.h);
//   - what clients were told is so (load.h);
//   - every long query still runs in its first run, and its file has every row once (workload.h);
//   - every partition of a task list is with the worker that it was first given to;
//   - the workers have heard of the last leader and of no later one.
// Exit status 0: nothing was wrong. Otherwise logs are left in the directory to keep.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "failover/blows.h"
#include "failover/cluster.h"
#include "failover/load.h"
#include "failover/witness.h"
#include "failover/workload.h"

namespace baton::failover {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kCoordinators = 3;
constexpr std::size_t kClients = 3;
constexpr std::size_t kPartitions = 2 * kWorkers;
constexpr std::chrono::seconds kSettleWithin{90};

struct Options {
    testing::ServerKind kind = testing::ServerKind::postgres;
    int seconds = 0;
    std::uint64_t seed = 1;
    int ttl = 2;
    std::string keep;
};

using Problems = std::vector<std::string>;

void add(Problems& all, const Problems& more) {
    all.insert(all.end(), more.begin(), more.end());
}

// Lines of what a coordinator answers, without the header; none: it does not, or only with what
// the database had when it was last there.
std::optional<std::vector<std::string>> rows(const Cluster& cluster, std::size_t at,
                                             const std::string& statement) {
    const cli::Ended ended = cluster.ask(at, statement);
    const bool is_stale = ended.errors.find("warning: the database") != std::string::npos;
    if (ended.status != 0 || is_stale) return std::nullopt;
    std::vector<std::string> lines;
    std::istringstream text(ended.out);
    std::string line;
    std::getline(text, line);
    while (std::getline(text, line)) lines.push_back(line);
    return lines;
}

Problems wrong_with_long_queries(const Cluster& cluster, std::size_t leader) {
    Problems wrong;
    const auto states = rows(cluster, leader, "SELECT NAME, STATE, RUN FROM baton.queries");
    for (std::size_t i = 1; i <= kLongQueries; ++i) {
        const std::string expected = "LONG" + std::to_string(i) + ",RUNNING,1";
        if (!states || std::find(states->begin(), states->end(), expected) == states->end()) {
            wrong.push_back("not so: " + expected);
        }
    }
    if (states && !wrong.empty()) add(wrong, *states);
    return wrong;
}

// Who has which partition of all task lists, as this coordinator says; none: it does not.
std::optional<std::vector<std::string>> partitions(const Cluster& cluster, std::size_t at) {
    auto lines = rows(cluster, at, "SELECT NUMBER, STATE, OWNER, EPOCH FROM baton.partitions");
    if (lines) std::sort(lines->begin(), lines->end());
    return lines;
}

// The same, as soon as all are owned; none: it took too long.
std::optional<std::vector<std::string>> allocated_partitions(const Cluster& cluster,
                                                             std::size_t leader) {
    const auto deadline = steady_clock::now() + kSettleWithin;
    while (steady_clock::now() < deadline) {
        const auto said = partitions(cluster, leader).value_or(std::vector<std::string>());
        const bool owned = std::all_of(said.begin(), said.end(), [](const std::string& line) {
            return line.find(",OWNED,") != std::string::npos;
        });
        if (owned && said.size() == kPartitions) return said;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return std::nullopt;
}

// No worker is ever gone, so that nothing has to move.
Problems wrong_with_partitions(const Cluster& cluster, std::size_t at,
                               const std::vector<std::string>& allocated) {
    const auto said = partitions(cluster, at);
    if (!said || *said == allocated) return {};
    Problems wrong = {"partitions have moved: this is what coordinator " + std::to_string(at) +
                      " says now"};
    add(wrong, *said);
    return wrong;
}

Problems wrong_with_clients(const Cluster& cluster, std::size_t leader, const Load& load) {
    const auto sources = rows(cluster, leader, "SELECT NAME FROM baton.logical_sources");
    const auto queries = rows(cluster, leader, "SELECT NAME FROM baton.queries");
    if (!sources || !queries) return {"the catalog cannot be read"};
    return load.differences(*sources, *queries);
}

Problems wrong_with_epochs(const Cluster& cluster, const Witness& witness) {
    Problems wrong;
    for (std::size_t i = 1; i <= kWorkers; ++i) {
        std::uint64_t epoch = 0;
        std::ifstream(cluster.directory() + "/w" + std::to_string(i) + "/epoch") >> epoch;
        if (epoch == witness.epoch()) continue;
        wrong.push_back("worker " + std::to_string(i) + " knows epoch " + std::to_string(epoch) +
                        ", and " + std::to_string(witness.epoch()) + " is the last");
    }
    return wrong;
}

Problems wrong_with_files(const Cluster& cluster) {
    std::vector<std::uint64_t> before;
    std::vector<std::uint64_t> after;
    Problems wrong = wrong_in_files(cluster.directory(), before);
    if (!wrong.empty()) return wrong;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    wrong = wrong_in_files(cluster.directory(), after);
    for (std::size_t i = 0; i < kLongQueries; ++i) {
        if (after[i] > before[i]) continue;
        wrong.push_back("LONG" + std::to_string(i + 1) + " stands still at row " +
                        std::to_string(after[i]));
    }
    return wrong;
}

// What is still wrong when everything had its time to settle.
Problems settle(Cluster& cluster, const Witness& witness, const Load& load,
                const std::vector<std::string>& allocated) {
    const auto leader = cluster.leader_of({0, 1, 2});
    if (!leader) return {"nobody leads at the end"};
    const auto deadline = steady_clock::now() + kSettleWithin;
    for (;;) {
        Problems wrong = wrong_with_long_queries(cluster, *leader);
        add(wrong, wrong_with_clients(cluster, *leader, load));
        if (partitions(cluster, *leader) != allocated) wrong.emplace_back("partitions have moved");
        add(wrong, wrong_with_epochs(cluster, witness));
        add(wrong, wrong_with_files(cluster));
        if (wrong.empty() || steady_clock::now() > deadline) return wrong;
    }
}

void tell(const Options& options, const Load& load, const Blows& blows,
          const Witness::Report& report, const Problems& problems) {
    std::printf("seed %llu, lease of %d s\n", static_cast<unsigned long long>(options.seed),
                options.ttl);
    for (const auto& [what, times] : blows.struck()) std::printf("%4d x %s\n", times, what.c_str());
    const Tally tally = load.tally();
    std::printf(
        "accepted %llu, refused %llu, unanswered %llu; at most %.2f s from a blow to the "
        "next accepted\n",
        static_cast<unsigned long long>(tally.done), static_cast<unsigned long long>(tally.refused),
        static_cast<unsigned long long>(tally.unanswered), blows.longest_s());
    std::printf("%llu terms, %llu transactions by %llu sessions\n",
                static_cast<unsigned long long>(report.terms),
                static_cast<unsigned long long>(report.writes),
                static_cast<unsigned long long>(report.sessions));
    for (const auto& [number, times] : tally.refusals) {
        std::printf("%4llu x refused with error %u\n", static_cast<unsigned long long>(times),
                    number);
    }
    for (const std::string& problem : problems) std::printf("WRONG: %s\n", problem.c_str());
    if (problems.empty()) std::printf("nothing is wrong\n");
}

int run(const Options& options) {
    Cluster cluster(options.kind, options.ttl, kCoordinators, kWorkers);
    const auto leader = cluster.leader_of({0, 1, 2});
    if (!leader) return std::fprintf(stderr, "nobody leads\n"), 2;
    const std::string task_list =
        "CREATE TASK LIST watched PARTITIONS " + std::to_string(kPartitions);
    const cli::Ended begun = cluster.ask(
        *leader, cluster.create_workers() + long_queries(cluster.directory()) + task_list);
    if (begun.status != 0) return std::fprintf(stderr, "%s\n", begun.errors.c_str()), 2;
    const auto allocated = allocated_partitions(cluster, *leader);
    if (!allocated) return std::fprintf(stderr, "partitions have no owners\n"), 2;

    const Witness witness(options.kind, cluster.url());
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < kCoordinators; ++i) addresses.push_back(cluster.address(i));
    Load load(addresses, kClients, options.seed);
    Blows blows(cluster, witness, load, std::chrono::seconds(options.ttl), options.seed);
    const auto end = steady_clock::now() + std::chrono::seconds(options.seconds);
    Problems problems;
    for (std::size_t i = 0; steady_clock::now() < end && problems.empty(); ++i) {
        blows.strike();
        problems = blows.problems();
        add(problems, wrong_with_partitions(cluster, i % kCoordinators, *allocated));
    }
    load.stop();

    add(problems, settle(cluster, witness, load, *allocated));
    const Witness::Report report = witness.report();
    add(problems, report.problems);
    tell(options, load, blows, report, problems);
    if (problems.empty()) return 0;
    if (!options.keep.empty()) {
        std::error_code ignored;
        std::filesystem::create_directories(options.keep, ignored);
        std::filesystem::copy(cluster.directory(), options.keep,
                              std::filesystem::copy_options::recursive |
                                  std::filesystem::copy_options::overwrite_existing,
                              ignored);
    }
    return 1;
}

}  // namespace
}  // namespace baton::failover

int main(int argc, char** argv) {
    using baton::failover::Options;
    const std::vector<std::string> words(argv + 1, argv + argc);
    Options options;
    bool well = words.size() >= 2 && words.size() % 2 == 0 &&
                (words[0] == "postgres" || words[0] == "mariadb");
    for (std::size_t i = 2; well && i < words.size(); i += 2) {
        if (words[i] == "--seed") {
            options.seed = std::strtoull(words[i + 1].c_str(), nullptr, 10);
        } else if (words[i] == "--ttl") {
            options.ttl = std::atoi(words[i + 1].c_str());
        } else if (words[i] == "--keep") {
            options.keep = words[i + 1];
        } else {
            well = false;
        }
    }
    if (!well) {
        return std::fprintf(stderr,
                            "failover_long_run postgres|mariadb SECONDS [--seed N] "
                            "[--ttl SECONDS] [--keep DIRECTORY]\n"),
               2;
    }
    if (words[0] == "mariadb") options.kind = baton::testing::ServerKind::mariadb;
    options.seconds = std::atoi(words[1].c_str());
    return baton::failover::run(options);
}
