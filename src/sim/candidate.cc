#include "sim/candidate.h"

#include <utility>

#include "base/overload.h"
#include "catalog/lease_schema.h"

namespace baton::sim {

Candidate::Candidate(World& world, LeaseStore& store, const DriftingClock& clock,
                     const election::ElectionTimers& timers, std::string owner, Process process)
    : world_(world),
      store_(store),
      clock_(clock),
      claim_{
          .key = std::string(catalog::kLeaderLock), .owner = std::move(owner), .ttl = timers.ttl},
      process_(std::move(process)),
      machine_(timers, claim_.owner, clock.now()) {}

void Candidate::give(const election::Event& event) {
    for (const election::Effect& effect : machine_.step(clock_.now(), event, world_.prng.next())) {
        perform(effect);
    }
    process_.stepped();
    schedule_tick();
}

std::optional<Epoch> Candidate::acting() const {
    if (!machine_.may_act(clock_.now())) return std::nullopt;
    return machine_.epoch();
}

void Candidate::schedule_tick() {
    const auto wanted = machine_.wake_at();
    if (!wanted || (tick_at_ && *tick_at_ <= *wanted)) return;
    tick_at_ = wanted;
    process_.later(clock_.until(*wanted), [this, wanted] {
        if (tick_at_ == wanted) tick_at_.reset();
        give(election::Tick{});
    });
}

void Candidate::perform(const election::Effect& effect) {
    const bool is_dull = std::holds_alternative<election::Watch>(effect) ||
                         std::holds_alternative<election::Renew>(effect);
    if (!is_dull) world_.tell(50, [&] { return claim_.owner + ": " + to_string(effect); });
    std::visit(Overload{
                   [&](const election::Watch& e) { call(e); },
                   [&](const election::Acquire& e) { call(e); },
                   [&](const election::Renew& e) { call(e); },
                   [&](const election::Release& e) { call(e); },
                   [](const election::Abandon&) {},  // it may happen nevertheless
                   [&](const election::Lead& e) { process_.lead(e.epoch); },
                   [&](const election::StepDown& e) { process_.step_down(e.epoch, e.reason); },
                   [&](const election::Left&) { process_.left(); },
               },
               effect);
}

// On its way to the store a call belongs to nobody: it happens though the process is paused, or
// gone.
void Candidate::call(const coordinator::LeaseCall& call) {
    if (!process_.reaches_store()) {
        if (world_.prng.chance(1, 2)) return;
        return answer(election::Failed{.call = coordinator::number_of(call),
                                       .why = "the connection is refused"});
    }
    const auto there = store_.travel(claim_.ttl);
    if (!there) return;
    const auto back = [process = process_, this](Duration delay, const election::Event& event) {
        process.later(delay, [this, event] { give(event); });
    };
    world_.agenda.after(
        *there, [&store = store_, claim = claim_, reaches = process_.reaches_store, call, back] {
            const auto event = store.take(claim, call);
            const auto delay = store.travel(claim.ttl);
            if (event && delay && reaches()) back(*delay, *event);
        });
}

void Candidate::answer(const election::Event& event) {
    process_.later(world_.up_to(std::chrono::milliseconds(5)), [this, event] { give(event); });
}

}  // namespace baton::sim
