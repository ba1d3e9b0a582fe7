#include "coordinator/control/catalog_door.h"

#include <algorithm>

namespace baton::coordinator {

namespace {

Result<Done> look_at_everything(const catalog::Reader& reader, CatalogLook& seen) {
    TRY_ASSIGN(catalog, reader.catalog_id());
    seen.catalog = std::move(catalog);
    TRY_ASSIGN(workers, reader.workers());
    for (Worker& worker : workers) {
        const std::string name = worker.name;
        seen.workers[name] = std::move(worker);
    }
    TRY_ASSIGN(queries, reader.queries());
    for (Query& query : queries) {
        const QueryId id = query.id;
        seen.queries[id] = StoredQuery{.query = std::move(query), .fragments = {}};
    }
    TRY_ASSIGN(fragments, reader.fragments({.query = {}, .worker = {}, .with_plan = false}));
    for (Fragment& fragment : fragments) {
        const auto found = seen.queries.find(fragment.query);
        if (found == seen.queries.end()) continue;
        found->second->fragments.push_back(std::move(fragment));
    }
    return Done{};
}

}  // namespace

Result<CatalogLook> look(const catalog::Reader& reader, const CatalogWanted& wanted) {
    CatalogLook seen;
    if (wanted.everything) TRY(look_at_everything(reader, seen));
    if (wanted.everything || wanted.partitions) {
        TRY_ASSIGN(lists, reader.all<TaskList>());
        TRY_ASSIGN(partitions, reader.partitions());
        seen.task_lists = std::move(lists);
        seen.partitions = std::move(partitions);
    }
    for (const std::string& name : wanted.workers) {
        TRY_ASSIGN(worker, reader.worker(name));
        seen.workers[name] = std::move(worker);
    }
    for (const QueryId id : wanted.queries) {
        TRY_ASSIGN(query, reader.query(id));
        if (!query) {
            seen.queries[id] = std::nullopt;
            continue;
        }
        TRY_ASSIGN(fragments, reader.fragments({.query = id, .worker = {}, .with_plan = false}));
        seen.queries[id] =
            StoredQuery{.query = *std::move(query), .fragments = std::move(fragments)};
    }
    for (const FragmentId id : wanted.plans) {
        TRY_ASSIGN(fragment, reader.fragment(id));
        if (fragment) {
            seen.plans[id] = {.text = std::move(fragment->plan),
                              .fingerprint = std::move(fragment->fingerprint)};
        }
    }
    return seen;
}

Bundle bundle_of(std::vector<catalog::Request> requests, const Clock& clock) {
    Bundle bundle;
    for (catalog::Request& request : requests) {
        bundle.steps.push_back({.what = std::move(request), .statement = {}});
    }
    bundle.received = clock.wall_now();
    bundle.started = clock.now();
    return bundle;
}

Result<Done> result_of(const Outcome& outcome) {
    const auto* refused = std::get_if<Refused>(&outcome);
    if (refused != nullptr) return refused->error;
    return Done{};
}

}  // namespace baton::coordinator
