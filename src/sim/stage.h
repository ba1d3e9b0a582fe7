// A Stage is a simulated cluster on which a scenario is played, or a script step by step: one
// coordinator or several on one catalog, workers and users, in simulated time on one thread.
//
// The core, the catalog, the controller, the committer and the lock service are those of the
// product; time, network, processes and the faults of the disk are the world's. The checks run
// after every event.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/sql.h"
#include "sim/checks.h"
#include "sim/coordinator.h"
#include "sim/leader_checks.h"
#include "sim/leader_lines.h"
#include "sim/lease_store.h"
#include "sim/network.h"
#include "sim/partition_checks.h"
#include "sim/request_checks.h"
#include "sim/scenario.h"
#include "sim/worker.h"
#include "sim/world.h"

namespace baton::sim {

class Stage {
public:
    // The scenario outlives it.
    Stage(const Scenario& scenario, bool with_story);

    // Starts the coordinators and does the scenario's set-up, in a kind world.
    void set_up();
    // From now on the world is as unkind as the scenario says, and as time goes on its users ask
    // and its incidents happen.
    void begin_scenario();
    void run_for(Duration span);
    // Ends all incidents that are under way; from now on nothing goes wrong.
    void heal();
    // settle() waits until all is settled; rest() checks that it stays so and nothing is written.
    void settle();
    void rest();
    // While all is well, kills the leader, and then asks the next leader to leave. Checks that
    // another coordinator leads in time, and that nothing else changes. Does nothing if the
    // coordinator leads for ever.
    void fail_over();

    // A user asks a coordinator, and the next one as long as the answer is that it does not lead.
    void ask(const std::string& statement);
    void ask_of(std::size_t coordinator, const std::string& statement);
    void begin(const Incident& incident);
    void end(const Incident& incident);

    [[nodiscard]] World& world() { return world_; }
    // As the catalog has them.
    [[nodiscard]] std::vector<Query> queries() const { return checks_.queries(); }
    [[nodiscard]] std::vector<Worker> catalog_workers() const { return checks_.workers(); }
    [[nodiscard]] std::string query_name(QueryId id) const;
    [[nodiscard]] const Checks& checks() const { return checks_; }
    [[nodiscard]] const LeaderChecks& leader_checks() const { return leader_checks_; }
    [[nodiscard]] const PartitionChecks& partition_checks() const { return partition_checks_; }
    [[nodiscard]] const RequestChecks& request_checks() const { return request_checks_; }
    [[nodiscard]] const LeaderChecks::Coordinators& coordinators() const { return coordinators_; }
    // The answers that users got since the last call.
    [[nodiscard]] std::vector<std::string> take_answers() { return std::exchange(answers_, {}); }
    [[nodiscard]] const std::vector<std::unique_ptr<SimWorker>>& workers() const {
        return workers_;
    }

private:
    [[nodiscard]] std::vector<std::unique_ptr<SimWorker>> start_workers();
    [[nodiscard]] LeaderChecks::Coordinators make_coordinators();
    [[nodiscard]] SimCoordinator::Observer observer(std::size_t coordinator);
    [[nodiscard]] TermObserver term_observer(std::size_t coordinator);
    void start_coordinator(std::size_t number);
    void gone(std::size_t coordinator);
    bool step(Instant end);
    [[nodiscard]] bool is_under_way(IncidentKind kind, const Incident& like) const;
    [[nodiscard]] bool is_kept_down(std::size_t coordinator) const;
    void change(const Incident& incident, bool begins);
    void wake(const Incident& incident);
    void restore_leases();
    void play_stranger(const Incident& incident);
    void contest(const Incident& incident);
    [[nodiscard]] std::vector<FragmentKey> numbers_to_come() const;
    [[nodiscard]] bool somebody_leads(Duration within);
    [[nodiscard]] std::vector<std::string> unsettled();
    void check_still(Duration span);
    void replace_leader(IncidentKind how, Duration within);
    struct Question;
    void ask(const std::string& statement, std::size_t coordinator, std::size_t others);
    void put(const Question& question);
    void answered(const Question& question, UserAnswer told, const Error* error);
    // A name for the next request to this coordinator.
    [[nodiscard]] std::string user_of(std::size_t coordinator);
    [[nodiscard]] bool is_undisturbed(std::size_t coordinator, Instant since) const;

    const Scenario& scenario_;
    World world_;
    std::unique_ptr<SqlDatabase> disk_;
    Network network_;
    FragmentRuns ran_;
    std::uint64_t incarnations_ = 0;
    Epoch rival_;  // of the leader of a copy of the catalog
    std::vector<std::unique_ptr<SimWorker>> workers_;
    Checks checks_;
    LeaderChecks leader_checks_;
    PartitionChecks partition_checks_;
    LeaseStore lease_store_;
    RequestChecks request_checks_;
    LeaderLines lines_;
    LeaderChecks::Coordinators coordinators_;
    std::map<std::size_t, Instant> disturbed_;  // when a coordinator last stood still
    std::vector<Incident> under_way_;
    std::vector<std::string> answers_;
};

}  // namespace baton::sim
