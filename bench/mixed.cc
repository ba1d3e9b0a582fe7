// mixed: writers alone, and the same beside readers. Neither may wait for the other, and the log of
// the database stays bounded although there is always somebody reading.
#include <atomic>
#include <cstdio>
#include <thread>

#include "base/prng.h"
#include "bench/harness.h"
#include "coordinator/sessions/session.h"

namespace baton::bench {
namespace {

constexpr unsigned kWriters = 32;
constexpr unsigned kReaders = 8;
constexpr Seconds kPause(0.002);

class Mixed {
public:
    explicit Mixed(const Arguments& arguments)
        : scratch_(arguments),
          path_(scratch_ / "catalog.db"),
          time_(arguments.tiny ? 0.05 : 3.0),
          catalog_(open_catalog(path_)) {
        run_all(*catalog_->coordinator, "CREATE WORKER 'w:9090'");
        for (unsigned i = 0; i < kWriters; ++i) {
            writers_.push_back(
                std::make_unique<coordinator::Session>(*catalog_->coordinator, "writer"));
        }
    }

    Measured write() {
        return run_clients(kWriters, time_, [&](unsigned client) {
            run(*writers_[client], "CREATE SINK s" + std::to_string(next_++) +
                                       " (a UINT64 NOT NULL) TYPE Void SET ('w:9090' AS "
                                       "\"SINK\".\"HOST\")");
            std::uint64_t seen = log_max_;
            const std::uint64_t now = file_bytes(path_ + "-wal");
            while (now > seen && !log_max_.compare_exchange_weak(seen, now)) {
            }
        });
    }

    // The writers' share; the readers' goes into `readers`.
    Measured write_beside_readers(Measured& readers) {
        std::thread beside([&] {
            std::vector<std::unique_ptr<coordinator::Session>> sessions;
            for (unsigned i = 0; i < kReaders; ++i) {
                sessions.push_back(
                    std::make_unique<coordinator::Session>(*catalog_->coordinator, "reader"));
            }
            std::vector<Prng> dice;
            for (unsigned i = 0; i < kReaders; ++i) dice.emplace_back(i);
            const auto show = [&](unsigned client) {
                const auto any = dice[client].between(0, next_);
                run(*sessions[client], "SHOW SINKS WHERE name = 'S" + std::to_string(any) + "'");
            };
            // As busy dashboards ask, not as fast as one can: that would only share the cores.
            readers = run_clients(kReaders, time_, show, kPause);
        });
        Measured writers = write();
        beside.join();
        return writers;
    }

    [[nodiscard]] std::uint64_t log_max() const { return log_max_; }

private:
    static void run(coordinator::Session& session, const std::string& statement) {
        const coordinator::Execution done = session.execute(statement);
        if (done.error) give_up(to_string(*done.error));
    }

    Scratch scratch_;
    const std::string path_;
    const Seconds time_;
    std::unique_ptr<Catalog> catalog_;
    std::vector<std::unique_ptr<coordinator::Session>> writers_;
    std::atomic<std::uint64_t> next_ = 0;
    std::atomic<std::uint64_t> log_max_ = 0;
};

void run(const Arguments& arguments) {
    Mixed mixed(arguments);
    std::vector<Measured> readers;
    std::vector<Contender> contenders = {
        {"32 writers alone", [&] { return mixed.write(); }},
        {"32 writers beside 8 readers",
         [&] { return mixed.write_beside_readers(readers.emplace_back()); }}};
    take_turns(contenders, arguments.tiny ? 1 : 3);
    contenders.push_back({"8 readers beside 32 writers", nullptr, readers});
    Table table({"", "operations/s", "p50", "p99", "max"});
    for (const Contender& contender : contenders) {
        Latencies latencies = contender.latencies();
        table.add({contender.name, text(contender.median_rate()),
                   milliseconds(latencies.percentile(50)), milliseconds(latencies.percentile(99)),
                   milliseconds(latencies.percentile(100))});
    }
    table.print();
    std::printf("the log had at most %s MB\n",
                text(static_cast<double>(mixed.log_max()) / (1 << 20), 1).c_str());
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::run(baton::bench::arguments_of(count, values));
    return 0;
}
