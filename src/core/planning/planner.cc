#include "core/planning/planner.h"

#include <algorithm>

#include "base/overload.h"
#include "base/text.h"
#include "core/binding/connector.h"
#include "sql/printer.h"

namespace baton {

namespace {

void collect(const sql::Query& query, MentionedNames& names);

void collect_host(const std::vector<sql::Setting>& settings, MentionedNames& names) {
    for (const sql::Setting& setting : settings) {
        const auto* literal = std::get_if<sql::Literal>(&setting.value);
        if (setting.key.back() != "HOST" || literal == nullptr) continue;
        if (const auto* host = std::get_if<std::string>(literal)) names.workers.insert(*host);
    }
}

void collect(const sql::Relation& relation, MentionedNames& names) {
    std::visit(Overload{
                   [&](const sql::NamedRelation& named) {
                       names.sources.emplace(join(named.parts, "."), relation.at);
                   },
                   [&](const sql::Subquery& sub) { collect(sub.query.front(), names); },
                   [&](const sql::InlineSource& source) { collect_host(source.settings, names); },
                   [&](const sql::Join& both) {
                       for (const sql::Relation& side : both.sides) collect(side, names);
                   },
               },
               relation.node);
}

void collect(const sql::Query& query, MentionedNames& names) {
    std::visit(Overload{
                   [&](const sql::Select& select) { collect(select.from, names); },
                   [&](const sql::Union& all) {
                       for (const sql::Query& branch : all.branches) collect(branch, names);
                   },
               },
               query.node);
}

void collect_inline(const sql::Query& query, std::vector<const sql::InlineSource*>& found);

void collect_inline(const sql::Relation& relation, std::vector<const sql::InlineSource*>& found) {
    std::visit(Overload{
                   [](const sql::NamedRelation&) {},
                   [&](const sql::Subquery& sub) { collect_inline(sub.query.front(), found); },
                   [&](const sql::InlineSource& source) { found.push_back(&source); },
                   [&](const sql::Join& both) {
                       for (const sql::Relation& side : both.sides) collect_inline(side, found);
                   },
               },
               relation.node);
}

void collect_inline(const sql::Query& query, std::vector<const sql::InlineSource*>& found) {
    std::visit(Overload{
                   [&](const sql::Select& select) { collect_inline(select.from, found); },
                   [&](const sql::Union& all) {
                       for (const sql::Query& branch : all.branches) collect_inline(branch, found);
                   },
               },
               query.node);
}

Error no_placement(const std::string& why, std::string hint = {}) {
    return Error{.code = ErrorCode::placement,
                 .message = "cannot place the query: " + why,
                 .hint = std::move(hint)};
}

class StandIn {
public:
    StandIn(const sql::CreateQuery& query, const PlanningView& view) : query_(query), view_(view) {}

    Result<QueryPlan> plan() {
        TRY_ASSIGN(sink_worker, place_sink());
        TRY(place_named_sources());
        TRY(place_inline_sources());
        TRY(use(sink_worker, "the sink"));
        fragments_[sink_worker] += "SINK " + sql::print(sql::Statement{.node = query_, .at = {}});
        for (const auto& [worker, what] : fragments_) TRY(check_path(worker, sink_worker));
        for (auto& [worker, what] : fragments_) {
            TRY(check_capacity(worker));
            plan_.fragments.push_back({.worker = worker, .slots = 1, .plan = what});
        }
        std::sort(plan_.reads.begin(), plan_.reads.end());
        plan_.reads.erase(std::unique(plan_.reads.begin(), plan_.reads.end()), plan_.reads.end());
        return std::move(plan_);
    }

private:
    Result<std::string> place_sink() {
        if (const auto* name = std::get_if<std::string>(&query_.sink.node)) {
            if (!view_.sink) {
                return Error{.code = ErrorCode::unknown_sink,
                             .message = "unknown sink " + quoted(*name),
                             .at = query_.sink.at,
                             .hint = did_you_mean(*name, view_.known_sinks)};
            }
            plan_.sinks.push_back(*name);
            plan_.reads.push_back({ReadKind::sink, *name, view_.sink->revision});
            return view_.sink->worker;
        }
        const auto& described = std::get<sql::InlineSink>(query_.sink.node);
        TRY_ASSIGN(connector, bind_sink(described.type, described.settings));
        return place_inline(connector, "the inline sink");
    }

    Result<Done> place_named_sources() {
        for (const auto& [name, at] : names_in(query_).sources) {
            const auto logical = view_.logical_sources.find(name);
            if (logical == view_.logical_sources.end()) {
                return Error{.code = ErrorCode::unknown_source,
                             .message = "unknown source " + quoted(name),
                             .at = at,
                             .hint = did_you_mean(name, view_.known_sources)};
            }
            plan_.reads.push_back({ReadKind::logical_source, name, logical->second.revision});
            const std::size_t before = plan_.sources.size();
            for (const PhysicalSource& physical : view_.physical_sources) {
                if (physical.logical != name) continue;
                TRY(use(physical.worker, "physical source " + to_string(physical.id)));
                plan_.sources.push_back(physical.id);
                fragments_[physical.worker] += "SOURCE " + to_string(physical.id) + "; ";
            }
            if (plan_.sources.size() == before) {
                return no_placement("source " + quoted(name) + " has no physical source",
                                    "add one with CREATE PHYSICAL SOURCE FOR " + name);
            }
        }
        return Done{};
    }

    Result<Done> place_inline_sources() {
        std::vector<const sql::InlineSource*> found;
        collect_inline(query_.query, found);
        for (const sql::InlineSource* source : found) {
            TRY_ASSIGN(connector, bind_source(source->type, source->settings));
            TRY_ASSIGN(worker, place_inline(connector, "the inline source"));
            TRY(use(worker, "the inline source"));
            fragments_[worker] += "INLINE " + connector.type + "; ";
        }
        return Done{};
    }

    Result<std::string> place_inline(const BoundConnector& connector, const std::string& what) {
        if (connector.host) return *connector.host;
        plan_.reads.push_back({ReadKind::cluster, "", view_.cluster->revision});
        std::vector<std::string> names;
        for (const auto& [name, worker] : view_.cluster->workers) names.push_back(name);
        TRY_ASSIGN(only, default_worker(names, what));
        if (!only) return no_placement("there is no worker for " + what, "CREATE WORKER first");
        return *only;
    }

    Result<Done> use(const std::string& name, const std::string& what) {
        const auto found = view_.cluster->workers.find(name);
        if (found == view_.cluster->workers.end()) {
            std::vector<std::string> known;
            for (const auto& [other, ignored] : view_.cluster->workers) known.push_back(other);
            return Error{.code = ErrorCode::unknown_worker,
                         .message = "unknown worker " + quoted(name) + " for " + what,
                         .hint = did_you_mean(name, known)};
        }
        const Worker& worker = found->second;
        if (worker.state == WorkerState::unreachable) {
            return no_placement("worker " + quoted(name) + " of " + what + " is UNREACHABLE" +
                                (worker.reason.empty() ? "" : " (" + worker.reason + ")"));
        }
        if (worker.draining) {
            return no_placement("worker " + quoted(name) + " of " + what + " is draining",
                                "RESUME WORKER " + sql::print_name(name) + " ends that");
        }
        plan_.reads.push_back({ReadKind::worker, name, worker.revision});
        fragments_.try_emplace(name);
        return Done{};
    }

    Result<Done> check_path(const std::string& from, const std::string& to) {
        const auto path = view_.cluster->topology.path(from, to);
        if (!path) {
            return no_placement(
                "no path of links leads from worker " + quoted(from) + " to " + quoted(to),
                "link them with '" + to + "' AS DOWNSTREAM when creating a worker");
        }
        for (const std::string& name : *path) {
            const auto found = view_.cluster->workers.find(name);
            if (found == view_.cluster->workers.end()) continue;
            plan_.reads.push_back({ReadKind::worker, name, found->second.revision});
        }
        return Done{};
    }

    Result<Done> check_capacity(const std::string& name) const {
        const Worker& worker = view_.cluster->workers.at(name);
        const auto used = view_.used.find(name);
        const std::uint64_t taken = used == view_.used.end() ? 0 : used->second;
        if (!worker.capacity || taken < *worker.capacity) return Done{};
        return no_placement("worker " + quoted(name) + " has no slot left (" +
                            std::to_string(taken) + " of " + std::to_string(*worker.capacity) +
                            " used, 1 needed)");
    }

    const sql::CreateQuery& query_;
    const PlanningView& view_;
    QueryPlan plan_;
    std::map<std::string, std::string> fragments_;  // by worker
};

}  // namespace

MentionedNames names_in(const sql::CreateQuery& query) {
    MentionedNames names;
    collect(query.query, names);
    if (const auto* name = std::get_if<std::string>(&query.sink.node)) {
        names.sink = *name;
    } else {
        collect_host(std::get<sql::InlineSink>(query.sink.node).settings, names);
    }
    return names;
}

Result<QueryPlan> plan(const sql::CreateQuery& query, const PlanningView& view) {
    return StandIn(query, view).plan();
}

}  // namespace baton
