// Api gives a request over HTTP its meaning: the statements to run for it, and the answer from
// their results. Values in, values out: no sockets, no sessions, no clock.
//
// Statements for entities are made as trees and printed, so that no text of a client becomes SQL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "coordinator/sessions/session.h"
#include "doors/http/message.h"
#include "doors/http/routes.h"
#include "model/wait.h"

namespace baton::http {

// ---- answers ------------------------------------------------------------------------------------

// {"results":[..]}
struct AsResults {};
// {"items":[..],"next":"/v1/.."}
struct AsList {
    const Collection* collection = nullptr;
    std::size_t limit = 0;
    std::string next;  // the link up to its key: "/v1/queries?state=RUNNING&limit=10&after="
};
// The one row as an object, with its ETag.
struct AsOne {
    const Collection* collection = nullptr;
    std::string name;                     // as it was asked for
    std::vector<std::string> none_match;  // of If-None-Match
};
// The effect of the one statement that changes something.
struct AsChange {
    std::string created_at;  // "/v1/queries/": it is 201, with a Location; empty: 200
};
using Shape = std::variant<AsResults, AsList, AsOne, AsChange>;

// ---- what is to be done -------------------------------------------------------------------------

// If-Match: the entity to be changed has one of these revisions.
struct Precondition {
    std::string look;                      // BEGIN, and a SELECT of the revision
    std::vector<std::uint64_t> revisions;  // none: any, if it is there
    std::string name;
};
struct Ask {
    std::string text;
    std::vector<sql::Literal> parameters;
    Wait wait;
    Shape shape;
    std::optional<Precondition> precondition;
};
// A stream of events.
struct Follow {
    sql::Statement statement;  // a sql::Watch
};
// The rows of one SELECT, as a stream of events.
struct Rows {
    std::string text;
    std::vector<sql::Literal> parameters;
};
// Facts that the process itself knows.
enum class Page : std::uint8_t { health, ready, metrics, manual };

using Plan = std::variant<Response, Ask, Follow, Rows, Page>;

struct ApiOptions {
    Duration wait_default = std::chrono::seconds(60);
    Duration wait_max = std::chrono::minutes(10);
};
struct Planned {
    Plan what;                       // a Response: the answer is known at once
    std::string_view kind = "none";  // what was asked, for those who count
    bool open = false;               // it is answered without knowing the client
};
[[nodiscard]] Planned plan(const Request& request, const ApiOptions& options = {});

// ---- what came of it ----------------------------------------------------------------------------

[[nodiscard]] Response told(const Shape& shape, const coordinator::Execution& execution);
// Of what Precondition::look gave: none: go on. Else 412, or 404.
[[nodiscard]] std::optional<Response> violation(const Precondition& precondition,
                                                const coordinator::Execution& looked);

}  // namespace baton::http
