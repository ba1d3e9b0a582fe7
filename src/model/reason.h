// A Reason says why a worker, a query or a fragment is in its state: as data, for programs, and as
// a text, for people. Nothing that decides reads the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "model/states.h"

namespace baton {

enum class ReasonCode : std::uint8_t {
    none,
    // Of workers.
    embedded,
    unheard,
    silent,
    out_of_reach,
    refusing,
    unsteady,
    // Of fragments.
    failed,
    lost,
    not_prepared,
    // Of queries.
    worker_unreachable,
    worker_restarted,
    fragment_stopped,
    fragment_failed,
    fragment_lost,
    fragment_refused,
    restarted,
    restart_refused,
    timed_out,
    stopped_by_user,
    dropped_by_user,
};

struct ReasonMeaning {
    ReasonCode code;
    std::string_view name;
    std::string_view of;  // workers, fragments or queries
    std::string_view meaning;
};

// Codes are added, never renamed: clients compare them.
inline constexpr std::array kReasonMeanings = {
    ReasonMeaning{ReasonCode::none, "", "all", "the state says it all"},
    ReasonMeaning{ReasonCode::embedded, "EMBEDDED", "workers", "it runs in the coordinator"},
    ReasonMeaning{ReasonCode::unheard, "UNHEARD", "workers", "it has not been heard from yet"},
    ReasonMeaning{ReasonCode::silent, "SILENT", "workers", "it does not answer"},
    ReasonMeaning{ReasonCode::out_of_reach, "OUT_OF_REACH", "workers",
                  "no connection to it can be made"},
    ReasonMeaning{ReasonCode::refusing, "REFUSING", "workers",
                  "it is there and does not accept this coordinator"},
    ReasonMeaning{ReasonCode::unsteady, "UNSTEADY", "workers",
                  "its connections break soon after they are made"},
    ReasonMeaning{ReasonCode::failed, "FAILED", "fragments", "it failed by REASON_ERROR"},
    ReasonMeaning{ReasonCode::lost, "LOST", "fragments", "its worker no longer has it"},
    ReasonMeaning{ReasonCode::not_prepared, "NOT_PREPARED", "fragments",
                  "its worker could not prepare it"},
    ReasonMeaning{ReasonCode::worker_unreachable, "WORKER_UNREACHABLE", "queries",
                  "the worker became UNREACHABLE"},
    ReasonMeaning{ReasonCode::worker_restarted, "WORKER_RESTARTED", "queries",
                  "the worker's process was restarted"},
    ReasonMeaning{ReasonCode::fragment_stopped, "FRAGMENT_STOPPED", "queries",
                  "the fragment on that worker stopped without having been asked to"},
    ReasonMeaning{ReasonCode::fragment_failed, "FRAGMENT_FAILED", "queries",
                  "the fragment on that worker failed by REASON_ERROR"},
    ReasonMeaning{ReasonCode::fragment_lost, "FRAGMENT_LOST", "queries",
                  "the worker no longer has its fragment"},
    ReasonMeaning{ReasonCode::fragment_refused, "FRAGMENT_REFUSED", "queries",
                  "the worker cannot take its fragment now and is asked again"},
    ReasonMeaning{ReasonCode::restarted, "RESTARTED", "queries",
                  "the last run broke at that worker by REASON_ERROR"},
    ReasonMeaning{ReasonCode::restart_refused, "RESTART_REFUSED", "queries",
                  "the last run broke, and REASON_ERROR keeps the next one from starting"},
    ReasonMeaning{ReasonCode::timed_out, "TIMED_OUT", "queries",
                  "it did not run within DEPLOY_TIMEOUT_MS"},
    ReasonMeaning{ReasonCode::stopped_by_user, "STOPPED_BY_USER", "queries", "a client stopped it"},
    ReasonMeaning{ReasonCode::dropped_by_user, "DROPPED_BY_USER", "queries", "a client dropped it"},
};

template <>
struct StateNames<ReasonCode> {
    static constexpr auto kNames = [] {
        std::array<std::pair<ReasonCode, std::string_view>, kReasonMeanings.size()> names{};
        for (std::size_t i = 0; i < names.size(); ++i) {
            names[i] = {kReasonMeanings[i].code, kReasonMeanings[i].name};
        }
        return names;
    }();
};

struct Reason {
    ReasonCode code = ReasonCode::none;
    std::string who;          // the worker that it is about, if it is about one
    std::uint32_t error = 0;  // the number of the error behind it (docs/ERRORS.md); 0: none
    std::string text;         // may be empty

    friend bool operator==(const Reason&, const Reason&) = default;
};

}  // namespace baton
