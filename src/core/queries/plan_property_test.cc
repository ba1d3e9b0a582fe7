// What holds for every view, also for those that nobody thought of.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/overload.h"
#include "core/queries/deployment.h"

namespace baton::deployment {
namespace {

using namespace std::chrono_literals;
using control::FragmentStatus;

constexpr QueryId kQuery{7};

template <class Enum>
Enum any_of_states() {
    const auto& names = StateNames<Enum>::kNames;
    return names.at(*rc::gen::inRange<std::size_t>(0, names.size())).first;
}

bool chance(int percent) {
    return *rc::gen::inRange(0, 100) < percent;
}

FragmentStatus any_status(const FragmentKey& key) {
    FragmentStatus status{.key = key};
    status.state = any_of_states<FragmentState>();
    status.event = 1;
    if (!has_ended(*status.state) && chance(30)) status.stopping = any_of_states<StopMode>();
    if (chance(30)) status.fault = control::Fault::terminal;
    if (chance(30)) status.reason = "out of memory";
    return status;
}

Order any_order() {
    switch (*rc::gen::inRange(0, 4)) {
        case 0:
            return Register{};
        case 1:
            return Start{};
        case 2:
            return Stop{any_of_states<StopMode>()};
        default:
            return Forget{};
    }
}

Talk any_talk(Instant now) {
    const Instant then = now + std::chrono::milliseconds(*rc::gen::inRange(-8'000, 8'000));
    switch (*rc::gen::inRange(0, 4)) {
        case 0:
            return Asked{.order = any_order(), .at = std::min(then, now)};
        case 1:
            return Rebuffed{.order = any_order(), .retry_at = then, .why = "not now"};
        default:
            return {};
    }
}

// States that the catalog may hold together.
Recorded any_record() {
    Recorded query;
    query.desired = any_of_states<QueryDesire>();
    query.state = QueryState::stopping;
    if (query.desired == QueryDesire::running) {
        query.state =
            *rc::gen::element(QueryState::pending, QueryState::deploying, QueryState::running);
    }
    if (chance(15)) {
        query.state =
            *rc::gen::element(QueryState::stopped, QueryState::terminated, QueryState::failed);
    }
    query.run = *rc::gen::inRange<std::uint64_t>(1, 4);
    query.stop_mode = any_of_states<StopMode>();
    if (query.desired == QueryDesire::failed) query.stop_mode = StopMode::forceful;
    if (chance(30)) query.settings.on_failure = OnFailure::fail;
    if (chance(30)) query.settings.deploy_timeout.reset();
    if (chance(30)) query.reason = "because";
    return query;
}

FragmentView any_fragment(const Recorded& query, std::uint64_t number, Instant now) {
    FragmentView fragment;
    fragment.id = FragmentId(number);
    fragment.worker = "W" + std::to_string(number);
    fragment.ready = chance(75);
    fragment.ready_since = now - std::chrono::milliseconds(*rc::gen::inRange(0, 3'000));
    fragment.stage = *rc::gen::inRange<std::uint64_t>(0, 3);
    fragment.recorded = any_of_states<FragmentState>();
    if (query.state == QueryState::pending) fragment.recorded = FragmentState::pending;
    if (query.state == QueryState::running && chance(80)) {
        fragment.recorded = FragmentState::running;
    }
    if (has_ended(query.state)) fragment.recorded = FragmentState::stopped;
    if (!fragment.ready) return fragment;
    const FragmentKey key{.query = kQuery, .run = query.run, .fragment = fragment.id};
    if (chance(70) && query.state != QueryState::pending) fragment.held = any_status(key);
    if (chance(50)) fragment.talk = any_talk(now);
    return fragment;
}

QueryView any_view(Instant now) {
    QueryView view;
    view.id = kQuery;
    view.since = now - std::chrono::seconds(*rc::gen::inRange(0, 700));
    view.restart_at = now + std::chrono::milliseconds(*rc::gen::inRange(-1'000, 1'000));
    if (chance(95)) {
        view.recorded = any_record();
        const auto count = *rc::gen::inRange<std::uint64_t>(1, 5);
        for (std::uint64_t i = 1; i <= count; ++i) {
            view.fragments.push_back(any_fragment(*view.recorded, i, now));
        }
    }
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
        const FragmentKey key{.query = kQuery, .run = 9, .fragment = FragmentId(i + 0UL)};
        view.strays.push_back(
            {.worker = "W" + std::to_string(i), .held = any_status(key), .talk = any_talk(now)});
    }
    return view;
}

// ---- doing what a plan says, while nobody answers -----------------------------------------------

void apply(QueryView& view, const Write& write, Instant now) {
    Recorded& query = *view.recorded;
    const auto into = [&](QueryState state) {
        if (query.state != state) view.since = now;
        query.state = state;
    };
    std::visit(Overload{
                   [&](const ReportFragment& w) {
                       for (FragmentView& fragment : view.fragments) {
                           if (fragment.id != w.fragment) continue;
                           fragment.recorded = w.state;
                           fragment.reason = w.reason;
                       }
                   },
                   [&](const MarkQuery& w) {
                       into(w.state);
                       query.reason = w.reason;
                       query.lagging = w.lagging;
                   },
                   [&](const FailQuery& w) {
                       const bool told = query.state != QueryState::pending;
                       into(told ? QueryState::stopping : QueryState::failed);
                       query.desired = QueryDesire::failed;
                       query.stop_mode = StopMode::forceful;
                       query.reason = w.reason;
                       if (told) return;
                       for (FragmentView& f : view.fragments) f.recorded = FragmentState::stopped;
                   },
                   [&](const RestartQuery& w) {
                       query.reason = w.reason;
                       query.lagging.clear();
                       into(QueryState::deploying);
                       for (FragmentView& f : view.fragments) {
                           if (f.held) view.strays.push_back({f.worker, *f.held, f.talk});
                           f.recorded = FragmentState::pending;
                           f.reason.clear();
                           f.held.reset();
                           f.talk = {};
                       }
                       query.run += 1;
                   },
                   [&](const ReleaseQuery&) {
                       for (const FragmentView& f : view.fragments) {
                           if (f.held) view.strays.push_back({f.worker, *f.held, f.talk});
                       }
                       view.fragments.clear();
                       view.recorded.reset();
                   },
               },
               write);
}

void apply(QueryView& view, const Send& send, Instant now) {
    for (FragmentView& fragment : view.fragments) {
        if (fragment.worker != send.worker || fragment.id != send.key.fragment) continue;
        if (send.key.run == view.recorded->run) fragment.talk = Asked{send.order, now};
    }
    for (Stray& stray : view.strays) {
        if (stray.held.key == send.key) stray.talk = Asked{send.order, now};
    }
}

void perform(QueryView& view, const Plan& plan, Instant now) {
    for (const Write& write : plan.writes) apply(view, write, now);
    for (const Send& send : plan.sends) apply(view, send, now);
}

constexpr Instant kNow = at(1h);

RC_GTEST_PROP(PlanProperty, WritesAndSendsAreNeverInOnePlan, ()) {
    const Plan made = plan(any_view(kNow), kNow, Pace{});
    RC_ASSERT(made.writes.empty() || made.sends.empty());
}

RC_GTEST_PROP(PlanProperty, WhenAllIsDoneThatWasPlannedNothingIsLeftToDo, ()) {
    QueryView view = any_view(kNow);
    // Writes may take turns: what a query is to end in, that it has, who is waited for. Then what
    // is sent, once.
    int rounds = 0;
    bool sent = false;
    for (Plan made = plan(view, kNow, Pace{}); !made.empty(); made = plan(view, kNow, Pace{})) {
        RC_ASSERT(++rounds <= 5);
        RC_ASSERT(!sent);
        sent = !made.sends.empty();
        perform(view, made, kNow);
    }
    RC_ASSERT(plan(view, kNow, Pace{}).empty());
}

RC_GTEST_PROP(PlanProperty, OnlyWorkersThatAreReadyAreAsked, ()) {
    const QueryView view = any_view(kNow);
    for (const Send& send : plan(view, kNow, Pace{}).sends) {
        for (const FragmentView& fragment : view.fragments) {
            if (fragment.worker == send.worker && send.key.run == view.recorded->run) {
                RC_ASSERT(fragment.ready);
            }
        }
    }
}

RC_GTEST_PROP(PlanProperty, NothingIsStartedBeforeAllIsRegisteredAndDownstreamIsReady, ()) {
    const QueryView view = any_view(kNow);
    for (const Send& send : plan(view, kNow, Pace{}).sends) {
        if (!std::holds_alternative<Start>(send.order)) continue;
        RC_ASSERT(view.recorded->desired == QueryDesire::running);
        std::uint64_t stage = 0;
        for (const FragmentView& f : view.fragments) {
            if (f.id == send.key.fragment) stage = f.stage;
        }
        for (const FragmentView& f : view.fragments) {
            RC_ASSERT(f.recorded != FragmentState::pending);
            if (f.stage < stage) RC_ASSERT(f.recorded != FragmentState::registered);
        }
    }
}

RC_GTEST_PROP(PlanProperty, NothingIsRegisteredOrStartedForAQueryThatIsToEnd, ()) {
    const QueryView view = any_view(kNow);
    const bool wanted = view.recorded && view.recorded->desired == QueryDesire::running &&
                        view.recorded->state == QueryState::deploying;
    for (const Send& send : plan(view, kNow, Pace{}).sends) {
        const bool begins = std::holds_alternative<Register>(send.order) ||
                            std::holds_alternative<Start>(send.order);
        if (begins) RC_ASSERT(wanted);
    }
}

RC_GTEST_PROP(PlanProperty, AnEndedStateIsWrittenOnlyWhenEveryFragmentHasEnded, ()) {
    QueryView view = any_view(kNow);
    const Plan made = plan(view, kNow, Pace{});
    perform(view, made, kNow);
    for (const Write& write : made.writes) {
        const auto* mark = std::get_if<MarkQuery>(&write);
        if (mark == nullptr) continue;
        for (const FragmentView& f : view.fragments) {
            if (has_ended(mark->state)) RC_ASSERT(has_ended(f.recorded));
            if (mark->state != QueryState::running) continue;
            const bool confirmed = f.ready && f.recorded == FragmentState::running && f.held &&
                                   f.held->state == FragmentState::running;
            RC_ASSERT(confirmed || f.recorded == FragmentState::terminated);
        }
    }
}

RC_GTEST_PROP(PlanProperty, AGracefulStopAsksNobodyWhileUpstreamLives, ()) {
    const QueryView view = any_view(kNow);
    for (const Send& send : plan(view, kNow, Pace{}).sends) {
        const auto* stop = std::get_if<Stop>(&send.order);
        if (stop == nullptr || stop->mode != StopMode::graceful) continue;
        std::uint64_t stage = 0;
        for (const FragmentView& f : view.fragments) {
            if (f.id == send.key.fragment) stage = f.stage;
        }
        for (const FragmentView& f : view.fragments) {
            if (f.stage > stage) RC_ASSERT(has_ended(f.recorded));
        }
    }
}

}  // namespace
}  // namespace baton::deployment
