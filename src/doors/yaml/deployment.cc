#include "doors/yaml/deployment.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "doors/yaml/fields.h"
#include "doors/yaml/tree.h"
#include "doors/yaml/workers.h"
#include "sql/parser.h"

namespace baton::yaml {

namespace {

using Statements = std::vector<sql::Statement>;
using Settings = std::vector<sql::Setting>;

// ---- schemas ----------------------------------------------------------------------------------

struct TypeWord {
    std::string_view word;
    DataType type;
};

// The words of SQL besides the one spelling of each type.
constexpr std::array kTypeWords = {
    TypeWord{"TINYINT", DataType::int8},
    TypeWord{"SMALLINT", DataType::int16},
    TypeWord{"INT", DataType::int32},
    TypeWord{"INTEGER", DataType::int32},
    TypeWord{"BIGINT", DataType::int64},
    TypeWord{"TINYINT UNSIGNED", DataType::uint8},
    TypeWord{"SMALLINT UNSIGNED", DataType::uint16},
    TypeWord{"INT UNSIGNED", DataType::uint32},
    TypeWord{"INTEGER UNSIGNED", DataType::uint32},
    TypeWord{"BIGINT UNSIGNED", DataType::uint64},
};

Result<DataType> type_of(const Node& node) {
    TRY_ASSIGN(text, text_of(node, "the type of a column"));
    if (const auto type = data_type_of(text)) return *type;
    for (const auto& [word, type] : kTypeWords) {
        if (equal_ignoring_case(word, text)) return type;
    }
    std::vector<std::string> known;
    for (const DataType type : all_data_types()) known.emplace_back(to_string(type));
    std::string hint = did_you_mean(text, known);
    return Error{.code = ErrorCode::schema,
                 .message = "unknown type " + shown(text) + " of a column",
                 .at = node.at,
                 .hint = hint.empty() ? "known: " + join(known, ", ") : hint};
}

Result<bool> nullable_of(const Node* node) {
    if (node == nullptr) return false;
    TRY_ASSIGN(value, literal_of(*node, "\"nullable\""));
    if (const auto* nullable = std::get_if<bool>(&value)) return *nullable;
    return refusal(node->at, "\"nullable\" must be true or false");
}

Result<Schema> schema_of(const Node& node, const std::string& of_what) {
    static const std::vector<KnownKey> kKnown = {{.name = "name", .required = true},
                                                 {.name = "type", .required = true},
                                                 {.name = "nullable"}};
    Schema schema;
    TRY_ASSIGN(items, items_of(&node, "\"schema\""));
    for (const Node& item : items) {
        TRY_ASSIGN(fields, Fields::of(item, "a column", kKnown));
        TRY_ASSIGN(name, name_of(fields.at("name"), "the name of a column"));
        TRY_ASSIGN(type, type_of(fields.at("type")));
        TRY_ASSIGN(nullable, nullable_of(fields.find("nullable")));
        schema.columns.push_back({.name = std::move(name), .type = type, .nullable = nullable});
    }
    const auto valid = validate(schema, of_what);
    if (valid) return schema;
    Error error = valid.error();
    error.at = node.at;
    return error;
}

// ---- settings ---------------------------------------------------------------------------------

Result<Done> add_settings(const std::string& name_space, const Node* node, std::string_view what,
                          Settings& settings) {
    TRY_ASSIGN(entries, entries_of(node, what));
    for (const Entry& entry : entries) {
        TRY_ASSIGN(value, literal_of(entry.value, shown(entry.key)));
        settings.push_back(
            {.key = {name_space, entry.canonical}, .value = std::move(value), .at = entry.at});
    }
    return Done{};
}

Result<Done> add_host(const std::string& name_space, const Node* node, const Workers& workers,
                      Settings& settings) {
    if (node == nullptr) return Done{};
    TRY_ASSIGN(host, text_of(*node, "\"host\""));
    settings.push_back({.key = {name_space, "HOST"},
                        .value = sql::Literal(workers.control_of(host)),
                        .at = node->at});
    return Done{};
}

// ---- sources and sinks ------------------------------------------------------------------------

Result<sql::Statement> read_logical(const Node& node) {
    static const std::vector<KnownKey> kKnown = {{.name = "name", .required = true},
                                                 {.name = "schema", .required = true}};
    TRY_ASSIGN(fields, Fields::of(node, "a logical source", kKnown));
    TRY_ASSIGN(name, name_of(fields.at("name"), "the name of a logical source"));
    TRY_ASSIGN(schema, schema_of(fields.at("schema"), "logical source " + shown(name)));
    return sql::Statement{
        .node = sql::CreateLogicalSource{.name = std::move(name), .schema = std::move(schema)},
        .at = node.at};
}

Result<sql::Statement> read_physical(const Node& node, const Workers& workers) {
    static const std::vector<KnownKey> kKnown = {
        {.name = "logical", .required = true, .older_names = {"logical_source"}},
        {.name = "type", .required = true, .older_names = {"source_type"}},
        {.name = "host", .older_names = {"host_addr"}},
        {.name = "source_config"},
        {.name = "parser_config"}};
    TRY_ASSIGN(fields, Fields::of(node, "a physical source", kKnown));
    TRY_ASSIGN(logical, name_of(fields.at("logical"), "the name of a logical source"));
    TRY_ASSIGN(type, name_of(fields.at("type"), "the type of a source"));
    sql::CreatePhysicalSource create{.logical = std::move(logical), .type = std::move(type)};
    TRY(add_host("SOURCE", fields.find("host"), workers, create.settings));
    TRY(add_settings("SOURCE", fields.find("source_config"), "\"source_config\"", create.settings));
    TRY(add_settings("INPUT_FORMATTER", fields.find("parser_config"), "\"parser_config\"",
                     create.settings));
    return sql::Statement{.node = std::move(create), .at = node.at};
}

Result<sql::Statement> read_sink(const Node& node, const Workers& workers) {
    static const std::vector<KnownKey> kKnown = {
        {.name = "name", .required = true},
        {.name = "type", .required = true, .older_names = {"sink_type"}},
        {.name = "schema", .required = true},
        {.name = "host", .older_names = {"host_addr"}},
        {.name = "config"},
        {.name = "parser_config"}};
    TRY_ASSIGN(fields, Fields::of(node, "a sink", kKnown));
    TRY_ASSIGN(name, name_of(fields.at("name"), "the name of a sink"));
    TRY_ASSIGN(type, name_of(fields.at("type"), "the type of a sink"));
    TRY_ASSIGN(schema, schema_of(fields.at("schema"), "sink " + shown(name)));
    sql::CreateSink create{
        .name = std::move(name), .schema = std::move(schema), .type = std::move(type)};
    TRY(add_host("SINK", fields.find("host"), workers, create.settings));
    TRY(add_settings("SINK", fields.find("config"), "\"config\"", create.settings));
    TRY(add_settings("OUTPUT_FORMATTER", fields.find("parser_config"), "\"parser_config\"",
                     create.settings));
    return sql::Statement{.node = std::move(create), .at = node.at};
}

// ---- queries ----------------------------------------------------------------------------------

// A name that SQL could only write between quotes is kept as it is.
Result<std::string> query_name_of(const Node& node) {
    if (auto name = name_of(node, "the name of a query")) return name;
    TRY_ASSIGN(text, filled_text_of(node, "the name of a query"));
    return text;
}

Result<sql::Statement> read_query_text(const Node& node) {
    TRY_ASSIGN(text, text_of(node, "a query"));
    auto statement = sql::parse_one(text);
    if (!statement) {
        Error error = statement.error();
        if (error.at) {
            error.message += " (line " + std::to_string(error.at->line) + ", column " +
                             std::to_string(error.at->column) + " of the query)";
        }
        error.at = node.at;
        return error;
    }
    if (std::holds_alternative<sql::CreateQuery>(statement->node)) return statement;
    return refusal(node.at, "only queries may stand under \"query\"", "write SELECT ... INTO ...");
}

Result<sql::Statement> read_query(const Node& node) {
    static const std::vector<KnownKey> kKnown = {
        {.name = "query", .required = true, .older_names = {"sql"}}, {.name = "name"}};
    if (!std::holds_alternative<Mapping>(node.content)) return read_query_text(node);
    TRY_ASSIGN(fields, Fields::of(node, "a query", kKnown));
    TRY_ASSIGN(statement, read_query_text(fields.at("query")));
    const Node* const given = fields.find("name");
    if (given == nullptr) return statement;
    TRY_ASSIGN(name, query_name_of(*given));
    auto& query = std::get<sql::CreateQuery>(statement.node);
    if (query.name) {
        return refusal(given->at, "the query already has the name " + in_quotes(*query.name));
    }
    query.name = std::move(name);
    return statement;
}

// ---- the file ---------------------------------------------------------------------------------

template <class Read>
Result<Done> read_each(const Node* node, std::string_view what, const Read& read,
                       Statements& statements) {
    TRY_ASSIGN(items, items_of(node, what));
    for (const Node& item : items) {
        TRY_ASSIGN(statement, read(item));
        statements.push_back(std::move(statement));
    }
    return Done{};
}

Result<Done> read_queries(const Node* node, Statements& statements) {
    if (node == nullptr || std::holds_alternative<Sequence>(node->content)) {
        return read_each(node, "\"query\"", read_query, statements);
    }
    TRY_ASSIGN(statement, read_query(*node));
    statements.push_back(std::move(statement));
    return Done{};
}

Result<std::vector<std::string>> read_placement(const Node* node, const std::string& what,
                                                const Workers& workers) {
    std::vector<std::string> known;
    for (const auto& [address, control] : workers.addresses) known.push_back(address);
    std::vector<std::string> placement;
    TRY_ASSIGN(items, items_of(node, what));
    for (const Node& item : items) {
        TRY_ASSIGN(address, text_of(item, "each item of " + what));
        if (!workers.addresses.contains(address)) {
            return Error{.code = ErrorCode::unknown_worker,
                         .message = what + " names " + shown(address) +
                                    ", which is not a worker of this file",
                         .at = item.at,
                         .hint = did_you_mean(address, known)};
        }
        placement.push_back(workers.control_of(address));
    }
    return placement;
}

}  // namespace

Result<Deployment> read_deployment(std::string_view yaml_text) {
    static const std::vector<KnownKey> kKnown = {
        {.name = "workers"},
        {.name = "logical", .older_names = {"logical_sources"}},
        {.name = "physical", .older_names = {"physical_sources"}},
        {.name = "sinks"},
        {.name = "query", .older_names = {"queries"}},
        {.name = "allow_source_placement"},
        {.name = "allow_sink_placement"}};
    TRY_ASSIGN(root, read_tree(yaml_text));
    TRY_ASSIGN(fields, Fields::of(root, "a deployment file", kKnown));
    TRY_ASSIGN(workers, read_workers(fields.find("workers")));

    Deployment deployment;
    Statements& statements = deployment.statements;
    statements = std::move(workers.statements);
    TRY(read_each(fields.find("logical"), "\"logical\"", read_logical, statements));
    TRY(read_each(
        fields.find("physical"), "\"physical\"",
        [&](const Node& node) { return read_physical(node, workers); }, statements));
    TRY(read_each(
        fields.find("sinks"), "\"sinks\"",
        [&](const Node& node) { return read_sink(node, workers); }, statements));
    TRY(read_queries(fields.find("query"), statements));

    const auto placement = [&](const char* key) {
        return read_placement(fields.find(key), in_quotes(key), workers);
    };
    TRY_ASSIGN(for_sources, placement("allow_source_placement"));
    TRY_ASSIGN(for_sinks, placement("allow_sink_placement"));
    deployment.allow_source_placement = std::move(for_sources);
    deployment.allow_sink_placement = std::move(for_sinks);
    return deployment;
}

}  // namespace baton::yaml
