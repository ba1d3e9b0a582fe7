#include "core/placement/routes.h"

#include <algorithm>

#include "base/text.h"
#include "sql/printer.h"

namespace baton::placement {

namespace {

using Workers = std::set<std::string>;

Error no_placement(const std::vector<std::string>& reasons, std::string hint) {
    return Error{.code = ErrorCode::placement,
                 .message = "cannot place the query: " + enumerate(reasons),
                 .hint = std::move(hint)};
}

// What a worker lacks to take part, said after its name; empty if it can.
std::string state_against(const Worker& worker) {
    if (worker.state == WorkerState::unreachable) {
        return "is UNREACHABLE" +
               (worker.reason.text.empty() ? "" : " (" + worker.reason.text + ")");
    }
    if (worker.leaving) return "is leaving: its process was asked to end";
    return worker.draining ? "is draining" : "";
}

std::string capacity_against(const Worker& worker, const CapacityView& view) {
    if (!worker.capacity) return "";
    const auto found = view.used.find(worker.name);
    const std::uint64_t used = found == view.used.end() ? 0 : found->second;
    if (used < *worker.capacity) return "";
    return "has no slot left (" + std::to_string(used) + " of " + std::to_string(*worker.capacity) +
           " used, 1 needed)";
}

// A link may lead to a worker that was announced but is not there yet: it cannot take part.
std::string against(const std::string& name, const CapacityView& view) {
    const auto found = view.cluster.workers.find(name);
    if (found == view.cluster.workers.end()) return "does not exist";
    const std::string state = state_against(found->second);
    return state.empty() ? capacity_against(found->second, view) : state;
}

Error unknown(const Pinned& pinned, const CapacityView& view) {
    std::vector<std::string> known;
    for (const auto& [name, worker] : view.cluster.workers) known.push_back(name);
    return Error{.code = ErrorCode::unknown_worker,
                 .message = "unknown worker " + in_quotes(pinned.worker) + " for " + pinned.what,
                 .hint = did_you_mean(pinned.worker, known)};
}

Result<Done> check_pinned(const std::vector<Pinned>& all, const CapacityView& view) {
    std::vector<std::string> reasons;
    std::string hint;
    const auto add = [&](const std::string& reason) {
        if (std::count(reasons.begin(), reasons.end(), reason) == 0) reasons.push_back(reason);
    };
    for (const Pinned& pinned : all) {
        const auto found = view.cluster.workers.find(pinned.worker);
        if (found == view.cluster.workers.end()) return unknown(pinned, view);
        const Worker& worker = found->second;
        const std::string name = "worker " + in_quotes(pinned.worker);
        const std::string state = state_against(worker);
        const std::string capacity = capacity_against(worker, view);
        if (!state.empty()) {
            add(name + " of " + pinned.what + " " + state);
        } else if (!capacity.empty()) {
            add(name + " " + capacity);
        }
        if (worker.draining && worker.state == WorkerState::active && hint.empty()) {
            hint = "RESUME WORKER " + sql::print_name(pinned.worker) + " ends that";
        }
    }
    if (reasons.empty()) return Done{};
    return no_placement(reasons, hint);
}

// Who can be reached from `from` through workers that can take part; in `blocked`, who could be if
// they did.
Workers reached_from(const Workers& from, const CapacityView& view, Workers& blocked) {
    Workers reached = from;
    std::vector<std::string> open(from.begin(), from.end());
    while (!open.empty()) {
        const std::string here = std::move(open.back());
        open.pop_back();
        for (const std::string& there : view.cluster.topology.downstream_of(here)) {
            if (reached.contains(there) || blocked.contains(there)) continue;
            const bool takes_part = against(there, view).empty();
            (takes_part ? reached : blocked).insert(there);
            if (takes_part) open.push_back(there);
        }
    }
    return reached;
}

// For each worker of `among` from which the sink's can be reached, the next one on the way: from
// the sink upwards, step by step, the first by name of those that are a step nearer.
std::map<std::string, std::string> steps_towards(const std::string& sink, const Workers& among,
                                                 const CapacityView& view) {
    std::map<std::string, std::string> nearer;
    std::vector<std::string> ring = {sink};
    while (!ring.empty()) {
        std::map<std::string, std::string> found;
        for (const std::string& here : ring) {
            for (const std::string& there : view.cluster.topology.upstream_of(here)) {
                const bool known = there == sink || nearer.contains(there);
                if (!known && among.contains(there)) found.emplace(there, here);
            }
        }
        ring.clear();
        for (const auto& [worker, next] : found) ring.push_back(worker);
        nearer.merge(found);
    }
    return nearer;
}

// Data goes to the control address of a worker that has no other.
std::string data_address(const Worker& worker) {
    const std::optional<Address>& address = worker.data ? worker.data : worker.control;
    return address ? to_string(*address) : "";
}

Error no_way(const std::string& from, const std::string& to, const CapacityView& view) {
    const topology::Topology& links = view.cluster.topology;
    Workers blocked;
    (void)reached_from({from}, view, blocked);
    std::vector<std::string> reasons;
    for (const std::string& name : blocked) {
        if (!links.path(name, to)) continue;
        reasons.push_back("worker " + in_quotes(name) + " " + against(name, view));
    }
    const std::string ends = "from worker " + in_quotes(from) + " to " + in_quotes(to);
    if (reasons.empty()) {
        return no_placement({"no path of links leads " + ends},
                            "link them with '" + to + "' AS DOWNSTREAM when creating a worker");
    }
    return no_placement({"every path of links " + ends + " is blocked: " + enumerate(reasons)}, "");
}

}  // namespace

Result<Routes> Routes::to(const Pinned& sink, const std::vector<Pinned>& sources,
                          const CapacityView& view) {
    std::vector<Pinned> pinned = sources;
    pinned.push_back(sink);
    TRY(check_pinned(pinned, view));
    Workers starts;
    for (const Pinned& source : sources) starts.insert(source.worker);
    Workers blocked;
    const auto nearer = steps_towards(sink.worker, reached_from(starts, view, blocked), view);
    Routes routes;
    routes.sink_ = sink.worker;
    for (const Pinned& source : sources) {
        for (std::string at = source.worker; at != sink.worker; at = routes.next_.at(at)) {
            const auto next = nearer.find(at);
            if (next == nearer.end()) return no_way(at, sink.worker, view);
            routes.next_.emplace(at, next->second);
            routes.data_addresses_.emplace(next->second,
                                           data_address(view.cluster.workers.at(next->second)));
        }
    }
    return routes;
}

const std::string& Routes::next_of(const std::string& worker) const {
    const auto found = next_.find(worker);
    CHECK(found != next_.end());
    return found->second;
}

const std::string& Routes::data_address_of(const std::string& worker) const {
    const auto found = data_addresses_.find(worker);
    CHECK(found != data_addresses_.end());
    return found->second;
}

std::uint64_t Routes::steps_from(const std::string& worker) const {
    std::uint64_t steps = 0;
    for (std::string at = worker; at != sink_; at = next_of(at)) steps += 1;
    return steps;
}

std::string Routes::meeting_point(const std::set<std::string>& workers) const {
    // Whoever is farthest moves on until all are at one place.
    std::set<std::pair<std::uint64_t, std::string>> at;
    for (const std::string& worker : workers) at.emplace(steps_from(worker), worker);
    while (at.size() > 1) {
        const auto [steps, worker] = *at.rbegin();
        at.erase(std::prev(at.end()));
        at.emplace(steps - 1, next_of(worker));
    }
    CHECK(!at.empty());
    return at.begin()->second;
}

}  // namespace baton::placement
