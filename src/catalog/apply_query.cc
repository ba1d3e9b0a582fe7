// What clients' requests about queries do, and what they are made of.
#include <algorithm>

#include "base/text.h"
#include "catalog/application.h"
#include "catalog/kinds/encode.h"
#include "catalog/kinds/row_cursor.h"

namespace baton::catalog {

namespace {

// Set in the revision of what this bundle wrote itself. Such a row has no settled revision yet, and
// what it holds depends on the catalog that the bundle started from: after another commit, the next
// attempt at the bundle may give out other numbers or start from other rows. So a plan fits only to
// an attempt that would get the same revision.
constexpr std::uint64_t kOwn = std::uint64_t{1} << 63U;

constexpr std::string_view kQueryByName = "SELECT 1 FROM query WHERE name = ?";

Did did_of(queries::lifecycle::Became became) {
    switch (became) {
        case queries::lifecycle::Became::unchanged:
            return Did::unchanged;
        case queries::lifecycle::Became::accepted:
            return Did::accepted;
        case queries::lifecycle::Became::changed:
            return Did::changed;
        case queries::lifecycle::Became::gone:
            return Did::dropped;
    }
    CHECK(false && "an unknown outcome");
}

Dropped dropped(const Query& query) {
    return {.kind = sql::EntityKind::query, .id = query.id.value(), .name = query.name};
}

Error stale(const std::string& what) {
    return Error{.code = ErrorCode::conflict,
                 .message = "the query was planned for a catalog that has changed since: " + what,
                 .hint = "run it again"};
}

}  // namespace

Result<Done> Application::want_view(const request::CreateQuery& r) {
    Reader::KnownCluster none;
    TRY_ASSIGN(view, reader_.planning_view(planning::names_in(r.tree), none));
    const auto settle = [&](Revision& at) { at = as_read(at); };
    for (auto& [name, source] : view.logical_sources) settle(source.revision);
    if (view.sink) settle(view.sink->revision);
    auto cluster = std::make_shared<topology::Cluster>(*view.cluster);
    for (auto& [name, worker] : cluster->workers) settle(worker.revision);
    cluster->revision = as_read(tx_.state_.cluster_revision);  // the table has it after the commit
    view.cluster = std::move(cluster);
    tx_.wanted_view_ = std::move(view);
    return Done{};
}

Revision Application::as_read(Revision at) const {
    return at == revision() ? Revision(kOwn | at.value()) : at;
}

Result<Revision> Application::revision_of(const planning::Read& read) {
    std::string_view sql;
    switch (read.kind) {
        case planning::ReadKind::worker:
            sql = "SELECT revision FROM worker WHERE name = ?";
            break;
        case planning::ReadKind::logical_source:
            sql = "SELECT revision FROM logical_source WHERE name = ?";
            break;
        case planning::ReadKind::sink:
            // Their names are one space.
            sql =
                "SELECT revision FROM (SELECT name, revision FROM sink UNION ALL SELECT name, "
                "revision FROM sql_table) targets WHERE name = ?";
            break;
        case planning::ReadKind::cluster:
            return as_read(tx_.state_.cluster_revision);
    }
    TRY_ASSIGN(rows, sql_.query(sql, {read.name}));
    if (rows.empty()) return Revision(0);
    return as_read(kinds::RowCursor(rows[0]).revision());
}

Result<Done> Application::check_reads(const request::CreateQuery& r) {
    for (const planning::Read& read : r.plan->reads) {
        TRY_ASSIGN(found, revision_of(read));
        if (found != read.revision) return stale(in_quotes(read.name) + " is another now");
    }
    return Done{};
}

Result<Done> Application::check_capacity(const request::CreateQuery& r) {
    for (const planning::PlannedFragment& fragment : r.plan->fragments) {
        TRY_ASSIGN(rows,
                   sql_.query("SELECT capacity FROM worker WHERE name = ?", {fragment.worker}));
        if (rows.empty() && fragment.worker == kEmbeddedWorker) {
            TRY(embedded_worker());
            continue;
        }
        if (rows.empty()) return stale("worker " + in_quotes(fragment.worker) + " is gone");
        const auto capacity = kinds::RowCursor(rows[0]).optional_number();
        if (!capacity) continue;
        TRY_ASSIGN(used, reader_.used_slots(fragment.worker));
        if (used + fragment.slots <= *capacity) continue;
        return stale("worker " + in_quotes(fragment.worker) + " has " +
                     std::to_string(*capacity - std::min(used, *capacity)) + " free slots, " +
                     std::to_string(fragment.slots) + " are needed");
    }
    return Done{};
}

Result<std::string> Application::made_up_name(QueryId id) {
    for (std::string name = "Q" + to_string(id);; name += "_") {
        TRY_ASSIGN(taken, finds(kQueryByName, name));
        if (!taken) return name;
    }
}

Result<Done> Application::check_name(const std::string& wanted) {
    TRY_ASSIGN(taken, finds(kQueryByName, wanted));
    if (!taken) return Done{};
    TRY_ASSIGN(existing, known_query(wanted));
    Error error{.code = ErrorCode::query_exists,
                .message = "query " + in_quotes(wanted) + " already exists (id " +
                           to_string(existing.id) + ", " + std::string(to_string(existing.state)) +
                           ")"};
    if (existing.desired == QueryDesire::dropped) {
        TRY_ASSIGN(where, names("SELECT worker FROM fragment WHERE query = ? ORDER BY worker",
                                {kinds::value_of(existing.id.value())}));
        error.message = "query " + in_quotes(wanted) + " is still being removed (id " +
                        to_string(existing.id) + ")";
        error.hint = "its name is free once workers " + enumerate(where) + " have confirmed";
    }
    return error;
}

Result<Done> Application::insert_fragments(QueryId query, const planning::QueryPlan& plan) {
    for (const planning::PlannedFragment& planned : plan.fragments) {
        TRY(insert(Fragment{.id = FragmentId(new_id()),
                            .query = query,
                            .worker = planned.worker,
                            .slots = planned.slots,
                            .stage = planned.stage,
                            .plan = planned.plan,
                            .since = now(),
                            .fingerprint = kinds::plan_fingerprint(planned.plan, now())}));
    }
    return Done{};
}

Result<Answer> Application::on(const request::CreateQuery& r) {
    if (r.name) TRY(check_name(*r.name));
    if (!r.plan) {
        TRY(want_view(r));
        return stale("it has no plan yet");
    }
    for (auto check : {&Application::check_reads, &Application::check_capacity}) {
        auto fits = (this->*check)(r);
        if (fits) continue;
        if (fits.error().code == ErrorCode::conflict) TRY(want_view(r));
        return fits.error();
    }
    Query query{.id = QueryId(new_id()),
                .statement = r.statement,
                .settings = r.settings,
                .created = now(),
                .since = now(),
                .sources = r.plan->sources,
                .sinks = r.plan->sinks};
    TRY_ASSIGN(name, r.name ? Result<std::string>(*r.name) : made_up_name(query.id));
    query.name = name;
    TRY(insert(query));
    const SqlValue id = kinds::value_of(query.id);
    for (const PhysicalSourceId source : query.sources) {
        TRY(write("INSERT INTO query_source VALUES (?, ?)", {id, kinds::value_of(source)}));
    }
    for (const std::string& target : r.plan->sinks) {
        TRY_ASSIGN(is_table, finds("SELECT 1 FROM sql_table WHERE name = ?", target));
        TRY(write(is_table ? "INSERT INTO query_table VALUES (?, ?)"
                           : "INSERT INTO query_sink VALUES (?, ?)",
                  {id, target}));
    }
    TRY(insert_fragments(query.id, *r.plan));
    return Answer{.did = Did::created, .name = name, .id = query.id.value()};
}

Result<Query> Application::known_query(const request::QueryRef& ref) {
    TRY_ASSIGN(found, reader_.query(ref));
    if (found) return *std::move(found);
    if (const auto* id = std::get_if<QueryId>(&ref)) {
        return Error{.code = ErrorCode::unknown_query,
                     .message = "unknown query " + to_string(*id)};
    }
    const auto& name = std::get<std::string>(ref);
    TRY_ASSIGN(known, names("SELECT name FROM query ORDER BY name LIMIT 1000", {}));
    return Error{.code = ErrorCode::unknown_query,
                 .message = "unknown query " + in_quotes(name),
                 .hint = did_you_mean(name, known)};
}

Result<Done> Application::update_query(const Query& before, Query after) {
    if (after == before) return Done{};
    if (after.state != before.state) after.since = now();
    return update(before, std::move(after));
}

Result<Done> Application::update_fragment(const Fragment& before, Fragment after) {
    if (after == before) return Done{};
    if (after.state != before.state) after.since = now();
    return update(before, std::move(after));
}

Result<Answer> Application::follow(const Query& before, const queries::lifecycle::Turn& turn) {
    Answer answer{.did = did_of(turn.became), .name = before.name, .id = before.id.value()};
    switch (turn.became) {
        case queries::lifecycle::Became::unchanged:
            return answer;
        case queries::lifecycle::Became::gone:
            answer.dropped.push_back(dropped(before));
            TRY(remove_query(before));
            return answer;
        case queries::lifecycle::Became::accepted:
        case queries::lifecycle::Became::changed:
            break;
    }
    TRY(update_query(before, turn.after));
    TRY(update_parts(turn.after, turn.parts));
    return answer;
}

Result<Done> Application::update_parts(const Query& query, queries::lifecycle::Parts parts) {
    if (parts == queries::lifecycle::Parts::stay) return Done{};
    TRY_ASSIGN(fragments, reader_.fragments({.query = query.id}));
    for (const Fragment& fragment : fragments) {
        if (parts == queries::lifecycle::Parts::stop) {
            TRY(update_fragment(fragment, queries::lifecycle::stopped(fragment)));
        } else {
            TRY(check_comeback(fragment));
            TRY(update_fragment(fragment, queries::lifecycle::renewed(fragment, query.run)));
        }
    }
    return Done{};
}

Result<std::vector<queries::lifecycle::Part>> Application::parts_of(QueryId query,
                                                                    bool with_workers) {
    TRY_ASSIGN(fragments, reader_.fragments({.query = query, .worker = {}, .with_plan = false}));
    std::vector<queries::lifecycle::Part> parts;
    for (const Fragment& fragment : fragments) {
        parts.push_back({.id = fragment.id, .state = fragment.state, .worker = fragment.worker});
        if (!with_workers) continue;
        TRY_ASSIGN(worker, known_worker(fragment.worker));
        parts.back().worker_state = worker.state;
    }
    return parts;
}

Result<Done> Application::remove_query(const Query& query) {
    const SqlValue id = kinds::value_of(query.id);
    TRY_ASSIGN(fragments, reader_.fragments({.query = query.id}));
    for (const Fragment& fragment : fragments) TRY(remove(fragment));
    TRY(write("DELETE FROM query_source WHERE query = ?", {id}));
    TRY(write("DELETE FROM query_sink WHERE query = ?", {id}));
    TRY(write("DELETE FROM query_table WHERE query = ?", {id}));
    return remove(query);
}

Result<Answer> Application::on(const request::DropQuery& r) {
    TRY_ASSIGN(found, reader_.query(r.query));
    if (!found) return Answer{.did = Did::absent};
    TRY_ASSIGN(answer, follow(*found, queries::lifecycle::drop(*found, r.mode)));
    if (answer.dropped.empty()) answer.dropped.push_back(dropped(*found));
    return answer;
}

Result<Answer> Application::on(const request::StopQuery& r) {
    TRY_ASSIGN(before, known_query(r.query));
    TRY_ASSIGN(turn, queries::lifecycle::stop(before, r.mode));
    return follow(before, turn);
}

}  // namespace baton::catalog
