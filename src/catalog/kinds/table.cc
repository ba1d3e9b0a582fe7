#include "catalog/kinds/kinds.h"

namespace baton::kinds {

template <>
const KindTable<Table>& table_of() {
    using enum ViewType;
    static const KindTable<Table> kTable({
        .entity = Entity::table,
        .table = "sql_table",
        .storage = "{table}",
        .since = 5,
        .columns = {column<&Table::name>("name", "{key} PRIMARY KEY CHECK (name <> '')")
                        .shown("NAME", text, "its name")
                        .in_brief(),
                    column<&Table::type>("type", "{key} NOT NULL")
                        .shown("TYPE", text, "Delta, or Files: read only")
                        .in_brief(),
                    column<&Table::location>("location", "{text} NOT NULL")
                        .shown(
                            "LOCATION", text,
                            "where its objects are: a URL, or a folder of the coordinators' store")
                        .in_brief(),
                    column<&Table::managed>("managed", "{int} NOT NULL")
                        .shown("MANAGED", boolean, "whether DROP TABLE removes its objects"),
                    column<&Table::columns>("columns", "{text} NOT NULL")
                        .shown("COLUMNS", json, "its columns, as they were declared"),
                    column<&Table::options>("options", "{text} NOT NULL")
                        .shown("OPTIONS", json, "its options"),
                    column<&Table::version>("version", "{int} NOT NULL")
                        .changing()
                        .shown("VERSION", integer, "the newest version of its log that was noted"),
                    column<&Table::rows>("row_count", "{int}")
                        .changing()
                        .shown("ROWS", integer, "how many rows that version has")
                        .in_brief(),
                    column<&Table::objects>("object_count", "{int}")
                        .changing()
                        .shown("OBJECTS", integer, "how many objects that version has")
                        .in_brief(),
                    column<&Table::bytes>("byte_count", "{int}")
                        .changing()
                        .shown("BYTES", integer, "how large they are")
                        .in_brief(),
                    column<&Table::created>("created", "{key} NOT NULL")
                        .shown("CREATED", time, "when it was created"),
                    column<&Table::revision>("revision", "{int} NOT NULL")
                        .changing()
                        .shown("REVISION", integer, "of its last change")},
        .companions = {{"dropped_table", R"(
CREATE TABLE dropped_table (
    location {key} PRIMARY KEY,
    dropped {key} NOT NULL
) {keyed};
)"},
                       {"query_table", R"(
CREATE TABLE query_table (
    query {int} NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    target {key} NOT NULL REFERENCES sql_table (name) ON DELETE RESTRICT,
    PRIMARY KEY (query, target)
) {keyed};
CREATE INDEX query_table_target ON query_table (target);
)"}},
        .view = "TABLES",
        .meaning = "the tables: rows in Parquet objects, and a log that says which",
    });
    return kTable;
}

}  // namespace baton::kinds
