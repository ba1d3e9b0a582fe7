#include "sim/simulation.h"

#include <algorithm>

#include "sim/stage.h"

namespace baton::sim {

namespace {

// Leaves out parts of a list, large ones first, as long as the rest still fails.
template <class Item, class Fails>
void leave_out(std::vector<Item>& items, const Fails& fails) {
    for (std::size_t size = std::max<std::size_t>(items.size() / 2, 1); size > 0; size /= 2) {
        for (std::size_t from = 0; from < items.size();) {
            const std::vector<Item> before = items;
            const auto first = items.begin() + static_cast<std::ptrdiff_t>(from);
            items.erase(first,
                        first + static_cast<std::ptrdiff_t>(std::min(size, items.size() - from)));
            if (fails()) continue;
            items = before;
            from += size;
        }
    }
}

}  // namespace

Report simulate(const Scenario& scenario, Telling telling) {
    Stage stage(scenario, telling == Telling::story);
    stage.set_up();
    stage.begin_scenario();
    stage.run_for(scenario.length);
    stage.heal();
    stage.settle();
    stage.rest();
    stage.fail_over();
    World& world = stage.world();
    world.mix(world.prng.next());  // whoever drew once more or once less is found out
    return {.problem = world.problem(),
            .fingerprint = world.fingerprint(),
            .events = world.agenda.happened(),
            .terms = stage.leader_checks().terms(),
            .fenced = stage.leader_checks().fenced(),
            .handovers = stage.partition_checks().handovers(),
            .forwarded = stage.request_checks().forwarded(),
            .unknown = stage.request_checks().unknown(),
            .reached = stage.checks().reached(),
            .story = world.story()};
}

Scenario shrink(const Scenario& failing, unsigned runs_max) {
    Scenario scenario = failing;
    unsigned runs = 0;
    const auto fails = [&] { return runs++ < runs_max && simulate(scenario).problem.has_value(); };
    const auto without = [&](auto member) {
        const auto before = scenario.unkindness.*member;
        if (before == decltype(before){}) return;
        scenario.unkindness.*member = {};
        if (!fails()) scenario.unkindness.*member = before;
    };
    leave_out(scenario.incidents, fails);
    leave_out(scenario.asks, fails);
    for (const auto member :
         {&Unkindness::lost, &Unkindness::doubled, &Unkindness::slow, &Unkindness::answer_lost,
          &Unkindness::commit_unknown, &Unkindness::commit_refused, &Unkindness::busy,
          &Unkindness::prepare_terminal, &Unkindness::prepare_transient, &Unkindness::breaks,
          &Unkindness::ends, &Unkindness::lease_lost, &Unkindness::lease_slow,
          &Unkindness::lease_refused, &Unkindness::lease_unknown, &Unkindness::line_refused,
          &Unkindness::line_lost, &Unkindness::line_slow}) {
        without(member);
    }
    without(&Unkindness::drift_ppm);
    for (const auto member : {&Scenario::drifts, &Scenario::worker_drifts}) {
        const std::vector<std::int64_t> drifts = scenario.*member;
        (scenario.*member).assign(drifts.size(), 0);
        if (scenario.*member != drifts && !fails()) scenario.*member = drifts;
    }
    return scenario;
}

}  // namespace baton::sim
