// A process that adds single rows to a table from several threads while it looks after the table
// with all its might, until it is killed. Each row that was acknowledged is a line of its output.
//
//     table_keeper FOLDER ROUND
//
// Each round is three hours later than the one before, so that everything which an earlier one left
// behind is old enough to be deleted.
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "tables/access/ingest.h"
#include "tables/access/keep_up.h"
#include "tables/keeper_table.h"
#include "testing/real_tables/table_process.h"
#include "testing/tables/line_checkpoints.h"

namespace baton {
namespace {

void insert_for_ever(tables::Ingest& ingest, std::int64_t from) {
    for (std::int64_t n = from;; ++n) {
        const auto later = ingest.add({.table = kept_table(),
                                       .columns = {},
                                       .rows = std::vector<tables::ConstantRow>{{n}},
                                       .key = {}});
        while (!later->given()) std::this_thread::sleep_for(std::chrono::microseconds(200));
        CHECK(later->take().has_value());
        const std::string line = std::to_string(n) + "\n";
        CHECK(::write(STDOUT_FILENO, line.data(), line.size()) ==
              static_cast<ssize_t>(line.size()));
    }
}

[[noreturn]] void give_up(const Error& error) {
    const std::string why = to_string(error) + "\n";
    (void)!::write(STDERR_FILENO, why.data(), why.size());
    std::_Exit(1);
}

[[noreturn]] void keep_for_ever(const std::string& folder, int round) {
    testing::SettableClock clock(system::SystemClock().wall_now());
    clock.pass(round * kRoundLength);
    testing::TableProcess process(folder, "p" + std::to_string(round), clock);
    CHECK(process.access().create(kept_table(), {}));
    // Files have the time of the machine, which is not that of the round: objects that no version
    // names are deleted before there are writers.
    const auto swept = tables::keep_up_whole(process.access(), kept_table(), {});
    if (!swept) give_up(swept.error());
    tables::Ingest ingest(process.access());
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
        const std::int64_t from = (std::int64_t{round} * kClients + i) * 1'000'000;
        clients.emplace_back([&ingest, from] { insert_for_ever(ingest, from); });
    }
    for (;;) {
        const auto kept = tables::keep_up(process.access(), kept_table(), {});
        if (!kept.result) give_up(kept.result.error());
    }
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    baton::keep_for_ever(argv[1], std::atoi(argv[2]));
}
