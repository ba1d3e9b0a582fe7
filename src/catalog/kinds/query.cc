#include "catalog/kinds/kinds.h"
#include "catalog/kinds/reason_columns.h"

namespace baton::kinds {

template <>
const KindTable<Query>& table_of() {
    using enum ViewType;
    static const KindTable<Query> kTable({
        .entity = Entity::query,
        .table = "query",
        .storage = "{table}",
        .columns =
            {column<&Query::id>("id", "{int} PRIMARY KEY")
                 .shown("ID", integer, "its number, never used again")
                 .in_brief(),
             column<&Query::name>("name", "{key} NOT NULL UNIQUE CHECK (name <> '')")
                 .shown("NAME", text, "its name, free again only when it is gone everywhere")
                 .in_brief(),
             column<&Query::statement>("statement", "{text} NOT NULL")
                 .shown("STATEMENT", text, "what it computes, secrets masked")
                 .in_brief(),
             column<&Query::settings>("settings", "{text} NOT NULL")
                 .shown("SETTINGS", json, "its QUERY.* settings"),
             column<&Query::state>("state", "{key} NOT NULL " + one_of<QueryState>("state"))
                 .shown("STATE", text,
                        "PENDING, DEPLOYING, RUNNING, STOPPING, STOPPED, "
                        "TERMINATED or FAILED")
                 .in_brief()
                 .changing(),
             column<&Query::desired>("desired", "{key} NOT NULL " + one_of<QueryDesire>("desired"))
                 .shown("DESIRED", text, "RUNNING, STOPPED, DROPPED, or FAILED if it cannot run")
                 .changing(),
             column<&Query::stop_mode>("stop_mode",
                                       "{key} NOT NULL " + one_of<StopMode>("stop_mode"))
                 .shown("STOP_MODE", text, "GRACEFUL or FORCEFUL")
                 .changing(),
             column<&Query::run>("run", "{int} NOT NULL CHECK (run >= 1)")
                 .shown("RUN", integer, "grows with every restart")
                 .changing(),
             reason_text<Query>(),
             column<&Query::lagging>("lagging", "{text} NOT NULL")
                 .shown("LAGGING", json, "the workers that hold it up")
                 .changing(),
             column<&Query::created>("created", "{key} NOT NULL")
                 .shown("CREATED", time, "when it was accepted"),
             column<&Query::since>("since", "{key} NOT NULL")
                 .shown("SINCE", time, "when it came into this state")
                 .in_brief()
                 .changing(),
             column<&Query::revision>("revision", "{int} NOT NULL")
                 .shown("REVISION", integer, "of its last change")
                 .changing(),
             column<&Query::restarts>("restarts", "{int} NOT NULL DEFAULT 0").since(3).changing(),
             column<&Query::restarted>("restarted", "{key}").since(3).changing(),
             reason_code<Query>(), reason_who<Query>(), reason_error<Query>()},
        .indexes = "CREATE INDEX query_state ON query (state);\n",
        .companions = {{"query_source", R"(
CREATE TABLE query_source (
    query {int} NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    source {int} NOT NULL REFERENCES physical_source (id) ON DELETE RESTRICT,
    PRIMARY KEY (query, source)
) {keyed};
CREATE INDEX query_source_source ON query_source (source);
)"},
                       {"query_sink", R"(
CREATE TABLE query_sink (
    query {int} NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    sink {key} NOT NULL REFERENCES sink (name) ON DELETE RESTRICT,
    PRIMARY KEY (query, sink)
) {keyed};
CREATE INDEX query_sink_sink ON query_sink (sink);
)"}},
        .view = "QUERIES",
        .alias = "q",
        .derived = {{.name = "FRAGMENTS",
                     .type = integer,
                     .meaning = "how many fragments it has",
                     .expression = "(SELECT COUNT(*) FROM fragment f WHERE f.query = q.id)"}},
        .order = {"ID", "NAME", "STATE", "DESIRED", "STOP_MODE", "RUN", "REASON", "LAGGING",
                  "SINCE", "CREATED", "STATEMENT", "SETTINGS", "REVISION", "REASON_CODE",
                  "REASON_WHO", "REASON_ERROR"},
        .meaning = "continuous queries",
    });
    return kTable;
}

}  // namespace baton::kinds
