// What requests about sources and sinks do.
#include <algorithm>

#include "base/text.h"
#include "catalog/application.h"
#include "catalog/kinds/connectors.h"
#include "catalog/kinds/row_cursor.h"

namespace baton::catalog {

namespace {

Error in_use(ErrorCode code, const std::string& what, const std::string& by,
             std::vector<std::string> users) {
    return Error{
        .code = code,
        .message = "cannot drop " + what + ": it is used by " + by + " " + enumerate(users),
        .hint = "drop them first",
        .related = std::move(users)};
}

}  // namespace

Result<Answer> Application::on(const request::CreateLogicalSource& r) {
    // One question to the database, which may be far away.
    TRY_ASSIGN(taken, sql_.query("SELECT 1 FROM logical_source WHERE name = ? UNION ALL "
                                 "SELECT 2 FROM sql_table WHERE name = ?",
                                 {r.name, r.name}));
    const bool existing = std::any_of(taken.begin(), taken.end(), [](const SqlRow& row) {
        return row.front() == SqlValue(std::int64_t{1});
    });
    if (existing && r.if_not_exists) return Answer{.did = Did::existed, .name = r.name};
    if (existing) {
        return Error{.code = ErrorCode::source_exists,
                     .message = "source " + in_quotes(r.name) + " already exists"};
    }
    if (!taken.empty()) TRY(check_no_table(r.name));
    TRY(validate(r.schema, "source " + in_quotes(r.name)));
    TRY(insert(LogicalSource{.name = r.name, .schema = r.schema}));
    return Answer{.did = Did::created, .name = r.name};
}

Result<Answer> Application::on(const request::DropLogicalSource& r) {
    TRY_ASSIGN(found, reader_.logical_source(r.name));
    if (!found) return Answer{.did = Did::absent, .name = r.name};
    TRY_ASSIGN(physical, reader_.physical_sources({.logical = r.name}));
    if (!physical.empty()) {
        std::vector<std::string> ids;
        for (const PhysicalSource& source : physical) ids.push_back(to_string(source.id));
        return in_use(ErrorCode::source_in_use, "source " + in_quotes(r.name), "physical sources",
                      std::move(ids));
    }
    TRY(remove(*found));
    return Answer{.did = Did::dropped,
                  .name = r.name,
                  .dropped = {{sql::EntityKind::logical_source, 0, r.name}}};
}

Result<Done> Application::touch_logical_source(const std::string& name) {
    TRY_ASSIGN(before, reader_.logical_source(name));
    CHECK(before.has_value());
    if (before->revision == revision()) return Done{};
    return update(*before, *before);
}

Result<Answer> Application::on(const request::CreatePhysicalSource& r) {
    TRY_ASSIGN(there, finds("SELECT 1 FROM logical_source WHERE name = ?", r.logical));
    if (!there) {
        TRY_ASSIGN(known, names("SELECT name FROM logical_source ORDER BY name LIMIT 1000", {}));
        return Error{.code = ErrorCode::unknown_source,
                     .message = "unknown source " + in_quotes(r.logical),
                     .hint = did_you_mean(r.logical, known)};
    }
    const binding::BoundConnector& connector = r.connector;
    TRY_ASSIGN(worker, placement(connector, "a physical source of " + in_quotes(r.logical)));
    PhysicalSource source{.logical = r.logical,
                          .worker = worker,
                          .type = connector.type,
                          .source = connector.options,
                          .format = connector.format};
    TRY_ASSIGN(same,
               sql_.query("SELECT id FROM physical_source WHERE logical = ? AND worker = ? "
                          "AND type = ? AND fingerprint = ?",
                          {r.logical, worker, source.type, kinds::configuration_print(source)}));
    if (!same.empty()) {
        return Error{.code = ErrorCode::source_exists,
                     .message = "physical source " +
                                std::to_string(kinds::RowCursor(same[0]).number()) + " of " +
                                in_quotes(r.logical) + " on worker " + in_quotes(worker) +
                                " already has this configuration"};
    }
    source.id = PhysicalSourceId(new_id());
    TRY(insert(source));
    TRY(touch_logical_source(r.logical));
    return Answer{.did = Did::created, .name = r.logical, .id = source.id.value()};
}

Result<Answer> Application::on(const request::DropPhysicalSource& r) {
    const std::string name = to_string(r.id);
    TRY_ASSIGN(found, reader_.physical_source(r.id));
    if (!found) return Answer{.did = Did::absent, .name = name};
    TRY_ASSIGN(queries, names("SELECT q.name FROM query q JOIN query_source s ON s.query = q.id "
                              "WHERE s.source = ? ORDER BY q.name",
                              {kinds::value_of(r.id.value())}));
    if (!queries.empty()) {
        return in_use(ErrorCode::source_in_use, "physical source " + name, "queries",
                      std::move(queries));
    }
    TRY(remove(*found));
    TRY(touch_logical_source(found->logical));
    return Answer{.did = Did::dropped,
                  .name = name,
                  .id = r.id.value(),
                  .dropped = {{sql::EntityKind::physical_source, r.id.value(), found->logical}}};
}

Result<Answer> Application::on(const request::CreateSink& r) {
    TRY_ASSIGN(existing, finds("SELECT 1 FROM sink WHERE name = ?", r.name));
    if (existing && r.if_not_exists) return Answer{.did = Did::existed, .name = r.name};
    if (existing) {
        return Error{.code = ErrorCode::sink_exists,
                     .message = "sink " + in_quotes(r.name) + " already exists"};
    }
    TRY(check_no_table(r.name));
    TRY(validate(r.schema, "sink " + in_quotes(r.name)));
    TRY_ASSIGN(worker, placement(r.connector, "sink " + in_quotes(r.name)));
    TRY(insert(Sink{.name = r.name,
                    .schema = r.schema,
                    .worker = worker,
                    .type = r.connector.type,
                    .sink = r.connector.options,
                    .format = r.connector.format}));
    return Answer{.did = Did::created, .name = r.name};
}

Result<Answer> Application::on(const request::DropSink& r) {
    TRY_ASSIGN(found, reader_.sink(r.name));
    if (!found) return Answer{.did = Did::absent, .name = r.name};
    TRY_ASSIGN(queries, names("SELECT q.name FROM query q JOIN query_sink s ON s.query = q.id "
                              "WHERE s.sink = ? ORDER BY q.name",
                              {r.name}));
    if (!queries.empty()) {
        return in_use(ErrorCode::sink_in_use, "sink " + in_quotes(r.name), "queries",
                      std::move(queries));
    }
    TRY(remove(*found));
    return Answer{
        .did = Did::dropped, .name = r.name, .dropped = {{sql::EntityKind::sink, 0, r.name}}};
}

}  // namespace baton::catalog
