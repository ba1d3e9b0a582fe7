// watch: how long after its commit a change has reached those who watch, in process.
//
// Each watch has a wake that puts it into a queue; a thread takes watches from the queue and polls
// them, as a server would. Half of the changes match the filtered watches' filter.
//   commit to delivery   from the publication after the commit until poll() has returned the change
//   to the last          the same for the last of all watches
//   request to last      from Session::execute on: with the parsing, the commit and its fsync
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "bench/harness.h"
#include "coordinator/sessions/session.h"
#include "sql/parser.h"

namespace baton::bench {
namespace {

views::ViewQuery sinks_query(const std::string& statement) {
    const auto parsed = must(sql::parse(statement));
    return must(views::ViewQuery::from(std::get<sql::Show>(parsed.front().node)));
}

class Watchers {
public:
    Watchers(coordinator::CoordinatorRuntime& coordinator, unsigned count,
             const std::string& statement)
        : coordinator_(coordinator) {
        // Registered first, so told first: the moment of the commit.
        coordinator::EntitySet sinks;
        sinks.set(static_cast<std::size_t>(kinds::Entity::sink));
        committed_ = coordinator.feed().listen(
            sinks, [this](const std::set<coordinator::EntityKey>&) { commit_ = Clock::now(); });
        const views::ViewQuery query = sinks_query(statement);
        const Revision now = must(coordinator.snapshot()).revision();
        watches_.reserve(count);
        for (unsigned i = 0; i < count; ++i) {
            watches_.push_back(must(coordinator.watch(query, now, [this, i] { wake(i); })));
        }
        thread_ = std::thread([this] { deliver(); });
    }
    Watchers(const Watchers&) = delete;
    Watchers& operator=(const Watchers&) = delete;
    ~Watchers() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        filled_.notify_one();
        thread_.join();
    }

    // Makes a change and waits until every watch has delivered it, if it matches.
    void change(coordinator::Session& session, const std::string& statement, bool matches) {
        delivered_ = 0;
        const auto before = Clock::now();
        const coordinator::Execution done = session.execute(statement);
        if (done.error) give_up(to_string(*done.error));
        if (!matches) return;
        while (delivered_ < watches_.size()) std::this_thread::yield();
        to_last_.add(1e6 * Seconds(last_ - commit_).count());
        from_request_.add(1e6 * Seconds(last_ - before).count());
    }

    Latencies each_;
    Latencies to_last_;
    Latencies from_request_;

private:
    void wake(unsigned watch) {
        bool first = false;
        {
            const std::lock_guard lock(mutex_);
            first = woken_.empty();
            woken_.push_back(watch);
        }
        if (first) filled_.notify_one();
    }

    void deliver() {
        std::vector<unsigned> now;
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                filled_.wait(lock, [&] { return closed_ || !woken_.empty(); });
                if (closed_) return;
                now.swap(woken_);
            }
            for (const unsigned i : now) {
                const std::size_t events = must(watches_[i]->poll()).size();
                if (events == 0) continue;
                last_ = Clock::now();
                each_.add(1e6 * Seconds(last_ - commit_).count());
                delivered_ += 1;
            }
            now.clear();
        }
    }

    coordinator::CoordinatorRuntime& coordinator_;
    Clock::time_point commit_;
    Clock::time_point last_;
    std::atomic<std::size_t> delivered_ = 0;
    std::mutex mutex_;
    std::condition_variable filled_;
    std::vector<unsigned> woken_;
    bool closed_ = false;
    std::thread thread_;
    coordinator::Feed::Registration committed_;
    std::vector<std::unique_ptr<coordinator::Watch>> watches_;  // last: their wakes use the above
};

void run(const Arguments& arguments) {
    const Scratch scratch(arguments);
    const auto catalog = open_catalog(scratch / "catalog.db");
    run_all(*catalog->coordinator, "CREATE WORKER 'w:9090'; CREATE WORKER 'v:9090'");
    coordinator::Session session(*catalog->coordinator, "bench");
    Table table({"watches", "filter", "p50", "p99", "to the last p50", "p99", "request to last p50",
                 "p99", "CPU us a delivery"});
    unsigned next = 0;
    const std::vector<unsigned> counts =
        arguments.tiny ? std::vector<unsigned>{1, 20} : std::vector<unsigned>{1, 100, 1000, 10'000};
    for (const unsigned count : counts) {
        for (const bool filtered : {false, true}) {
            Watchers watchers(*catalog->coordinator, count,
                              filtered ? "SHOW SINKS WHERE worker = 'w:9090'" : "SHOW SINKS");
            const unsigned changes = arguments.tiny ? 5 : count == 10'000 ? 50 : 500;
            const double cpu = cpu_seconds();
            for (unsigned i = 0; i < changes; ++i) {
                const bool matches = !filtered || i % 2 == 0;
                watchers.change(session,
                                "CREATE SINK s" + std::to_string(next++) +
                                    " (a UINT64 NOT NULL) TYPE Void SET (" +
                                    (i % 2 == 0 ? "'w:9090'" : "'v:9090'") +
                                    " AS \"SINK\".\"HOST\")",
                                matches);
            }
            const double used = 1e6 * (cpu_seconds() - cpu) / changes / count;
            table.add({text(count), filtered ? "worker =" : "none",
                       milliseconds(watchers.each_.percentile(50)),
                       milliseconds(watchers.each_.percentile(99)),
                       milliseconds(watchers.to_last_.percentile(50)),
                       milliseconds(watchers.to_last_.percentile(99)),
                       milliseconds(watchers.from_request_.percentile(50)),
                       milliseconds(watchers.from_request_.percentile(99)), text(used, 2)});
        }
    }
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::run(baton::bench::arguments_of(count, values));
    return 0;
}
