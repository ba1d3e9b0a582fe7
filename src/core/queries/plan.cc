// plan() works on a copy of the view. First the words of the workers are brought into the record,
// then it is decided on the record alone what becomes of the query. What was changed in the record
// are the writes; only if there are none is anything sent.
#include <algorithm>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "core/queries/deployment.h"
#include "core/queries/lifecycle.h"

namespace baton::queries {

namespace {

Reason reason_in(const std::string& worker, const control::FragmentStatus& status) {
    if (status.reason.empty() && status.error == 0) return {};
    return {.code = status.state == FragmentState::failed ? ReasonCode::failed
                                                          : ReasonCode::not_prepared,
            .who = worker,
            .error = status.error,
            .text = status.reason};
}

bool lives(const control::FragmentStatus& status) {
    return status.state && !has_ended(*status.state);
}

// Another run can do better than one that ended like this.
bool is_hopeless(const FragmentView& fragment) {
    return fragment.held && fragment.held->state == FragmentState::failed &&
           fragment.held->fault == control::Fault::terminal;
}

class Planning {
public:
    Planning(const QueryView& view, Instant now, const Pace& pace)
        : view_(view), now_(now), pace_(pace) {}

    Plan run() {
        if (view_.recorded) {
            const std::vector<FragmentView> before = view_.fragments;
            if (lifecycle::workers_may_know(view_.recorded->state)) take_words();
            if (may_wait(before)) {
                view_.fragments = before;
                plan_.writes.clear();
                wake(view_.since + pace_.gather);
            }
            decide();
        }
        sweep();
        if (!plan_.writes.empty()) plan_.sends.clear();
        return std::move(plan_);
    }

private:
    Recorded& query() { return *view_.recorded; }

    // ---- the words of the workers ---------------------------------------------------------------

    void take_words() {
        const bool ending = query().desired != QueryDesire::running;
        for (FragmentView& fragment : view_.fragments) {
            if (!fragment.ready || has_ended(fragment.recorded)) continue;
            if (fragment.held && fragment.held->state) {
                report(fragment, *fragment.held->state, reason_in(fragment.worker, *fragment.held));
            } else if (is_absent(fragment) && !ending &&
                       fragment.recorded != FragmentState::pending) {
                report(fragment, FragmentState::failed,
                       {.code = ReasonCode::lost,
                        .who = fragment.worker,
                        .text = "worker " + in_quotes(fragment.worker) + " no longer has it"});
            }
        }
        // What never came to its worker has ended, too, if its run has.
        if (!ending && first_broken() == nullptr) return;
        for (FragmentView& fragment : view_.fragments) {
            if (has_ended(fragment.recorded) || !is_absent(fragment)) continue;
            report(fragment, FragmentState::stopped, {});
        }
    }

    // Whether the words are of a deployment that goes well, and allow nothing that the record does
    // not: each write is synced, and a deployment is no faster than those that it waits for.
    bool may_wait(const std::vector<FragmentView>& before) const {
        return !plan_.writes.empty() && view_.recorded->desired == QueryDesire::running &&
               view_.recorded->state == QueryState::deploying &&
               now_ < view_.since + pace_.gather &&
               all([](const FragmentView& f) { return !has_ended(f.recorded); }) &&
               !goes_on(step_of(before), step_of(view_.fragments));
    }

    // How far a deployment is: what is asked next depends on nothing else.
    struct Step {
        bool registered = false;
        std::optional<std::uint64_t> stage;  // the lowest one that is not started
        bool runs = false;
    };
    static bool goes_on(const Step& before, const Step& after) {
        return before.registered != after.registered || before.runs != after.runs ||
               (after.stage && before.stage != after.stage);
    }
    static Step step_of(const std::vector<FragmentView>& fragments) {
        Step step{.registered = true, .runs = true};
        for (const FragmentView& fragment : fragments) {
            if (fragment.recorded == FragmentState::pending) step.registered = false;
            if (fragment.recorded == FragmentState::registered) {
                step.stage = std::min(step.stage.value_or(fragment.stage), fragment.stage);
            }
            step.runs = step.runs && runs(fragment);
        }
        if (!step.registered) step.stage.reset();
        return step;
    }

    // The worker does not have it, and nothing is on its way there.
    static bool is_absent(const FragmentView& fragment) {
        return fragment.ready && !fragment.usurped && !(fragment.held && fragment.held->state) &&
               !std::holds_alternative<StepAsked>(fragment.last_step);
    }

    void report(FragmentView& fragment, FragmentState state, const Reason& reason) {
        if (fragment.recorded == state && fragment.reason == reason) return;
        fragment.recorded = state;
        fragment.reason = reason;
        const bool told = has_ended(state) && fragment.held && fragment.held->state == state;
        plan_.writes.emplace_back(
            ReportFragment{.fragment = fragment.id,
                           .state = state,
                           .reason = reason,
                           .counts = told ? std::optional(fragment.held->counts) : std::nullopt});
    }

    // ---- what becomes of the query --------------------------------------------------------------

    void decide() {
        if (has_ended(query().state)) return;
        if (query().desired != QueryDesire::running) {
            wind_down();
        } else if (query().state == QueryState::pending) {
            set_out();
        } else if (const FragmentView* broken = first_broken()) {
            recover(*broken);
        } else if (all([](const FragmentView& f) {
                       return f.recorded == FragmentState::terminated;
                   })) {
            mark(QueryState::terminated, {}, {});
        } else if (all(runs)) {
            mark(QueryState::running, {}, {});
        } else if (query().state == QueryState::deploying) {
            deploy();
        }
        // A RUNNING query of which a worker has yet to be heard is as it was, until that worker is
        // found UNREACHABLE or tells otherwise.
    }

    static bool runs(const FragmentView& fragment) {
        if (fragment.recorded == FragmentState::terminated) return true;
        return fragment.recorded == FragmentState::running && fragment.ready && fragment.held &&
               fragment.held->state == FragmentState::running;
    }

    template <class Rule>
    bool all(Rule rule) const {
        return std::all_of(view_.fragments.begin(), view_.fragments.end(), rule);
    }

    const FragmentView* first_broken() const {
        const FragmentView* broken = nullptr;
        for (const FragmentView& fragment : view_.fragments) {
            if (!lifecycle::ends_its_run(fragment.recorded)) continue;
            // One that failed tells more than one that was stopped because of it.
            const bool tells = fragment.recorded == FragmentState::failed;
            if (broken == nullptr || (tells && broken->recorded != FragmentState::failed)) {
                broken = &fragment;
            }
        }
        return broken;
    }

    static Reason why(const FragmentView& fragment) {
        return lifecycle::reason_of(fragment.id, fragment.worker, fragment.recorded,
                                    fragment.reason);
    }

    // From PENDING: when everyone concerned can be told.
    void set_out() {
        if (times_out()) return;
        const bool everyone = all([](const FragmentView& f) { return f.ready; });
        if (everyone) {
            mark(QueryState::deploying, {}, {});
        } else {
            mark(QueryState::pending, query().reason, absent());
        }
    }

    void recover(const FragmentView& broken) {
        for (const FragmentView& fragment : view_.fragments) {
            if (!is_hopeless(fragment)) continue;
            plan_.writes.emplace_back(FailQuery{.query = view_.id, .reason = why(fragment)});
            return;
        }
        if (query().settings.on_failure == OnFailure::fail) {
            plan_.writes.emplace_back(FailQuery{.query = view_.id, .reason = why(broken)});
            return;
        }
        if (times_out()) return;
        const bool over = all([](const FragmentView& f) { return has_ended(f.recorded); });
        const bool everyone = all([](const FragmentView& f) { return f.ready; });
        if (over && everyone && now_ >= view_.restart_at) {
            Reason reason = why(broken);
            reason.code = ReasonCode::restarted;
            reason.text = "restarted: " + reason.text;
            plan_.writes.emplace_back(RestartQuery{
                .query = view_.id, .reason = std::move(reason), .restarts = next_restart()});
            return;
        }
        Reason reason = why(broken);
        if (const Trouble& trouble = view_.restart_trouble; trouble != Trouble{}) {
            reason.code = ReasonCode::restart_refused;
            reason.error = trouble.error;
            reason.text += "; " + trouble.why;
        }
        mark(QueryState::deploying, reason, over ? absent() : lagging());
        if (!over) {
            stop_everything(StopMode::forceful);
        } else if (now_ < view_.restart_at) {
            wake(view_.restart_at);
        }
    }

    // Which one in a row the next restart is: a steady run ends the row.
    [[nodiscard]] unsigned next_restart() const {
        const bool steady = now_ - view_.restarted >= pace_.steady_after;
        return view_.restarts == 0 || steady ? 1 : view_.restarts + 1;
    }

    void deploy() {
        if (times_out()) return;
        mark(QueryState::deploying, trouble_met().value_or(query().reason), lagging());
        const bool registered =
            all([](const FragmentView& f) { return f.recorded != FragmentState::pending; });
        if (!registered) {
            for (const FragmentView& fragment : view_.fragments) {
                const bool unknown = !fragment.held || !fragment.held->state;
                if (fragment.recorded == FragmentState::pending && unknown) {
                    ask(fragment, RegisterFragment{key_of(fragment)});
                }
            }
            return;
        }
        start_next_stage();
    }

    // The fragments nearest to the sink that do not accept data yet.
    void start_next_stage() {
        std::optional<std::uint64_t> stage;
        for (const FragmentView& fragment : view_.fragments) {
            if (fragment.recorded != FragmentState::registered) continue;
            stage = std::min(stage.value_or(fragment.stage), fragment.stage);
        }
        for (const FragmentView& fragment : view_.fragments) {
            const bool told = fragment.held && fragment.held->state != FragmentState::registered;
            if (fragment.recorded == FragmentState::registered && fragment.stage == stage &&
                !told) {
                ask(fragment, StartFragment{key_of(fragment)});
            }
        }
    }

    // Ends in rollback what took too long.
    bool times_out() {
        const auto limit = query().settings.deploy_timeout;
        if (!limit || query().state == QueryState::running) return false;
        const Instant deadline = view_.since + *limit;
        if (now_ < deadline) {
            wake(deadline);
            return false;
        }
        Reason reason{.code = ReasonCode::timed_out,
                      .text = "it did not run within " + in_seconds(*limit)};
        std::vector<std::string> names;
        for (const FragmentView& fragment : view_.fragments) {
            if (!fragment.ready) names.push_back(in_quotes(fragment.worker));
        }
        if (!names.empty()) {
            reason.text += ": no word from worker " + join(names, ", ");
        } else if (!query().reason.text.empty()) {
            reason.who = query().reason.who;
            reason.error = query().reason.error;
            reason.text += ": " + query().reason.text;
        }
        plan_.writes.emplace_back(FailQuery{.query = view_.id, .reason = reason});
        return true;
    }

    static std::string in_seconds(Duration duration) {
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
        return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
    }

    void wind_down() {
        const bool over = all([](const FragmentView& f) { return has_ended(f.recorded); });
        if (!over) {
            mark(QueryState::stopping, query().reason, lagging());
            if (query().stop_mode == StopMode::forceful) {
                stop_everything(StopMode::forceful);
            } else {
                stop_furthest_stage();
            }
            return;
        }
        if (const auto end = lifecycle::end_of(query().desired)) {
            return mark(*end, query().reason, {});
        }
        plan_.writes.emplace_back(ReleaseQuery{view_.id});
    }

    void stop_everything(StopMode mode) {
        for (const FragmentView& fragment : view_.fragments) stop(fragment, mode);
    }

    // Data flows from higher stages to lower ones: the next one ends when nothing comes any more.
    void stop_furthest_stage() {
        std::uint64_t furthest = 0;
        for (const FragmentView& fragment : view_.fragments) {
            if (!has_ended(fragment.recorded)) furthest = std::max(furthest, fragment.stage);
        }
        // What is passed on to one that was stopped or lost never arrives.
        const bool broken =
            std::any_of(view_.fragments.begin(), view_.fragments.end(), [&](const FragmentView& f) {
                return f.stage < furthest && lifecycle::ends_its_run(f.recorded);
            });
        const StopMode mode = broken ? StopMode::forceful : StopMode::graceful;
        for (const FragmentView& fragment : view_.fragments) {
            if (fragment.stage == furthest) stop(fragment, mode);
        }
    }

    void stop(const FragmentView& fragment, StopMode mode) {
        if (has_ended(fragment.recorded)) return;
        if (fragment.held && is_told(*fragment.held, mode)) return;
        ask(fragment, StopFragment{.key = key_of(fragment), .mode = mode});
    }

    static bool is_told(const control::FragmentStatus& held, StopMode mode) {
        return held.stopping && (*held.stopping == StopMode::forceful || *held.stopping == mode);
    }

    void mark(QueryState state, const Reason& reason, const std::vector<std::string>& lagging) {
        if (query().state == state && query().reason == reason && query().lagging == lagging) {
            return;
        }
        plan_.writes.emplace_back(
            MarkQuery{.query = view_.id, .state = state, .reason = reason, .lagging = lagging});
    }

    // The workers without whom nothing goes on: those with a fragment that has not ended.
    std::vector<std::string> lagging() {
        return waited_for([](const FragmentView& f) { return !has_ended(f.recorded); });
    }
    // Or all of them, where a run is to begin.
    std::vector<std::string> absent() {
        return waited_for([](const FragmentView&) { return true; });
    }

    // Once they were waited for a while.
    template <class Rule>
    std::vector<std::string> waited_for(Rule concerned) {
        std::vector<std::string> names;
        for (const FragmentView& fragment : view_.fragments) {
            if (fragment.ready || !concerned(fragment)) continue;
            const Instant late = fragment.ready_since + pace_.lag_after;
            const bool named = std::find(query().lagging.begin(), query().lagging.end(),
                                         fragment.worker) != query().lagging.end();
            if (now_ >= late || named) {
                names.push_back(fragment.worker);
            } else {
                wake(late);
            }
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    // What a worker could not do, and is asked again. Of several, the one that is shown already,
    // for as long as it lasts.
    std::optional<Reason> trouble_met() {
        std::optional<Reason> first;
        for (const FragmentView& fragment : view_.fragments) {
            if (!fragment.ready || fragment.recorded != FragmentState::pending) continue;
            const auto* refused = std::get_if<StepRefused>(&fragment.last_step);
            const bool shown = query().reason.code == ReasonCode::fragment_refused &&
                               query().reason.who == fragment.worker;
            if (shown && refused == nullptr) return query().reason;
            if (refused == nullptr || (first && !shown)) continue;
            first = Reason{
                .code = ReasonCode::fragment_refused,
                .who = fragment.worker,
                .error = refused->trouble.error,
                .text = "worker " + in_quotes(fragment.worker) + ": " + refused->trouble.why};
            if (shown) return first;
        }
        return first;
    }

    // ---- what nobody needs ----------------------------------------------------------------------

    void sweep() {
        for (const Stray& stray : view_.strays) clear(stray.worker, stray.held, stray.last_step);
        for (const FragmentView& fragment : view_.fragments) {
            if (!fragment.ready || !fragment.held || !has_ended(fragment.recorded)) continue;
            clear(fragment.worker, *fragment.held, fragment.last_step);
        }
    }

    void clear(const std::string& worker, const control::FragmentStatus& held,
               const LastStep& last) {
        if (!lives(held)) {
            if (held.state) ask(worker, last, ForgetFragment{held.key});
        } else if (!is_told(held, StopMode::forceful)) {
            ask(worker, last, StopFragment{.key = held.key, .mode = StopMode::forceful});
        }
    }

    // ---- asking ---------------------------------------------------------------------------------

    FragmentKey key_of(const FragmentView& fragment) {
        return {.query = view_.id, .run = query().run, .fragment = fragment.id};
    }

    void ask(const FragmentView& fragment, const FragmentStep& step) {
        if (!fragment.ready || fragment.usurped) return;
        ask(fragment.worker, fragment.last_step, step);
    }

    // Unless that was asked already and may still be answered, or did not work just now.
    void ask(const std::string& worker, const LastStep& last, const FragmentStep& step) {
        const Instant due =
            std::visit(Overload{
                           [&](std::monostate) { return now_; },
                           [&](const StepAsked& a) {
                               return a.step == step ? a.at + pace_.answer_within : now_;
                           },
                           [&](const StepRefused& r) { return r.step == step ? r.retry_at : now_; },
                       },
                       last);
        if (due > now_) {
            wake(due);
        } else {
            plan_.sends.push_back({.worker = worker, .step = step});
            wake(now_ + pace_.answer_within);  // it may be lost, or its answer
        }
    }

    void wake(Instant at) { plan_.wake_at = std::min(plan_.wake_at.value_or(at), at); }

    QueryView view_;
    const Instant now_;
    const Pace& pace_;
    Plan plan_;
};

}  // namespace

Plan plan(const QueryView& view, Instant now, const Pace& pace) {
    return Planning(view, now, pace).run();
}

}  // namespace baton::queries
