// UpkeepSchedule says which table is looked at when, and when its newest version is noted in the
// catalog. It knows tables by name, and nothing of their contents.
//
// Notes:   as soon as rows were added, and then at most once in `note_pause` for each table.
// Looks:   soon after rows were added, at once while there is more to do, and ever more rarely
//          while nothing happens. A look that finds nothing costs two GETs and a LIST, so that an
//          idle table costs 12 requests an hour. Once a day a look is thorough: it lists
//          everything, to find files of the log that are old and objects that no version names.
// Trouble: the pause doubles with each failure, and rows that are added do not shorten it.
// At most `looks_max` looks are under way, one for each table. Pauses vary by a quarter, so that
// tables do not come all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/prng.h"
#include "base/time.h"

namespace baton::tables {

struct UpkeepScheduleOptions {
    Duration note_pause = std::chrono::seconds(1);
    Duration more_pause = std::chrono::milliseconds(100);
    Duration busy_pause = std::chrono::seconds(5);
    Duration idle_pause_max = std::chrono::minutes(15);
    Duration trouble_pause_max = std::chrono::minutes(15);  // the first is busy_pause
    Duration thorough_every = std::chrono::hours(24);
    std::size_t looks_max = 2;
};

namespace upkeep_event {
struct TablesListed {  // all that there are
    std::vector<std::string> names;
};
struct RowsAdded {
    std::string table;
};
struct NoteEnded {
    std::string table;
    bool failed = false;
};
struct LookEnded {
    enum class Found : std::uint8_t { nothing, something, more, trouble };
    std::string table;
    Found found = Found::nothing;
};
struct Tick {};
}  // namespace upkeep_event
using UpkeepEvent =
    std::variant<upkeep_event::TablesListed, upkeep_event::RowsAdded, upkeep_event::NoteEnded,
                 upkeep_event::LookEnded, upkeep_event::Tick>;

struct NoteVersion {
    std::string table;

    friend bool operator==(const NoteVersion&, const NoteVersion&) = default;
};
struct LookAfter {
    std::string table;
    bool thorough = false;

    friend bool operator==(const LookAfter&, const LookAfter&) = default;
};
using UpkeepEffect = std::variant<NoteVersion, LookAfter>;

class UpkeepSchedule {
public:
    UpkeepSchedule(const UpkeepScheduleOptions& options, std::uint64_t seed)
        : options_(options), prng_(seed) {}

    // Each effect is followed by an event that says how it ended. Events about tables that are gone
    // are ignored.
    [[nodiscard]] std::vector<UpkeepEffect> step(Instant now, const UpkeepEvent& event);
    // When a Tick is due; none: only other events matter.
    [[nodiscard]] std::optional<Instant> wake_at() const;

private:
    struct State {
        Instant look_at;
        Instant thorough_at;
        Duration pause{};
        Duration trouble_pause{};  // none: the last look went well
        bool looking = false;
        bool thorough = false;           // the look under way
        bool added = false;              // rows, during it
        std::optional<Instant> note_at;  // none: the catalog knows
        std::optional<Instant> noted_at;
        bool noting = false;
    };

    void take(Instant now, const upkeep_event::TablesListed& event);
    void take(Instant now, const upkeep_event::RowsAdded& event);
    void take(Instant now, const upkeep_event::NoteEnded& event);
    void take(Instant now, const upkeep_event::LookEnded& event);
    void take(Instant /*now*/, const upkeep_event::Tick& /*event*/) {}

    [[nodiscard]] Duration about(Duration pause);
    [[nodiscard]] Duration within(Duration most);
    void want_note(State& state, Instant now) const;

    const UpkeepScheduleOptions options_;
    Prng prng_;
    std::map<std::string, State> states_;
    std::size_t looks_ = 0;
};

}  // namespace baton::tables
