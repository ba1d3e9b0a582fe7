#include "catalog/kinds/kinds.h"

namespace baton::kinds {

template <>
const KindTable<KeptLink>& table_of() {
    using enum ViewType;
    static const KindTable<KeptLink> kTable({
        .entity = Entity::link,
        .table = "network_link",
        .key_columns = 2,
        .of_cluster = true,
        .columns = {column_of<KeptLink>(
                        "upstream", "{key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT",
                        [](auto& kept) -> auto& { return kept.link.upstream; })
                        .shown("UPSTREAM", text, "the worker that data flows from")
                        .in_brief(),
                    column_of<KeptLink>(
                        "downstream", "{key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT",
                        [](auto& kept) -> auto& { return kept.link.downstream; })
                        .shown("DOWNSTREAM", text, "the worker that data flows to")
                        .in_brief(),
                    column<&KeptLink::revision>("revision", "{int} NOT NULL")
                        .shown("REVISION", integer, "of its last change")},
        .constraints = {"PRIMARY KEY (upstream, downstream)", "CHECK (upstream <> downstream)"},
        .indexes = "CREATE INDEX network_link_downstream ON network_link (downstream);\n",
        .view = "LINKS",
        .meaning = "the pairs of workers between which data may flow",
    });
    return kTable;
}

}  // namespace baton::kinds
