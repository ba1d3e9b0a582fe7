#include "coordinator/statements/bind.h"

#include <algorithm>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "coordinator/statements/names.h"
#include "sql/printer.h"
#include "sql/vocabulary.h"

namespace baton::coordinator {

namespace {

Result<catalog::Request> bind_create_query(const sql::CreateQuery& statement) {
    TRY_ASSIGN(settings, binding::bind_query(statement.settings));
    if (settings.id && statement.name && *settings.id != *statement.name) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "the query has two names: " + in_quotes(*statement.name) + " and " +
                                in_quotes(*settings.id),
                     .hint = "leave out QUERY.ID"};
    }
    catalog::request::CreateQuery request;
    request.name = statement.name ? statement.name : settings.id;
    if (request.name && request.name->empty()) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "the name of a query cannot be empty"};
    }
    if (request.name) TRY(check_new_name("the name of the query", *request.name));
    request.settings = std::move(settings.options);
    request.statement = without_secrets(sql::Statement{.node = statement, .at = {}});
    request.tree = statement;
    return catalog::Request(std::move(request));
}

// A folder of the coordinators' store, for a person who looks there: of a table that is dropped and
// created again it is another one.
std::string folder_of(const std::string& name, std::string_view token) {
    constexpr std::size_t kNameMax = 64;
    constexpr std::size_t kTokenMax = 16;
    std::string folder;
    for (const char c : to_lower(name).substr(0, kNameMax)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        folder += plain ? c : '_';
    }
    folder += '-';
    return folder += token.substr(0, kTokenMax);
}

Result<catalog::Request> bind_create_table(const sql::CreateTable& statement,
                                           std::string_view token) {
    TRY(check_new_name("the name of the table", statement.name));
    TRY_ASSIGN(type, binding::table_type(statement.type.value_or("Delta")));
    TRY_ASSIGN(settings, binding::bind_table(type, statement.settings));
    TRY(validate(statement.columns, "table " + in_quotes(statement.name)));
    Table table{.name = statement.name,
                .type = std::move(type),
                .managed = !settings.location,
                .columns = statement.columns,
                .options = std::move(settings.options)};
    table.location =
        settings.location ? *std::move(settings.location) : folder_of(statement.name, token);
    return catalog::Request(catalog::request::CreateTable{
        .table = std::move(table), .if_not_exists = statement.if_not_exists});
}

template <class T, class Variant>
constexpr bool kIsAmong = false;
template <class T, class... Others>
constexpr bool kIsAmong<T, std::variant<Others...>> = (std::is_same_v<T, Others> || ...);
// There is nothing to bind in it.
template <class Node>
concept IsRequest = kIsAmong<Node, catalog::Request>;

Error not_a_change() {
    return Error{.code = ErrorCode::defect, .message = "the statement changes nothing"};
}

}  // namespace

Result<catalog::Request> bind(const sql::Statement& statement, std::string_view token) {
    using R = Result<catalog::Request>;
    return std::visit(
        Overload{
            [](const sql::CreateLogicalSource& s) -> R {
                TRY(check_new_name("the name of the logical source", s.name));
                return catalog::Request(
                    catalog::request::CreateLogicalSource{s.name, s.schema, s.if_not_exists});
            },
            [](const sql::CreatePhysicalSource& s) -> R {
                TRY_ASSIGN(connector, binding::bind_source(s.type, s.settings));
                return catalog::Request(
                    catalog::request::CreatePhysicalSource{s.logical, std::move(connector)});
            },
            [](const sql::CreateSink& s) -> R {
                TRY(check_new_name("the name of the sink", s.name));
                TRY_ASSIGN(connector, binding::bind_sink(s.type, s.settings));
                return catalog::Request(catalog::request::CreateSink{
                    s.name, s.schema, std::move(connector), s.if_not_exists});
            },
            [](const sql::CreateWorker& s) -> R {
                TRY_ASSIGN(worker, binding::bind_worker(s));
                TRY(check_new_name("the name of the worker", worker.name));
                return catalog::Request(catalog::request::CreateWorker{std::move(worker)});
            },
            []<IsRequest Node>(const Node& s) -> R {
                const std::string noun(sql::kind_made_by<Node>().noun);
                TRY(check_new_name("the name of the " + noun, s.name));
                return catalog::Request(s);
            },
            [&](const sql::CreateTable& s) -> R { return bind_create_table(s, token); },
            [](const sql::CreateQuery& s) -> R { return bind_create_query(s); },
            [](const sql::Drop& s) -> R { return catalog::Request(catalog::request::Drop{s}); },
            [](const sql::StopQuery& s) -> R {
                return catalog::Request(catalog::request::StopQuery{
                    query_ref(s.target), s.mode.value_or(StopMode::graceful)});
            },
            [](const sql::DrainWorker& s) -> R {
                return catalog::Request(catalog::request::DrainWorker{s.name, true});
            },
            [](const sql::ResumeWorker& s) -> R {
                return catalog::Request(catalog::request::DrainWorker{s.name, false});
            },
            [](const sql::LeavesCatalog auto&) -> R { return not_a_change(); },
        },
        statement.node);
}

catalog::request::QueryRef query_ref(const sql::Target& target) {
    if (const auto* id = std::get_if<std::uint64_t>(&target)) return QueryId(*id);
    return std::get<std::string>(target);
}

Duration duration_of(const sql::TimeSpan& span) {
    using namespace std::chrono;
    constexpr std::uint64_t kMost = 1'000'000'000;
    const auto count = static_cast<std::int64_t>(std::min(span.count, kMost));
    switch (span.unit) {
        case sql::TimeUnit::millisecond:
            return milliseconds(count);
        case sql::TimeUnit::second:
            return seconds(count);
        case sql::TimeUnit::minute:
            return minutes(count);
        case sql::TimeUnit::hour:
            return hours(count);
        case sql::TimeUnit::day:
            return hours(24 * count);
    }
    CHECK(false && "an unknown unit");
}

std::string without_secrets(const sql::Statement& statement) {
    return sql::print(statement, binding::is_secret_setting);
}

Result<catalog::request::CreateQuery> query_for_client(const sql::SelectOnce& select,
                                                       const std::string& token,
                                                       const std::string& principal) {
    catalog::request::CreateQuery query;
    query.tree.query = select.query;
    query.tree.sink.node = sql::ToClient{.token = token};
    sql::Setting& setting = query.tree.settings.emplace_back();
    setting.key = {"QUERY", "ON_FAILURE"};
    setting.value = sql::Literal(std::string("FAIL"));
    TRY_ASSIGN(settings, binding::bind_query(query.tree.settings));
    query.settings = std::move(settings.options);
    query.settings.emplace(kClientSetting, principal);
    query.statement = without_secrets({.node = select, .at = {}});
    return query;
}

}  // namespace baton::coordinator
