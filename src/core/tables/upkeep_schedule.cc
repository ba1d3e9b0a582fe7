#include "core/tables/upkeep_schedule.h"

#include <algorithm>
#include <set>
#include <utility>

namespace baton::tables {

namespace {

using Found = upkeep_event::LookEnded::Found;

}  // namespace

Duration UpkeepSchedule::about(Duration pause) {
    const auto eighth = static_cast<std::uint64_t>(pause.count() / 8);
    return pause - Duration(eighth) + Duration(prng_.between(0, 2 * eighth));
}

Duration UpkeepSchedule::within(Duration most) {
    return Duration(prng_.between(0, static_cast<std::uint64_t>(most.count())));
}

void UpkeepSchedule::want_note(State& state, Instant now) const {
    if (state.note_at) return;
    state.note_at = state.noted_at ? std::max(now, *state.noted_at + options_.note_pause) : now;
}

void UpkeepSchedule::take(Instant now, const upkeep_event::TablesListed& event) {
    const std::set<std::string> names(event.names.begin(), event.names.end());
    for (auto it = states_.begin(); it != states_.end();) {
        if (names.contains(it->first)) {
            ++it;
            continue;
        }
        if (it->second.looking) looks_ -= 1;
        it = states_.erase(it);
    }
    for (const std::string& name : names) {
        const auto [it, fresh] = states_.try_emplace(name);
        if (!fresh) continue;
        it->second.pause = options_.busy_pause;
        it->second.look_at = now + within(options_.busy_pause);
        it->second.thorough_at = now + within(options_.thorough_every);
    }
}

void UpkeepSchedule::take(Instant now, const upkeep_event::RowsAdded& event) {
    const auto found = states_.find(event.table);
    if (found == states_.end()) return;
    State& state = found->second;
    want_note(state, now);
    state.pause = options_.busy_pause;
    if (state.looking) state.added = true;
    if (state.looking || state.trouble_pause > Duration::zero()) return;
    if (state.look_at > now + options_.busy_pause) state.look_at = now + about(options_.busy_pause);
}

void UpkeepSchedule::take(Instant now, const upkeep_event::NoteEnded& event) {
    const auto found = states_.find(event.table);
    if (found == states_.end()) return;
    found->second.noting = false;
    if (event.failed) want_note(found->second, now);
}

void UpkeepSchedule::take(Instant now, const upkeep_event::LookEnded& event) {
    const auto found = states_.find(event.table);
    if (found == states_.end() || !found->second.looking) return;
    State& state = found->second;
    state.looking = false;
    looks_ -= 1;
    if (event.found == Found::trouble) {
        const Duration twice = 2 * state.trouble_pause;
        state.trouble_pause = std::clamp(twice, options_.busy_pause, options_.trouble_pause_max);
        state.look_at = now + about(state.trouble_pause);
        return;
    }
    state.trouble_pause = Duration::zero();
    if (state.thorough) state.thorough_at = now + about(options_.thorough_every);
    const bool changed = event.found != Found::nothing || state.added;
    if (changed) want_note(state, now);
    state.pause =
        changed ? options_.busy_pause : std::min(2 * state.pause, options_.idle_pause_max);
    state.look_at = now + about(event.found == Found::more ? options_.more_pause : state.pause);
}

std::vector<UpkeepEffect> UpkeepSchedule::step(Instant now, const UpkeepEvent& event) {
    std::visit([&](const auto& one) { take(now, one); }, event);
    std::vector<UpkeepEffect> effects;
    std::vector<std::pair<Instant, std::string>> due;
    for (auto& [name, state] : states_) {
        if (state.note_at && *state.note_at <= now && !state.noting) {
            state.noting = true;
            state.noted_at = now;
            state.note_at.reset();
            effects.emplace_back(NoteVersion{name});
        }
        if (!state.looking && state.look_at <= now) due.emplace_back(state.look_at, name);
    }
    // The one that has waited longest comes first.
    std::sort(due.begin(), due.end());
    for (const auto& [at, name] : due) {
        if (looks_ >= options_.looks_max) break;
        State& state = states_.at(name);
        looks_ += 1;
        state.looking = true;
        state.added = false;
        state.thorough = state.thorough_at <= now;
        effects.emplace_back(LookAfter{name, state.thorough});
    }
    return effects;
}

std::optional<Instant> UpkeepSchedule::wake_at() const {
    std::optional<Instant> at;
    const auto also = [&](Instant other) { at = at ? std::min(*at, other) : other; };
    for (const auto& [name, state] : states_) {
        if (state.note_at && !state.noting) also(*state.note_at);
        if (!state.looking && looks_ < options_.looks_max) also(state.look_at);
    }
    return at;
}

}  // namespace baton::tables
