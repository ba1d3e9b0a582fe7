#include "crash/load.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "adapters/system/system_clock.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"

namespace baton::crash {

namespace {

class Reporter {
public:
    explicit Reporter(int descriptor) : descriptor_(descriptor) {}

    void say(const std::string& what) const {
        const std::string line = what + "\n";
        if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
            ::_exit(3);  // nobody listens
        }
    }

private:
    int descriptor_;
};

void limit_file_size(rlim_t bytes) {
    (void)std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

// The disk is full until so many requests were refused for it.
class Disk {
public:
    Disk(const Reporter& reporter, bool full) : reporter_(reporter), refusals_(full ? 0 : -1) {}

    void refused() {
        constexpr int kEnough = 5;
        if (refusals_ < 0 || refusals_.fetch_add(1) + 1 != kEnough) return;
        limit_file_size(RLIM_INFINITY);
        reporter_.say("unlimited");
    }

private:
    const Reporter& reporter_;
    std::atomic<int> refusals_;
};

// Gives the statements of a bundle at once, or one by one as a client at a terminal does.
coordinator::Execution run(coordinator::Session& session, int thread, const Operation& operation,
                           bool at_once) {
    std::vector<std::string> texts;
    if (operation.size() > 1) texts.emplace_back("BEGIN");
    for (const Action& action : operation) texts.push_back(statement_of(thread, action));
    if (operation.size() > 1) texts.emplace_back("COMMIT");
    if (at_once) {
        std::string all;
        for (const std::string& text : texts) all += text + ";";
        return session.execute(all);
    }
    coordinator::Execution execution;
    for (const std::string& text : texts) {
        execution = session.execute(text);
        if (!execution.error) continue;
        if (session.in_transaction()) (void)session.execute("ROLLBACK");
        break;
    }
    return execution;
}

class Thread {
public:
    Thread(const Load& load, const Reporter& reporter, Disk& disk, int number)
        : load_(load),
          reporter_(reporter),
          disk_(disk),
          number_(number),
          prng_(load.seed + static_cast<std::uint64_t>(number)),
          facts_(load.facts.at(static_cast<std::size_t>(number))) {}

    void work(coordinator::CoordinatorRuntime& coordinator) {
        coordinator::Session session(coordinator, "crash");
        for (std::uint64_t i = 0; i < load_.operations_max; ++i) {
            const Operation operation = random_operation(prng_, facts_);
            say(">", to_words(operation));
            const coordinator::Execution execution =
                run(session, number_, operation, prng_.chance(3, 4));
            if (!execution.error) {
                say("<", "+ " + to_string(execution.results.back().revision.value_or(Revision(0))));
                facts_ = predict(facts_, operation).facts;
                continue;
            }
            say("<", "- " + std::to_string(number(execution.error->code)));
            if (execution.error->code == ErrorCode::catalog_full) disk_.refused();
            if (execution.error->reaction() == Reaction::unknown_outcome) return;
        }
    }

private:
    void say(const char* sign, const std::string& what) const {
        reporter_.say(sign + (" " + std::to_string(number_)) + " " + what);
    }

    const Load& load_;
    const Reporter& reporter_;
    Disk& disk_;
    const int number_;
    Prng prng_;
    Facts facts_;
};

// Backups, as often as they go.
void keep_copying(const Load& load, const Reporter& reporter, SqlDatabase& database,
                  const std::atomic<bool>& ending) {
    for (int i = 0; !ending && load.copy; ++i) {
        const std::string name = *load.copy + "-" + std::to_string(i);
        if (database.backup_to(name)) reporter.say("backup " + name);
    }
}

[[noreturn]] void give_up(const Reporter& reporter, const Error& error) {
    reporter.say("! " + to_string(error));
    ::_exit(1);
}

}  // namespace

sqlite::SqliteOptions catalog_options(const std::string& path) {
    return {
        .path = path, .create = true, .initialise = [](Sql& sql) { return catalog::migrate(sql); }};
}

void run_load(const Load& load, int report) {
    const Reporter reporter(report);
    const system::SystemClock clock;
    if (load.file_size_max) limit_file_size(*load.file_size_max);
    {
        sqlite::SqliteOptions sqlite = catalog_options(load.path);
        sqlite.log_pages_step = load.log_pages_step;
        auto database = sqlite::open_sqlite(sqlite);
        if (!database) give_up(reporter, database.error());
        SqlDatabase& files = **database;
        coordinator::CoordinatorOptions options;
        options.commits.committer.history.changes_max = load.changes_max;
        auto coordinator =
            coordinator::CoordinatorRuntime::open(*std::move(database), clock, options);
        if (!coordinator) give_up(reporter, coordinator.error());
        reporter.say("opened");

        Disk disk(reporter, load.file_size_max.has_value());
        std::atomic<bool> ending = false;
        std::thread copier([&] { keep_copying(load, reporter, files, ending); });
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < load.facts.size(); ++i) {
            threads.emplace_back(
                [&, i] { Thread(load, reporter, disk, static_cast<int>(i)).work(**coordinator); });
        }
        for (std::thread& thread : threads) thread.join();
        ending = true;
        copier.join();
    }
    ::_exit(0);
}

}  // namespace baton::crash
