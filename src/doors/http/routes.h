// Routes is the list of all that can be asked over HTTP; docs/openapi.yaml describes it, and a test
// compares the two.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "catalog/views/views.h"
#include "sql/vocabulary.h"

namespace baton::http {

enum class Endpoint : std::uint8_t {
    health,
    ready,
    metrics,
    manual,  // docs/openapi.yaml
    sql,
    watch,
    list,          // of a collection
    one,           // of a collection
    watch_list,    // of a collection
    create_query,  //
    stop_query,
    drop,  // of a collection
    drain_worker,
    resume_worker,
};

[[nodiscard]] std::string_view to_string(Endpoint endpoint);  // "create_query"

// The name of a view in a path: each that SHOW shows, and the changes.
struct Collection {
    std::string path;  // "logical-sources"
    const kinds::View* view = nullptr;
    std::string key;                  // of one of them in a path: "{name}"; empty: only as a list
    const sql::Kind* kind = nullptr;  // as it is dropped; null: it is not
};
[[nodiscard]] std::span<const Collection> collections();

struct Route {
    std::string_view method;
    std::string path;  // "/v1/queries/{query}/stop"
    Endpoint endpoint = Endpoint::health;
    const Collection* collection = nullptr;
};
[[nodiscard]] std::span<const Route> routes();

struct Routed {
    const Route* route = nullptr;
    std::vector<std::string> variables;  // what stands for {..}
};
struct NoSuchPath {};
struct OtherMethods {
    std::string allowed;  // "GET, POST"
};
// HEAD is answered as GET.
[[nodiscard]] std::variant<Routed, NoSuchPath, OtherMethods> find_route(
    std::string_view method, const std::vector<std::string>& path);

}  // namespace baton::http
