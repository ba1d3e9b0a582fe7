// DROP as it is written: by name, by number, or WHERE attr = const.
#include "base/overload.h"
#include "base/text.h"
#include "catalog/application.h"
#include "catalog/kinds/row_cursor.h"
#include "catalog/views/predicate.h"
#include "sql/printer.h"
#include "sql/vocabulary.h"

namespace baton::catalog {

namespace {

// The column of its view that tells one from the others.
std::string_view key_column(const sql::Kind& kind) {
    return kind.known_by == sql::KnownBy::name ? "NAME" : "ID";
}

// The same target as `attr = const`.
Result<sql::AttributeIs> as_attribute(const sql::Kind& kind, const sql::Target& target) {
    return std::visit(
        Overload{
            [&](const std::string& name) -> Result<sql::AttributeIs> {
                if (kind.known_by != sql::KnownBy::number) return sql::AttributeIs{"NAME", name};
                return Error{.code = ErrorCode::type_mismatch,
                             .message = "a " + std::string(kind.noun) +
                                        " has a number, not a name: " + in_quotes(name),
                             .hint = "SHOW " + std::string(sql::row_of(kind.listed).words) +
                                     " lists the numbers"};
            },
            [&](std::uint64_t id) -> Result<sql::AttributeIs> {
                if (kind.known_by != sql::KnownBy::name) {
                    return sql::AttributeIs{"ID", sql::Integer{false, id}};
                }
                return Error{
                    .code = ErrorCode::type_mismatch,
                    .message = "a " + std::string(kind.noun) + " has a name, not a number"};
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
    const sql::Kind& kind = sql::row_of(r.statement.kind);
    TRY_ASSIGN(listed, views::find_view(sql::view_of(kind)));
    const kinds::View& view = *listed;
    TRY_ASSIGN(where, as_attribute(kind, r.statement.target));
    TRY_ASSIGN(predicate, views::Predicate::equal(view, where.attribute, where.value, {}));
    const views::Predicate::Fragment condition = predicate.to_sql(sql_.dialect());
    TRY_ASSIGN(rows,
               sql_.query_with("SELECT " + views::quoted_column(sql_.dialect(), key_column(kind)) +
                                   " FROM " + std::string(view.table) + " WHERE " + condition.sql +
                                   " ORDER BY 1",
                               condition.parameters));
    if (rows.empty() && !r.statement.if_exists) {
        Error error{.code = kind.unknown,
                    .message = "unknown " + std::string(kind.noun) + ": none has " +
                               where.attribute + " = " + sql::print(where.value)};
        if (const auto* name = std::get_if<std::string>(&r.statement.target)) {
            TRY_ASSIGN(known, names("SELECT " + views::quoted_column(sql_.dialect(), "NAME") +
                                        " FROM " + std::string(view.table) + " LIMIT 1000",
                                    {}));
            error.message = "unknown " + std::string(kind.noun) + " " + in_quotes(*name);
            error.hint = did_you_mean(*name, known);
        }
        return error;
    }
    Answer all{.did = Did::absent};
    const StopMode mode = r.statement.mode.value_or(StopMode::graceful);
    for (const SqlRow& row : rows) {
        kinds::RowCursor key(row);
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
            case sql::EntityKind::table:
                one = on(request::DropTable{key.text()});
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

}  // namespace baton::catalog
