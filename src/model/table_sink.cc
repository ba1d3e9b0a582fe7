#include "model/table_sink.h"

#include <utility>

#include "base/check.h"

namespace baton {

Sink sink_of(const Table& table) {
    Sink sink;
    sink.name = table.name;
    sink.type = kTableSink;
    sink.revision = table.revision;
    sink.sink.emplace(kTableLocation, table.location);
    if (table.managed) sink.sink.emplace(kTableManaged, true);
    if (table.type != "Delta" || table.columns.empty()) return sink;
    SqlType all{.kind = SqlType::Kind::structure};
    std::string nullable;
    for (const SqlField& column : table.columns) {
        all.parts.push_back(column);
        nullable += column.nullable ? '1' : '0';
    }
    sink.sink.emplace(kTableColumns, to_string(all));
    sink.sink.emplace(kTableNullable, std::move(nullable));
    return sink;
}

Result<SqlColumns> columns_of_table(const Sink& sink) {
    const auto columns = sink.sink.find(kTableColumns);
    if (columns == sink.sink.end()) return SqlColumns();
    TRY_ASSIGN(all, table_type_of(std::get<std::string>(columns->second)));
    const std::string& nullable = std::get<std::string>(sink.sink.at(kTableNullable));
    CHECK(nullable.size() == all.parts.size());
    for (std::size_t i = 0; i < all.parts.size(); ++i) all.parts[i].nullable = nullable[i] == '1';
    return std::move(all.parts);
}

}  // namespace baton
