// Requests about tables.
#include "base/text.h"
#include "catalog/application.h"

namespace baton::catalog {

Result<Done> Application::check_no_table(const std::string& name) {
    TRY_ASSIGN(table, finds("SELECT 1 FROM sql_table WHERE name = ?", name));
    if (!table) return Done{};
    return Error{.code = ErrorCode::table_exists,
                 .message = "a table has the name " + in_quotes(name),
                 .hint = "choose another name: sources, sinks and tables share theirs"};
}

Result<Answer> Application::on(const request::CreateTable& r) {
    const std::string& name = r.table.name;
    TRY_ASSIGN(existing, finds("SELECT 1 FROM sql_table WHERE name = ?", name));
    if (existing && r.if_not_exists) return Answer{.did = Did::existed, .name = name};
    if (existing) {
        return Error{.code = ErrorCode::table_exists,
                     .message = "table " + in_quotes(name) + " already exists"};
    }
    TRY_ASSIGN(source, finds("SELECT 1 FROM logical_source WHERE name = ?", name));
    TRY_ASSIGN(sink, finds("SELECT 1 FROM sink WHERE name = ?", name));
    if (source || sink) {
        return Error{.code = ErrorCode::table_exists,
                     .message = std::string(source ? "a source" : "a sink") + " has the name " +
                                in_quotes(name),
                     .hint = "choose another name: sources, sinks and tables share theirs"};
    }
    Table table = r.table;
    table.created = now();
    TRY(insert(table));
    return Answer{.did = Did::created, .name = name};
}

Result<Answer> Application::on(const request::DropTable& r) {
    TRY_ASSIGN(found, reader_.find<Table>(r.name));
    if (!found) return Answer{.did = Did::absent, .name = r.name};
    TRY_ASSIGN(queries, names("SELECT q.name FROM query q JOIN query_table t ON t.query = q.id "
                              "WHERE t.target = ? ORDER BY q.name",
                              {r.name}));
    if (!queries.empty()) {
        return Error{.code = ErrorCode::table_in_use,
                     .message = "cannot drop table " + in_quotes(r.name) + ": queries " +
                                enumerate(queries) + " write into it",
                     .hint = "drop them first"};
    }
    TRY(remove(*found));
    if (found->managed) {
        // Statements that read it may go on for a while: its objects are deleted later.
        TRY(write("INSERT INTO dropped_table (location, dropped) VALUES (?, ?)",
                  {found->location, to_string(now())}));
    }
    return Answer{
        .did = Did::dropped, .name = r.name, .dropped = {{sql::EntityKind::table, 0, r.name}}};
}

Result<Answer> Application::on(const request::NoteTable& r) {
    TRY_ASSIGN(found, reader_.find<Table>(r.name));
    if (!found) return Answer{.did = Did::absent, .name = r.name};
    Table after = *found;
    after.version = r.version;
    after.rows = r.rows;
    after.objects = r.objects;
    after.bytes = r.bytes;
    if (r.version < found->version || after == *found) {
        return Answer{.did = Did::unchanged, .name = r.name};
    }
    TRY(update(*found, after));
    return Answer{.did = Did::changed, .name = r.name};
}

Result<Answer> Application::on(const request::ForgetDroppedTable& r) {
    TRY_ASSIGN(there, finds("SELECT 1 FROM dropped_table WHERE location = ?", r.location));
    if (!there) return Answer{.did = Did::absent, .name = r.location};
    TRY(write("DELETE FROM dropped_table WHERE location = ?", {r.location}));
    tx_.dirty_ = true;  // no view shows it, so that there is no change that would say so
    return Answer{.did = Did::changed, .name = r.location};
}

}  // namespace baton::catalog
