// Processes that add rows to a table, merge its objects and delete what is left over are killed
// with -9, again and again: no acknowledged row is lost, none is there twice, and after upkeep the
// store holds nothing but the table.
#include <csignal>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "base/prng.h"
#include "cli/process.h"
#include "tables/access/keep_up.h"
#include "tables/keeper_table.h"
#include "testing/real_tables/table_process.h"
#include "testing/tables/line_checkpoints.h"
#include "testing/temporary_directory.h"

namespace baton {
namespace {

constexpr int kRounds = 12;

TEST(KilledKeepers, EveryAcknowledgedRowIsThereOnceAndNothingElseIs) {
    testing::TemporaryDirectory folder;
    Prng prng(1);
    std::uint64_t acknowledged = 0;
    std::string known = "SELECT count(DISTINCT n)::VARCHAR FROM r WHERE n IN (-1";
    for (int round = 0; round < kRounds; ++round) {
        cli::Process keeper({BATON_TABLE_KEEPER, folder.path(), std::to_string(round)});
        // In every other round while it is still deleting what earlier ones left behind.
        if (round % 2 == 0) {
            ASSERT_TRUE(keeper.says("\n")) << keeper.errors();
        }
        // The moment is the test's: the process adds and merges all the time.
        std::this_thread::sleep_for(std::chrono::milliseconds(prng.between(50, 900)));
        keeper.signal(SIGKILL);
        EXPECT_EQ(keeper.wait(), 128 + SIGKILL) << keeper.errors();
        std::istringstream lines(keeper.out());
        for (std::string line; std::getline(lines, line) && !lines.eof();) {
            known += "," + line;
            acknowledged += 1;
        }
    }
    testing::SettableClock clock(system::SystemClock().wall_now());
    clock.pass(kRounds * kRoundLength);
    testing::TableProcess process(folder.path(), "last", clock);
    for (int i = 0; i < 2; ++i) {
        const auto kept = tables::keep_up_whole(process.access(), kept_table(), {});
        ASSERT_TRUE(kept) << to_string(kept.error());
        clock.pass(kRoundLength);
    }
    EXPECT_GT(acknowledged, std::uint64_t{kRounds});
    EXPECT_EQ(process.ask(kept_table(), known + ")"), std::to_string(acknowledged));
    EXPECT_EQ(process.ask(kept_table(), "SELECT (count(*) - count(DISTINCT n))::VARCHAR FROM r"),
              "0");
    // Of each client one row may be there of which it had not heard.
    const std::string all = process.ask(kept_table(), "SELECT count(*)::VARCHAR FROM r");
    EXPECT_LE(std::stoull(all), acknowledged + std::uint64_t{kRounds} * kClients);
    EXPECT_LT(process.objects(kept_table()), 16U);
    EXPECT_EQ(testing::stored_objects(testing::TableProcess::store_folder(folder.path())),
              process.objects(kept_table()));
}

}  // namespace
}  // namespace baton
