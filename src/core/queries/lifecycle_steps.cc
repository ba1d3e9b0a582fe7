#include "core/queries/lifecycle_steps.h"

#include <deque>
#include <set>
#include <tuple>
#include <utility>

#include "core/queries/lifecycle.h"

namespace baton::queries::lifecycle {

namespace {

// What the catalog has of a query of one fragment.
struct Case {
    Query query;
    Fragment fragment;
};

auto key_of(const Case& c) {
    return std::tuple(c.query.state, c.query.desired, c.query.stop_mode, c.fragment.state);
}

Life life_of(const Query& query) {
    return {.state = query.state, .desired = query.desired};
}

std::vector<Part> parts_of(const Case& c) {
    return {{.id = c.fragment.id, .state = c.fragment.state, .worker = c.fragment.worker}};
}

class Trial {
public:
    explicit Trial(Case before) : before_(std::move(before)) {}

    void run() {
        const Query& query = before_.query;
        const std::vector<Part> parts = parts_of(before_);
        for (const auto& [mode, name] : StateNames<StopMode>::kNames) {
            note(Asker::client, "STOP QUERY MODE " + std::string(name), stop(query, mode));
            note(Asker::client, "DROP QUERY MODE " + std::string(name), drop(query, mode));
        }
        note(Asker::controller, "fail", fail(query, {.code = ReasonCode::timed_out}));
        note(Asker::controller, "restart",
             restart(query, {.code = ReasonCode::restarted}, 1, parts));
        note(Asker::controller, "release", release(query, parts));
        for (const auto& [state, name] : StateNames<QueryState>::kNames) {
            const controllers::MarkQuery wanted{
                .state = state, .reason = query.reason, .lagging = {}};
            note(Asker::controller, "mark " + std::string(name), mark(query, wanted, parts));
        }
        for (const auto& [state, name] : StateNames<FragmentState>::kNames) {
            tell(state, "fragment " + std::string(name));
        }
        if (query.state == QueryState::running) {
            Case after = before_;
            after.query = interrupted(query, {.code = ReasonCode::worker_unreachable});
            add(Asker::worker, "worker lost", Ending::moved, after);
        }
    }

    std::vector<Step> steps;
    std::vector<Case> reached;

private:
    void note(Asker asker, const std::string& event, const Result<Turn>& turn) {
        if (!turn) return refuse(asker, event, turn.error());
        Case after{.query = turn->after, .fragment = before_.fragment};
        switch (turn->became) {
            case Became::unchanged:
                return add(asker, event, Ending::unchanged, before_);
            case Became::gone:
                return add(asker, event, Ending::gone, before_);
            case Became::accepted:
            case Became::changed:
                break;
        }
        if (turn->parts == Parts::stop) after.fragment = stopped(after.fragment);
        if (turn->parts == Parts::renew) after.fragment = renewed(after.fragment, after.query.run);
        add(asker, event, Ending::moved, after);
    }

    void tell(FragmentState state, const std::string& event) {
        const auto turn =
            report(before_.query, before_.fragment,
                   {.fragment = before_.fragment.id, .state = state, .reason = {}, .counts = {}});
        if (!turn) return refuse(Asker::worker, event, turn.error());
        const Case after{.query = turn->interrupted.value_or(before_.query),
                         .fragment = turn->after};
        const bool same = turn->after == before_.fragment;
        add(Asker::worker, event, same ? Ending::unchanged : Ending::moved, after);
    }

    void refuse(Asker asker, const std::string& event, const Error& error) {
        add(asker, event, Ending::refused, before_);
        steps.back().refusal = error.message;
    }

    void add(Asker asker, const std::string& event, Ending ending, const Case& after) {
        steps.push_back({.from = life_of(before_.query),
                         .stop_mode = before_.query.stop_mode,
                         .stop_mode_after = after.query.stop_mode,
                         .part = before_.fragment.state,
                         .part_after = after.fragment.state,
                         .asker = asker,
                         .event = event,
                         .ending = ending,
                         .to = life_of(after.query),
                         .next_run = after.query.run != before_.query.run,
                         .refusal = ""});
        if (ending != Ending::moved) return;
        reached.push_back(after);
        reached.back().query.run = 1;
        reached.back().fragment.run = 1;
    }

    const Case before_;
};

}  // namespace

std::string to_string(const Life& life) {
    const std::string state(baton::to_string(life.state));
    if (life.desired == QueryDesire::running) return state;
    return state + ", to be " + std::string(baton::to_string(life.desired));
}

std::vector<Step> all_steps() {
    Case created;
    created.query.id = QueryId(1);
    created.query.name = "Q";
    created.fragment.id = FragmentId(2);
    created.fragment.query = created.query.id;
    created.fragment.worker = "W";
    std::vector<Step> steps;
    std::set<decltype(key_of(created))> known = {key_of(created)};
    for (std::deque<Case> open = {created}; !open.empty(); open.pop_front()) {
        Trial trial(open.front());
        trial.run();
        steps.insert(steps.end(), trial.steps.begin(), trial.steps.end());
        for (Case& reached : trial.reached) {
            if (known.insert(key_of(reached)).second) open.push_back(std::move(reached));
        }
    }
    return steps;
}

}  // namespace baton::queries::lifecycle
