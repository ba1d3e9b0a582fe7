#include "doors/http/api.h"

#include <algorithm>
#include <charconv>

#include "base/overload.h"
#include "base/text.h"
#include "doors/http/entities.h"
#include "doors/http/problems.h"
#include "doors/http/sql_body.h"
#include "doors/http/target.h"
#include "sql/parser.h"

namespace baton::http {

namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return whole ? std::optional(number) : std::nullopt;
}

// ---- how long it waits --------------------------------------------------------------------------

struct WaitText {
    std::string until = "accepted";
    std::optional<std::uint64_t> timeout_ms;
};

Result<Wait> wait_of(const WaitText& text, const ApiOptions& options) {
    Wait wait;
    if (text.until == "running") {
        wait.until = Wait::Until::steady;
    } else if (text.until == "ended") {
        wait.until = Wait::Until::ended;
    } else if (text.until != "accepted") {
        return malformed("\"wait\" is accepted, running or ended, not " +
                         baton::in_quotes(text.until));
    }
    wait.timeout = options.wait_default;
    if (text.timeout_ms) {
        const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(options.wait_max);
        if (*text.timeout_ms > static_cast<std::uint64_t>(most.count())) {
            return malformed("\"timeout_ms\" is at most " + std::to_string(most.count()));
        }
        wait.timeout = std::chrono::milliseconds(*text.timeout_ms);
    }
    return wait;
}

Result<WaitText> wait_text(const Target& target) {
    WaitText text;
    if (const std::string* until = target.parameter("wait")) text.until = *until;
    if (const std::string* timeout = target.parameter("timeout_ms")) {
        text.timeout_ms = number_of(*timeout);
        if (!text.timeout_ms) return malformed("\"timeout_ms\" is not a number of milliseconds");
    }
    return text;
}

// ---- bodies -------------------------------------------------------------------------------------

// As the body says it; else as the URL does.
Result<SqlBody> body_of_json(const std::string& text, WaitText& wait) {
    TRY_ASSIGN(body, read_sql_body(text));
    if (body.wait) wait.until = *body.wait;
    if (body.timeout_ms) wait.timeout_ms = body.timeout_ms;
    return body;
}

std::string_view media_type(const Request& request) {
    const std::string* header = request.header("content-type");
    std::string_view type = header == nullptr ? std::string_view() : *header;
    type = type.substr(0, type.find(';'));
    while (type.ends_with(' ')) type.remove_suffix(1);
    return type;
}

Result<SqlBody> sql_body_of(const Request& request, WaitText& wait) {
    const std::string_view type = media_type(request);
    if (equal_ignoring_case(type, "application/json")) return body_of_json(request.body, wait);
    return SqlBody{.sql = request.body, .parameters = {}, .wait = {}, .timeout_ms = {}};
}

bool has_known_type(const Request& request) {
    const std::string_view type = media_type(request);
    return equal_ignoring_case(type, "application/json") ||
           equal_ignoring_case(type, "text/plain") || equal_ignoring_case(type, "application/sql");
}

Response unsupported_type() {
    return problem(malformed("the body is of no type that is known here",
                             "say Content-Type: application/json, or text/plain for plain SQL"),
                   415);
}

// ---- plans --------------------------------------------------------------------------------------

Result<Ask> plan_sql(const Request& request, const Target& target, const ApiOptions& options) {
    TRY_ASSIGN(text, wait_text(target));
    TRY_ASSIGN(body, sql_body_of(request, text));
    TRY_ASSIGN(wait, wait_of(text, options));
    return Ask{.text = std::move(body.sql),
               .parameters = std::move(body.parameters),
               .wait = wait,
               .shape = AsResults{},
               .precondition = {}};
}

Result<Ask> plan_create(const Request& request, const Target& target, const ApiOptions& options) {
    TRY_ASSIGN(ask, plan_sql(request, target, options));
    TRY_ASSIGN(statements, sql::parse(ask.text, {}, ask.parameters));
    if (statements.size() != 1 ||
        !std::holds_alternative<sql::CreateQuery>(statements.front().node)) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "this path takes one query: CREATE QUERY, or SELECT .. INTO",
                     .hint = "POST /v1/sql takes any statements"};
    }
    ask.shape = AsChange{.created_at = "/v1/queries/"};
    return ask;
}

// Where to go on after a stream that broke off.
Result<Done> resume(sql::Watch& watch, const Request& request) {
    const std::string* last = request.header("last-event-id");
    if (last == nullptr || last->empty()) return Done{};
    const auto revision = number_of(*last);
    if (!revision) return malformed("Last-Event-ID is not a revision: " + baton::in_quotes(*last));
    watch.since = *revision;
    return Done{};
}

Result<Follow> plan_watch(const Routed& routed, const Request& request, const Target& target) {
    Follow follow;
    if (routed.route->endpoint == Endpoint::watch_list) {
        TRY_ASSIGN(statement, watch_of(*routed.route->collection, target));
        follow.statement = std::move(statement);
    } else {
        const std::string* text = target.parameter("sql");
        if (text == nullptr) return malformed("the parameter \"sql\" is missing: WATCH ..");
        TRY_ASSIGN(statement, sql::parse_one(*text));
        if (!std::holds_alternative<sql::Watch>(statement.node)) {
            return Error{.code = ErrorCode::not_supported,
                         .message = "only WATCH can be watched",
                         .hint = "put WATCH before the SHOW or SELECT"};
        }
        follow.statement = std::move(statement);
    }
    TRY(resume(std::get<sql::Watch>(follow.statement.node), request));
    return follow;
}

bool accepts_events(const Request& request) {
    const std::string* header = request.header("accept");
    std::string_view rest = header == nullptr ? std::string_view() : *header;
    while (!rest.empty()) {
        std::string_view one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
        one = one.substr(0, one.find(';'));
        while (one.starts_with(' ')) one.remove_prefix(1);
        while (one.ends_with(' ')) one.remove_suffix(1);
        if (equal_ignoring_case(one, "text/event-stream")) return true;
    }
    return false;
}

// What may have no end, for a client that takes it as it comes.
Result<Plan> plan_events(const Request& request, const Target& target) {
    TRY_ASSIGN(wait, wait_text(target));
    TRY_ASSIGN(body, sql_body_of(request, wait));
    TRY_ASSIGN(statements, sql::parse(body.sql, {}, body.parameters));
    const bool one = statements.size() == 1;
    if (one && std::holds_alternative<sql::SelectOnce>(statements.front().node)) {
        return Plan(Rows{.text = std::move(body.sql), .parameters = std::move(body.parameters)});
    }
    if (one && std::holds_alternative<sql::Watch>(statements.front().node)) {
        Follow follow{.statement = std::move(statements.front())};
        TRY(resume(std::get<sql::Watch>(follow.statement.node), request));
        return Plan(std::move(follow));
    }
    return Error{.code = ErrorCode::not_supported,
                 .message = "only one SELECT or one WATCH can be shown as events",
                 .hint = "leave Accept: text/event-stream out for other statements"};
}

Result<Ask> plan_change_and_wait(const Routed& routed, const Request& request, const Target& target,
                                 const ApiOptions& options) {
    TRY_ASSIGN(text, wait_text(target));
    TRY_ASSIGN(wait, wait_of(text, options));
    TRY_ASSIGN(ask, plan_change(routed, target, request));
    ask.wait = wait;
    return ask;
}

template <class T>
Plan plan_or_problem(Result<T> result) {
    if (!result) return problem(result.error());
    return *std::move(result);
}

Plan plan_routed(const Routed& routed, const Request& request, const Target& target,
                 const ApiOptions& options) {
    switch (routed.route->endpoint) {
        case Endpoint::health:
            return Page::health;
        case Endpoint::ready:
            return Page::ready;
        case Endpoint::metrics:
            return Page::metrics;
        case Endpoint::manual:
            return Page::manual;
        case Endpoint::sql:
            if (!has_known_type(request)) return unsupported_type();
            if (accepts_events(request)) return plan_or_problem(plan_events(request, target));
            return plan_or_problem(plan_sql(request, target, options));
        case Endpoint::create_query:
            if (!has_known_type(request)) return unsupported_type();
            return plan_or_problem(plan_create(request, target, options));
        case Endpoint::watch:
        case Endpoint::watch_list:
            return plan_or_problem(plan_watch(routed, request, target));
        case Endpoint::list:
            return plan_or_problem(plan_list(*routed.route->collection, target));
        case Endpoint::one:
            return plan_or_problem(plan_one(routed, request));
        case Endpoint::drop:
        case Endpoint::stop_query:
        case Endpoint::drain_worker:
        case Endpoint::resume_worker:
            return plan_or_problem(plan_change_and_wait(routed, request, target, options));
    }
    return problem({.code = ErrorCode::defect, .message = "a route that is not served"});
}

}  // namespace

Planned plan(const Request& request, const ApiOptions& options) {
    const auto target = parse_target(request.target);
    if (!target) return {.what = problem(target.error())};
    const auto found = find_route(request.method, target->path);
    if (const auto* routed = std::get_if<Routed>(&found)) {
        const Endpoint endpoint = routed->route->endpoint;
        return {.what = plan_routed(*routed, request, *target, options),
                .kind = to_string(endpoint),
                .open = endpoint == Endpoint::health || endpoint == Endpoint::ready};
    }
    if (const auto* other = std::get_if<OtherMethods>(&found)) {
        Response response = problem({.code = ErrorCode::not_supported,
                                     .message = baton::in_quotes(request.target) + " takes " +
                                                other->allowed + ", not " + request.method},
                                    405);
        response.headers.emplace_back("Allow", other->allowed);
        return {.what = std::move(response)};
    }
    return {.what = problem({.code = ErrorCode::not_supported,
                             .message = "there is nothing at " + baton::in_quotes(request.target),
                             .hint = "see /v1/openapi.yaml"},
                            404)};
}

}  // namespace baton::http
