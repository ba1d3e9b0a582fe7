#include "core/tables/upkeep_schedule.h"

#include <algorithm>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace baton::tables {
namespace {

using Found = upkeep_event::LookEnded::Found;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A day of tables: looks end at once with what `found` says.
class Day {
public:
    explicit Day(std::vector<std::string> tables, UpkeepScheduleOptions options = {})
        : schedule_(options, 7) {
        take(upkeep_event::TablesListed{std::move(tables)});
    }

    void take(const UpkeepEvent& event) {
        for (const UpkeepEffect& effect : schedule_.step(now_, event)) {
            if (const auto* note = std::get_if<NoteVersion>(&effect)) {
                notes_.push_back(now_);
                take(upkeep_event::NoteEnded{.table = note->table});
                continue;
            }
            const auto& look = std::get<LookAfter>(effect);
            looks_.push_back(now_);
            thorough_ += look.thorough ? 1 : 0;
            if (holds_) {
                held_.push_back(look.table);
            } else {
                take(upkeep_event::LookEnded{.table = look.table, .found = found_});
            }
        }
    }
    void pass(Duration time) {
        const Instant end = now_ + time;
        for (;;) {
            const auto next = schedule_.wake_at();
            if (!next || *next > end) break;
            now_ = std::max(now_, *next);
            take(upkeep_event::Tick{});
        }
        now_ = end;
    }
    std::size_t looks_in(Duration time) {
        looks_.clear();
        pass(time);
        return looks_.size();
    }
    std::size_t notes_in(Duration time) {
        notes_.clear();
        pass(time);
        return notes_.size();
    }

    UpkeepSchedule schedule_;
    Instant now_{seconds(1'000)};
    Found found_ = Found::nothing;
    bool holds_ = false;
    std::vector<std::string> held_;
    std::vector<Instant> looks_;
    std::vector<Instant> notes_;
    int thorough_ = 0;
};

TEST(UpkeepSchedule, AnIdleTableIsLookedAtFourTimesAnHour) {
    Day day({"T"});
    EXPECT_GE(day.looks_in(hours(1)), 5U);
    const std::size_t looks = day.looks_in(hours(24));
    EXPECT_GE(looks, 85U);
    EXPECT_LE(looks, 110U);
    EXPECT_TRUE(day.notes_.empty());
}

TEST(UpkeepSchedule, OnceADayALookIsThorough) {
    Day day({"T"});
    day.pass(hours(24 * 10));
    EXPECT_GE(day.thorough_, 9);
    EXPECT_LE(day.thorough_, 12);
}

TEST(UpkeepSchedule, RowsAreNotedAtOnceAndThenOnceASecond) {
    Day day({"T"});
    day.pass(hours(2));
    day.take(upkeep_event::RowsAdded{"T"});
    EXPECT_EQ(day.notes_.size(), 1U);
    EXPECT_EQ(day.notes_.front(), day.now_);
    day.notes_.clear();
    for (int i = 0; i < 100; ++i) {
        day.take(upkeep_event::RowsAdded{"T"});
        day.pass(milliseconds(100));
    }
    EXPECT_GE(day.notes_.size(), 9U);
    EXPECT_LE(day.notes_.size(), 11U);
    EXPECT_LE(day.notes_in(hours(1)), 1U);
}

TEST(UpkeepSchedule, ABusyTableIsLookedAtSoon) {
    Day day({"T"});
    day.pass(hours(2));
    day.take(upkeep_event::RowsAdded{"T"});
    EXPECT_GE(day.looks_in(seconds(6)), 1U);
    day.found_ = Found::more;
    const std::size_t looks = day.looks_in(seconds(20));
    EXPECT_GE(looks, 50U);
}

TEST(UpkeepSchedule, AfterTroubleThePausesGrowWhateverIsAdded) {
    Day day({"T"});
    day.found_ = Found::trouble;
    std::size_t looks = 0;
    for (int i = 0; i < 3'600; ++i) {
        day.take(upkeep_event::RowsAdded{"T"});
        looks += day.looks_in(seconds(1));
    }
    EXPECT_GE(looks, 6U);
    EXPECT_LE(looks, 14U);
    day.pass(hours(1));
    day.found_ = Found::nothing;
    EXPECT_GE(day.looks_in(hours(1)), 4U);
}

TEST(UpkeepSchedule, AtMostTwoLooksAreUnderWay) {
    std::vector<std::string> tables;
    for (int i = 0; i < 100; ++i) tables.push_back("T" + std::to_string(i));
    Day day(tables);
    day.holds_ = true;
    day.pass(hours(1));
    ASSERT_EQ(day.held_.size(), 2U);
    // A table that is dropped meanwhile gives its place to another.
    tables.erase(std::find(tables.begin(), tables.end(), day.held_.front()));
    day.take(upkeep_event::TablesListed{tables});
    EXPECT_EQ(day.held_.size(), 3U);
    day.take(upkeep_event::LookEnded{.table = day.held_[0]});
    EXPECT_EQ(day.held_.size(), 3U);
    day.take(upkeep_event::LookEnded{.table = day.held_[1]});
    EXPECT_EQ(day.held_.size(), 4U);
}

TEST(UpkeepSchedule, EachOfManyTablesHasItsTurn) {
    std::vector<std::string> tables;
    for (int i = 0; i < 50; ++i) tables.push_back("T" + std::to_string(i));
    Day day(tables);
    std::set<std::string> seen;
    day.holds_ = true;
    for (int i = 0; i < 2'000; ++i) {
        day.pass(milliseconds(100));
        for (const std::string& table : std::exchange(day.held_, {})) {
            seen.insert(table);
            day.take(upkeep_event::LookEnded{.table = table, .found = Found::more});
        }
    }
    EXPECT_EQ(seen.size(), tables.size());
}

TEST(UpkeepSchedule, ANoteThatFailedIsRepeated) {
    UpkeepSchedule schedule({}, 1);
    Instant now{seconds(1)};
    (void)schedule.step(now, upkeep_event::TablesListed{{"T"}});
    const auto first = schedule.step(now, upkeep_event::RowsAdded{"T"});
    EXPECT_NE(std::find(first.begin(), first.end(), UpkeepEffect(NoteVersion{"T"})), first.end());
    const auto none = schedule.step(now, upkeep_event::NoteEnded{.table = "T", .failed = true});
    EXPECT_EQ(std::find(none.begin(), none.end(), UpkeepEffect(NoteVersion{"T"})), none.end());
    now += seconds(1);
    const auto again = schedule.step(now, upkeep_event::Tick{});
    EXPECT_NE(std::find(again.begin(), again.end(), UpkeepEffect(NoteVersion{"T"})), again.end());
}

}  // namespace
}  // namespace baton::tables
