#include "doors/http/routes.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/check.h"

namespace baton::http {

namespace {

std::string in_lower_case(std::string_view word) {
    std::string lower(word);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

std::string variable(std::string_view name) {
    return "{" + in_lower_case(name) + "}";
}

Collection collection_of(std::string_view name) {
    const auto view = views::find_view(name);
    CHECK(view);
    Collection collection{
        .path = in_lower_case(name), .view = *view, .key = {}, .kind = sql::kind_in_view(name)};
    std::replace(collection.path.begin(), collection.path.end(), '_', '-');
    if (collection.kind != nullptr && collection.kind->known_by == sql::KnownBy::either) {
        collection.key = variable(collection.kind->words);
        return collection;
    }
    for (std::size_t i = 0; i < (*view)->key_columns; ++i) {
        if (i > 0) collection.key += '/';
        collection.key += variable((*view)->columns[i].name);
    }
    return collection;
}

std::vector<Collection> all_collections() {
    std::vector<Collection> all;
    for (const sql::Shown& shown : sql::kShown) {
        if (!shown.view.empty()) all.push_back(collection_of(shown.view));
    }
    all.push_back(collection_of("CHANGES"));
    all.back().key.clear();  // they are listed, not asked for one by one
    return all;
}

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
    for (const Collection& known : collections()) {
        const std::string path = "/v1/" + known.path;
        const std::string one = path + "/" + known.key;
        const auto add = [&](std::string_view method, std::string at, Endpoint endpoint) {
            all.push_back({.method = method,
                           .path = std::move(at),
                           .endpoint = endpoint,
                           .collection = &known});
        };
        add("GET", path, Endpoint::list);
        if (known.view->entity) add("GET", path + "/watch", Endpoint::watch_list);
        if (!known.key.empty()) add("GET", one, Endpoint::one);
        if (known.kind != nullptr) add("DELETE", one, Endpoint::drop);
    }
    for (Route& route : all) {
        const bool of_query = route.path.starts_with("/v1/queries");
        const bool of_worker = route.path.starts_with("/v1/workers");
        if (route.collection != nullptr || (!of_query && !of_worker)) continue;
        for (const Collection& known : collections()) {
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
    static const std::vector<Collection> kCollections = all_collections();
    return kCollections;
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
