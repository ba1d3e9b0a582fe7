// An ExchangeScenario is everything about a simulated exchange that can be chosen: its senders, how
// much they send, what goes wrong and when. The same scenario gives the same run. It is a value, so
// that one that fails can be made smaller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/exchange/progress.h"

namespace baton::testing {

enum class ExchangeTrouble : std::uint8_t {
    stream_breaks,    // each end notices by itself, sooner or later
    sender_cut_off,   // nothing passes between it and the receiver, in either direction
    sender_pauses,    // it has nothing to send
    receiver_pauses,  // it takes nothing
    sender_killed,    // and started again: the run ends, and the next one begins
    receiver_killed,
};

struct ExchangeIncident {
    Duration at{};
    ExchangeTrouble trouble = ExchangeTrouble::stream_breaks;
    std::size_t sender = 0;  // that it befalls
    Duration lasts{};

    friend bool operator==(const ExchangeIncident&, const ExchangeIncident&) = default;
};

struct ExchangeScenario {
    std::uint64_t seed = 1;
    std::size_t senders = 1;
    std::uint64_t frames = 10;  // of the last sender in a run; those before it have fewer
    exchange::Limits limits;
    std::uint64_t long_frames = 0;  // of 1,000: longer than all that may be under way
    std::uint64_t breaks = 0;       // of 1,000 messages that break their stream
    std::uint64_t slow = 0;         // of 1,000 messages that take up to slow_max
    Duration slow_max{};
    Duration late_max{};  // a receiver opens, and a process starts, so much later
    std::vector<ExchangeIncident> incidents;
    Duration length{};  // until the world heals
};

[[nodiscard]] ExchangeScenario exchange_scenario_of(std::uint64_t seed);
[[nodiscard]] std::vector<std::string> describe(const ExchangeScenario& scenario);
// A smaller scenario that fails as well, though perhaps otherwise.
[[nodiscard]] ExchangeScenario shrink(const ExchangeScenario& failing);

}  // namespace baton::testing
