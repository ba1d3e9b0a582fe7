// Single rows that clients add to a table in a folder, each acknowledged once it is durable; and
// the price of many versions for a process that opens the table, with and without checkpoints.
//
//     bench_inserts [--tiny] [FOLDER]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "tables/access/ingest.h"
#include "tables/access/keep_up.h"
#include "testing/real_tables/table_process.h"
#include "testing/temporary_directory.h"

namespace {

using namespace baton;  // NOLINT(google-build-using-namespace)
using Time = std::chrono::steady_clock;

Table table_at(const std::string& location) {
    return {.name = "T",
            .location = location,
            .managed = true,
            .columns = {{.name = "n", .type = *table_type_of("BIGINT")},
                        {.name = "s", .type = *table_type_of("VARCHAR")}}};
}

double seconds_since(Time::time_point begin) {
    return std::chrono::duration<double>(Time::now() - begin).count();
}

void add_one(tables::Ingest& ingest, const Table& table, std::int64_t n) {
    const auto later = ingest.add({.table = table,
                                   .columns = {},
                                   .rows = std::vector<tables::ConstantRow>{{n, "some text"}},
                                   .key = {}});
    std::mutex mutex;
    std::condition_variable given;
    bool done = false;
    later->wake_with([&] {
        const std::lock_guard lock(mutex);
        done = true;
        given.notify_one();
    });
    {
        std::unique_lock lock(mutex);
        given.wait(lock, [&] { return done; });
    }
    later->wake_with(nullptr);
    CHECK(later->take().has_value());
}

void add_rows(testing::TableProcess& process, int clients, double seconds) {
    const Table table = table_at("c" + std::to_string(clients));
    CHECK(process.access().create(table, {}));
    tables::Ingest ingest(process.access());
    std::atomic<std::int64_t> rows = 0;
    const auto begin = Time::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < clients; ++i) {
        threads.emplace_back([&] {
            while (seconds_since(begin) < seconds) add_one(ingest, table, rows++);
        });
    }
    for (std::thread& thread : threads) thread.join();
    const double took = seconds_since(begin);
    const auto versions = (*process.access().open(table))->log->known()->version();
    std::printf("%3d clients: %8.0f rows/s, %6.0f commits/s\n", clients,
                static_cast<double>(rows) / took, static_cast<double>(versions) / took);
    const auto keeping = Time::now();
    const auto kept = tables::keep_up_whole(process.access(), table, {});
    CHECK(kept);
    std::printf("             upkeep in %.2f s: %s\n", seconds_since(keeping),
                kept->in_words().c_str());
}

// Versions of one small object each, without rows: the log alone.
void open_many(testing::TableProcess& process, const std::string& folder, int versions,
               const Clock& clock) {
    const Table table = table_at("versions");
    CHECK(process.access().create(table, {}));
    const auto opened = *process.access().open(table);
    const auto writing = Time::now();
    for (int i = 0; i < versions; ++i) {
        const tables::CommitRequest request{
            .add = {{.key = "part-" + std::to_string(i) + ".parquet", .bytes = 900, .rows = 1}}};
        CHECK(opened->log->commit(request, {}));
    }
    std::printf("%d versions: %.3f ms a commit\n", versions,
                seconds_since(writing) * 1e3 / versions);
    const auto open = [&](const char* how) {
        testing::TableProcess fresh(folder, how, clock);
        const auto log = (*fresh.access().open(table))->log;
        const auto loading = Time::now();
        CHECK(log->newest({}));
        const double first = seconds_since(loading);
        const auto again = Time::now();
        CHECK(log->newest({}));
        std::printf("  %-20s opened in %.1f ms; a newer version is looked for in %.3f ms\n", how,
                    first * 1e3, seconds_since(again) * 1e3);
    };
    open("without checkpoint");
    CHECK(opened->log->write_checkpoint({}));
    open("with checkpoint");
}

}  // namespace

int main(int argc, char** argv) {
    const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
    const testing::TemporaryDirectory made;
    const std::string folder = argc > 1 && !tiny ? argv[1] : made.path();
    const system::SystemClock clock;
    testing::TableProcess process(folder, "writer", clock);
    for (const int clients : {1, 32}) add_rows(process, clients, tiny ? 0.2 : 5);
    open_many(process, folder, tiny ? 50 : 10'000, clock);
}
