// catalog_write: durable requests per second, in process, beside raw SQLite and the floor.
//
//   floor        one write and one fdatasync for all clients that are waiting: what the disk, the
//                kernel and waking the clients cost, without any catalog
//   raw SQLite   one commit per insert of about the same size, WAL, synchronous=FULL, one client
//   typed        CoordinatorRuntime::execute(Request)
//   statement    Session::execute(text): parsed, bound, logged
//   query        CREATE QUERY: planned against a snapshot, too; a filter, and a filter with a
//                window and an aggregate, on 100 workers
//
//     bench_catalog_write [--tiny] [clients..] ["CREATE SINK"]
#include <atomic>
#include <cctype>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "bench/harness.h"
#include "coordinator/sessions/session.h"
#include "coordinator/statements/bind.h"
#include "sql/parser.h"

namespace baton::bench {
namespace {

constexpr std::size_t kRecordBytes = 128;

class Floor {
public:
    explicit Floor(const std::string& path)
        : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        const std::vector<char> zeros(kFileBytes);
        if (file_ < 0 || ::pwrite(file_, zeros.data(), kFileBytes, 0) < 0 || ::fsync(file_) != 0) {
            give_up("cannot write to " + path);
        }
        thread_ = std::thread([this] { run(); });
    }
    Floor(const Floor&) = delete;
    Floor& operator=(const Floor&) = delete;
    ~Floor() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        filled_.notify_one();
        thread_.join();
        ::close(file_);
    }

    void write() {
        std::atomic<int> done = 0;
        bool first = false;
        {
            const std::lock_guard lock(mutex_);
            first = waiting_.empty();
            waiting_.push_back(&done);
        }
        if (first) filled_.notify_one();
        done.wait(0);
        // Until the writer has let go of it.
        while (done.load() != 2) std::this_thread::yield();
    }

private:
    static constexpr std::size_t kFileBytes = 16 << 20;

    void run() {
        std::vector<std::atomic<int>*> batch;
        std::vector<char> bytes;
        std::size_t at = 0;
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                filled_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
                if (waiting_.empty()) return;
                batch.swap(waiting_);
            }
            bytes.assign(batch.size() * kRecordBytes, 'x');
            if (at + bytes.size() > kFileBytes) at = 0;
            const bool ok = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at)) > 0;
            if (!ok || ::fdatasync(file_) != 0) give_up("the floor cannot write");
            at += bytes.size();
            for (std::atomic<int>* done : batch) {
                *done = 1;
                done->notify_one();
                *done = 2;
            }
            batch.clear();
        }
    }

    int file_;
    std::mutex mutex_;
    std::condition_variable filled_;
    std::vector<std::atomic<int>*> waiting_;
    bool closed_ = false;
    std::thread thread_;
};

class RawSqlite {
public:
    explicit RawSqlite(const std::string& path) {
        check(sqlite3_open(path.c_str(), &db_));
        check(sqlite3_exec(db_,
                           "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                           "CREATE TABLE t (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
                           nullptr, nullptr, nullptr));
        check(sqlite3_prepare_v2(db_, "INSERT INTO t VALUES (?, ?)", -1, &insert_, nullptr));
    }
    RawSqlite(const RawSqlite&) = delete;
    RawSqlite& operator=(const RawSqlite&) = delete;
    ~RawSqlite() {
        sqlite3_finalize(insert_);
        sqlite3_close(db_);
    }

    void insert() {
        const std::string name = "NAME_" + std::to_string(next_++);
        const std::string value(kRecordBytes - name.size(), 'x');
        sqlite3_bind_text(insert_, 1, name.data(), static_cast<int>(name.size()), nullptr);
        sqlite3_bind_text(insert_, 2, value.data(), static_cast<int>(value.size()), nullptr);
        if (sqlite3_step(insert_) != SQLITE_DONE) give_up(sqlite3_errmsg(db_));
        sqlite3_reset(insert_);
    }

private:
    void check(int code) const {
        if (code != SQLITE_OK) give_up(sqlite3_errmsg(db_));
    }

    sqlite3* db_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
    std::uint64_t next_ = 0;
};

std::string sink_statement(const std::string& name) {
    return "CREATE SINK " + name +
           " (sensor UINT64 NOT NULL, celsius FLOAT64, ts UINT64 NOT NULL) TYPE File SET ("
           "'w0:9090' AS \"SINK\".\"HOST\", '/data/" +
           name + ".csv' AS \"SINK\".FILE_PATH, 'CSV' AS OUTPUT_FORMATTER.\"TYPE\")";
}

std::string source_statement(const std::string& name) {
    return "CREATE LOGICAL SOURCE " + name +
           " (sensor UINT64 NOT NULL, celsius FLOAT64, ts UINT64 NOT NULL, place VARSIZED)";
}

constexpr unsigned kWorkers = 100;

void prepare(coordinator::CoordinatorRuntime& coordinator) {
    for (unsigned i = 0; i < kWorkers; ++i) {
        const std::string n = std::to_string(i);
        const std::string worker = "'w" + n + ":9090'";
        run_all(coordinator, "CREATE WORKER " + worker + " SET (1000000 AS CAPACITY)");
        run_all(coordinator, source_statement("readings" + n));
        run_all(coordinator, "CREATE PHYSICAL SOURCE FOR readings" + n + " TYPE File SET (" +
                                 worker +
                                 " AS \"SOURCE\".\"HOST\", '/data/in.csv' AS \"SOURCE\".FILE_PATH, "
                                 "'CSV' AS INPUT_FORMATTER.\"TYPE\")");
        run_all(coordinator, "CREATE SINK alerts" + n +
                                 " (sensor UINT64 NOT NULL, celsius FLOAT64) TYPE Void SET (" +
                                 worker + " AS \"SINK\".\"HOST\")");
        run_all(coordinator, "CREATE SINK counts" + n +
                                 " (sensor UINT64 NOT NULL, n UINT64 NOT NULL) TYPE Void SET (" +
                                 worker + " AS \"SINK\".\"HOST\")");
    }
}

template <class Request>
Request request_of(const std::string& statement) {
    const auto statements = must(sql::parse(statement));
    return std::get<Request>(must(coordinator::bind(statements.front())));
}

void execute(coordinator::Session& session, const std::string& statement) {
    const coordinator::Execution execution = session.execute(statement);
    if (execution.error) give_up(to_string(*execution.error));
}

class Benchmark {
public:
    explicit Benchmark(const Arguments& arguments)
        : tiny_(arguments.tiny),
          scratch_(arguments),
          floor_(scratch_ / "floor"),
          raw_(scratch_ / "raw.db"),
          catalog_(open_catalog(scratch_ / "catalog.db")),
          source_(request_of<catalog::request::CreateLogicalSource>(source_statement("x"))),
          sink_(request_of<catalog::request::CreateSink>(sink_statement("x"))) {
        prepare(*catalog_->coordinator);
    }

    // Compares with the one contender of this name only.
    void only(const std::string& name) { only_ = name; }

    void run(unsigned clients) {
        const Seconds time(tiny_ ? 0.02 : 1.0);
        std::vector<std::unique_ptr<coordinator::Session>> sessions;
        for (unsigned i = 0; i < clients; ++i) {
            sessions.push_back(
                std::make_unique<coordinator::Session>(*catalog_->coordinator, "bench"));
        }
        const auto text = [&](auto make) {
            return [&, make] {
                return run_clients(clients, time,
                                   [&](unsigned client) { execute(*sessions[client], make()); });
            };
        };
        const auto name = [this] { return "n" + std::to_string(next_++); };
        std::vector<Contender> contenders = {
            {"raw SQLite, 1 client",
             [&] { return run_clients(1, time, [&](unsigned) { raw_.insert(); }); }},
            {"floor",
             [&] { return run_clients(clients, time, [&](unsigned) { floor_.write(); }); }},
            {"typed CREATE LOGICAL SOURCE",
             [&] { return run_clients(clients, time, [&](unsigned) { create_source(name()); }); }},
            {"typed CREATE SINK",
             [&] { return run_clients(clients, time, [&](unsigned) { create_sink(name()); }); }},
            {"CREATE SINK", text([&] { return sink_statement(name()); })},
            {"CREATE LOGICAL SOURCE", text([&] { return source_statement(name()); })},
            {"CREATE QUERY", text([&] { return query_statement(name()); })},
            {"CREATE QUERY, window", text([&] { return window_statement(name()); })},
        };
        std::erase_if(contenders, [&](const Contender& contender) {
            return !only_.empty() && contender.name != only_ && &contender != &contenders.front();
        });
        take_turns(contenders, tiny_ ? 1 : 5);
        report(clients, contenders);
    }

private:
    void create_source(const std::string& name) {
        catalog::request::CreateLogicalSource request = source_;
        request.name = name;
        must(catalog_->coordinator->execute(catalog::Request(std::move(request))));
    }

    void create_sink(const std::string& name) {
        catalog::request::CreateSink request = sink_;
        request.name = name;
        must(catalog_->coordinator->execute(catalog::Request(std::move(request))));
    }

    std::string query_statement(const std::string& name) {
        const std::string n = std::to_string(next_query_++ % kWorkers);
        return "CREATE QUERY " + name + " AS SELECT sensor, celsius FROM readings" + n +
               " WHERE celsius > 30.0 INTO alerts" + n;
    }

    std::string window_statement(const std::string& name) {
        const std::string n = std::to_string(next_query_++ % kWorkers);
        return "CREATE QUERY " + name + " AS SELECT sensor, COUNT(*) AS n FROM readings" + n +
               " WHERE celsius > 30.0 GROUP BY sensor WINDOW TUMBLING(ts, SIZE 10 SEC) INTO "
               "counts" +
               n;
    }

    static void report(unsigned clients, const std::vector<Contender>& contenders) {
        Table table({std::to_string(clients) + (clients == 1 ? " client" : " clients"),
                     "requests/s", "best", "x raw SQLite", "p50", "p99", "max", "CPU us each"});
        const double raw = contenders.front().median_rate();
        for (const Contender& contender : contenders) {
            Latencies latencies = contender.latencies();
            table.add({contender.name, text(contender.median_rate()), text(contender.best_rate()),
                       text(contender.median_rate() / raw, 1),
                       milliseconds(latencies.percentile(50)),
                       milliseconds(latencies.percentile(99)),
                       milliseconds(latencies.percentile(100)), text(contender.cpu_us(), 1)});
        }
        table.print();
    }

    const bool tiny_;
    std::string only_;
    Scratch scratch_;
    Floor floor_;
    RawSqlite raw_;
    std::unique_ptr<Catalog> catalog_;
    const catalog::request::CreateLogicalSource source_;
    const catalog::request::CreateSink sink_;
    std::atomic<std::uint64_t> next_ = 0;
    std::atomic<std::uint64_t> next_query_ = 0;
};

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    using namespace baton::bench;
    const Arguments arguments = arguments_of(count, values);
    Benchmark benchmark(arguments);
    std::vector<unsigned> clients;
    for (const std::string& word : arguments.rest) {
        if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
            clients.push_back(static_cast<unsigned>(std::stoul(word)));
        } else {
            benchmark.only(word);
        }
    }
    if (clients.empty()) clients = {1, 32, 128};
    for (const unsigned n : clients) benchmark.run(n);
    return 0;
}
