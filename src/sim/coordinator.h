// SimCoordinator is a coordinator's process in a simulated world, on a real catalog that is the
// world's. It leads for ever, or contends with others for the lease. One that contends has a term
// while it holds the lease, and otherwise refuses users or forwards their requests. A
// SimCoordinator can be killed at any event and started again on the same catalog, paused, asked to
// leave, and cut off from the catalog.
//
// A process may be paused after it looked whether it may act, and before it acts. The fence and the
// workers have to refuse an action that it then begins too late.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/election/timers.h"
#include "core/routing/route.h"
#include "sim/candidate.h"
#include "sim/journey.h"
#include "sim/leader_lines.h"
#include "sim/lease_store.h"
#include "sim/network.h"
#include "sim/term.h"
#include "sim/world.h"
#include "testing/faulty_sql.h"

namespace baton::sim {

// The outcome of a statement, as far as its user knows.
enum class UserAnswer : std::uint8_t { accepted, refused, nothing };

class SimCoordinator {
public:
    struct Observer {
        TermObserver term;
        std::function<void(Epoch)> began;  // a term, before it does anything
        std::function<void(Epoch)> ended;
        std::function<void()> superseded;  // a higher epoch was heard of
        std::function<void()> gone;        // the process has ended as it was asked to
        std::function<void(const std::string& user)> arrived;  // a request
        // The request is answered, though the answer may be lost.
        std::function<void(const std::string& user, const coordinator::Outcome& outcome)> answered;
        std::function<void()> commit_lost;  // its outcome is unknown
    };
    struct Identity {
        std::string name;
        std::size_t number = 0;
        // Of one that contends; none: it leads for ever.
        std::optional<election::ElectionTimers> timers;
        std::int64_t drift_ppm = 0;
        LeaderLines* lines = nullptr;  // to other coordinators; none: it forwards nothing
    };

    SimCoordinator(World& world, Network& network, SqlDatabase& disk, LeaseStore& store,
                   Identity identity, Observer observer);
    ~SimCoordinator();
    SimCoordinator(const SimCoordinator&) = delete;
    SimCoordinator& operator=(const SimCoordinator&) = delete;

    void start();  // nothing if it runs
    void kill();
    void pause();
    void resume();
    void leave();
    void set_disk_full(bool full) { disk_full_ = full; }
    void set_storeless(bool storeless) { storeless_ = storeless; }

    [[nodiscard]] bool is_paused() const { return paused_; }
    [[nodiscard]] bool is_up() const { return life_ != nullptr; }
    [[nodiscard]] const std::string& name() const { return identity_.name; }
    [[nodiscard]] std::string owner() const;             // of the lease, in this life
    [[nodiscard]] std::optional<Epoch> acting() const;   // under which it may act now
    [[nodiscard]] std::optional<Epoch> in_term() const;  // that it has begun and not ended
    [[nodiscard]] bool looked_before() const { return looked_before_; }  // and acts only now

    // A user's statement. `told` is called at most once, and never if no answer comes.
    void ask(const std::string& user, const std::string& statement,
             const std::function<void(UserAnswer, const Error*)>& told);
    // An order of another coordinator; answered in the same way.
    void take_order(const std::string& order,
                    const std::function<void(const std::string& answer)>& answer);

private:
    struct Life;
    using Answered = std::function<void(UserAnswer, const Error*)>;

    // Events for this life of the process; they wait while it is paused.
    void later(Duration delay, const std::function<void(Life&)>& action);
    void deliver(std::uint64_t life, const std::function<void(Life&)>& action);
    void execute(Life& life, const coordinator::Bundle& bundle, routing::Reach reach,
                 const Journey::Arrived& arrived);
    [[nodiscard]] Journey::Process process_of(Life& life);
    void answer(const std::string& user, const Journey::Arrival& arrival, const Answered& told);
    [[nodiscard]] routing::Sight look(const Life& life) const;
    [[nodiscard]] Result<planning::PlanningView> planning_view(
        Life& life, const planning::MentionedNames& names);
    void forward(const Life& life, const routing::Forward& step, const std::string& order,
                 const std::function<void(const LineAnswer&)>& answered);
    void wait(Life& life, const routing::Wait& step, const std::function<void()>& woken);
    void see_who_leads(Life& life);
    void wake_waiting(Life& life);
    void try_start();
    void end_life();
    [[nodiscard]] Result<Done> come_alive(Life& life);
    void contend(Life& life);
    void begin_term(Life& life, Epoch epoch);
    void end_term(Life& life, Epoch epoch);
    [[nodiscard]] Result<Done> open_term(Life& life, SimTerm::Office office);
    [[nodiscard]] Result<Revision> revision(Life& life);
    [[nodiscard]] bool reaches_store() const { return !storeless_ && !store_.is_away(); }
    [[nodiscard]] std::optional<testing::SqlFault> fault_at(const testing::SqlMoment& moment);

    World& world_;
    Network& network_;
    testing::FaultySqlDatabase disk_;
    LeaseStore& store_;
    const Identity identity_;
    const Observer observer_;
    std::unique_ptr<Life> life_;  // none: killed
    std::uint64_t lives_ = 0;
    std::uint64_t terms_ = 0;
    bool paused_ = false;
    bool acted_when_paused_ = false;
    bool looked_before_ = false;
    bool disk_full_ = false;
    bool storeless_ = false;
    bool starting_ = false;
    std::vector<std::function<void()>> waiting_;  // while paused
};

}  // namespace baton::sim
