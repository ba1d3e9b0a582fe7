// Every step in the life of a query of one fragment, found by trying: each request, and whatever
// can befall the fragment and its worker, on each life that a query can come into from its
// creation. The manual docs/QUERY_LIFE.md is printed from the list, and tests hold it to the rules.
// Pure: no clock, no I/O, no randomness.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "model/states.h"

namespace baton::queries::lifecycle {

struct Life {
    QueryState state = QueryState::pending;
    QueryDesire desired = QueryDesire::running;

    friend auto operator<=>(const Life&, const Life&) = default;
};
// "STOPPING, to be STOPPED"; the desire is left out where it is RUNNING.
[[nodiscard]] std::string to_string(const Life& life);

enum class Asker : std::uint8_t { client, controller, worker };
enum class Ending : std::uint8_t { refused, unchanged, moved, gone };

struct Step {
    Life from;
    StopMode stop_mode = StopMode::graceful;  // before and after it
    StopMode stop_mode_after = StopMode::graceful;
    FragmentState part = FragmentState::pending;  // before and after it
    FragmentState part_after = FragmentState::pending;
    Asker asker = Asker::client;
    std::string event;  // "STOP QUERY MODE FORCEFUL", "mark RUNNING", "fragment FAILED"
    Ending ending = Ending::unchanged;
    Life to;  // as before if it is refused or gone
    bool next_run = false;
    std::string refusal;
};

[[nodiscard]] std::vector<Step> all_steps();

}  // namespace baton::queries::lifecycle
