// What the controllers' requests about queries and their fragments do.
#include <algorithm>

#include "base/text.h"
#include "catalog/application.h"

namespace baton::catalog {

Result<Done> Application::interrupt_queries_on(const std::string& worker, const Reason& reason) {
    TRY_ASSIGN(queries, reader_.queries({.state = QueryState::running, .worker = worker}));
    for (const Query& query : queries) {
        TRY(update_query(query, queries::lifecycle::interrupted(query, reason)));
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

Result<Answer> Application::on(const controllers::ReportFragment& r) {
    TRY_ASSIGN(before, reader_.fragment(r.fragment));
    if (!before) {
        return Error{.code = ErrorCode::unknown_query,
                     .message = "unknown fragment " + to_string(r.fragment)};
    }
    TRY_ASSIGN(query, known_query(before->query));
    TRY_ASSIGN(turn, queries::lifecycle::report(query, *before, r));
    if (turn.comes_back) TRY(check_comeback(*before));
    TRY(update_fragment(*before, turn.after));
    if (turn.interrupted) TRY(update_query(query, *turn.interrupted));
    return Answer{.did = turn.after == *before ? Did::unchanged : Did::changed,
                  .name = to_string(r.fragment),
                  .id = r.fragment.value()};
}

Result<Answer> Application::on(const controllers::MarkQuery& r) {
    TRY_ASSIGN(before, known_query(r.query));
    TRY_ASSIGN(parts, parts_of(r.query, r.state == QueryState::running));
    TRY_ASSIGN(turn, queries::lifecycle::mark(before, r, parts));
    return follow(before, turn);
}

Result<Answer> Application::on(const controllers::FailQuery& r) {
    TRY_ASSIGN(before, known_query(r.query));
    return follow(before, queries::lifecycle::fail(before, r.reason));
}

Result<Answer> Application::on(const controllers::RestartQuery& r) {
    TRY_ASSIGN(before, known_query(r.query));
    TRY_ASSIGN(parts, parts_of(r.query));
    TRY_ASSIGN(turn, queries::lifecycle::restart(before, r.reason, r.restarts, parts));
    turn.after.restarted = now();
    return follow(before, turn);
}

Result<Answer> Application::on(const controllers::ReleaseQuery& r) {
    TRY_ASSIGN(found, reader_.query(r.query));
    if (!found) return Answer{.did = Did::absent, .id = r.query.value()};
    TRY_ASSIGN(parts, parts_of(r.query));
    TRY_ASSIGN(turn, queries::lifecycle::release(*found, parts));
    return follow(*found, turn);
}

}  // namespace baton::catalog
