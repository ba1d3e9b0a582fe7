// Candidate keeps a simulated process in the election: it runs the product's machine, and its calls
// of the lease store are on their way for a while. It is to the simulation what Leadership, with
// its threads, is to the product.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "coordinator/term/lease_calls.h"
#include "core/election/election.h"
#include "sim/drifting_clock.h"
#include "sim/lease_store.h"
#include "sim/world.h"

namespace baton::sim {

class Candidate {
public:
    // The process of the candidate.
    struct Process {
        // Runs an action later, in this life of the process.
        std::function<void(Duration, std::function<void()>)> later;
        std::function<bool()> reaches_store;
        std::function<void(Epoch)> lead;
        std::function<void(Epoch, election::Reason)> step_down;
        std::function<void()> left;
        std::function<void()> stepped;  // it may know of another leader than before
    };

    // All outlive the candidate. A call that is under way when it is gone still reaches the store.
    Candidate(World& world, LeaseStore& store, const DriftingClock& clock,
              const election::ElectionTimers& timers, std::string owner, Process process);

    void give(const election::Event& event);
    // The epoch under which the process may act now.
    [[nodiscard]] std::optional<Epoch> acting() const;
    [[nodiscard]] const std::string& owner() const { return claim_.owner; }
    [[nodiscard]] election::ElectionStatus status() const { return machine_.status(clock_.now()); }

private:
    void perform(const election::Effect& effect);
    void call(const coordinator::LeaseCall& call);
    void answer(const election::Event& event);
    void schedule_tick();

    World& world_;
    LeaseStore& store_;
    const DriftingClock& clock_;
    const coordinator::LeaseClaim claim_;
    const Process process_;
    election::Election machine_;
    std::optional<Instant> tick_at_;  // on its clock
};

}  // namespace baton::sim
