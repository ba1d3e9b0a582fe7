#include "doors/http/routes.h"

#include <array>

#include "base/check.h"

namespace baton::http {

namespace {

using sql::EntityKind;

constexpr std::array kCollections = {
    Collection{.path = "workers", .view = "WORKERS", .key = "{name}", .kind = EntityKind::worker},
    Collection{.path = "links", .view = "LINKS", .key = "{upstream}/{downstream}"},
    Collection{.path = "logical-sources",
               .view = "LOGICAL_SOURCES",
               .key = "{name}",
               .kind = EntityKind::logical_source},
    Collection{.path = "physical-sources",
               .view = "PHYSICAL_SOURCES",
               .key = "{id}",
               .kind = EntityKind::physical_source},
    Collection{.path = "sinks", .view = "SINKS", .key = "{name}", .kind = EntityKind::sink},
    Collection{.path = "queries", .view = "QUERIES", .key = "{query}", .kind = EntityKind::query},
    Collection{.path = "fragments", .view = "FRAGMENTS", .key = "{id}"},
    Collection{
        .path = "task-lists", .view = "TASK_LISTS", .key = "{name}", .kind = EntityKind::task_list},
    Collection{.path = "partitions", .view = "PARTITIONS", .key = "{list}/{number}"},
    Collection{.path = "locks", .view = "LOCKS", .key = "{name}"},
    Collection{.path = "counters", .view = "COUNTERS", .key = "{fragment}"},
    Collection{.path = "statements", .view = "STATEMENTS", .key = "{id}"},
    Collection{.path = "changes", .view = "CHANGES", .key = ""},
};

std::vector<Route> all_routes() {
    std::vector<Route> all = {
        {.method = "GET", .path = "/healthz", .endpoint = Endpoint::health},
        {.method = "GET", .path = "/readyz", .endpoint = Endpoint::ready},
        {.method = "GET", .path = "/metrics", .endpoint = Endpoint::metrics},
        {.method = "GET", .path = "/v1/openapi.yaml", .endpoint = Endpoint::manual},
        {.method = "POST", .path = "/v1/sql", .endpoint = Endpoint::sql},
        {.method = "GET", .path = "/v1/watch", .endpoint = Endpoint::watch},
        {.method = "POST", .path = "/v1/queries", .endpoint = Endpoint::create_query},
        {.method = "POST", .path = "/v1/queries/{query}/stop", .endpoint = Endpoint::stop_query},
        {.method = "POST", .path = "/v1/workers/{name}/drain", .endpoint = Endpoint::drain_worker},
        {.method = "POST",
         .path = "/v1/workers/{name}/resume",
         .endpoint = Endpoint::resume_worker},
    };
    for (const Collection& known : kCollections) {
        const std::string path = "/v1/" + std::string(known.path);
        const std::string one = path + "/" + std::string(known.key);
        const auto add = [&](std::string_view method, std::string at, Endpoint endpoint) {
            all.push_back({.method = method,
                           .path = std::move(at),
                           .endpoint = endpoint,
                           .collection = &known});
        };
        add("GET", path, Endpoint::list);
        if (view_of(known).entity) add("GET", path + "/watch", Endpoint::watch_list);
        if (!known.key.empty()) add("GET", one, Endpoint::one);
        if (known.kind) add("DELETE", one, Endpoint::drop);
    }
    for (Route& route : all) {
        const bool of_query = route.path.starts_with("/v1/queries");
        const bool of_worker = route.path.starts_with("/v1/workers");
        if (route.collection != nullptr || (!of_query && !of_worker)) continue;
        for (const Collection& known : kCollections) {
            if (known.path == (of_query ? "queries" : "workers")) route.collection = &known;
        }
    }
    return all;
}

// How well a path fits a pattern: none, or how many of its segments are literally the same.
std::optional<std::size_t> fit(std::string_view pattern, const std::vector<std::string>& path,
                               std::vector<std::string>& variables) {
    variables.clear();
    std::size_t same = 0;
    std::size_t at = 0;
    while (!pattern.empty()) {
        pattern.remove_prefix(1);  // its slash
        const std::string_view part = pattern.substr(0, pattern.find('/'));
        pattern.remove_prefix(part.size());
        if (at == path.size()) return std::nullopt;
        if (part.starts_with('{')) {
            if (path[at].empty()) return std::nullopt;
            variables.push_back(path[at]);
        } else if (part == path[at]) {
            same += 1;
        } else {
            return std::nullopt;
        }
        at += 1;
    }
    if (at != path.size()) return std::nullopt;
    return same;
}

}  // namespace

std::string_view to_string(Endpoint endpoint) {
    constexpr std::array<std::string_view, 14> kNames = {
        "health",     "ready", "metrics",      "manual",       "sql",
        "watch",      "list",  "one",          "watch_list",   "create_query",
        "stop_query", "drop",  "drain_worker", "resume_worker"};
    return kNames.at(static_cast<std::size_t>(endpoint));
}

std::span<const Collection> collections() {
    return kCollections;
}

const View& view_of(const Collection& collection) {
    const auto view = find_view(collection.view);
    CHECK(view);
    return **view;
}

std::span<const Route> routes() {
    static const std::vector<Route> kRoutes = all_routes();
    return kRoutes;
}

std::variant<Routed, NoSuchPath, OtherMethods> find_route(std::string_view method,
                                                          const std::vector<std::string>& path) {
    if (method == "HEAD") method = "GET";
    Routed best;
    std::size_t best_fit = 0;
    std::string allowed;
    std::vector<std::string> variables;
    for (const Route& route : routes()) {
        const auto same = fit(route.path, path, variables);
        if (!same) continue;
        if (route.method != method) {
            if (allowed.find(route.method) != std::string::npos) continue;
            if (!allowed.empty()) allowed += ", ";
            allowed += route.method;
        } else if (best.route == nullptr || *same > best_fit) {
            best = {.route = &route, .variables = variables};
            best_fit = *same;
        }
    }
    if (best.route != nullptr) return best;
    if (!allowed.empty()) return OtherMethods{std::move(allowed)};
    return NoSuchPath{};
}

}  // namespace baton::http
