#include "doors/http/entities.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/text.h"
#include "doors/http/problems.h"
#include "sql/printer.h"

namespace baton::http {

namespace {

constexpr std::size_t kLimitDefault = 1'000;
constexpr std::size_t kLimitMax = 10'000;
// Parameters that are not filters.
constexpr std::array<std::string_view, 4> kReserved = {"limit", "after", "wait", "timeout_ms"};

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return whole ? std::optional(number) : std::nullopt;
}

// ---- conditions ---------------------------------------------------------------------------------

Result<sql::Literal> literal_for(const kinds::ViewColumn& column, const std::string& text) {
    const auto misfit = [&](std::string_view what) {
        return malformed("the column " + baton::in_quotes(column.name) + " is compared with " +
                         std::string(what) + ", not with " + baton::in_quotes(text));
    };
    if (column.type == kinds::ViewType::integer) {
        const auto number = number_of<std::int64_t>(text);
        if (!number) return misfit("a whole number");
        const bool negative = *number < 0;
        const auto bits = static_cast<std::uint64_t>(*number);
        return sql::Literal(
            sql::Integer{.negative = negative, .magnitude = negative ? 0 - bits : bits});
    }
    if (column.type == kinds::ViewType::boolean) {
        if (text != "true" && text != "false") return misfit("true or false");
        return sql::Literal(text == "true");
    }
    return sql::Literal(text);
}

sql::Expr compared(const kinds::ViewColumn& column, sql::BinaryOp op, sql::Literal value) {
    sql::Expr name{.node = sql::ColumnRef{{std::string(column.name)}}, .at = {}};
    sql::Expr constant{.node = std::move(value), .at = {}};
    return {.node = sql::Binary{.op = op, .operands = {std::move(name), std::move(constant)}},
            .at = {}};
}

std::optional<sql::Expr> joined(sql::LogicalOp op, std::vector<sql::Expr> parts) {
    if (parts.empty()) return std::nullopt;
    if (parts.size() == 1) return std::move(parts.front());
    return sql::Expr{.node = sql::Logical{.op = op, .operands = std::move(parts)}, .at = {}};
}

Result<const kinds::ViewColumn*> column_of(const kinds::View& view, const std::string& name) {
    if (const auto found = view.column(to_upper(name))) return &view.columns[*found];
    std::vector<std::string> known;
    for (const kinds::ViewColumn& column : view.columns) known.emplace_back(column.name);
    return Error{
        .code = ErrorCode::unknown_field,
        .message = "unknown column " + baton::in_quotes(name) + " of " + std::string(view.name),
        .hint = did_you_mean(name, known)};
}

Result<std::vector<sql::Expr>> filters_of(const kinds::View& view, const Target& target) {
    std::vector<sql::Expr> conditions;
    for (const auto& [name, value] : target.parameters) {
        if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) continue;
        TRY_ASSIGN(column, column_of(view, name));
        TRY_ASSIGN(literal, literal_for(*column, value));
        conditions.push_back(compared(*column, sql::BinaryOp::eq, std::move(literal)));
    }
    return conditions;
}

// "W1", "7", or, where it has several parts, ["W1","W2"]
Result<std::vector<std::string>> key_parts(const kinds::View& view, const std::string& text) {
    std::vector<std::string> parts;
    if (view.key_columns == 1) return std::vector<std::string>{text};
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    if (parsed.is_array() && parsed.size() == view.key_columns) {
        for (const auto& part : parsed) {
            if (part.is_string()) parts.push_back(part.get<std::string>());
            if (part.is_number_integer()) parts.push_back(part.dump());
        }
    }
    if (parts.size() == view.key_columns) return parts;
    return malformed("the parameter \"after\" is not a key of " + std::string(view.name),
                     "follow the link \"next\" of the answer before");
}

// The rows that come later than this key.
Result<sql::Expr> after_key(const kinds::View& view, const std::string& text) {
    TRY_ASSIGN(parts, key_parts(view, text));
    std::vector<sql::Expr> ways;
    std::vector<sql::Expr> same;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        TRY_ASSIGN(literal, literal_for(view.columns[i], parts[i]));
        std::vector<sql::Expr> way = same;
        way.push_back(compared(view.columns[i], sql::BinaryOp::gt, literal));
        ways.push_back(*joined(sql::LogicalOp::logical_and, std::move(way)));
        same.push_back(compared(view.columns[i], sql::BinaryOp::eq, std::move(literal)));
    }
    return *joined(sql::LogicalOp::logical_or, std::move(ways));
}

// ---- statements ---------------------------------------------------------------------------------

sql::Query select(const kinds::View& view, std::vector<sql::Expr> conditions,
                  const std::optional<std::string>& column = {}) {
    sql::Expr item{.node = sql::Star{}, .at = {}};
    if (column) item.node = sql::ColumnRef{{*column}};
    sql::Relation from{
        .node = sql::NamedRelation{.parts = {"BATON", std::string(view.name)}, .alias = {}},
        .at = {}};
    return {.node = sql::Select{.items = {{.expr = std::move(item), .alias = {}}},
                                .from = std::move(from),
                                .where = joined(sql::LogicalOp::logical_and, std::move(conditions)),
                                .group_by = {},
                                .window = {},
                                .having = {}},
            .at = {}};
}

std::string question(sql::Query query) {
    return sql::print(sql::Statement{.node = sql::SelectOnce{std::move(query)}, .at = {}});
}

// The condition under which a row is the one that the path names. A query goes by its number, or by
// its name if the path has no number there.
Result<std::vector<sql::Expr>> identified(const Routed& routed) {
    const kinds::View& view = *routed.route->collection->view;
    const sql::Kind* kind = routed.route->collection->kind;
    const std::string& first = routed.variables.front();
    std::vector<sql::Expr> conditions;
    const bool either = kind != nullptr && kind->known_by == sql::KnownBy::either;
    if (either && !number_of<std::uint64_t>(first)) {
        const kinds::ViewColumn& name = view.columns[*view.column("NAME")];
        conditions.push_back(compared(name, sql::BinaryOp::eq, first));
        return conditions;
    }
    for (std::size_t i = 0; i < routed.variables.size(); ++i) {
        TRY_ASSIGN(literal, literal_for(view.columns[i], routed.variables[i]));
        conditions.push_back(compared(view.columns[i], sql::BinaryOp::eq, std::move(literal)));
    }
    return conditions;
}

sql::Target target_of(const Routed& routed) {
    const std::string& text = routed.variables.front();
    const bool numbered = routed.route->collection->kind->known_by != sql::KnownBy::name;
    const auto number = number_of<std::uint64_t>(text);
    if (numbered && number) return *number;
    return text;
}

Result<std::optional<StopMode>> mode_of(const Target& target) {
    const std::string* text = target.parameter("mode");
    if (text == nullptr) return std::optional<StopMode>{};
    if (equal_ignoring_case(*text, "graceful")) return std::optional(StopMode::graceful);
    if (equal_ignoring_case(*text, "forceful")) return std::optional(StopMode::forceful);
    return malformed("the mode is graceful or forceful, not " + baton::in_quotes(*text));
}

Result<sql::Statement> change_of(const Routed& routed, const Target& target) {
    TRY_ASSIGN(mode, mode_of(target));
    const bool of_query = routed.route->collection->kind->kind == sql::EntityKind::query;
    if (mode && !of_query) return malformed("only queries are stopped in a mode");
    const std::string& name = routed.variables.front();
    sql::Statement statement;
    if (routed.route->endpoint == Endpoint::drain_worker) {
        statement.node = sql::DrainWorker{name};
    } else if (routed.route->endpoint == Endpoint::resume_worker) {
        statement.node = sql::ResumeWorker{name};
    } else if (routed.route->endpoint == Endpoint::stop_query) {
        statement.node = sql::StopQuery{.target = target_of(routed), .mode = mode};
    } else {
        CHECK(routed.route->endpoint == Endpoint::drop);
        statement.node = sql::Drop{.kind = routed.route->collection->kind->kind,
                                   .if_exists = false,
                                   .target = target_of(routed),
                                   .mode = mode};
    }
    return statement;
}

// ---- entity tags --------------------------------------------------------------------------------

std::vector<std::string> tags_in(std::string_view header) {
    std::vector<std::string> tags;
    while (!header.empty()) {
        const std::size_t comma = header.find(',');
        std::string_view tag = header.substr(0, comma);
        header.remove_prefix(comma == std::string_view::npos ? header.size() : comma + 1);
        while (tag.starts_with(' ') || tag.starts_with('\t')) tag.remove_prefix(1);
        while (tag.ends_with(' ') || tag.ends_with('\t')) tag.remove_suffix(1);
        if (tag.starts_with("W/")) tag.remove_prefix(2);
        if (!tag.empty()) tags.emplace_back(tag);
    }
    return tags;
}

Result<std::optional<Precondition>> precondition_of(const Routed& routed, const Request& request) {
    const std::string* header = request.header("if-match");
    if (header == nullptr) return std::optional<Precondition>{};
    TRY_ASSIGN(conditions, identified(routed));
    Precondition precondition{.look = "BEGIN;", .revisions = {}, .name = routed.variables.front()};
    precondition.look +=
        question(select(*routed.route->collection->view, std::move(conditions), "REVISION"));
    const std::vector<std::string> tags = tags_in(*header);
    for (const std::string& tag : tags) {
        if (tag == "*" && tags.size() == 1) return std::optional(std::move(precondition));
        // "12" or "12.3": the revision, and perhaps what is counted beside it.
        std::string_view text = tag;
        const bool is_quoted = text.size() > 2 && text.starts_with('"') && text.ends_with('"');
        if (is_quoted) text = text.substr(1, text.size() - 2);
        const auto revision = number_of<std::uint64_t>(text.substr(0, text.find('.')));
        if (!is_quoted || !revision) return malformed("If-Match holds no ETag of ours: " + tag);
        precondition.revisions.push_back(*revision);
    }
    if (tags.empty()) return malformed("If-Match is empty");
    return std::optional(std::move(precondition));
}

}  // namespace

Result<Ask> plan_list(const Collection& collection, const Target& target) {
    const kinds::View& view = *collection.view;
    TRY_ASSIGN(conditions, filters_of(view, target));
    std::size_t limit = kLimitDefault;
    if (const std::string* text = target.parameter("limit")) {
        const auto number = number_of<std::size_t>(*text);
        if (!number || *number == 0 || *number > kLimitMax) {
            return malformed("the limit is a number from 1 to " + std::to_string(kLimitMax));
        }
        limit = *number;
    }
    if (const std::string* text = target.parameter("after")) {
        TRY_ASSIGN(later, after_key(view, *text));
        conditions.push_back(std::move(later));
    }
    std::string next = "/v1/" + collection.path + "?";
    for (const auto& [name, value] : target.parameters) {
        if (name == "after" || name == "limit") continue;
        next += percent_encoded(name) + "=" + percent_encoded(value) + "&";
    }
    next += "limit=" + std::to_string(limit) + "&after=";
    return Ask{.text = question(select(view, std::move(conditions))),
               .parameters = {},
               .wait = {},
               .shape = AsList{.collection = &collection, .limit = limit, .next = std::move(next)},
               .precondition = {}};
}

Result<Ask> plan_one(const Routed& routed, const Request& request) {
    const Collection& collection = *routed.route->collection;
    TRY_ASSIGN(conditions, identified(routed));
    AsOne shape{.collection = &collection, .name = routed.variables.front(), .none_match = {}};
    if (const std::string* tags = request.header("if-none-match")) {
        shape.none_match = tags_in(*tags);
    }
    return Ask{.text = question(select(*collection.view, std::move(conditions))),
               .parameters = {},
               .wait = {},
               .shape = std::move(shape),
               .precondition = {}};
}

Result<sql::Statement> watch_of(const Collection& collection, const Target& target) {
    const kinds::View& view = *collection.view;
    TRY_ASSIGN(conditions, filters_of(view, target));
    return sql::Statement{
        .node = sql::Watch{.source = select(view, std::move(conditions)), .since = {}}, .at = {}};
}

Result<Ask> plan_change(const Routed& routed, const Target& target, const Request& request) {
    TRY_ASSIGN(statement, change_of(routed, target));
    TRY_ASSIGN(precondition, precondition_of(routed, request));
    std::string text = sql::print(statement);
    if (precondition) text += ";COMMIT";
    return Ask{.text = std::move(text),
               .parameters = {},
               .wait = {},
               .shape = AsChange{},
               .precondition = std::move(precondition)};
}

}  // namespace baton::http
