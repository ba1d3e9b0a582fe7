#include "catalog/kinds/connectors.h"
#include "catalog/kinds/kinds.h"

namespace baton::kinds {

template <>
const KindTable<Sink>& table_of() {
    using enum ViewType;
    static const KindTable<Sink> kTable({
        .entity = Entity::sink,
        .table = "sink",
        .storage = "{table}",
        .columns = {column<&Sink::name>("name", "{key} PRIMARY KEY CHECK (name <> '')")
                        .shown("NAME", text, "its name")
                        .in_brief(),
                    column<&Sink::schema>("columns", "{text} NOT NULL")
                        .shown("SCHEMA", json, "its columns")
                        .in_brief(),
                    column<&Sink::worker>(
                        "worker", "{key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT")
                        .shown("WORKER", text, "where it is written")
                        .in_brief(),
                    column<&Sink::type>("type", "{key} NOT NULL")
                        .shown("TYPE", text, "its type, see SHOW SINK TYPES")
                        .in_brief(),
                    column<&Sink::sink>("options", "{text} NOT NULL"),
                    computed<Sink>("options_shown", "{text} NOT NULL",
                                   [](const Sink& s) -> SqlValue {
                                       return masked_json(descriptors::DescriptorKind::sink, s.type,
                                                          s.sink);
                                   })
                        .shown("CONFIG", json, "its options, secrets masked")
                        .in_brief(),
                    column<&Sink::format>("format", "{text} NOT NULL"),
                    computed<Sink>("format_shown", "{text} NOT NULL",
                                   [](const Sink& s) -> SqlValue { return to_json(s.format); })
                        .shown("FORMAT", json, "how rows become bytes")
                        .in_brief(),
                    column<&Sink::revision>("revision", "{int} NOT NULL")
                        .shown("REVISION", integer, "of its last change")},
        .indexes = "CREATE INDEX sink_worker ON sink (worker);\n",
        .view = "SINKS",
        .alias = "s",
        .derived = {{.name = "QUERIES",
                     .type = integer,
                     .meaning = "how many queries write to it",
                     .expression = "(SELECT COUNT(*) FROM query_sink q WHERE q.sink = s.name)",
                     .brief = true}},
        .meaning = "the places where results go",
    });
    return kTable;
}

}  // namespace baton::kinds
