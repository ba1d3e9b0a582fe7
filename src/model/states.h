// The states of workers, queries and fragments, written once. The tables' CHECKs, the printers and
// the parsers of states are all made from the lists here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace baton {

enum class WorkerKind : std::uint8_t { remote, embedded };
enum class WorkerState : std::uint8_t { active, unreachable };
enum class QueryState : std::uint8_t {
    pending,     // accepted and durable; nothing was sent to a worker yet
    deploying,   // on its way to RUNNING, also again after a worker was lost
    running,     // every fragment was confirmed by a worker that is ACTIVE now, or TERMINATED
    stopping,    // stopped, dropped or failing; some fragment may still be there
    stopped,     // a user stopped it; no fragment is left
    terminated,  // its sources ended by themselves and everything was flushed
    failed,      // ended with an error; no fragment is left
};
enum class QueryDesire : std::uint8_t {
    running,
    stopped,
    dropped,
    failed,  // it cannot run: whatever of it is on workers is being taken back
};
enum class StopMode : std::uint8_t { graceful, forceful };
enum class FragmentState : std::uint8_t {
    pending,  // no worker has confirmed that it has it
    registered,
    started,
    running,
    stopped,
    terminated,
    failed,
};
enum class ChangeOp : std::uint8_t { create, update, drop };

// Each value beside its one spelling.
template <class Enum>
struct StateNames;

template <>
struct StateNames<WorkerKind> {
    static constexpr std::array kNames = {std::pair{WorkerKind::remote, "REMOTE"},
                                          std::pair{WorkerKind::embedded, "EMBEDDED"}};
};
template <>
struct StateNames<WorkerState> {
    static constexpr std::array kNames = {std::pair{WorkerState::active, "ACTIVE"},
                                          std::pair{WorkerState::unreachable, "UNREACHABLE"}};
};
template <>
struct StateNames<QueryState> {
    static constexpr std::array kNames = {
        std::pair{QueryState::pending, "PENDING"}, std::pair{QueryState::deploying, "DEPLOYING"},
        std::pair{QueryState::running, "RUNNING"}, std::pair{QueryState::stopping, "STOPPING"},
        std::pair{QueryState::stopped, "STOPPED"}, std::pair{QueryState::terminated, "TERMINATED"},
        std::pair{QueryState::failed, "FAILED"}};
};
template <>
struct StateNames<QueryDesire> {
    static constexpr std::array kNames = {
        std::pair{QueryDesire::running, "RUNNING"}, std::pair{QueryDesire::stopped, "STOPPED"},
        std::pair{QueryDesire::dropped, "DROPPED"}, std::pair{QueryDesire::failed, "FAILED"}};
};
template <>
struct StateNames<StopMode> {
    static constexpr std::array kNames = {std::pair{StopMode::graceful, "GRACEFUL"},
                                          std::pair{StopMode::forceful, "FORCEFUL"}};
};
template <>
struct StateNames<FragmentState> {
    static constexpr std::array kNames = {std::pair{FragmentState::pending, "PENDING"},
                                          std::pair{FragmentState::registered, "REGISTERED"},
                                          std::pair{FragmentState::started, "STARTED"},
                                          std::pair{FragmentState::running, "RUNNING"},
                                          std::pair{FragmentState::stopped, "STOPPED"},
                                          std::pair{FragmentState::terminated, "TERMINATED"},
                                          std::pair{FragmentState::failed, "FAILED"}};
};
template <>
struct StateNames<ChangeOp> {
    static constexpr std::array kNames = {std::pair{ChangeOp::create, "CREATE"},
                                          std::pair{ChangeOp::update, "UPDATE"},
                                          std::pair{ChangeOp::drop, "DROP"}};
};

template <class Enum>
requires requires {
    StateNames<Enum>::kNames;
}
[[nodiscard]] std::string_view to_string(Enum value) {
    for (const auto& [known, name] : StateNames<Enum>::kNames) {
        if (known == value) return name;
    }
    CHECK(false && "a state without a name");
}

template <class Enum>
[[nodiscard]] std::optional<Enum> state_of(std::string_view name) {
    for (const auto& [known, spelling] : StateNames<Enum>::kNames) {
        if (equal_ignoring_case(spelling, name)) return known;
    }
    return std::nullopt;
}

// "state = 'ACTIVE' OR state = 'UNREACHABLE'": for the CHECK of a column. SQLite would make a table
// of an IN list for every row it checks.
template <class Enum>
[[nodiscard]] std::string sql_is_one_of(std::string_view column) {
    std::string text;
    for (const auto& [known, name] : StateNames<Enum>::kNames) {
        if (!text.empty()) text += " OR ";
        text += std::string(column) + " = '" + std::string(name) + "'";
    }
    return text;
}

// A query in one of these has no fragment on any worker.
[[nodiscard]] constexpr bool has_ended(QueryState state) {
    return state == QueryState::stopped || state == QueryState::terminated ||
           state == QueryState::failed;
}

// A fragment in one of these occupies no slots.
[[nodiscard]] constexpr bool has_ended(FragmentState state) {
    return state == FragmentState::stopped || state == FragmentState::terminated ||
           state == FragmentState::failed;
}

}  // namespace baton
