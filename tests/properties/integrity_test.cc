// What is in the catalog is whole, whatever was asked before. One property for each invariant.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "coordinator/sessions/session.h"
#include "core/descriptors/descriptors.h"
#include "properties/picks.h"
#include "properties/world.h"
#include "sql/parser.h"

namespace baton::properties {

namespace {

const Schema kSchema{.columns = {{.name = "A"}}};

binding::BoundConnector file_on(const std::string& worker) {
    binding::BoundConnector connector;
    connector.type = "File";
    connector.options = {{"FILE_PATH", std::string("f")}};
    connector.host = worker;
    return connector;
}

binding::BoundConnector same_as(const ModelConnector& other) {
    binding::BoundConnector connector;
    connector.type = other.type;
    connector.options = other.options;
    connector.format = other.format;
    connector.host = other.worker;
    return connector;
}

// Fails the property if the raw query finds a row.
std::set<std::string> set_of(const std::vector<std::string>& names) {
    return {names.begin(), names.end()};
}

RC_GTEST_PROP(CatalogIntegrity, LogicalSourceNamesAreUnique, ()) {
    World world;
    world.perform(*any_sequence(15));
    for (const auto& [name, schema] : world.actual().logical) {
        world.must_refuse(catalog::request::CreateLogicalSource{name, kSchema},
                          ErrorCode::source_exists);
    }
    require_none(world, "SELECT name FROM logical_source GROUP BY name HAVING COUNT(*) > 1",
                 "a logical source is there twice");
}

RC_GTEST_PROP(CatalogIntegrity, SinkNamesAreUnique, ()) {
    World world;
    world.perform(*any_sequence(15));
    for (const auto& [name, sink] : world.actual().sinks) {
        world.must_refuse(catalog::request::CreateSink{name, kSchema, file_on(sink.worker)},
                          ErrorCode::sink_exists);
    }
    require_none(world, "SELECT name FROM sink GROUP BY name HAVING COUNT(*) > 1",
                 "a sink is there twice");
}

RC_GTEST_PROP(CatalogIntegrity, SchemasAreNeverEmptyNorRepeatAName, ()) {
    World world;
    (void)world.ask(statement("CREATE WORKER 'h1:1' SET ('W1' AS NAME)").request);
    const auto names = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("", "A", "B", "C", "D", "a", "Ä"));
    Schema schema;
    for (const std::string& name : names) schema.columns.push_back({.name = name});
    const std::set<std::string> different = set_of(names);
    const bool valid =
        !names.empty() && different.size() == names.size() && !different.contains("");
    const catalog::request::CreateLogicalSource source{"S", schema};
    const catalog::request::CreateSink sink{"K", schema, file_on("W1")};
    if (!valid) {
        world.must_refuse(source, ErrorCode::schema);
        world.must_refuse(sink, ErrorCode::schema);
        return;
    }
    (void)world.ask(source);
    (void)world.ask(sink);
    RC_ASSERT(world.actual().logical.at("S") == schema);
    RC_ASSERT(world.actual().sinks.at("K").schema == schema);
}

RC_GTEST_PROP(CatalogIntegrity, TheSamePhysicalSourceIsNotCreatedTwice, ()) {
    World world;
    world.perform(*any_sequence(20));
    for (const auto& [id, source] : world.actual().physical) {
        world.must_refuse(catalog::request::CreatePhysicalSource{source.logical, same_as(source)},
                          ErrorCode::source_exists);
    }
    require_none(world,
                 "SELECT logical FROM physical_source GROUP BY logical, worker, type, options, "
                 "format HAVING COUNT(*) > 1",
                 "a physical source is there twice");
}

RC_GTEST_PROP(CatalogIntegrity, SourcesAndSinksNeedTheirWorker, ()) {
    World world;
    world.perform(*any_sequence(15));
    (void)world.ask(catalog::request::CreateLogicalSource{"S9", kSchema});
    const auto workers = world.actual().workers;
    const std::string name = *rc::gen::element<std::string>("W1", "W2", "W3", "NOBODY", "");
    const catalog::request::CreatePhysicalSource source{"S9", file_on(name)};
    const catalog::request::CreateSink sink{"K9", kSchema, file_on(name)};
    if (workers.contains(name)) {
        RC_ASSERT(std::holds_alternative<coordinator::Accepted>(world.ask(source)));
        RC_ASSERT(std::holds_alternative<coordinator::Accepted>(world.ask(sink)));
    } else {
        world.must_refuse(source, ErrorCode::unknown_worker);
        world.must_refuse(sink, ErrorCode::unknown_worker);
    }
}

RC_GTEST_PROP(CatalogIntegrity, PhysicalSourcesNeedTheirLogicalSource, ()) {
    World world;
    world.perform(*any_sequence(15));
    (void)world.ask(statement("CREATE WORKER 'h9:1' SET ('W9' AS NAME)").request);
    const std::string name = *rc::gen::element<std::string>("S1", "S2", "S3", "s1", "");
    const catalog::request::CreatePhysicalSource source{name, file_on("W9")};
    if (world.actual().logical.contains(name)) {
        RC_ASSERT(std::holds_alternative<coordinator::Accepted>(world.ask(source)));
    } else {
        world.must_refuse(source, ErrorCode::unknown_source);
    }
}

// ---- statements ---------------------------------------------------------------------------------

struct Settings {
    std::string type;
    std::vector<std::string> settings;
};

rc::Gen<Settings> any_sink_settings() {
    return rc::gen::exec([] {
        Settings any;
        any.type =
            *rc::gen::element<std::string>("File", "Void", "Print", "MQTT", "Parquet", "Nil");
        any.settings = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "'out' AS SINK.FILE_PATH", "TRUE AS SINK.APPEND", "'maybe' AS SINK.APPEND",
            "'CSV' AS SINK.OUTPUT_FORMAT", "'JSON' AS OUTPUT_FORMATTER.TYPE",
            "'b' AS SINK.SERVER_URI", "'t' AS SINK.TOPIC", "'x' AS SINK.NO_SUCH_KEY",
            "-1 AS SINK.INGESTION", "7 AS SINK.INGESTION", "NULL AS SINK.TOPIC",
            "'W1' AS SINK.HOST", "'x' AS SOURCE.FILE_PATH"));
        return any;
    });
}

RC_GTEST_PROP(CatalogIntegrity, ConfigurationsFitTheirDescriptor, ()) {
    World world;
    (void)world.ask(statement("CREATE WORKER 'h1:1' SET ('W1' AS NAME)").request);
    const Settings any = *rc::gen::resize(4, any_sink_settings());
    std::string sql = "CREATE SINK K (A INT64) TYPE " + any.type;
    for (std::size_t i = 0; i < any.settings.size(); ++i) {
        sql += (i == 0 ? " SET (" : ", ") + any.settings[i];
    }
    if (!any.settings.empty()) sql += ")";
    RC_LOG() << sql << std::endl;
    const Revision before = world.revision();
    const coordinator::Execution execution =
        coordinator::Session(world.coordinator(), "tester").execute(sql);
    const ModelState state = world.actual();
    if (execution.error) {
        const std::set<ErrorCode> expected = {
            ErrorCode::invalid_configuration, ErrorCode::missing_configuration,
            ErrorCode::unknown_sink_type, ErrorCode::unknown_sink_format};
        require(expected.contains(execution.error->code), to_string(*execution.error));
        require(state.sinks.empty() && world.revision() == before, "something was left");
        return;
    }
    const ModelConnector& sink = state.sinks.at("K");
    const auto descriptor =
        require_value(descriptors::descriptor_of(descriptors::DescriptorKind::sink, sink.type));
    std::vector<descriptors::GivenOption> given;
    for (const auto& [key, value] : sink.options) given.push_back({.key = key, .value = value});
    require(require_value(descriptors::complete(*descriptor, given)) == sink.options,
            "what is stored is not a complete configuration");
    world.check_soundness();
}

rc::Gen<std::string> damaged_statement() {
    return rc::gen::exec([] {
        std::string text = (*any_ask()).text;
        const auto at = between<std::size_t>(0, text.size());
        switch (between(0, 3)) {
            case 0:
                text.resize(at);
                break;
            case 1:
                text.erase(at, between<std::size_t>(1, 5));
                break;
            default:
                text.insert(at, *rc::gen::element<std::string>("(", ")", "'", ";;(", " WHERE ",
                                                               "\x01", "\xff", " 1 1 ", "\""));
        }
        return text;
    });
}

RC_GTEST_PROP(CatalogIntegrity, StatementsThatDoNotParseAreRejectedAndLeaveNothing, ()) {
    World world;
    world.perform(*any_sequence(8));
    const std::string good = "CREATE LOGICAL SOURCE LEFT_BEHIND (A INT64)";
    const std::string text = good + ";" + *damaged_statement();
    RC_PRE(!sql::parse(text));
    const auto before = lines_of(world.actual());
    const Revision at = world.revision();
    const coordinator::Execution execution =
        coordinator::Session(world.coordinator(), "tester").execute(text);
    RC_ASSERT(execution.error.has_value());
    RC_ASSERT(execution.results.empty());
    require_same_lines(before, lines_of(world.actual()), "the catalog after a syntax error");
    RC_ASSERT(world.revision() == at);
}

// ---- drops of what is referred to ---------------------------------------------------------------

// Asks to drop it: refused if anyone refers to it, naming exactly those; else it goes.
void check_drop(World& world, const catalog::Request& drop, ErrorCode in_use,
                const std::set<std::string>& users) {
    if (users.empty()) {
        const coordinator::Outcome outcome = world.ask(drop, false);
        require(std::holds_alternative<coordinator::Accepted>(outcome),
                "a drop of what nobody uses is refused");
        return;
    }
    const Error error = world.must_refuse(drop, in_use);
    require(set_of(error.related) == users, "others are named: " + to_string(error));
}

RC_GTEST_PROP(Cleanup, ALogicalSourceWithPhysicalSourcesIsNotDropped, ()) {
    World world;
    world.perform(*any_sequence(25));
    const ModelState state = world.actual();
    for (const auto& [name, schema] : state.logical) {
        std::set<std::string> users;
        for (const auto& [id, source] : state.physical) {
            if (source.logical == name) users.insert(std::to_string(id));
        }
        check_drop(world, catalog::request::DropLogicalSource{name}, ErrorCode::source_in_use,
                   users);
    }
}

RC_GTEST_PROP(Cleanup, APhysicalSourceThatQueriesReadIsNotDropped, ()) {
    World world;
    world.perform(*any_sequence(25));
    const ModelState state = world.actual();
    for (const auto& [id, source] : state.physical) {
        std::set<std::string> users;
        for (const auto& [query_id, query] : state.queries) {
            if (query.sources.contains(id)) users.insert(query.name);
        }
        check_drop(world, catalog::request::DropPhysicalSource{PhysicalSourceId(id)},
                   ErrorCode::source_in_use, users);
    }
}

RC_GTEST_PROP(Cleanup, ASinkThatQueriesWriteToIsNotDropped, ()) {
    World world;
    world.perform(*any_sequence(25));
    const ModelState state = world.actual();
    for (const auto& [name, sink] : state.sinks) {
        std::set<std::string> users;
        for (const auto& [id, query] : state.queries) {
            if (query.sinks.contains(name)) users.insert(query.name);
        }
        check_drop(world, catalog::request::DropSink{name}, ErrorCode::sink_in_use, users);
    }
}

RC_GTEST_PROP(Cleanup, AWorkerWithFragmentsSourcesSinksOrPartitionsIsNotDropped, ()) {
    World world;
    world.perform(*any_sequence(25));
    const ModelState state = world.actual();
    for (const auto& [name, worker] : state.workers) {
        std::set<std::string> users;
        for (const auto& [id, f] : state.fragments) {
            if (f.worker == name) users.insert(state.queries.at(f.query).name);
        }
        for (const auto& [id, source] : state.physical) {
            if (source.worker == name) users.insert(source.logical);
        }
        for (const auto& [sink_name, sink] : state.sinks) {
            if (sink.worker == name) users.insert(sink_name);
        }
        for (const auto& [key, ownership] : state.partitions) {
            const std::string* owner = owner_of(ownership);
            if (owner != nullptr && *owner == name) users.insert(key.list);
        }
        check_drop(world, catalog::request::DropWorker{name}, ErrorCode::worker_in_use, users);
    }
}

// ---- references ---------------------------------------------------------------------------------

RC_GTEST_PROP(CatalogIntegrity, ReferentialIntegrityCanBeBrokenByNoSequence, ()) {
    World world;
    const Sequence sequence = *any_sequence(40);
    constexpr std::array kReferences = {
        std::array{"network_link", "upstream", "worker", "name"},
        std::array{"network_link", "downstream", "worker", "name"},
        std::array{"physical_source", "logical", "logical_source", "name"},
        std::array{"physical_source", "worker", "worker", "name"},
        std::array{"sink", "worker", "worker", "name"},
        std::array{"query_source", "query", "query", "id"},
        std::array{"query_source", "source", "physical_source", "id"},
        std::array{"query_sink", "query", "query", "id"},
        std::array{"query_sink", "sink", "sink", "name"},
        std::array{"fragment", "query", "query", "id"},
        std::array{"fragment", "worker", "worker", "name"},
    };
    for (const Item& item : sequence.items) {
        world.perform(item);
        for (const auto& [table, column, target, key] : kReferences) {
            const std::string from(table);
            require_none(world,
                         "SELECT " + std::string(column) + " FROM " + from + " WHERE " + column +
                             " NOT IN (SELECT " + key + " FROM " + target + ")",
                         from + "." + column + " refers to what is not there");
        }
        require_none(world, "PRAGMA foreign_key_check", "a broken reference in");
    }
}

}  // namespace

}  // namespace baton::properties
