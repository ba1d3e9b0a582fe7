#include "core/programs/programs.h"

#include <algorithm>

#include "base/check.h"
#include "base/overload.h"

namespace baton::programs {

using programs::AskToEnd;
using programs::MakeEnd;
using programs::SayReleased;
using programs::Start;

Programs::Effects Programs::take(Instant at, const control::Grant& grant) {
    const bool is_new = kept_
                            .try_emplace(grant.partition, PartitionProgram{.epoch = grant.epoch,
                                                                           .state = Running{at}})
                            .second;
    CHECK(is_new);
    return {Start{grant}};
}

Programs::Effects Programs::release(Instant at, const PartitionKey& partition) {
    const auto found = kept_.find(partition);
    CHECK(found != kept_.end());
    if (std::holds_alternative<Pausing>(found->second.state)) {
        kept_.erase(found);
        return {SayReleased{partition}};
    }
    found->second.state = Ending{at + grace_};
    return {AskToEnd{partition}};
}

Programs::Effects Programs::ended(Instant at, const PartitionKey& partition) {
    const auto found = kept_.find(partition);
    CHECK(found != kept_.end());
    PartitionProgram& kept = found->second;
    if (std::holds_alternative<Ending>(kept.state)) {
        kept_.erase(found);
        return {SayReleased{partition}};
    }
    const auto* running = std::get_if<Running>(&kept.state);
    CHECK(running != nullptr);
    if (at - running->since > kPauseMax) kept.pause = kPauseMin;
    kept.state = Pausing{at + kept.pause};
    kept.pause = std::min(2 * kept.pause, kPauseMax);
    return {};
}

Programs::Effects Programs::tick(Instant at) {
    Effects effects;
    for (auto& [partition, kept] : kept_) {
        if (const auto* pausing = std::get_if<Pausing>(&kept.state)) {
            if (at < pausing->until) continue;
            kept.state = Running{at};
            effects.emplace_back(Start{{.partition = partition, .epoch = kept.epoch}});
        } else if (auto* ending = std::get_if<Ending>(&kept.state)) {
            if (!ending->kill_at || at < *ending->kill_at) continue;
            ending->kill_at.reset();
            effects.emplace_back(MakeEnd{partition});
        }
    }
    return effects;
}

std::optional<Instant> Programs::starts_at(const PartitionKey& partition) const {
    const auto found = kept_.find(partition);
    if (found == kept_.end()) return std::nullopt;
    const auto* pausing = std::get_if<Pausing>(&found->second.state);
    return pausing == nullptr ? std::nullopt : std::optional(pausing->until);
}

std::optional<Instant> Programs::wake_at() const {
    std::optional<Instant> first;
    for (const auto& [partition, kept] : kept_) {
        const auto due =
            std::visit(Overload{
                           [](const Running&) { return std::optional<Instant>(); },
                           [](const Pausing& pausing) { return std::optional(pausing.until); },
                           [](const Ending& ending) { return ending.kill_at; },
                       },
                       kept.state);
        if (due && (!first || *due < *first)) first = due;
    }
    return first;
}

}  // namespace baton::programs
