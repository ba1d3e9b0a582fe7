// Binding gives the settings of a statement their meaning: which option of which type each one is,
// checked against the descriptors. Bound settings have passed them; nothing else is stored or run.
//
// Namespaces: SOURCE.*, INPUT_FORMATTER.* (also PARSER.*), SINK.*, OUTPUT_FORMATTER.*, QUERY.*.
// SOURCE.HOST and SINK.HOST are the placement, SOURCE.SCHEMA and SINK.SCHEMA the schema of an
// inline source or sink; neither is an option of the connector.
// Fails with unknown_*_type, unknown_*_format, invalid_configuration, missing_configuration.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/result.h"
#include "core/descriptors/descriptors.h"
#include "model/config.h"
#include "model/entities.h"
#include "sql/ast.h"

namespace baton::binding {

// A source or sink as it was described, with where it is to be.
struct BoundConnector : descriptors::Connector {
    std::optional<std::string> host;  // the worker; none: the only one there is
    std::optional<Schema> schema;     // inline sources and sinks only

    friend bool operator==(const BoundConnector&, const BoundConnector&) = default;
};

[[nodiscard]] Result<BoundConnector> bind_source(const std::string& type,
                                                 std::span<const sql::Setting> settings);
[[nodiscard]] Result<BoundConnector> bind_sink(const std::string& type,
                                               std::span<const sql::Setting> settings);

struct QuerySettings {
    std::optional<std::string> id;  // QUERY.ID: the name, given the older way
    Config options;

    friend bool operator==(const QuerySettings&, const QuerySettings&) = default;
};
[[nodiscard]] Result<QuerySettings> bind_query(std::span<const sql::Setting> settings);

struct TableSettings {
    std::optional<std::string> location;  // none: a folder of the coordinators' store
    Config options;                       // the others

    friend bool operator==(const TableSettings&, const TableSettings&) = default;
};
// TABLE.*. `type` is that of the table: Delta or Files.
[[nodiscard]] Result<TableSettings> bind_table(const std::string& type,
                                               std::span<const sql::Setting> settings);
// "Delta" for "DELTA"; fails with not_supported, with the types that there are.
[[nodiscard]] Result<std::string> table_type(const std::string& written);

// INSERT.*
struct InsertSettings {
    std::optional<std::string> key;  // an INSERT with the same one happens once

    friend bool operator==(const InsertSettings&, const InsertSettings&) = default;
};
[[nodiscard]] Result<InsertSettings> bind_insert(std::span<const sql::Setting> settings);

struct WorkerSettings {
    std::string name;
    Address control;
    std::optional<Address> data;
    std::optional<std::uint64_t> capacity;
    std::set<std::string> downstream;
    std::set<std::string> upstream;

    friend bool operator==(const WorkerSettings&, const WorkerSettings&) = default;
};
// Fails with invalid_address too.
[[nodiscard]] Result<WorkerSettings> bind_worker(const sql::CreateWorker& statement);

// For printing: whether the value of a setting must not be seen.
[[nodiscard]] bool is_secret_setting(const sql::Setting& setting, const std::string& type);

// The worker that is meant where none is named: the only one, or none at all (the embedded worker)
// if there are no workers. Fails with invalid_configuration if there are several.
[[nodiscard]] Result<std::optional<std::string>> default_worker(
    std::span<const std::string> workers, const std::string& for_what);

}  // namespace baton::binding
