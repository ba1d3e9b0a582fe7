// What holds for every view, also for those that nobody thought of.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/overload.h"
#include "core/queries/deployment.h"
#include "core/queries/lifecycle.h"

namespace baton::queries {
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

FragmentStep any_step(const FragmentKey& key) {
    switch (*rc::gen::inRange(0, 4)) {
        case 0:
            return RegisterFragment{key};
        case 1:
            return StartFragment{key};
        case 2:
            return StopFragment{.key = key, .mode = any_of_states<StopMode>()};
        default:
            return ForgetFragment{key};
    }
}

LastStep any_last_step(const FragmentKey& key, Instant now) {
    const Instant then = now + std::chrono::milliseconds(*rc::gen::inRange(-8'000, 8'000));
    switch (*rc::gen::inRange(0, 4)) {
        case 0:
            return StepAsked{.step = any_step(key), .at = std::min(then, now)};
        case 1:
            return StepRefused{
                .step = any_step(key), .retry_at = then, .trouble = {.why = "not now"}};
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
    if (chance(30))
        query.reason = {.code = ReasonCode::fragment_refused, .who = "W1", .text = "because"};
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
    if (chance(50)) fragment.last_step = any_last_step(key, now);
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
        view.strays.push_back({.worker = "W" + std::to_string(i),
                               .held = any_status(key),
                               .last_step = any_last_step(key, now)});
    }
    return view;
}

// ---- doing what a plan says, while nobody answers -----------------------------------------------

Query query_of(const QueryView& view) {
    Query query;
    query.id = view.id;
    query.name = "Q";
    query.state = view.recorded->state;
    query.desired = view.recorded->desired;
    query.stop_mode = view.recorded->stop_mode;
    query.run = view.recorded->run;
    query.reason = view.recorded->reason;
    query.lagging = view.recorded->lagging;
    return query;
}

std::vector<lifecycle::Part> parts_of(const QueryView& view) {
    std::vector<lifecycle::Part> parts;
    for (const FragmentView& f : view.fragments) {
        const auto worker = f.ready ? WorkerState::active : WorkerState::unreachable;
        parts.push_back({f.id, f.recorded, f.worker, worker});
    }
    return parts;
}

void take(QueryView& view, const Query& after, Instant now) {
    Recorded& query = *view.recorded;
    if (query.state != after.state) view.since = now;
    query.state = after.state;
    query.desired = after.desired;
    query.stop_mode = after.stop_mode;
    query.run = after.run;
    query.reason = after.reason;
    query.lagging = after.lagging;
}

// What the plan's fragments hold is nobody's when the run or the query is over.
void leave(QueryView& view) {
    for (FragmentView& f : view.fragments) {
        if (f.held) view.strays.push_back({f.worker, *f.held, f.last_step});
        f.held.reset();
        f.last_step = {};
    }
}

void take(QueryView& view, const lifecycle::Turn& turn, Instant now) {
    if (turn.became == lifecycle::Became::gone) {
        leave(view);
        view.fragments.clear();
        view.recorded.reset();
        return;
    }
    take(view, turn.after, now);
    if (turn.parts == lifecycle::Parts::renew) leave(view);
    for (FragmentView& f : view.fragments) {
        Fragment fragment;
        fragment.state = f.recorded;
        fragment.reason = f.reason;
        if (turn.parts == lifecycle::Parts::stop) fragment = lifecycle::stopped(fragment);
        if (turn.parts == lifecycle::Parts::renew) fragment = lifecycle::renewed(fragment, 2);
        f.recorded = fragment.state;
        f.reason = fragment.reason;
    }
}

void report(QueryView& view, const ReportFragment& w, Instant now) {
    for (FragmentView& f : view.fragments) {
        if (f.id != w.fragment) continue;
        Fragment fragment;
        fragment.id = f.id;
        fragment.worker = f.worker;
        fragment.state = f.recorded;
        fragment.reason = f.reason;
        const auto turn = lifecycle::report(query_of(view), fragment, w);
        RC_ASSERT(turn.has_value());
        f.recorded = turn->after.state;
        f.reason = turn->after.reason;
        if (turn->interrupted) take(view, *turn->interrupted, now);
    }
}

// What a plan writes is never refused.
void take(QueryView& view, const Result<lifecycle::Turn>& turn, Instant now) {
    RC_ASSERT(turn.has_value());
    take(view, *turn, now);
}

void apply(QueryView& view, const Write& write, Instant now) {
    const auto query = query_of(view);
    const auto parts = parts_of(view);
    std::visit(Overload{
                   [&](const ReportFragment& w) { report(view, w, now); },
                   [&](const MarkQuery& w) { take(view, lifecycle::mark(query, w, parts), now); },
                   [&](const FailQuery& w) { take(view, lifecycle::fail(query, w.reason), now); },
                   [&](const RestartQuery& w) {
                       take(view, lifecycle::restart(query, w.reason, w.restarts, parts), now);
                   },
                   [&](const ReleaseQuery&) { take(view, lifecycle::release(query, parts), now); },
               },
               write);
}

void apply(QueryView& view, const Send& send, Instant now) {
    for (FragmentView& fragment : view.fragments) {
        if (fragment.worker != send.worker || fragment.id != key_of(send.step).fragment) continue;
        if (key_of(send.step).run == view.recorded->run)
            fragment.last_step = StepAsked{send.step, now};
    }
    for (Stray& stray : view.strays) {
        if (stray.held.key == key_of(send.step)) stray.last_step = StepAsked{send.step, now};
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

RC_GTEST_PROP(PlanProperty, NothingIsWrittenThatTheLifecycleRefuses, ()) {
    QueryView view = any_view(kNow);
    perform(view, plan(view, kNow, Pace{}), kNow);  // asserts it of each write
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
            if (fragment.worker == send.worker && key_of(send.step).run == view.recorded->run) {
                RC_ASSERT(fragment.ready);
            }
        }
    }
}

RC_GTEST_PROP(PlanProperty, NothingIsStartedBeforeAllIsRegisteredAndDownstreamIsReady, ()) {
    const QueryView view = any_view(kNow);
    for (const Send& send : plan(view, kNow, Pace{}).sends) {
        if (!std::holds_alternative<StartFragment>(send.step)) continue;
        RC_ASSERT(view.recorded->desired == QueryDesire::running);
        std::uint64_t stage = 0;
        for (const FragmentView& f : view.fragments) {
            if (f.id == key_of(send.step).fragment) stage = f.stage;
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
        const bool begins = std::holds_alternative<RegisterFragment>(send.step) ||
                            std::holds_alternative<StartFragment>(send.step);
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
        const auto* stop = std::get_if<StopFragment>(&send.step);
        if (stop == nullptr || stop->mode != StopMode::graceful) continue;
        std::uint64_t stage = 0;
        for (const FragmentView& f : view.fragments) {
            if (f.id == key_of(send.step).fragment) stage = f.stage;
        }
        for (const FragmentView& f : view.fragments) {
            if (f.stage > stage) RC_ASSERT(has_ended(f.recorded));
        }
    }
}

}  // namespace
}  // namespace baton::queries
