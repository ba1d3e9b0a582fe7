#include "sim/journey.h"

#include <variant>

#include "base/overload.h"
#include "coordinator/routing/forwarded_bundle.h"

namespace baton::sim {

namespace {

catalog::request::CreateQuery* query_in(coordinator::Bundle& bundle) {
    auto* request = std::get_if<catalog::Request>(&bundle.steps.front().what);
    return request == nullptr ? nullptr : std::get_if<catalog::request::CreateQuery>(request);
}

}  // namespace

void Journey::go_on(routing::Event event) {
    for (;;) {
        const routing::Sight sight = process_.look();
        term_ = sight.own_term;
        const routing::Step step = route_.step(sight, event);
        if (const auto* last = std::get_if<routing::End>(&step)) return end(*last);
        const auto take_it = [this](const auto& one) { return take(one); };
        const auto* here = std::get_if<routing::Here>(&step);
        const Next next = here != nullptr ? std::visit(take_it, *here)
                                          : std::visit(take_it, std::get<routing::There>(step));
        if (!next) return;
        event = *next;
    }
}

void Journey::end(const routing::End& end) {
    if (std::holds_alternative<routing::Elsewhere>(end)) arrival_ = {};
    if (const auto* refuse = std::get_if<routing::Refuse>(&end)) {
        arrival_.outcome = coordinator::Refused{.step = 0, .error = refuse->why};
    }
    arrived_(arrival_);
}

routing::Event Journey::refused(const Error& error) {
    arrival_ = {.outcome = coordinator::Refused{.step = 0, .error = error}};
    return routing::RefusedHere{error.code};
}

// ---- here ---------------------------------------------------------------------------------------

Journey::Next Journey::take(const routing::Plan& /*step*/) {
    auto* query = query_in(bundle_);
    if (query == nullptr || query->plan) return routing::Planned{};
    const auto view = process_.planning_view(planning::names_in(query->tree));
    if (!view) return refused(view.error());
    auto made = planning::plan(query->tree, *view);
    if (!made) return refused(made.error());
    query->plan = *std::move(made);
    return routing::Planned{};
}

Journey::Next Journey::take(const routing::PlanAgain& /*step*/) {
    auto* query = query_in(bundle_);
    auto made =
        planning::plan(query->tree, std::get<coordinator::NeedsPlan>(*arrival_.outcome).view);
    if (!made) return refused(made.error());
    query->plan = *std::move(made);
    return routing::Planned{};
}

Journey::Next Journey::take(const routing::Commit& step) {
    if (step.writer_plans) bundle_.plan_in_place = planning::plan;
    const auto answered = [self = shared_from_this()](const coordinator::Outcome& outcome) {
        self->go_on(self->committed(outcome));
    };
    if (term_ && process_.commit(*term_, bundle_, answered)) return std::nullopt;
    return refused(routing::not_leading(std::nullopt));
}

routing::Event Journey::committed(const coordinator::Outcome& outcome) {
    arrival_ = {.outcome = outcome, .was_tried = true};
    return std::visit(
        Overload{
            [](const coordinator::Accepted&) -> routing::Event { return routing::Happened{}; },
            [](const coordinator::Refused& no) -> routing::Event {
                return routing::RefusedHere{no.error.code};
            },
            [](const coordinator::NeedsPlan& needs) -> routing::Event {
                return routing::NeedsPlan{needs.step};
            },
        },
        outcome);
}

Journey::Next Journey::take(const routing::LookAtDatabase& /*step*/) {
    const auto there = process_.look_at_database();
    return routing::DatabaseLooked{there ? std::nullopt : std::optional(there.error())};
}

// ---- beyond this coordinator --------------------------------------------------------------------

Journey::Next Journey::take(const routing::WriteOrder& /*step*/) {
    auto order = coordinator::order_of(bundle_);
    if (!order) return routing::OrderNotWritten{order.error()};
    order_ = *std::move(order);
    return routing::OrderWritten{};
}

Journey::Next Journey::take(const routing::Forward& step) {
    process_.ask(step, order_, [self = shared_from_this()](const LineAnswer& answer) {
        self->go_on(self->answered(answer));
    });
    return std::nullopt;
}

routing::Event Journey::answered(const LineAnswer& answer) {
    arrival_ = {.outcome = {}, .was_tried = true};
    if (const auto* unsent = std::get_if<NotSent>(&answer)) return *unsent;
    if (const auto* lost = std::get_if<AnswerLost>(&answer)) return *lost;
    auto outcome = coordinator::outcome_of(std::get<std::string>(answer), bundle_);
    if (!outcome) return AnswerLost{outcome.error()};
    arrival_.outcome = *std::move(outcome);
    const auto* no = std::get_if<coordinator::Refused>(&*arrival_.outcome);
    if (no == nullptr) return routing::HappenedThere{};
    return routing::RefusedThere{no->error};
}

Journey::Next Journey::take(const routing::Wait& step) {
    process_.wait(step, [self = shared_from_this()] { self->go_on(routing::Woken{}); });
    return std::nullopt;
}

}  // namespace baton::sim
