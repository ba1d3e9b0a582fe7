// DROP as it is written: by name, by number, or WHERE attr = const.
#include "base/overload.h"
#include "base/text.h"
#include "catalog/application.h"
#include "catalog/predicate.h"
#include "catalog/row_cursor.h"
#include "sql/printer.h"

namespace baton {

namespace {

struct Kind {
    Entity entity = Entity::query;
    std::string_view key;      // the column of its view that a name or number means
    std::string_view by_name;  // the column that a text means; empty: names are refused
    ErrorCode unknown = ErrorCode::unknown_query;
    std::string_view word;
};

Kind kind_of(sql::EntityKind kind) {
    switch (kind) {
        case sql::EntityKind::logical_source:
            return {Entity::logical_source, "NAME", "NAME", ErrorCode::unknown_source, "source"};
        case sql::EntityKind::physical_source:
            return {Entity::physical_source, "ID", "", ErrorCode::unknown_source,
                    "physical source"};
        case sql::EntityKind::sink:
            return {Entity::sink, "NAME", "NAME", ErrorCode::unknown_sink, "sink"};
        case sql::EntityKind::worker:
            return {Entity::worker, "NAME", "NAME", ErrorCode::unknown_worker, "worker"};
        case sql::EntityKind::query:
            return {Entity::query, "ID", "NAME", ErrorCode::unknown_query, "query"};
        case sql::EntityKind::task_list:
            return {Entity::task_list, "NAME", "NAME", ErrorCode::unknown_task_list, "task list"};
    }
    CHECK(false && "an unknown kind");
}

// The same target as `attr = const`.
Result<sql::AttributeIs> as_attribute(const Kind& kind, const sql::Target& target) {
    return std::visit(
        Overload{
            [&](const std::string& name) -> Result<sql::AttributeIs> {
                if (!kind.by_name.empty()) return sql::AttributeIs{std::string(kind.by_name), name};
                return Error{
                    .code = ErrorCode::type_mismatch,
                    .message = "a physical source has a number, not a name: " + in_quotes(name),
                    .hint = "SHOW PHYSICAL SOURCES lists the numbers"};
            },
            [&](std::uint64_t id) -> Result<sql::AttributeIs> {
                if (kind.key == "ID") return sql::AttributeIs{"ID", sql::Integer{false, id}};
                return Error{
                    .code = ErrorCode::type_mismatch,
                    .message = "a " + std::string(kind.word) + " has a name, not a number"};
            },
            [](const sql::AttributeIs& where) -> Result<sql::AttributeIs> { return where; },
        },
        target);
}

// What is said of several drops: what is still to be done, else what was done.
Did more_telling(Did a, Did b) {
    for (const Did did : {Did::accepted, Did::dropped, Did::unchanged}) {
        if (a == did || b == did) return did;
    }
    return Did::absent;
}

}  // namespace

Result<Answer> Application::on(const request::Drop& r) {
    const Kind kind = kind_of(r.statement.kind);
    const View& view = view_of(kind.entity);
    TRY_ASSIGN(where, as_attribute(kind, r.statement.target));
    TRY_ASSIGN(predicate, Predicate::equal(view, where.attribute, where.value, {}));
    const Predicate::Fragment condition = predicate.to_sql(sql_.dialect());
    TRY_ASSIGN(rows, sql_.query_with("SELECT " + quoted_column(sql_.dialect(), kind.key) +
                                         " FROM " + std::string(view.table) + " WHERE " +
                                         condition.sql + " ORDER BY 1",
                                     condition.parameters));
    if (rows.empty() && !r.statement.if_exists) {
        Error error{.code = kind.unknown,
                    .message = "unknown " + std::string(kind.word) + ": none has " +
                               where.attribute + " = " + sql::print(where.value)};
        if (const auto* name = std::get_if<std::string>(&r.statement.target)) {
            TRY_ASSIGN(known, names("SELECT " + quoted_column(sql_.dialect(), kind.by_name) +
                                        " FROM " + std::string(view.table) + " LIMIT 1000",
                                    {}));
            error.message = "unknown " + std::string(kind.word) + " " + in_quotes(*name);
            error.hint = did_you_mean(*name, known);
        }
        return error;
    }
    Answer all{.did = Did::absent};
    const StopMode mode = r.statement.mode.value_or(StopMode::graceful);
    for (const SqlRow& row : rows) {
        RowCursor key(row);
        Result<Answer> one = all;
        switch (r.statement.kind) {
            case sql::EntityKind::logical_source:
                one = on(request::DropLogicalSource{key.text()});
                break;
            case sql::EntityKind::physical_source:
                one = on(request::DropPhysicalSource{PhysicalSourceId(key.number())});
                break;
            case sql::EntityKind::sink:
                one = on(request::DropSink{key.text()});
                break;
            case sql::EntityKind::worker:
                one = on(request::DropWorker{key.text()});
                break;
            case sql::EntityKind::query:
                one = on(request::DropQuery{QueryId(key.number()), mode});
                break;
            case sql::EntityKind::task_list:
                one = on(request::DropTaskList{key.text()});
                break;
        }
        if (!one) return one.error();
        all.did = more_telling(all.did, one->did);
        all.name = one->name;
        all.id = one->id;
        all.dropped.insert(all.dropped.end(), one->dropped.begin(), one->dropped.end());
    }
    return all;
}

}  // namespace baton
