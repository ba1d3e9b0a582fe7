// The state and the history of a cluster at a glance, for `baton status`, `baton top` and `baton
// query logs`.
//
// Pure: tables of the views go in, text comes out.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "catalog/views/view_query.h"
#include "doors/shell/render.h"

namespace baton::shell {

// The statements to run for a State, in this order.
inline constexpr std::array<std::string_view, 6> kStateQuestions = {
    "SELECT NAME, STATE, DRAINING, LEAVING, REASON, SINCE FROM baton.workers",
    "SELECT NAME, STATE, DESIRED, LAGGING, REASON, SINCE FROM baton.queries",
    "SELECT NAME, PHYSICAL_SOURCES FROM baton.logical_sources",
    "SELECT NAME FROM baton.sinks",
    "SELECT OWNER, EPOCH, SINCE, REMAINING_US FROM baton.locks WHERE NAME = 'leader'",
    "SELECT NAME, PARTITIONS, OWNED FROM baton.task_lists",
};

// Of the coordinator that leads, or was the last to do so.
struct Leader {
    std::string owner;
    std::int64_t epoch = 0;
    std::string since;
    Duration remaining{};  // of its lease; none: there is no leader
};

// Counts of all entities, and problems.
struct State {
    std::optional<Leader> leader;                // none: there is only one coordinator
    std::map<std::string, std::size_t> workers;  // by their state
    std::map<std::string, std::size_t> queries;
    std::size_t logical_sources = 0;
    std::size_t physical_sources = 0;
    std::size_t sinks = 0;
    std::size_t task_lists = 0;
    std::size_t partitions = 0;
    std::size_t owned = 0;  // of the partitions
    std::vector<std::string> problems;
};
[[nodiscard]] State state_of(const std::array<views::Table, 6>& answers);
[[nodiscard]] std::string as_text(const State& state, std::string_view version);
[[nodiscard]] std::string as_json(const State& state, std::string_view version);

// The statements to run for each look of `top`, in this order.
inline constexpr std::array<std::string_view, 3> kTopQuestions = {
    "SELECT NAME, STATE, DRAINING, USED, CAPACITY FROM baton.workers",
    "SELECT ID, NAME, STATE, RUN, FRAGMENTS, REASON FROM baton.queries",
    "SELECT FRAGMENT, RUN, QUERY, WORKER, ROWS_IN, ROWS_OUT, LATE, BUSY_US, MEMORY "
    "FROM baton.counters",
};

// Turns looks at counters into rates: their growth since the look before.
class Top {
public:
    // One screen of at most `lines` lines; 0: as many as there are. `at` is when it was asked.
    [[nodiscard]] std::string screen(Duration at, const std::array<views::Table, 3>& answers,
                                     std::size_t lines, const Look& look);

private:
    struct Counted {
        std::int64_t rows_in = 0;
        std::int64_t rows_out = 0;
        std::int64_t late = 0;
        std::int64_t busy_us = 0;
        std::int64_t memory = 0;
    };
    struct Sums {
        std::map<std::int64_t, Counted> by_query;
        std::map<std::string, Counted> by_worker;
    };
    [[nodiscard]] Sums grown(const views::Table& counters);

    using Fragment = std::pair<std::int64_t, std::int64_t>;  // its number and run
    std::map<Fragment, Counted> before_;
    std::optional<Duration> before_at_;
};

// A history for people, from changes with AT, REVISION, ENTITY, KEY, OP and ROW.
[[nodiscard]] views::Table history_of(const views::Table& changes);

}  // namespace baton::shell
