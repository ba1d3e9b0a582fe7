#include "catalog/views/view_definitions.h"

#include <algorithm>

namespace baton {

namespace {

using enum ViewType;

ViewColumn own(std::string_view name, ViewType type, std::string_view meaning) {
    return {.name = name, .type = type, .derived = false, .brief = false, .meaning = meaning};
}

ViewColumn derived(std::string_view name, ViewType type, std::string_view meaning) {
    return {.name = name, .type = type, .derived = true, .brief = false, .meaning = meaning};
}

const ViewColumn kRevision = own("REVISION", integer, "of its last change");

View workers_view() {
    return {
        .name = "WORKERS",
        .table = "baton_workers",
        .entity = Entity::worker,
        .columns = {own("NAME", text, "its name, which never changes"),
                    own("KIND", text, "REMOTE or EMBEDDED"),
                    own("ADDRESS", text, "host:port of its control connection"),
                    own("DATA_ADDRESS", text, "host:port for data of other workers"),
                    own("CAPACITY", integer, "slots configured; empty: not limited"),
                    own("STATE", text, "ACTIVE or UNREACHABLE"),
                    own("DRAINING", boolean, "whether it takes no new fragments"),
                    own("LEAVING", boolean, "whether its process was told to end"),
                    own("INCARNATION", integer, "of its process; empty until it was heard"),
                    own("REASON", text, "why it is in this state"),
                    own("SINCE", time, "when it came into this state"), kRevision,
                    derived("USED", integer, "slots that fragments occupy")},
        .definition =
            std::string(
                "SELECT w.name, w.kind, w.address, w.data_address, w.capacity, w.state, "
                "w.draining, w.leaving, "
                "w.incarnation, w.reason, w.since, w.revision, "
                "(SELECT COALESCE(SUM(f.slots), 0) FROM fragment f WHERE f.worker = w.name AND ") +
            occupies_slots("f.state") + ") AS used FROM worker w",
        .meaning = "the machines of the cluster"};
}

View links_view() {
    return {.name = "LINKS",
            .table = "baton_links",
            .entity = Entity::link,
            .key_columns = 2,
            .columns = {own("UPSTREAM", text, "the worker that data flows from"),
                        own("DOWNSTREAM", text, "the worker that data flows to"), kRevision},
            .definition = "SELECT upstream, downstream, revision FROM network_link",
            .meaning = "between which workers data may flow"};
}

View logical_sources_view() {
    return {
        .name = "LOGICAL_SOURCES",
        .table = "baton_logical_sources",
        .entity = Entity::logical_source,
        .columns = {own("NAME", text, "its name"), own("SCHEMA", json, "its columns"), kRevision,
                    derived("PHYSICAL_SOURCES", integer, "how many physical sources it has")},
        .definition =
            "SELECT l.name, l.columns, l.revision, (SELECT COUNT(*) FROM "
            "physical_source p WHERE p.logical = l.name) AS physical_sources FROM "
            "logical_source l",
        .meaning = "named streams with a schema"};
}

View physical_sources_view() {
    return {.name = "PHYSICAL_SOURCES",
            .table = "baton_physical_sources",
            .entity = Entity::physical_source,
            .columns = {own("ID", integer, "its number"),
                        own("LOGICAL", text, "the logical source it feeds"),
                        own("WORKER", text, "where it is read"),
                        own("TYPE", text, "its type, see SHOW SOURCE TYPES"),
                        own("CONFIG", json, "its options, secrets masked"),
                        own("FORMAT", json, "how its bytes become rows"), kRevision,
                        derived("QUERIES", integer, "how many queries read it")},
            .definition =
                "SELECT p.id, p.logical, p.worker, p.type, p.options_shown, "
                "p.format_shown, p.revision, (SELECT COUNT(*) FROM query_source s WHERE "
                "s.source = p.id) AS queries FROM physical_source p",
            .meaning = "where the rows of a logical source come from"};
}

View sinks_view() {
    return {.name = "SINKS",
            .table = "baton_sinks",
            .entity = Entity::sink,
            .columns = {own("NAME", text, "its name"), own("SCHEMA", json, "its columns"),
                        own("WORKER", text, "where it is written"),
                        own("TYPE", text, "its type, see SHOW SINK TYPES"),
                        own("CONFIG", json, "its options, secrets masked"),
                        own("FORMAT", json, "how rows become bytes"), kRevision,
                        derived("QUERIES", integer, "how many queries write to it")},
            .definition =
                "SELECT s.name, s.columns, s.worker, s.type, s.options_shown, "
                "s.format_shown, s.revision, (SELECT COUNT(*) FROM query_sink q WHERE "
                "q.sink = s.name) AS queries FROM sink s",
            .meaning = "where results go"};
}

View queries_view() {
    return {
        .name = "QUERIES",
        .table = "baton_queries",
        .entity = Entity::query,
        .columns = {own("ID", integer, "its number, never used again"),
                    own("NAME", text, "its name, free again only when it is gone everywhere"),
                    own("STATE", text,
                        "PENDING, DEPLOYING, RUNNING, STOPPING, STOPPED, "
                        "TERMINATED or FAILED"),
                    own("DESIRED", text, "RUNNING, STOPPED, DROPPED, or FAILED if it cannot run"),
                    own("STOP_MODE", text, "GRACEFUL or FORCEFUL"),
                    own("RUN", integer, "grows with every restart"),
                    own("REASON", text, "why it is in this state"),
                    own("LAGGING", json, "the workers that hold it up"),
                    own("SINCE", time, "when it came into this state"),
                    own("CREATED", time, "when it was accepted"),
                    own("STATEMENT", text, "what it computes, secrets masked"),
                    own("SETTINGS", json, "its QUERY.* settings"), kRevision,
                    derived("FRAGMENTS", integer, "how many fragments it has")},
        .definition =
            "SELECT q.id, q.name, q.state, q.desired, q.stop_mode, q.run, q.reason, q.lagging, "
            "q.since, q.created, q.statement, q.settings, q.revision, (SELECT "
            "COUNT(*) FROM fragment f WHERE f.query = q.id) AS fragments FROM query q",
        .meaning = "continuous queries"};
}

View fragments_view() {
    return {.name = "FRAGMENTS",
            .table = "baton_fragments",
            .entity = Entity::fragment,
            .columns = {own("ID", integer, "its number, never used again"),
                        own("QUERY", integer, "the query it is part of"),
                        own("WORKER", text, "where it runs"),
                        own("RUN", integer, "the run of the query it belongs to"),
                        own("SLOTS", integer, "how many slots of the worker it takes"),
                        own("STAGE", integer, "how many workers lie between it and the sink's"),
                        own("STATE", text,
                            "PENDING, REGISTERED, STARTED, RUNNING, STOPPED, "
                            "TERMINATED or FAILED"),
                        own("REASON", text, "why it is in this state"),
                        own("SINCE", time, "when it came into this state"), kRevision,
                        derived("QUERY_NAME", text, "the name of the query")},
            .definition =
                "SELECT f.id, f.query, f.worker, f.run, f.slots, f.stage, f.state, f.reason, "
                "f.since, f.revision, q.name AS query_name FROM fragment f "
                "JOIN query q ON q.id = f.query",
            .meaning = "the parts of queries on workers"};
}

View task_lists_view() {
    return {.name = "TASK_LISTS",
            .table = "baton_task_lists",
            .entity = Entity::task_list,
            .columns = {own("NAME", text, "its name"),
                        own("PARTITIONS", integer, "how many partitions it has"), kRevision,
                        derived("OWNED", integer, "how many of them a worker looks after")},
            .definition =
                "SELECT l.name, l.partitions, l.revision, (SELECT COUNT(*) FROM task_partition p "
                "WHERE p.list = l.name AND p.state = 'OWNED') AS owned FROM task_list l",
            .meaning = "named sets of partitions that are shared out among the workers"};
}

View partitions_view() {
    return {.name = "PARTITIONS",
            .table = "baton_partitions",
            .entity = Entity::partition,
            .key_columns = 2,
            .columns = {own("LIST", text, "the task list it is of"),
                        own("NUMBER", integer, "which one, from 0"),
                        own("STATE", text,
                            "UNOWNED, OWNED, or RELEASING: its owner was asked to let go of it"),
                        own("OWNER", text, "the worker that has it"),
                        own("EPOCH", integer, "of the leader that gave it to that worker"),
                        own("NEXT", text, "who is to have it when it is released"),
                        own("SINCE", time, "when its state or its owner last changed"), kRevision},
            .definition =
                "SELECT list, number, state, owner, epoch, heir, since, revision FROM "
                "task_partition",
            .meaning = "which worker looks after which partition"};
}

View counters_view() {
    return {.name = "COUNTERS",
            .table = "baton_counters",
            .columns = {own("FRAGMENT", integer, "the fragment that counts"),
                        own("QUERY", integer, "the query it is part of"),
                        own("QUERY_NAME", text, "the name of the query"),
                        own("WORKER", text, "where it runs"),
                        own("RUN", integer, "the run of the query in which it counts"),
                        own("STATE", text, "of the fragment"),
                        own("ROWS_IN", integer, "rows from sources and other workers"),
                        own("BYTES_IN", integer, "bytes of them"),
                        own("ROWS_OUT", integer, "rows to sinks and other workers"),
                        own("BYTES_OUT", integer, "bytes of them"),
                        own("LATE", integer, "rows dropped: their window was closed"),
                        own("SKIPPED", integer, "records dropped: they could not be read"),
                        own("STALLS", integer, "how often it waited for who takes its rows"),
                        own("BUSY_US", integer, "time of the processor, in microseconds"),
                        own("MEMORY", integer, "bytes held in windows and joins")},
            .definition =
                "SELECT f.id AS fragment, f.query, q.name AS query_name, f.worker, f.run, f.state, "
                "f.rows_in, f.bytes_in, f.rows_out, f.bytes_out, f.late, f.skipped, f.stalls, "
                "f.busy_us, f.memory FROM fragment f JOIN query q ON q.id = f.query",
            .live = true,
            .meaning =
                "what fragments have counted, of those that run as of about a second ago; empty if "
                "nobody knows"};
}

View sources_view() {
    return {
        .name = "SOURCES",
        .table = "baton_sources",
        .columns = {own("LOGICAL", text, "the logical source"), own("SCHEMA", json, "its columns"),
                    own("ID", integer, "of a physical source; empty if it has none"),
                    own("WORKER", text, "where that is read"), own("TYPE", text, "its type"),
                    own("CONFIG", json, "its options, secrets masked"),
                    own("FORMAT", json, "how its bytes become rows")},
        .definition =
            "SELECT l.name AS logical, l.columns, p.id, p.worker, p.type, "
            "p.options_shown, p.format_shown FROM logical_source l LEFT JOIN "
            "physical_source p ON p.logical = l.name",
        .meaning = "logical sources with their physical ones, one row each"};
}

View uses_view(std::string_view name, std::string_view table, std::string_view column,
               ViewType type, std::string definition, std::string_view meaning) {
    return {.name = name,
            .table = table,
            .key_columns = 2,
            .columns = {own("QUERY", integer, "the query"), own(column, type, "what it uses")},
            .definition = std::move(definition),
            .meaning = meaning};
}

View statements_view() {
    return {.name = "STATEMENTS",
            .table = "baton_statements",
            .columns = {own("ID", integer, "its number"), own("AT", time, "when it was received"),
                        own("PRINCIPAL", text, "who sent it"),
                        own("STATEMENT", text, "what was asked, secrets masked"),
                        own("OUTCOME", text, "OK or ERROR"),
                        own("ERROR", integer, "the number of the error"),
                        own("MESSAGE", text, "the text of the error"),
                        own("DURATION_US", integer, "how long it took, in microseconds"),
                        own("REVISION", integer, "of the catalog after it; empty if unchanged")},
            .definition =
                "SELECT id, received, principal, statement, outcome, error, message, "
                "duration_us, revision FROM statement_log",
            .meaning = "what was asked, by whom, and how it ended"};
}

View changes_view() {
    return {.name = "CHANGES",
            .table = "baton_changes",
            .key_columns = 2,
            .columns = {own("REVISION", integer, "of the catalog after it"),
                        own("ORDINAL", integer, "its place within the revision"),
                        own("AT", time, "when it was made"),
                        own("ENTITY", text, "the kind of thing that changed"),
                        own("KEY", text, "which one"), own("OP", text, "CREATE, UPDATE or DROP"),
                        own("ROW", json, "as it is now; empty for DROP"),
                        own("OLD", json, "as it was; empty for CREATE")},
            .definition =
                "SELECT revision, ordinal, changed, entity, entity_key, op, new_row, "
                "old_row FROM change_feed",
            .meaning = "every change still kept, in order"};
}

View locks_view() {
    return {.name = "LOCKS",
            .table = "baton_locks",
            .columns = {own("NAME", text, "its name; the coordinator's is `leader`"),
                        own("OWNER", text, "who held it last: host:pid:id, and its address"),
                        own("EPOCH", integer, "grows with every term"),
                        own("EXPIRES_US", integer,
                            "when its lease ends, in microseconds since 1970 by the database's "
                            "clock; 0: it was given up"),
                        own("STATUS", text, "ACTIVE, INACTIVE or DELETABLE"),
                        own("SINCE", time, "when this term began; empty before the first"),
                        own("REMAINING_US", integer,
                            "how long its lease still lasts; 0: nobody holds it")},
            .definition =
                "SELECT lock_key, owner, epoch, expires_at, status, "
                "CASE WHEN taken_at > 0 THEN {taken} END, "
                "CASE WHEN expires_at > {now_us} THEN expires_at - {now_us} ELSE 0 END FROM ("
                "SELECT lock_key, owner, epoch, expires_at, status, taken_at FROM lease UNION ALL "
                "SELECT lock_key, owner, epoch, expires_at, status, taken_at FROM lock_lease) "
                "held",
            .meaning = "who leads, and other locks of the cluster"};
}

View briefly(View view, const std::vector<std::string_view>& shown_columns) {
    for (ViewColumn& column : view.columns) {
        column.brief = std::find(shown_columns.begin(), shown_columns.end(), column.name) !=
                       shown_columns.end();
    }
    return view;
}

}  // namespace

std::string occupies_slots(std::string_view state_column) {
    // Those that do, not those that do not: an index can seek them.
    std::string list;
    for (const auto& [state, name] : StateNames<FragmentState>::kNames) {
        if (has_ended(state)) continue;
        if (!list.empty()) list += ",";
        list += "'" + std::string(name) + "'";
    }
    return std::string(state_column) + " IN (" + list + ")";
}

std::vector<View> make_views() {
    return {
        briefly(workers_view(), {"NAME", "ADDRESS", "CAPACITY", "STATE", "DRAINING", "LEAVING",
                                 "REASON", "SINCE", "USED"}),
        briefly(links_view(), {"UPSTREAM", "DOWNSTREAM"}),
        briefly(logical_sources_view(), {"NAME", "SCHEMA", "PHYSICAL_SOURCES"}),
        briefly(physical_sources_view(),
                {"ID", "LOGICAL", "WORKER", "TYPE", "CONFIG", "FORMAT", "QUERIES"}),
        briefly(sinks_view(), {"NAME", "SCHEMA", "WORKER", "TYPE", "CONFIG", "FORMAT", "QUERIES"}),
        briefly(queries_view(), {"ID", "NAME", "STATE", "REASON", "SINCE", "STATEMENT"}),
        briefly(fragments_view(),
                {"ID", "WORKER", "RUN", "SLOTS", "STATE", "REASON", "SINCE", "QUERY_NAME"}),
        briefly(task_lists_view(), {"NAME", "PARTITIONS", "OWNED"}),
        briefly(partitions_view(), {"LIST", "NUMBER", "STATE", "OWNER", "EPOCH", "NEXT", "SINCE"}),
        briefly(counters_view(), {"QUERY_NAME", "WORKER", "STATE", "ROWS_IN", "ROWS_OUT", "LATE",
                                  "SKIPPED", "STALLS", "BUSY_US", "MEMORY"}),
        sources_view(),
        uses_view("QUERY_SOURCES", "baton_query_sources", "SOURCE", integer,
                  "SELECT query, source FROM query_source", "which physical sources a query reads"),
        uses_view("QUERY_SINKS", "baton_query_sinks", "SINK", text,
                  "SELECT query, sink FROM query_sink", "which sinks a query writes to"),
        briefly(statements_view(),
                {"ID", "AT", "PRINCIPAL", "STATEMENT", "OUTCOME", "MESSAGE", "DURATION_US"}),
        changes_view(),
        briefly(locks_view(), {"NAME", "OWNER", "EPOCH", "STATUS", "SINCE", "REMAINING_US"})};
}

}  // namespace baton
