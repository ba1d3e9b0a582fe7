// baton-sim runs simulations: one scenario per seed, until one fails.
#include <chrono>
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/simulation.h"
#include "testing/exchange/world.h"

namespace {

using namespace baton;
using namespace baton::sim;

void print(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

void tell_failure(const Scenario& scenario, const Report& report, const std::string& command) {
    std::printf("seed %llu fails: %s\n", static_cast<unsigned long long>(scenario.seed),
                report.problem->c_str());
    std::printf("again: %s\n\nMaking it smaller ...\n", command.c_str());
    const Scenario small = shrink(scenario);
    const Report told = simulate(small, Telling::story);
    std::printf("\nThis is enough:\n");
    print(describe(small));
    std::printf("\nWhat happens then:\n");
    print(told.story);
    std::printf("\n%s\n", told.problem ? told.problem->c_str() : "nothing: it did not fail again");
}

// An exchange of frames between workers, a world of its own. False: it fails.
bool exchange_holds(std::uint64_t seed, bool with_story, bool brief) {
    const testing::ExchangeScenario scenario = testing::exchange_scenario_of(seed);
    const testing::ExchangeRun run = testing::run_exchange(scenario, with_story);
    if (with_story) {
        print(testing::describe(scenario));
        print(run.story);
    }
    if (!run.problem) return true;
    std::printf("seed %llu fails: exchange: %s\n", static_cast<unsigned long long>(seed),
                run.problem->c_str());
    if (brief) return false;
    const testing::ExchangeScenario small = testing::shrink(scenario);
    const testing::ExchangeRun told = testing::run_exchange(small, true);
    std::printf("\nThis is enough:\n");
    print(testing::describe(small));
    std::printf("\nWhat happens then:\n");
    print(told.story);
    std::printf("\n%s\n", told.problem.value_or("nothing: it did not fail again").c_str());
    return false;
}

}  // namespace

int main(int count, char** values) {
    CLI::App app("Runs Baton in a simulated world in which everything goes wrong");
    std::uint64_t seed = 1;
    std::uint64_t runs = 100;
    std::uint64_t minutes = 3;
    std::uint64_t workers = 8;
    std::uint64_t asks = 40;
    std::uint64_t incidents = 20;
    std::uint64_t coordinators = 3;
    std::uint64_t contests = 50;
    std::uint64_t task_lists = 50;
    std::uint64_t strangers = 40;
    std::uint64_t exchanges = 100;
    std::uint64_t forwards = 50;
    bool story = false;
    bool brief = false;
    app.add_option("--seed", seed, "the first seed")->capture_default_str();
    app.add_option("--runs", runs, "how many seeds are tried")->capture_default_str();
    app.add_option("--minutes", minutes, "simulated time of each run until the world heals")
        ->capture_default_str();
    app.add_option("--workers", workers, "at most so many")->capture_default_str();
    app.add_option("--asks", asks, "at most so many statements")->capture_default_str();
    app.add_option("--incidents", incidents, "at most so many")->capture_default_str();
    app.add_option("--coordinators", coordinators, "at most so many that contend for the lease")
        ->capture_default_str()
        ->check(CLI::Range(1, 26));
    app.add_option("--contests", contests,
                   "of 100 runs; in the others one coordinator leads for ever")
        ->capture_default_str();
    app.add_option("--task-lists", task_lists, "of 100 runs; the others have none")
        ->capture_default_str();
    app.add_option("--strangers", strangers, "of 100 runs in which others speak to workers")
        ->capture_default_str();
    app.add_option("--exchanges", exchanges, "of 100 runs that also play an exchange of frames")
        ->capture_default_str();
    app.add_option("--forwards", forwards, "of 100 runs in which coordinators contend")
        ->capture_default_str();
    app.add_flag("--story", story, "tell what happens");
    app.add_flag("--brief", brief, "of a run that fails, tell only the seed and what is wrong");
    CLI11_PARSE(app, count, values);

    const Size size{.workers_max = workers,
                    .asks_max = asks,
                    .incidents_max = incidents,
                    .coordinators_max = coordinators,
                    .contests = contests,
                    .task_lists = task_lists,
                    .strangers = strangers,
                    .forwards = forwards,
                    .length = std::chrono::minutes(minutes)};
    const auto began = std::chrono::steady_clock::now();
    std::map<QueryState, std::uint64_t> reached;
    std::uint64_t events = 0;
    std::uint64_t terms = 0;
    std::uint64_t fenced = 0;
    std::uint64_t handovers = 0;
    std::uint64_t forwarded = 0;
    std::uint64_t unknown = 0;
    for (std::uint64_t i = seed; i < seed + runs; ++i) {
        if (i % 100 < exchanges && !exchange_holds(i, story, brief)) return 1;
        const Scenario scenario = scenario_of(i, size);
        const Report report = simulate(scenario, story ? Telling::story : Telling::nothing);
        if (story) {
            print(describe(scenario));
            print(report.story);
        }
        if (report.problem && brief) {
            std::printf("seed %llu fails: %s\n", static_cast<unsigned long long>(i),
                        report.problem->c_str());
            return 1;
        }
        if (report.problem) {
            tell_failure(
                scenario, report,
                "baton-sim --seed " + std::to_string(i) + " --runs 1 --minutes " +
                    std::to_string(minutes) + " --workers " + std::to_string(workers) + " --asks " +
                    std::to_string(asks) + " --incidents " + std::to_string(incidents) +
                    " --coordinators " + std::to_string(coordinators) + " --contests " +
                    std::to_string(contests) + " --task-lists " + std::to_string(task_lists) +
                    " --strangers " + std::to_string(strangers) + " --forwards " +
                    std::to_string(forwards) + " --story");
            return 1;
        }
        events += report.events;
        terms += report.terms;
        fenced += report.fenced;
        handovers += report.handovers;
        forwarded += report.forwarded;
        unknown += report.unknown;
        for (const auto& [state, times] : report.reached) reached[state] += times;
        if (runs == 1)
            std::printf("fingerprint %016llx\n",
                        static_cast<unsigned long long>(report.fingerprint));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::printf("%llu runs of %llu simulated minutes: %llu events in %.1f s, no problem found\n",
                static_cast<unsigned long long>(runs), static_cast<unsigned long long>(minutes),
                static_cast<unsigned long long>(events), took.count());
    std::printf("%8llu  terms of coordinators that contend\n%8llu  late writes that were fenced\n",
                static_cast<unsigned long long>(terms), static_cast<unsigned long long>(fenced));
    std::printf("%8llu  partitions that went to another worker\n",
                static_cast<unsigned long long>(handovers));
    std::printf("%8llu  requests that were forwarded\n%8llu  outcomes that were unknown\n",
                static_cast<unsigned long long>(forwarded),
                static_cast<unsigned long long>(unknown));
    for (const auto& [state, times] : reached) {
        std::printf("%8llu  %s\n", static_cast<unsigned long long>(times),
                    std::string(to_string(state)).c_str());
    }
    return 0;
}
