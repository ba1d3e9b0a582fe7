// SimCoordinator is a coordinator's process in a simulated world: the controller, the committer and
// the planner as they are, on a real catalog whose disk is the world's. It can be killed at any
// event and started again on the same catalog; it can be paused, and its disk can fill up.
//
// Two moments are apart where a process may die between them: the commit of a batch, and that
// anybody hears of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ports/clock.h"
#include "runtime/catalog_door.h"
#include "runtime/committer.h"
#include "runtime/controller.h"
#include "sim/network.h"
#include "sim/world.h"
#include "testing/faulty_sql.h"

namespace baton::sim {

// A clock that runs fast or slow against the world's.
class DriftingClock final : public Clock {
public:
    explicit DriftingClock(World& world)
        : world_(world), started_(world.agenda.now()), ppm_(world.unkindness.drift_ppm) {}

    [[nodiscard]] Instant now() const override;
    [[nodiscard]] WallTime wall_now() const override;
    // How long the world has to wait until this clock shows that time.
    [[nodiscard]] Duration until(Instant local) const;

private:
    World& world_;
    const Instant started_;
    const std::int64_t ppm_;
};

// What came of a statement, as far as its user knows.
enum class Told : std::uint8_t { accepted, refused, nothing };

class SimCoordinator {
public:
    // What the rest of the world may want to see. All are called during the event itself.
    struct Observer {
        std::function<void(const CommittedBatch&)> committed;
        // The controller is about to hear of everything up to this revision.
        std::function<void(Revision)> published;
        std::function<void(const std::string& worker, std::optional<Incarnation> process,
                           const control::Command&)>
            commanded;
        // It ends a stream on which it took no answer to the last so many beats.
        std::function<void(const std::string& worker, std::size_t unanswered)> given_up;
    };

    SimCoordinator(World& world, Network& network, SqlDatabase& disk, Observer observer);
    ~SimCoordinator();
    SimCoordinator(const SimCoordinator&) = delete;
    SimCoordinator& operator=(const SimCoordinator&) = delete;

    void start();  // nothing if it runs
    void kill();
    void pause() { paused_ = true; }
    void resume();
    void set_disk_full(bool full) { disk_full_ = full; }
    [[nodiscard]] bool is_up() const { return life_ != nullptr; }

    // A user's statement. `told` is called at most once; never if nobody answers any more.
    void ask(const std::string& statement, const std::function<void(Told, const Error*)>& told);

private:
    struct Life;
    using Answered = std::function<void(Told, const Error*)>;

    // Events for this life of the process; they wait while it is paused.
    void later(Duration delay, const std::function<void(Life&)>& action);
    void deliver(std::uint64_t life, const std::function<void(Life&)>& action);
    void give(Life& life, const ControlEvent& event);
    void watch(Life& life);
    void note_answer(Life& life, const ControlEvent& event);
    void schedule_tick(Life& life);
    void submit(Life& life, Bundle bundle, ::baton::Answered answered);
    void commit(Life& life);
    void publish(Life& life, const CommittedBatch& batch);
    void execute(Life& life, Bundle bundle, int attempts, const Answered& told);
    void try_start();
    [[nodiscard]] std::optional<testing::SqlFault> fault_at(const testing::SqlMoment& moment);

    World& world_;
    Network& network_;
    testing::FaultySqlDatabase disk_;
    const Observer observer_;
    std::unique_ptr<Life> life_;  // none: killed
    std::uint64_t lives_ = 0;
    bool paused_ = false;
    bool disk_full_ = false;
    bool starting_ = false;
    std::vector<std::function<void()>> waiting_;  // while paused
};

}  // namespace baton::sim
