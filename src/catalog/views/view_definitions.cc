#include "catalog/views/view_definitions.h"

#include <algorithm>

#include "base/text.h"
#include "catalog/kinds/kinds.h"
#include "model/counts.h"

namespace baton::views {

namespace {

using enum kinds::ViewType;

kinds::ViewColumn own(std::string_view name, kinds::ViewType type, std::string_view meaning) {
    return {.name = name, .type = type, .derived = false, .brief = false, .meaning = meaning};
}

kinds::View counters_view() {
    kinds::View view{
        .name = "COUNTERS",
        .table = "baton_counters",
        .columns = {own("FRAGMENT", integer, "the fragment that counts"),
                    own("QUERY", integer, "the query it is part of"),
                    own("QUERY_NAME", text, "the name of the query"),
                    own("WORKER", text, "where it runs"),
                    own("RUN", integer, "the run of the query in which it counts"),
                    own("STATE", text, "of the fragment")},
        .live = true,
        .meaning =
            "the counters of fragments; about a second old while a fragment runs, and empty "
            "if they are not known"};
    std::string counters;
    for (const FragmentCounter& counter : kCounters) {
        view.columns.push_back(own(counter.name, integer, counter.meaning));
        counters += ", f." + to_lower(counter.name);
    }
    view.definition =
        "SELECT f.id AS fragment, f.query, q.name AS query_name, f.worker, f.run, f.state" +
        counters + " FROM fragment f JOIN query q ON q.id = f.query";
    return view;
}

kinds::View sources_view() {
    return {
        .name = "SOURCES",
        .table = "baton_sources",
        .columns = {own("LOGICAL", text, "the logical source"), own("SCHEMA", json, "its columns"),
                    own("ID", integer, "of a physical source; empty if it has none"),
                    own("WORKER", text, "the worker that reads it"), own("TYPE", text, "its type"),
                    own("CONFIG", json, "its options, secrets masked"),
                    own("FORMAT", json, "how its bytes become rows")},
        .definition =
            "SELECT l.name AS logical, l.columns, p.id, p.worker, p.type, "
            "p.options_shown, p.format_shown FROM logical_source l LEFT JOIN "
            "physical_source p ON p.logical = l.name",
        .meaning = "logical sources with their physical ones, one row each"};
}

kinds::View uses_view(std::string_view name, std::string table, std::string_view column,
                      kinds::ViewType type, std::string definition, std::string_view meaning) {
    return {.name = name,
            .table = std::move(table),
            .key_columns = 2,
            .columns = {own("QUERY", integer, "the query"),
                        own(column, type, "the source, sink or table that it uses")},
            .definition = std::move(definition),
            .meaning = meaning};
}

kinds::View statements_view() {
    return {.name = "STATEMENTS",
            .table = "baton_statements",
            .columns = {own("ID", integer, "its number"), own("AT", time, "when it was received"),
                        own("PRINCIPAL", text, "the user that sent it"),
                        own("STATEMENT", text, "its text, secrets masked"),
                        own("OUTCOME", text, "OK or ERROR"),
                        own("ERROR", integer, "the number of the error"),
                        own("MESSAGE", text, "the text of the error"),
                        own("DURATION_US", integer, "how long it took, in microseconds"),
                        own("REVISION", integer, "of the catalog after it; empty if unchanged")},
            .definition =
                "SELECT id, received, principal, statement, outcome, error, message, "
                "duration_us, revision FROM statement_log",
            .meaning = "the log of statements, with their users and outcomes"};
}

kinds::View changes_view() {
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

kinds::View locks_view() {
    return {.name = "LOCKS",
            .table = "baton_locks",
            .columns = {own("NAME", text, "its name; the coordinator's is `leader`"),
                        own("OWNER", text, "its last owner: host:pid:id, and its address"),
                        own("EPOCH", integer, "grows with every term"),
                        own("EXPIRES_US", integer,
                            "when its lease ends, in microseconds since 1970 by the database's "
                            "clock; 0: it was released"),
                        own("STATUS", text, "ACTIVE, INACTIVE or DELETABLE"),
                        own("SINCE", time, "when this term began; empty before the first"),
                        own("REMAINING_US", integer,
                            "how long its lease still lasts; 0: the lock is free")},
            .definition =
                "SELECT lock_key, owner, epoch, expires_at, status, "
                "CASE WHEN taken_at > 0 THEN {taken} END, "
                "CASE WHEN expires_at > {now_us} THEN expires_at - {now_us} ELSE 0 END FROM ("
                "SELECT lock_key, owner, epoch, expires_at, status, taken_at FROM lease UNION ALL "
                "SELECT lock_key, owner, epoch, expires_at, status, taken_at FROM lock_lease) "
                "held",
            .meaning = "the lock of the leader, and other locks of the cluster"};
}

kinds::View briefly(kinds::View view, const std::vector<std::string_view>& shown_columns) {
    for (kinds::ViewColumn& column : view.columns) {
        column.brief = std::find(shown_columns.begin(), shown_columns.end(), column.name) !=
                       shown_columns.end();
    }
    return view;
}

}  // namespace

std::vector<kinds::View> make_views() {
    std::vector<kinds::View> views;
    for (const kinds::AnyKind& kind : kinds::kinds()) views.push_back(kind.view);
    for (kinds::View& view : std::vector<kinds::View>{
             briefly(counters_view(), {"QUERY_NAME", "WORKER", "STATE", "ROWS_IN", "ROWS_OUT",
                                       "LATE", "SKIPPED", "STALLS", "BUSY_US", "MEMORY"}),
             sources_view(),
             uses_view("QUERY_SOURCES", "baton_query_sources", "SOURCE", integer,
                       "SELECT query, source FROM query_source",
                       "which physical sources a query reads"),
             uses_view("QUERY_SINKS", "baton_query_sinks", "SINK", text,
                       "SELECT query, sink FROM query_sink", "which sinks a query writes to"),
             uses_view("QUERY_TABLES", "baton_query_tables", "TARGET", text,
                       "SELECT query, target FROM query_table", "which tables a query writes into"),
             briefly(statements_view(),
                     {"ID", "AT", "PRINCIPAL", "STATEMENT", "OUTCOME", "MESSAGE", "DURATION_US"}),
             changes_view(),
             briefly(locks_view(),
                     {"NAME", "OWNER", "EPOCH", "STATUS", "SINCE", "REMAINING_US"})}) {
        views.push_back(std::move(view));
    }
    return views;
}

}  // namespace baton::views
