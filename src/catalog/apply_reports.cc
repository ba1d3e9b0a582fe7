// What the controllers' requests about queries and their fragments do.
#include <algorithm>

#include "base/text.h"
#include "catalog/application.h"

namespace baton {

Result<Done> Application::interrupt_queries_on(const std::string& worker,
                                               const std::string& reason) {
    TRY_ASSIGN(queries, reader_.queries({.state = QueryState::running, .worker = worker}));
    for (const Query& before : queries) {
        Query after = before;
        after.state = QueryState::deploying;
        after.reason = reason;
        TRY(update_query(before, after));
    }
    return Done{};
}

// What has ended occupies no slots: somebody else may have taken them.
Result<Done> Application::check_comeback(const Fragment& fragment) {
    TRY_ASSIGN(worker, known_worker(fragment.worker));
    TRY_ASSIGN(used, reader_.used_slots(fragment.worker));
    if (!worker.capacity || used + fragment.slots <= *worker.capacity) return Done{};
    return Error{.code = ErrorCode::placement,
                 .message = "fragment " + to_string(fragment.id) + " cannot come back: worker " +
                            in_quotes(fragment.worker) + " has no slot left"};
}

Result<Answer> Application::on(const request::ReportFragment& r) {
    TRY_ASSIGN(before, reader_.fragment(r.fragment));
    if (!before) {
        return Error{.code = ErrorCode::unknown_query,
                     .message = "unknown fragment " + to_string(r.fragment)};
    }
    Answer answer{.did = Did::changed, .name = to_string(r.fragment), .id = r.fragment.value()};
    if (before->state == r.state && before->reason == r.reason) {
        answer.did = Did::unchanged;
        return answer;
    }
    Fragment after = *before;
    after.state = r.state;
    after.reason = r.reason;
    after.counts = has_ended(r.state) ? r.counts : std::nullopt;
    TRY_ASSIGN(query, known_query(before->query));
    if (query.state == QueryState::pending) {
        return Error{.code = ErrorCode::query_state,
                     .message = "no worker can know of fragment " + to_string(r.fragment) +
                                ": query " + in_quotes(query.name) + " is PENDING"};
    }
    if (has_ended(query.state) && !has_ended(r.state)) {
        return Error{.code = ErrorCode::query_state,
                     .message = "fragment " + to_string(r.fragment) + " cannot be " +
                                std::string(to_string(r.state)) + ": query " +
                                in_quotes(query.name) + " is " +
                                std::string(to_string(query.state))};
    }
    if (has_ended(before->state) && !has_ended(r.state)) TRY(check_comeback(*before));
    TRY(update_fragment(*before, after));
    const bool fine = r.state == FragmentState::running || r.state == FragmentState::terminated;
    if (query.state == QueryState::running && !fine) {
        Query interrupted = query;
        interrupted.state = QueryState::deploying;
        interrupted.reason = "fragment " + to_string(r.fragment) + " on worker " +
                             in_quotes(before->worker) + " is " + std::string(to_string(r.state)) +
                             (r.reason.empty() ? "" : ": " + r.reason);
        TRY(update_query(query, interrupted));
    }
    return answer;
}

Result<Answer> Application::on(const request::MarkQuery& r) {
    TRY_ASSIGN(before, known_query(r.query));
    const auto refuse = [&](const std::string& why) {
        return Error{.code = ErrorCode::query_state,
                     .message = "query " + in_quotes(before.name) + " cannot be " +
                                std::string(to_string(r.state)) + ": " + why};
    };
    const bool moves = r.state != before.state;
    if (moves && has_ended(before.state)) {
        return refuse("it is " + std::string(to_string(before.state)) + " for good");
    }
    if (moves && r.state == QueryState::pending) return refuse("workers were told of it");
    const bool upwards = r.state == QueryState::deploying || r.state == QueryState::running;
    // One that was dropped meanwhile ends by being released, or nobody would look at it again.
    const bool stays = has_ended(r.state) && before.desired == QueryDesire::dropped;
    if (moves && ((upwards && before.desired != QueryDesire::running) || stays)) {
        return refuse("it is to be " + std::string(to_string(before.desired)));
    }
    TRY_ASSIGN(fragments, reader_.fragments({.query = r.query}));
    for (const Fragment& fragment : fragments) {
        const std::string what =
            "fragment " + to_string(fragment.id) + " is " + std::string(to_string(fragment.state));
        if (has_ended(r.state) && !has_ended(fragment.state)) return refuse(what);
        if (r.state != QueryState::running) continue;
        if (fragment.state == FragmentState::terminated) continue;
        if (fragment.state != FragmentState::running) return refuse(what);
        TRY_ASSIGN(worker, known_worker(fragment.worker));
        if (worker.state != WorkerState::active) {
            return refuse("worker " + in_quotes(worker.name) + " is UNREACHABLE");
        }
    }
    Query after = before;
    after.state = r.state;
    after.reason = r.reason;
    after.lagging = r.lagging;
    TRY(update_query(before, after));
    return Answer{.did = after == before ? Did::unchanged : Did::changed,
                  .name = before.name,
                  .id = before.id.value()};
}

Result<Answer> Application::on(const request::FailQuery& r) {
    TRY_ASSIGN(before, known_query(r.query));
    Answer answer{.did = Did::unchanged, .name = before.name, .id = before.id.value()};
    if (has_ended(before.state) || before.desired != QueryDesire::running) return answer;
    Query after = before;
    after.desired = QueryDesire::failed;
    after.stop_mode = StopMode::forceful;
    after.state = QueryState::stopping;
    after.reason = r.reason;
    answer.did = Did::accepted;
    if (before.state == QueryState::pending) {
        after.state = QueryState::failed;
        TRY(end_fragments(before.id, FragmentState::stopped));
        answer.did = Did::changed;
    }
    TRY(update_query(before, after));
    return answer;
}

Result<Answer> Application::on(const request::RestartQuery& r) {
    TRY_ASSIGN(before, known_query(r.query));
    const auto refuse = [&](const std::string& why) {
        return Error{.code = ErrorCode::query_state,
                     .message = "query " + in_quotes(before.name) + " cannot be restarted: " + why};
    };
    if (before.desired != QueryDesire::running) {
        return refuse("it is to be " + std::string(to_string(before.desired)));
    }
    if (before.state != QueryState::deploying && before.state != QueryState::running) {
        return refuse("it is " + std::string(to_string(before.state)));
    }
    TRY_ASSIGN(fragments, reader_.fragments({.query = r.query}));
    for (const Fragment& fragment : fragments) {
        if (has_ended(fragment.state)) continue;
        return refuse("fragment " + to_string(fragment.id) + " is " +
                      std::string(to_string(fragment.state)));
    }
    Query after = before;
    after.run += 1;
    after.restarts = r.restarts;
    after.restarted = now();
    after.state = QueryState::deploying;
    after.reason = r.reason;
    after.lagging.clear();
    TRY(update_query(before, after));
    for (const Fragment& ended : fragments) {
        TRY(check_comeback(ended));
        Fragment next = ended;
        next.run = after.run;
        next.state = FragmentState::pending;
        next.reason.clear();
        next.counts.reset();
        TRY(update_fragment(ended, next));
    }
    return Answer{.did = Did::changed, .name = before.name, .id = before.id.value()};
}

Result<Answer> Application::on(const request::ReleaseQuery& r) {
    TRY_ASSIGN(found, reader_.query(r.query));
    if (!found) return Answer{.did = Did::absent, .id = r.query.value()};
    TRY_ASSIGN(live, has_live_fragments(r.query));
    if (found->desired != QueryDesire::dropped || live) {
        return Error{.code = ErrorCode::query_state,
                     .message = "query " + in_quotes(found->name) + " cannot be released: " +
                                (live ? "it has live fragments" : "nobody dropped it")};
    }
    TRY(remove_query(*found));
    return Answer{
        .did = Did::dropped, .name = found->name, .id = r.query.value(), .dropped = {*found}};
}

}  // namespace baton
