#include "coordinator/client_queries.h"

#include <utility>

#include "sql/printer.h"

namespace baton::coordinator {

Bundle drop_of(QueryId query, const Clock& clock) {
    sql::Statement statement;
    statement.node = sql::Drop{.kind = sql::EntityKind::query,
                               .if_exists = true,
                               .target = query.value(),
                               .mode = StopMode::forceful};
    Bundle bundle;
    bundle.steps.push_back(
        {.what = catalog::Request(
             catalog::request::DropQuery{.query = query, .mode = StopMode::forceful}),
         .statement = {},
         .source = std::make_shared<StepSource>(StepSource{.text = sql::print(statement)})});
    bundle.received = clock.wall_now();
    bundle.started = clock.now();
    return bundle;
}

void ClientQueries::drop(CommitLoop& commits, QueryId query) {
    std::set<QueryId> queries;
    {
        const std::lock_guard lock(mutex_);
        queries = std::exchange(undone_, {});
    }
    queries.insert(query);
    for (const QueryId one : queries) {
        const auto submitted = commits.submit(
            drop_of(one, clock_), [this, one](Outcome outcome) { dropped(one, outcome); });
        if (submitted) continue;
        const std::lock_guard lock(mutex_);
        undone_.insert(one);
    }
}

void ClientQueries::dropped(QueryId query, const Outcome& outcome) {
    if (!std::holds_alternative<Refused>(outcome)) return;
    const std::lock_guard lock(mutex_);
    undone_.insert(query);
}

Result<Done> ClientQueries::drop_left_over(CommitLoop& commits, Readers& readers) {
    std::vector<QueryId> queries;
    {
        TRY_ASSIGN(snapshot, readers.snapshot());
        TRY_ASSIGN(found, snapshot.read().queries_of_clients());
        queries = std::move(found);
    }
    for (const QueryId query : queries) {
        dropped(query, commits.submit_and_wait(drop_of(query, clock_)));
    }
    return Done{};
}

}  // namespace baton::coordinator
