// World holds everything that all parts of a simulation share: time, chance, how unkind things are
// just now, and the story of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "base/time.h"
#include "sim/agenda.h"
#include "sim/scenario.h"

namespace baton::sim {

class World {
public:
    World(const Scenario& scenario, bool with_story)
        : prng(scenario.seed ^ kWorldSalt),
          unkindness(scenario.unkindness),
          partition_lease(scenario.partition_lease),
          with_story_(with_story) {}

    Agenda agenda;
    Prng prng;
    Unkindness unkindness;
    const Duration partition_lease;  // a setting of all coordinators

    // The longest time that a worker takes to release a partition. The coordinators allow it a
    // quarter of the lease.
    [[nodiscard]] Duration lets_go_within() const { return partition_lease / 5; }
    // Whether something with this chance of 1,000 happens.
    bool happens(std::uint64_t of_1000) { return of_1000 > 0 && prng.chance(of_1000, 1000); }
    Duration up_to(Duration limit) {
        return Duration(prng.between(1, static_cast<std::uint64_t>(limit.count())));
    }
    // How long a message or an answer is on its way.
    Duration travel();

    // Records an event. `text` is called only if the run has a story.
    template <class Text>
    void tell(std::uint64_t kind, const Text& text) {
        mix(kind);
        mix(static_cast<std::uint64_t>(agenda.now().time_since_epoch().count()));
        if (with_story_) add_line(text());
    }
    void mix(std::uint64_t number) { fingerprint_ = (fingerprint_ ^ number) * 1099511628211ULL; }
    [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }
    [[nodiscard]] const std::vector<std::string>& story() const { return story_; }

    // A rule was violated. Only the first violation is kept.
    void violated(const std::string& what) {
        if (!problem_) problem_ = what;
    }
    [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }

private:
    static constexpr std::uint64_t kWorldSalt = 0x5bd1e995;

    void add_line(const std::string& text);

    const bool with_story_;
    std::vector<std::string> story_;
    std::uint64_t fingerprint_ = 14695981039346656037ULL;
    std::optional<std::string> problem_;
};

}  // namespace baton::sim
