// What clients and other coordinators ask of a coordinator, along its route.
#include <utility>

#include "base/check.h"
#include "base/overload.h"
#include "coordinator/coordinator_runtime.h"

namespace baton::coordinator {

namespace {

catalog::request::CreateQuery* query_of(Step& step) {
    auto* request = std::get_if<catalog::Request>(&step.what);
    return request == nullptr ? nullptr : std::get_if<catalog::request::CreateQuery>(request);
}

}  // namespace

class CoordinatorRuntime::Carriage {
public:
    // The bundle keeps the plans that are made for it.
    Carriage(CoordinatorRuntime& coordinator, Bundle& bundle, routing::Reach reach)
        : coordinator_(coordinator),
          bundle_(bundle),
          route_(request_for(coordinator, bundle, reach), timing_of(coordinator)),
          delivery_{.bundle = bundle} {}

    // None: it is for another coordinator, and this thread may not wait for that.
    [[nodiscard]] std::optional<Outcome> go() {
        routing::Event event = routing::Begun{};
        for (;;) {
            const routing::Step step = route_.step(look(), event);
            if (const auto* end = std::get_if<routing::End>(&step)) return outcome(*end);
            if (const auto* there = std::get_if<routing::There>(&step)) {
                event = coordinator_.forwarder_->take(*there, delivery_);
            } else {
                event = std::visit([this](const auto& one) { return take(one); },
                                   std::get<routing::Here>(step));
            }
        }
    }

private:
    static routing::Request request_for(const CoordinatorRuntime& coordinator, const Bundle& bundle,
                                        routing::Reach reach) {
        if (bundle.passed_on) {
            reach = routing::Reach::passed_on;
        } else if (!coordinator.forwarder_) {
            reach = routing::Reach::here;
        }
        if (!coordinator.forwarder_) return {.reach = reach, .trial = !bundle.keep};
        return coordinator.forwarder_->request_for(bundle, reach);
    }
    static routing::Timing timing_of(const CoordinatorRuntime& coordinator) {
        return coordinator.forwarder_ ? coordinator.forwarder_->timing() : routing::Timing{};
    }

    // The news are read first: a change that is not seen here ends the wait for others than these.
    [[nodiscard]] routing::Sight look() {
        LeaderBoard::Sighting known = coordinator_.leader_.now();
        seen_ = coordinator_.current();
        return {.now = coordinator_.clock_.now(),
                .own_term = seen_ ? std::optional(seen_->number) : std::nullopt,
                .leader = std::move(known.leader),
                .news = known.news,
                .cancelled = bundle_.interrupt != nullptr && bundle_.interrupt->raised()};
    }

    // The queries are planned as if the other steps did not matter; the commit finds out if they
    // do. Only the first step must have a plan: the others may need what those before them make,
    // and the writer gives a view of that.
    [[nodiscard]] routing::Event take(const routing::Plan& /*step*/) {
        term_ = seen_;
        for (std::size_t i = 0; i < bundle_.steps.size(); ++i) {
            catalog::request::CreateQuery* query = query_of(bundle_.steps[i]);
            if (query == nullptr || query->plan) continue;
            const auto view = coordinator_.planning_view(planning::names_in(query->tree));
            if (!view) return refused(0, view.error());
            auto made = coordinator_.planner_(query->tree, *view);
            if (made) {
                query->plan = *std::move(made);
            } else if (i == 0) {
                return refused(0, made.error());
            }
        }
        return routing::Planned{};
    }

    [[nodiscard]] routing::Event take(const routing::PlanAgain& step) {
        catalog::request::CreateQuery* query = query_of(bundle_.steps.at(step.step));
        CHECK(query != nullptr);
        auto made =
            coordinator_.planner_(query->tree, std::get<NeedsPlan>(*delivery_.outcome).view);
        if (!made) return refused(step.step, made.error());
        query->plan = *std::move(made);
        return routing::Planned{};
    }

    [[nodiscard]] routing::Event take(const routing::Commit& step) {
        if (step.writer_plans) bundle_.plan_in_place = coordinator_.planner_;
        delivery_.outcome = term_->commits.submit_and_wait(bundle_);
        return std::visit(Overload{
                              [](const Accepted&) -> routing::Event { return routing::Happened{}; },
                              [](const Refused& no) -> routing::Event {
                                  return routing::RefusedHere{no.error.code};
                              },
                              [](const NeedsPlan& needs) -> routing::Event {
                                  return routing::NeedsPlan{needs.step};
                              },
                          },
                          *delivery_.outcome);
    }

    [[nodiscard]] routing::Event take(const routing::LookAtDatabase& /*step*/) {
        const auto there = coordinator_.snapshot();
        return routing::DatabaseLooked{there ? std::nullopt : std::optional(there.error())};
    }

    // A refusal that does not reach the writer is logged here.
    [[nodiscard]] routing::Event refused(std::size_t step, const Error& error) {
        if (const std::string& statement = bundle_.steps.at(step).statement; !statement.empty()) {
            coordinator_.log({.received = bundle_.received,
                              .principal = bundle_.principal,
                              .statement = statement,
                              .error = error,
                              .took = coordinator_.clock_.now() - bundle_.started,
                              .revision = {}});
        }
        delivery_.outcome = Refused{.step = step, .error = error};
        return routing::RefusedHere{error.code};
    }

    [[nodiscard]] std::optional<Outcome> outcome(const routing::End& end) {
        if (std::holds_alternative<routing::Elsewhere>(end)) return std::nullopt;
        if (const auto* refuse = std::get_if<routing::Refuse>(&end)) {
            return Refused{.step = 0, .error = refuse->why};
        }
        return std::move(delivery_.outcome);
    }

    CoordinatorRuntime& coordinator_;
    Bundle& bundle_;
    routing::Route route_;
    std::shared_ptr<Term> seen_;  // at the last look
    std::shared_ptr<Term> term_;  // in which the bundle is planned and committed
    Forwarder::Delivery delivery_;
};

std::optional<Outcome> CoordinatorRuntime::execute_here(Bundle& bundle) {
    return Carriage(*this, bundle, routing::Reach::here_now).go();
}

Outcome CoordinatorRuntime::execute(Bundle bundle) {
    auto outcome = Carriage(*this, bundle, routing::Reach::anywhere).go();
    CHECK(outcome.has_value());
    return *std::move(outcome);
}

BundleExecutor CoordinatorRuntime::executor() {
    return {.execute = [this](Bundle bundle) { return execute(std::move(bundle)); },
            .own_counts = [this] { return own_counts(); },
            .now = clock_.now()};
}

Result<catalog::Answer> CoordinatorRuntime::execute(const catalog::Request& request) {
    Bundle bundle;
    bundle.steps.push_back({.what = request, .statement = {}});
    bundle.received = clock_.wall_now();
    bundle.started = clock_.now();
    Outcome outcome = execute(std::move(bundle));
    if (auto* refused = std::get_if<Refused>(&outcome)) return std::move(refused->error);
    return std::get<catalog::Answer>(std::get<Accepted>(outcome).answers.front());
}

}  // namespace baton::coordinator
