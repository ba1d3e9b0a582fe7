// A Stage is a simulated cluster on which a scenario is played, or a script step by step: a
// coordinator, its workers and users, in simulated time on one thread.
//
// The core, the catalog, the controller and the committer are those of the product; time, network,
// processes and the faults of the disk are the world's. What must never happen is looked for after
// every event.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/sql.h"
#include "sim/checks.h"
#include "sim/coordinator.h"
#include "sim/network.h"
#include "sim/scenario.h"
#include "sim/worker.h"
#include "sim/world.h"

namespace baton::sim {

class Stage {
public:
    // The scenario outlives it.
    Stage(const Scenario& scenario, bool with_story);

    // Starts the coordinator and does the scenario's set-up, in a kind world.
    void set_up();
    // From now on the world is as unkind as the scenario says, its users ask and its incidents
    // happen, as time goes on.
    void begin_scenario();
    void run_for(Duration span);
    // Everything that went on ends, and nothing goes wrong any more.
    void heal();
    // Waits until all is settled; then, that it stays so and nothing is written.
    void settle();
    void rest();

    void ask(const std::string& statement);
    void begin(const Incident& incident);
    void end(const Incident& incident);

    [[nodiscard]] World& world() { return world_; }
    // As the catalog has them.
    [[nodiscard]] std::vector<Query> queries() const { return checks_.queries(); }
    [[nodiscard]] std::vector<Worker> catalog_workers() const { return checks_.workers(); }
    [[nodiscard]] std::string query_name(QueryId id) const;
    [[nodiscard]] const Checks& checks() const { return checks_; }
    // What the users were told since the last time.
    [[nodiscard]] std::vector<std::string> take_answers() { return std::exchange(answers_, {}); }
    [[nodiscard]] const std::vector<std::unique_ptr<SimWorker>>& workers() const {
        return workers_;
    }

private:
    [[nodiscard]] std::vector<std::unique_ptr<SimWorker>> start_workers();
    [[nodiscard]] SimCoordinator::Observer observer();
    void start_coordinator();
    void change(const Incident& incident, bool begins);

    const Scenario& scenario_;
    World world_;
    std::unique_ptr<SqlDatabase> disk_;
    Network network_;
    Ran ran_;
    std::uint64_t incarnations_ = 0;
    std::vector<std::unique_ptr<SimWorker>> workers_;
    Checks checks_;
    SimCoordinator coordinator_;
    std::vector<Incident> under_way_;
    std::vector<std::string> answers_;
};

}  // namespace baton::sim
