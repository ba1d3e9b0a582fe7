#include "catalog/kinds/kinds.h"

namespace baton::kinds {

template <>
const KindTable<LogicalSource>& table_of() {
    using enum ViewType;
    static const KindTable<LogicalSource> kTable({
        .entity = Entity::logical_source,
        .table = "logical_source",
        .columns = {column<&LogicalSource::name>("name", "{key} PRIMARY KEY CHECK (name <> '')")
                        .shown("NAME", text, "its name")
                        .in_brief(),
                    column<&LogicalSource::schema>("columns", "{text} NOT NULL")
                        .shown("SCHEMA", json, "its columns")
                        .in_brief(),
                    column<&LogicalSource::revision>("revision", "{int} NOT NULL")
                        .shown("REVISION", integer, "of its last change")
                        .changing()},
        .view = "LOGICAL_SOURCES",
        .alias = "l",
        .derived = {{.name = "PHYSICAL_SOURCES",
                     .type = integer,
                     .meaning = "how many physical sources it has",
                     .expression = "(SELECT COUNT(*) FROM physical_source p WHERE "
                                   "p.logical = l.name)",
                     .brief = true}},
        .meaning = "named streams with a schema",
    });
    return kTable;
}

}  // namespace baton::kinds
