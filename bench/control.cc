// control: what the decision thread costs, with real catalog and controller, and workers that
// answer at once.
//
//   deploy      100,000 queries that wait are brought to RUNNING on 10,000 workers
//   restart     a new coordinator process finds all of that running: until every worker's list is
//               compared with the catalog; nothing may be sent or written
//   heartbeat   10,000 workers beat once a second over 100,000 running queries: CPU of the decision
//               thread; nothing may be written
//   simulation  an hour of 20 workers and 50 queries or more, with everything going wrong
#include <chrono>
#include <cstdio>
#include <ctime>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>

#include "base/overload.h"
#include "bench/harness.h"
#include "bench/population.h"
#include "coordinator/commit/committer.h"
#include "coordinator/control/catalog_door.h"
#include "coordinator/control/controller.h"
#include "sim/simulation.h"

namespace baton::bench {
namespace {

double thread_cpu() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class TurnedClock final : public baton::Clock {
public:
    [[nodiscard]] Instant now() const override { return now_; }
    [[nodiscard]] WallTime wall_now() const override {
        return WallTime(began_ + now_.time_since_epoch());
    }
    void set(Instant now) { now_ = std::max(now_, now); }

private:
    Instant now_{};
    const Duration began_ =
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch());
};

// Workers that do everything they are told at once.
class PromptWorkers final : public Transport {
public:
    using Queue = std::deque<coordinator::ControlEvent>;

    void listen(Listener) override {}
    void post_to(Queue* queue) { queue_ = queue; }

    void dial(const std::string& worker, const std::optional<Address>&, transport::Attempt attempt,
              const control::Hello&) override {
        control::Welcome welcome{
            .incarnation = Incarnation(1), .last_event = events_[worker], .fragments = {}};
        for (const auto& [key, status] : held_[worker]) welcome.fragments.push_back(status);
        queue_->push_back(transport::Dialled{
            .worker = worker, .attempt = attempt, .welcome = std::move(welcome)});
    }
    void send(const std::string& worker, transport::Attempt attempt,
              const control::Down& message) override {
        control::Up answer = std::visit(
            Overload{
                [](const control::Beat& beat) -> control::Up {
                    return control::Pulse{.beat = beat.number,
                                          .from = beat.seen,
                                          .through = beat.seen,
                                          .changed = {}};
                },
                [&](const control::Command& command) -> control::Up {
                    commands_ += 1;
                    return control::CommandAnswer{.request = command.request,
                                                  .outcome = obey(worker, command)};
                },
                [](const control::Assign& assign) -> control::Up {
                    return control::Holding{.number = assign.number, .held = assign.owned};
                },
            },
            message);
        queue_->push_back(transport::MessageArrived{
            .worker = worker, .attempt = attempt, .message = std::move(answer)});
    }
    void hang_up(const std::string&, transport::Attempt) override {}

    [[nodiscard]] std::uint64_t commands() const { return commands_; }

private:
    control::FragmentStatus obey(const std::string& worker, const control::Command& command) {
        const FragmentKey key = control::key_of(command.what);
        auto& held = held_[worker];
        if (std::holds_alternative<control::ForgetFragment>(command.what)) {
            held.erase(key);
            return {.key = key, .event = ++events_[worker]};
        }
        control::FragmentStatus& status = held[key];
        status.key = key;
        if (const auto* made = std::get_if<control::RegisterFragment>(&command.what)) {
            status.fingerprint = made->fingerprint;
        }
        status.event = ++events_[worker];
        status.state = std::visit(
            Overload{
                [](const control::RegisterFragment&) { return FragmentState::registered; },
                [](const control::StartFragment&) { return FragmentState::running; },
                [](const auto&) { return FragmentState::stopped; },
            },
            command.what);
        return status;
    }

    Queue* queue_ = nullptr;
    std::map<std::string, std::map<FragmentKey, control::FragmentStatus>> held_;
    std::map<std::string, std::uint64_t> events_;
    std::uint64_t commands_ = 0;
};

// A coordinator's process on a thread: the controller and what it needs, stepped by hand.
class Process final : public coordinator::CatalogDoor {
public:
    Process(SqlDatabase& database, PromptWorkers& workers, TurnedClock& clock)
        : reads_(must(database.connect(Access::read))),
          clock_(clock),
          committer_(must(database.connect(Access::write)), clock, starting_at(*reads_)) {
        workers.post_to(&queue_);
        controller_ = std::make_unique<coordinator::Controller>(
            coordinator::ControllerOptions{}, *this, workers, clock,
            [this](coordinator::ControlEvent event) { queue_.push_back(std::move(event)); });
        must(controller_->start());
    }

    Result<coordinator::CatalogLook> look(const coordinator::CatalogWanted& wanted) override {
        TRY(reads_->begin(Access::read));
        auto seen = coordinator::look(catalog::Reader(*reads_), wanted);
        reads_->rollback();
        return seen;
    }
    void submit(Ticket ticket, std::vector<catalog::Request> requests,
                WhenWritten written) override {
        auto bundle = std::make_shared<coordinator::Bundle>(
            coordinator::bundle_of(std::move(requests), clock_));
        jobs_.push_back(
            {.bundle = bundle, .answered = [ticket, written](const coordinator::Outcome& outcome) {
                 const auto done = coordinator::result_of(outcome);
                 if (!done) give_up(to_string(done.error()));
                 written(ticket, done);
             }});
        writes_ += 1;
    }

    // Everything happens that can at this moment.
    void settle() {
        for (;;) {
            while (!queue_.empty()) {
                const coordinator::ControlEvent event = std::move(queue_.front());
                queue_.pop_front();
                controller_->take(event);
            }
            if (!jobs_.empty()) {
                commit();
                continue;
            }
            const auto wake = controller_->wake_at();
            if (!wake || *wake > clock_.now()) return;
            controller_->take(coordinator::control_event::Tick{});
        }
    }
    void run_for(Duration span) {
        const Instant end = clock_.now() + span;
        for (;;) {
            settle();
            const auto wake = controller_->wake_at();
            if (!wake || *wake > end) break;
            clock_.set(*wake);
        }
        clock_.set(end);
        settle();
    }

    [[nodiscard]] std::uint64_t writes() const { return writes_; }

private:
    static coordinator::CommitterOptions starting_at(Sql& sql) {
        coordinator::CommitterOptions options;
        must(sql.begin(Access::read));
        options.start = must(catalog::Reader(sql).revision());
        sql.rollback();
        return options;
    }

    void commit() {
        constexpr std::size_t kBatch = 512;
        std::vector<coordinator::Committer::Job> batch;
        while (!jobs_.empty() && batch.size() < kBatch) {
            batch.push_back(std::move(jobs_.front()));
            jobs_.pop_front();
        }
        committer_.run(batch, [&](const coordinator::CommittedBatch& done) {
            coordinator::control_event::Changed changed{coordinator::keys_of(done.changes)};
            if (!changed.keys.empty()) queue_.push_back(std::move(changed));
            for (const auto& [answered, outcome] : done.answers) answered(outcome);
        });
    }

    std::unique_ptr<Sql> reads_;
    TurnedClock& clock_;
    coordinator::Committer committer_;
    std::deque<coordinator::Committer::Job> jobs_;
    PromptWorkers::Queue queue_;
    std::uint64_t writes_ = 0;
    std::unique_ptr<coordinator::Controller> controller_;
};

void measure_control(const Arguments& arguments) {
    Population population;
    if (arguments.tiny) population = {.workers = 12, .queries = 60, .failed = 3};
    const Scratch scratch(arguments);
    const std::string path = scratch / "catalog.db";
    populate(*open_catalog(path)->coordinator, population);

    const auto database = must(sqlite::open_sqlite({.path = path}));
    TurnedClock clock;
    PromptWorkers workers;
    const std::string count =
        text(population.queries) + " queries, " + text(population.workers) + " workers";
    Table table({count, "s", "CPU s", "commands", "writes"});
    const auto measure = [&](const std::string& what, Process& process,
                             const std::function<void()>& action) {
        const auto began = Clock::now();
        const double cpu = thread_cpu();
        const std::uint64_t commands = workers.commands();
        const std::uint64_t writes = process.writes();
        action();
        table.add({what, text(Seconds(Clock::now() - began).count(), 2),
                   text(thread_cpu() - cpu, 2),
                   text(static_cast<double>(workers.commands() - commands)),
                   text(static_cast<double>(process.writes() - writes))});
    };
    {
        Process process(*database, workers, clock);
        measure("deploy", process, [&] { process.run_for(std::chrono::seconds(30)); });
        if (process.writes() == 0) give_up("nothing was deployed");
    }
    std::unique_ptr<Process> second;
    const auto began = Clock::now();
    second = std::make_unique<Process>(*database, workers, clock);
    std::printf("opened again after %s s\n",
                text(Seconds(Clock::now() - began).count(), 2).c_str());
    measure("restart", *second, [&] { second->settle(); });
    measure("30 s of heartbeats", *second, [&] { second->run_for(std::chrono::seconds(30)); });
    table.print();
}

void measure_simulation(bool tiny) {
    sim::Size size{.workers_max = 20,
                   .asks_max = 1'000,
                   .incidents_max = 120,
                   .length = std::chrono::minutes(tiny ? 2 : 60)};
    Table table({"an hour of 20 workers", "queries", "events", "s"});
    for (std::uint64_t seed = 1, shown = 0; shown < (tiny ? 1U : 5U); ++seed) {
        const sim::Scenario scenario = sim::scenario_of(seed, size);
        const bool large = scenario.workers.size() >= 18 && scenario.incidents.size() >= 60 &&
                           scenario.asks.size() >= 500;
        if (!large && !tiny) continue;
        const auto began = Clock::now();
        const sim::Report report = sim::simulate(scenario);
        if (report.problem) give_up(*report.problem);
        const auto pending = report.reached.find(QueryState::pending);
        const std::uint64_t queries = pending == report.reached.end() ? 0 : pending->second;
        if (queries < 50 && !tiny) continue;  // most were refused: nothing to see
        shown += 1;
        table.add({"seed " + std::to_string(seed), text(static_cast<double>(queries)),
                   text(static_cast<double>(report.events)),
                   text(Seconds(Clock::now() - began).count(), 2)});
    }
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    using namespace baton::bench;
    const Arguments arguments = arguments_of(count, values);
    measure_simulation(arguments.tiny);
    measure_control(arguments);
    return 0;
}
