// What came of the statements of a request, as it is told.
#include <algorithm>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "doors/http/api.h"
#include "doors/http/json_values.h"
#include "doors/http/problems.h"
#include "doors/http/target.h"
#include "sql/vocabulary.h"

namespace baton::http {

namespace {

const views::Table* table_in(const coordinator::Execution& execution) {
    if (execution.results.empty()) return nullptr;
    return std::get_if<views::Table>(&execution.results.back().value);
}

Response tell(const AsResults&, const coordinator::Execution& execution) {
    std::string results = "\"results\":[";
    std::optional<Error> error = execution.error;
    for (const coordinator::StatementResult& result : execution.results) {
        if (std::holds_alternative<std::unique_ptr<coordinator::Watch>>(result.value)) {
            error = Error{.code = ErrorCode::not_supported,
                          .message = "a WATCH has no end, so it cannot be answered here",
                          .hint = "GET /v1/watch?sql=WATCH .., or send Accept: text/event-stream"};
            break;
        }
        if (std::holds_alternative<std::unique_ptr<coordinator::RowStream>>(result.value)) {
            error = Error{.code = ErrorCode::not_supported,
                          .message = "rows of streams may have no end, so they are not one answer",
                          .hint =
                              "send the SELECT alone, with Accept: text/event-stream, to get "
                              "the rows as events; or add INTO a sink"};
            break;
        }
        if (results.back() != '[') results += ',';
        append_result(results, result);
    }
    results += ']';
    if (error) return problem(*error, {}, results);
    return {.status = 200, .headers = {}, .body = "{" + results + "}"};
}

std::string key_of_row(const kinds::View& view, const SqlRow& row) {
    std::string key;
    if (view.key_columns == 1) {
        return kinds::shown(row.front(), view.columns.front().type);
    }
    key = "[";
    for (std::size_t i = 0; i < view.key_columns; ++i) {
        if (i > 0) key += ',';
        append_json_string(key, kinds::shown(row[i], view.columns[i].type));
    }
    return key + "]";
}

Response tell(const AsList& shape, const coordinator::Execution& execution) {
    const views::Table* table = table_in(execution);
    CHECK(table != nullptr);
    Response response;
    std::string& body = response.body;
    body = "{\"items\":[";
    const std::size_t count = std::min(shape.limit, table->rows.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) body += ',';
        append_object(body, table->rows[i], table->columns);
    }
    body += ']';
    if (count < table->rows.size()) {
        const std::string next = shape.next + percent_encoded(key_of_row(*shape.collection->view,
                                                                         table->rows[count - 1]));
        body += ",\"next\":";
        append_json_string(body, next);
        response.headers.emplace_back("Link", "<" + next + ">; rel=\"next\"");
    }
    body += '}';
    return response;
}

ErrorCode missing_code(const kinds::View& view) {
    if (const sql::Kind* kind = sql::kind_in_view(view.name)) return kind->unknown;
    if (view.entity == kinds::Entity::link) return ErrorCode::unknown_worker;
    if (view.entity == kinds::Entity::partition) return ErrorCode::unknown_task_list;
    if (view.name == "LOCKS") return ErrorCode::unknown_lock;
    return ErrorCode::unknown_query;
}

Response missing(const kinds::View& view, const std::string& name) {
    return problem({.code = missing_code(view),
                    .message = in_quotes(name) + " is not in " + std::string(view.name),
                    .hint = "names are compared as they are shown, with capital letters"},
                   404);
}

// The revision, then what is computed from other rows, since that changes without it.
std::optional<std::string> tag_of_row(const kinds::View& view, const SqlRow& row) {
    const auto revision = view.column("REVISION");
    if (!view.entity || !revision) return std::nullopt;
    std::string tag = "\"" + kinds::shown(row[*revision], kinds::ViewType::integer);
    for (std::size_t i = view.own_columns(); i < view.columns.size(); ++i) {
        if (view.columns[i].type == kinds::ViewType::integer) {
            tag += "." + kinds::shown(row[i], kinds::ViewType::integer);
        }
    }
    return tag + "\"";
}

Response tell(const AsOne& shape, const coordinator::Execution& execution) {
    const kinds::View& view = *shape.collection->view;
    const views::Table* table = table_in(execution);
    CHECK(table != nullptr);
    if (table->rows.empty()) return missing(view, shape.name);
    const SqlRow& row = table->rows.front();
    Response response;
    if (const auto tag = tag_of_row(view, row)) {
        response.headers.emplace_back("ETag", *tag);
        for (const std::string& known : shape.none_match) {
            if (known != "*" && known != *tag) continue;
            response.status = 304;
            response.content_type.clear();
            return response;
        }
    }
    append_object(response.body, row, table->columns);
    return response;
}

Response tell(const AsChange& shape, const coordinator::Execution& execution) {
    // Alone, or before a COMMIT, which has the revision.
    CHECK(!execution.results.empty());
    coordinator::StatementResult change{.tag = execution.results.front().tag,
                                        .value = {},
                                        .format = {},
                                        .revision = execution.results.back().revision};
    const auto* answer = std::get_if<catalog::Answer>(&execution.results.front().value);
    if (answer != nullptr) change.value = *answer;
    Response response;
    if (!shape.created_at.empty() && answer != nullptr && answer->id) {
        response.status = 201;
        response.headers.emplace_back("Location", shape.created_at + std::to_string(*answer->id));
    }
    append_result(response.body, change);
    return response;
}

// Seconds, rounded up: nobody takes it for fresh.
std::string age_of(const views::Stale& stale) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(stale.age).count());
}

Response without_age(const Shape& shape, const coordinator::Execution& execution) {
    if (execution.error && !std::holds_alternative<AsResults>(shape)) {
        std::string more;
        // What was waited for has happened.
        const auto* change = std::get_if<AsChange>(&shape);
        if (change != nullptr && execution.error->code == ErrorCode::wait_timed_out &&
            !execution.results.empty()) {
            more = "\"result\":" + tell(*change, execution).body;
        }
        return problem(*execution.error, {}, more);
    }
    return std::visit([&](const auto& how) { return tell(how, execution); }, shape);
}

}  // namespace

Response told(const Shape& shape, const coordinator::Execution& execution) {
    Response response = without_age(shape, execution);
    for (const coordinator::StatementResult& result : execution.results) {
        const auto* table = std::get_if<views::Table>(&result.value);
        if (table == nullptr || !table->stale) continue;
        response.headers.emplace_back("Baton-Stale", age_of(*table->stale));
        response.headers.emplace_back("Warning", "110 baton \"" + table->note + "\"");
        break;
    }
    return response;
}

std::optional<Response> violation(const Precondition& precondition,
                                  const coordinator::Execution& looked) {
    if (looked.error) return problem(*looked.error);
    const views::Table* table = table_in(looked);
    CHECK(table != nullptr);
    const auto changed = [&](const std::string& how) {
        return problem({.code = ErrorCode::conflict,
                        .message = in_quotes(precondition.name) + " " + how,
                        .hint = "GET it again, then decide"},
                       412);
    };
    if (table->rows.empty()) return changed("is not there");
    const auto* number = std::get_if<std::int64_t>(&table->rows.front().front());
    CHECK(number != nullptr);
    const auto& wanted = precondition.revisions;
    const auto now = static_cast<std::uint64_t>(*number);
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), now) != wanted.end()) return {};
    return changed("is at revision " + std::to_string(now) + " now");
}

}  // namespace baton::http
