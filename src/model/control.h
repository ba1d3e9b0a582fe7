// The messages between coordinator and worker, as values. Adapters translate them; no other code
// knows how they travel.
//
// Rules:
//   - A stream begins with Hello and Welcome. The messages of one stream arrive in order or not at
//     all; those of an older stream mean nothing.
//   - The Welcome lists all fragments of the worker. After it, only changes are sent: each change
//     of a fragment has the next number of the worker's incarnation, and of two statuses of a
//     fragment the one with the higher number holds.
//   - Commands are idempotent: each is answered with the status of the fragment after it.
//   - A worker belongs to one catalog, the first that greets it, until it is released. Coordinators
//     of other catalogs are refused, and so is a message with a lower epoch than the worker has
//     seen, or with one that base/epoch.h does not believe.
//   - A fragment is known by its key and the fingerprint of its plan: a fragment with the same key
//     and another fingerprint is of another history.
//   - Partitions are assigned as a whole: each Assign lists all partitions that the worker is to
//     have, and is answered with those that it has. It has them for a time only;
//     core/worker/holdings.h says how that is counted.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/counts.h"
#include "model/partition.h"
#include "model/states.h"

namespace baton {

// One life of a fragment: a restart of its query is another.
struct FragmentKey {
    QueryId query;
    std::uint64_t run = 1;
    FragmentId fragment;

    friend auto operator<=>(const FragmentKey&, const FragmentKey&) = default;
};

// "3/1/7": query, run, fragment
[[nodiscard]] inline std::string to_string(const FragmentKey& key) {
    return to_string(key.query) + "/" + std::to_string(key.run) + "/" + to_string(key.fragment);
}

namespace control {

constexpr std::uint32_t kProtocol = 2;

// The way to make a worker obey another catalog, or lower epochs.
constexpr const char* kRelease =
    "stop the worker, run `baton worker release --data-dir DIR` and start it again";

// Whether the same attempt could end better another time.
enum class Fault : std::uint8_t {
    transient,  // failed while it ran, or the worker could not take it just now
    terminal,   // its plan cannot be compiled, its configuration cannot work
};

// A fragment as its worker knows it.
struct FragmentStatus {
    FragmentKey key;
    // None: the worker does not have it. PENDING: it is being prepared.
    std::optional<FragmentState> state;
    std::optional<StopMode> stopping;  // it lives, and was asked to end
    Fault fault = Fault::transient;    // of FAILED, and of one that is gone with a reason
    std::string reason;
    std::uint32_t error = 0;  // the number of the error behind the reason; 0: none
    std::uint64_t event = 0;  // the number of its last change; 0: it was never here
    Counts counts;            // of one that has ended
    std::string fingerprint;  // of its plan, as it was registered; empty for one that is gone

    friend bool operator==(const FragmentStatus&, const FragmentStatus&) = default;
};

// The counts of a running fragment since it was started.
struct FragmentCounts {
    FragmentKey key;
    Counts counts;

    friend bool operator==(const FragmentCounts&, const FragmentCounts&) = default;
};

// A partition, and the epoch of the leader that gave it to the worker.
struct Grant {
    PartitionKey partition;
    Epoch epoch;

    friend bool operator==(const Grant&, const Grant&) = default;
};

// ---- down -----------------------------------------------------------------------------------

// The coordinators that a worker obeys: those of one catalog, from one epoch on.
struct Allegiance {
    std::string catalog;  // its id; empty: none yet
    Epoch epoch;          // the highest seen

    friend bool operator==(const Allegiance&, const Allegiance&) = default;
};

struct Hello {
    Epoch epoch;
    std::string worker;  // the one that is expected there
    std::uint32_t protocol = kProtocol;
    std::string catalog;  // the id of the one that it leads

    friend bool operator==(const Hello&, const Hello&) = default;
};

struct Beat {
    std::uint64_t number = 0;
    std::uint64_t seen = 0;      // every change up to this number has arrived
    std::uint64_t answered = 0;  // the last beat whose answer has; 0: none, but the welcome

    friend bool operator==(const Beat&, const Beat&) = default;
};

// Prepares the fragment: REGISTERED when that is done, FAILED if it never can be, gone with a
// reason if it cannot be now.
struct RegisterFragment {
    FragmentKey key;
    std::string plan;
    std::string fingerprint;  // kept, and part of every status of the fragment

    friend bool operator==(const RegisterFragment&, const RegisterFragment&) = default;
};
// A registered fragment accepts data, and produces it: STARTED at once, RUNNING when it does.
struct StartFragment {
    FragmentKey key;

    friend bool operator==(const StartFragment&, const StartFragment&) = default;
};
// GRACEFUL: what came in is processed and passed on first. FORCEFUL overrides it.
struct StopFragment {
    FragmentKey key;
    StopMode mode = StopMode::graceful;

    friend bool operator==(const StopFragment&, const StopFragment&) = default;
};
// The worker need no longer remember how the fragment ended. No effect if the fragment lives.
struct ForgetFragment {
    FragmentKey key;

    friend bool operator==(const ForgetFragment&, const ForgetFragment&) = default;
};
using WorkerCommand = std::variant<RegisterFragment, StartFragment, StopFragment, ForgetFragment>;

struct Command {
    std::uint64_t request = 0;  // unique within a coordinator process
    Epoch epoch;
    WorkerCommand what;

    friend bool operator==(const Command&, const Command&) = default;
};

// The partitions that the worker is to have: these and no others.
struct Assign {
    Epoch epoch;
    std::uint64_t number = 0;  // grows on a stream, from 1
    Duration lease{};
    std::vector<Grant> owned;  // in the order of their keys

    friend bool operator==(const Assign&, const Assign&) = default;
};

using Down = std::variant<Beat, Command, Assign>;  // after the Hello

[[nodiscard]] inline const FragmentKey& key_of(const WorkerCommand& command) {
    return std::visit([](const auto& c) -> const FragmentKey& { return c.key; }, command);
}

// ---- up -------------------------------------------------------------------------------------

struct Welcome {
    Incarnation incarnation;
    std::uint64_t last_event = 0;           // the list holds every change up to this number
    std::vector<FragmentStatus> fragments;  // all that it has, in the order of their keys
    std::vector<Grant> held;                // the partitions that it has, in the same way

    friend bool operator==(const Welcome&, const Welcome&) = default;
};

// Instead of a Welcome, or of the answer to a command.
struct Refusal {
    Epoch highest;  // that the worker has seen, where that is why; else 0
    std::string why;

    friend bool operator==(const Refusal&, const Refusal&) = default;
};

// The changes after `from` up to `through`, each fragment once. It also shows that the worker is
// alive.
struct Pulse {
    std::uint64_t beat = 0;  // that it answers; 0: unasked
    std::uint64_t from = 0;
    std::uint64_t through = 0;
    std::vector<FragmentStatus> changed;
    std::vector<FragmentCounts> counts;  // of what runs; only where it answers a beat
    bool draining = false;               // the worker is about to leave and takes nothing new

    friend bool operator==(const Pulse&, const Pulse&) = default;
};

struct CommandAnswer {
    std::uint64_t request = 0;
    std::variant<FragmentStatus, Refusal> outcome;

    friend bool operator==(const CommandAnswer&, const CommandAnswer&) = default;
};

// The partitions that the worker has, including those that it is releasing. Sent in answer to an
// Assign, and whenever they change.
struct Holding {
    std::uint64_t number = 0;  // of the last Assign that it heard on this stream; 0: none
    std::vector<Grant> held;

    friend bool operator==(const Holding&, const Holding&) = default;
};

using Up = std::variant<Pulse, CommandAnswer, Holding>;  // after the Welcome

}  // namespace control
}  // namespace baton
