// Journey takes one request along its Route in a simulated coordinator, as CoordinatorRuntime does
// on a thread. A step that waits there ends here with a later event.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coordinator/commit/committer.h"
#include "core/planning/planner.h"
#include "core/routing/route.h"
#include "ports/leader_line.h"

namespace baton::sim {

class Journey : public std::enable_shared_from_this<Journey> {
public:
    // The process of the journey. A callback is called in the same life of the process, or never.
    struct Process {
        std::function<routing::Sight()> look;
        std::function<Result<planning::PlanningView>(const planning::MentionedNames&)>
            planning_view;
        // Returns false, and never answers, if that term is over.
        std::function<bool(routing::TermNumber, const coordinator::Bundle&,
                           const coordinator::Answered&)>
            commit;
        std::function<Result<Done>()> look_at_database;
        std::function<void(const routing::Forward&, const std::string& order,
                           const std::function<void(const LineAnswer&)>&)>
            ask;
        std::function<void(const routing::Wait&, const std::function<void()>&)> wait;
    };
    struct Arrival {
        std::optional<coordinator::Outcome> outcome;  // none: it has to go elsewhere
        bool was_tried = false;  // the last step was to commit it, or to forward it
    };
    using Arrived = std::function<void(const Arrival&)>;

    Journey(Process process, coordinator::Bundle bundle, const routing::Request& request,
            Arrived arrived)
        : process_(std::move(process)),
          bundle_(std::move(bundle)),
          route_(request),
          arrived_(std::move(arrived)) {}

    void begin() { go_on(routing::Begun{}); }

private:
    using Next = std::optional<routing::Event>;  // none: it comes later

    void go_on(routing::Event event);
    [[nodiscard]] Next take(const routing::Plan& step);
    [[nodiscard]] Next take(const routing::PlanAgain& step);
    [[nodiscard]] Next take(const routing::Commit& step);
    [[nodiscard]] Next take(const routing::LookAtDatabase& step);
    [[nodiscard]] Next take(const routing::WriteOrder& step);
    [[nodiscard]] Next take(const routing::Forward& step);
    [[nodiscard]] Next take(const routing::Wait& step);
    void end(const routing::End& end);
    [[nodiscard]] routing::Event refused(const Error& error);
    [[nodiscard]] routing::Event committed(const coordinator::Outcome& outcome);
    [[nodiscard]] routing::Event answered(const LineAnswer& answer);

    const Process process_;
    coordinator::Bundle bundle_;
    routing::Route route_;
    const Arrived arrived_;
    std::optional<routing::TermNumber> term_;  // that the last look saw
    std::string order_;
    Arrival arrival_;  // as the last step left it
};

}  // namespace baton::sim
