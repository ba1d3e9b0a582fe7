#include "doors/pg/server/world.h"

#include <algorithm>

#include "base/check.h"
#include "catalog/views/views.h"
#include "doors/pg/catalog/tokens.h"
#include "doors/pg/server/rows.h"

namespace baton::pgserver {

using pgwire::KnownType;

namespace {

std::string told(std::string_view name) {
    const bool upper =
        std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    return upper ? pg::to_lower(name) : std::string(name);
}

KnownType type_of(DataType type) {
    switch (type) {
        case DataType::int8:
        case DataType::uint8:
        case DataType::int16:
            return KnownType::int2;
        case DataType::uint16:
        case DataType::int32:
            return KnownType::int4;
        case DataType::uint32:
        case DataType::int64:
            return KnownType::int8;
        case DataType::uint64:
            return KnownType::numeric;
        case DataType::float32:
            return KnownType::float4;
        case DataType::float64:
            return KnownType::float8;
        case DataType::boolean:
            return KnownType::boolean;
        case DataType::character:
            return KnownType::bpchar;
        case DataType::varsized:
            return KnownType::text;
    }
    CHECK(false);
}

pg::Relation relation_of(const kinds::View& view) {
    pg::Relation relation{.schema = "baton",
                          .name = told(view.name),
                          .kind = 'v',
                          .comment = std::string(view.meaning),
                          .columns = {}};
    for (const kinds::ViewColumn& column : view.columns) {
        const auto id = pgwire::type_id_of(column_type_of(column.type));
        relation.columns.push_back({.name = told(column.name),
                                    .type = static_cast<KnownType>(id),
                                    .not_null = false,
                                    .comment = std::string(column.meaning)});
    }
    return relation;
}

pg::Relation relation_of(const std::string& name, const Schema& schema, std::string comment) {
    pg::Relation relation{.schema = "public",
                          .name = told(name),
                          .kind = 'r',
                          .comment = std::move(comment),
                          .columns = {}};
    for (const Column& column : schema.columns) {
        relation.columns.push_back({.name = told(column.name),
                                    .type = type_of(column.type),
                                    .not_null = !column.nullable,
                                    .comment = {}});
    }
    return relation;
}

pg::Relation relation_of(const Table& table) {
    pg::Relation relation{.schema = "public",
                          .name = told(table.name),
                          .kind = 'r',
                          .comment = "a table of type " + table.type,
                          .columns = {}};
    for (const SqlField& column : table.columns) {
        const pgwire::Column shown = column_of(told(column.name), column.type);
        relation.columns.push_back({.name = shown.name,
                                    .type = static_cast<KnownType>(pgwire::type_id_of(shown)),
                                    .modifier = shown.modifier,
                                    .not_null = !column.nullable,
                                    .comment = {}});
    }
    return relation;
}

}  // namespace

Result<std::vector<pg::Relation>> relations_of(coordinator::CoordinatorRuntime& coordinator) {
    std::vector<pg::Relation> relations;
    for (const kinds::View& view : views::views()) relations.push_back(relation_of(view));
    TRY_ASSIGN(snapshot, coordinator.snapshot());
    TRY_ASSIGN(sources, snapshot.read().logical_sources());
    TRY_ASSIGN(sinks, snapshot.read().sinks());
    for (const LogicalSource& source : sources) {
        relations.push_back(relation_of(source.name, source.schema, "a logical source"));
    }
    TRY_ASSIGN(tables, snapshot.read().all<Table>());
    for (const Table& table : tables) relations.push_back(relation_of(table));
    for (const Sink& sink : sinks) {
        relations.push_back(relation_of(sink.name, sink.schema, "a sink of type " + sink.type));
    }
    return relations;
}

}  // namespace baton::pgserver
