// SimTerm is the part of a simulated coordinator that exists while it leads: the controller and the
// committer of the product, on the shared catalog, and streams to the workers.
//
// The commit of a batch and its publication are two events, so that the process may die between
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/commit/committer.h"
#include "coordinator/commit/term_guard.h"
#include "coordinator/control/catalog_door.h"
#include "coordinator/control/controller.h"
#include "coordinator/control/guarded_transport.h"
#include "sim/drifting_clock.h"
#include "sim/network.h"
#include "sim/world.h"

namespace baton::sim {

// The callbacks by which the rest of the world observes a term. All are called during the event
// itself.
struct TermObserver {
    std::function<void(const coordinator::CommittedBatch&)> committed;
    // The committer has run: all new rows in the catalog were written under this epoch.
    std::function<void(Epoch)> wrote;
    // The controller is about to hear of everything up to this revision.
    std::function<void(Revision)> published;
    std::function<void(const std::string& worker, std::optional<Incarnation> process,
                       const control::Command&)>
        commanded;
    std::function<void()> assigned;  // partitions, to a worker
    // The term sends a message to a worker under this epoch.
    std::function<void(Epoch)> spoke;
    // The term ends a stream on which it got no answer to the last so many beats.
    std::function<void(const std::string& worker, std::size_t unanswered)> given_up;
};

class SimTerm final : private coordinator::CatalogDoor {
public:
    struct Process {
        World& world;
        const DriftingClock& clock;
        Sql& reads;
        const TermObserver& observer;
        // Runs an action later, if the term still goes on then.
        std::function<void(Duration, std::function<void(SimTerm&)>)> later;
    };
    struct Office {
        Epoch epoch;
        coordinator::TermGuard guard;
        Revision start;  // everything up to it is known
    };

    SimTerm(Process process, Office office, std::unique_ptr<Sql> writes,
            std::unique_ptr<Network::Line> line);

    [[nodiscard]] Result<Done> start();
    void schedule_tick();
    void submit(coordinator::Bundle bundle, coordinator::Answered answered);
    // Answers the requests that wait; the last call.
    void end();
    [[nodiscard]] Epoch epoch() const { return office_.epoch; }

private:
    [[nodiscard]] Result<coordinator::CatalogLook> look(
        const coordinator::CatalogWanted& wanted) override;
    void submit(Ticket ticket, std::vector<catalog::Request> requests,
                WhenWritten written) override;

    void give(const coordinator::ControlEvent& event);
    void watch();
    void note_answer(const coordinator::ControlEvent& event);
    void commit();
    void publish(std::uint64_t number);

    const Process process_;
    World& world_;
    const Office office_;
    coordinator::Committer committer_;
    std::vector<coordinator::Committer::Job> jobs_;
    bool commit_planned_ = false;
    std::map<std::uint64_t, coordinator::CommittedBatch> unpublished_;
    std::uint64_t batches_ = 0;
    std::unique_ptr<Network::Line> line_;
    coordinator::GuardedTransport transport_;
    std::optional<coordinator::Controller> controller_;
    std::optional<Instant> tick_at_;  // on its clock
    // Beats without an answer, by stream.
    std::map<std::pair<std::string, transport::Attempt>, std::set<std::uint64_t>> unanswered_;
};

}  // namespace baton::sim
