#include "catalog/kinds/connectors.h"
#include "catalog/kinds/kinds.h"

namespace baton::kinds {

std::string configuration_print(const PhysicalSource& source) {
    return fingerprint(to_json(source.source) + to_json(source.format));
}

template <>
const KindTable<PhysicalSource>& table_of() {
    using enum ViewType;
    static const KindTable<PhysicalSource> kTable({
        .entity = Entity::physical_source,
        .table = "physical_source",
        .storage = "{table}",
        .columns = {column<&PhysicalSource::id>("id", "{int} PRIMARY KEY")
                        .shown("ID", integer, "its number")
                        .in_brief(),
                    column<&PhysicalSource::logical>(
                        "logical",
                        "{key} NOT NULL REFERENCES logical_source (name) ON DELETE RESTRICT")
                        .shown("LOGICAL", text, "the logical source it feeds")
                        .in_brief(),
                    column<&PhysicalSource::worker>(
                        "worker", "{key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT")
                        .shown("WORKER", text, "where it is read")
                        .in_brief(),
                    column<&PhysicalSource::type>("type", "{key} NOT NULL")
                        .shown("TYPE", text, "its type, see SHOW SOURCE TYPES")
                        .in_brief(),
                    column<&PhysicalSource::source>("options", "{text} NOT NULL"),
                    computed<PhysicalSource>("options_shown", "{text} NOT NULL",
                                             [](const PhysicalSource& p) -> SqlValue {
                                                 return masked_json(
                                                     descriptors::DescriptorKind::source, p.type,
                                                     p.source);
                                             })
                        .shown("CONFIG", json, "its options, secrets masked")
                        .in_brief(),
                    column<&PhysicalSource::format>("format", "{text} NOT NULL"),
                    computed<PhysicalSource>(
                        "format_shown", "{text} NOT NULL",
                        [](const PhysicalSource& p) -> SqlValue { return to_json(p.format); })
                        .shown("FORMAT", json, "how its bytes become rows")
                        .in_brief(),
                    computed<PhysicalSource>(
                        "fingerprint", "{key} NOT NULL",
                        [](const PhysicalSource& p) -> SqlValue { return configuration_print(p); }),
                    column<&PhysicalSource::revision>("revision", "{int} NOT NULL")
                        .shown("REVISION", integer, "of its last change")},
        .constraints = {"UNIQUE (logical, worker, type, fingerprint)"},
        .indexes = "CREATE INDEX physical_source_worker ON physical_source (worker);\n",
        .view = "PHYSICAL_SOURCES",
        .alias = "p",
        .derived = {{.name = "QUERIES",
                     .type = integer,
                     .meaning = "how many queries read it",
                     .expression = "(SELECT COUNT(*) FROM query_source s WHERE s.source = p.id)",
                     .brief = true}},
        .meaning = "the places where the rows of a logical source come from",
    });
    return kTable;
}

}  // namespace baton::kinds
