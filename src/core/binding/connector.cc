#include "core/binding/connector.h"

#include <algorithm>
#include <vector>

#include "base/overload.h"
#include "base/text.h"
#include "core/descriptors/descriptors.h"
#include "core/topology/topology.h"

namespace baton::binding {

namespace {

Error invalid(const sql::Setting& setting, const std::string& why, std::string hint = {}) {
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "setting " + in_quotes(join(setting.key, ".")) + " " + why,
                 .at = setting.at,
                 .hint = std::move(hint)};
}

Result<ConfigValue> value_of(const sql::Setting& setting) {
    const auto* literal = std::get_if<sql::Literal>(&setting.value);
    if (literal == nullptr) return invalid(setting, "cannot be a schema");
    return std::visit(
        Overload{
            [&](sql::Null) -> Result<ConfigValue> { return invalid(setting, "cannot be NULL"); },
            [](bool value) -> Result<ConfigValue> { return ConfigValue(value); },
            [&](const sql::Integer& value) -> Result<ConfigValue> {
                constexpr std::uint64_t kMost = INT64_MAX;
                if (value.magnitude > kMost) return invalid(setting, "is out of range");
                const auto magnitude = static_cast<std::int64_t>(value.magnitude);
                return ConfigValue(value.negative ? -magnitude : magnitude);
            },
            [](double value) -> Result<ConfigValue> { return ConfigValue(value); },
            [](const std::string& value) -> Result<ConfigValue> { return ConfigValue(value); },
        },
        *literal);
}

Result<std::string> text_of(const sql::Setting& setting) {
    TRY_ASSIGN(value, value_of(setting));
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || text->empty()) return invalid(setting, "must be a text");
    return *text;
}

// What the settings of one source or sink fall into.
struct Sorted {
    std::optional<std::string> host;
    std::optional<Schema> schema;
    std::vector<descriptors::GivenOption> options;
    std::vector<descriptors::GivenOption> format_options;
};

struct Namespaces {
    std::string own;                    // SOURCE or SINK
    std::set<std::string> format;       // INPUT_FORMATTER, PARSER or OUTPUT_FORMATTER
    std::set<std::string> format_keys;  // keys of `own` that name the format, the older ways
};

Result<Done> sort_own(Sorted& sorted, const sql::Setting& setting) {
    const std::string& key = setting.key.back();
    if (key == "HOST") {
        if (sorted.host) return invalid(setting, "is given twice");
        TRY_ASSIGN(host, text_of(setting));
        sorted.host = host;
        return Done{};
    }
    if (key == "SCHEMA") {
        if (sorted.schema) return invalid(setting, "is given twice");
        const auto* schema = std::get_if<Schema>(&setting.value);
        if (schema == nullptr) return invalid(setting, "must be SCHEMA(column TYPE, ...)");
        TRY(validate(*schema, "setting " + in_quotes(join(setting.key, "."))));
        sorted.schema = *schema;
        return Done{};
    }
    TRY_ASSIGN(value, value_of(setting));
    sorted.options.push_back({.key = key, .value = value, .at = setting.at});
    return Done{};
}

Result<Sorted> sort(std::span<const sql::Setting> settings, const Namespaces& names) {
    Sorted sorted;
    for (const sql::Setting& setting : settings) {
        const std::string& space = setting.key.front();
        if (setting.key.size() == 2 && space == names.own) {
            TRY(sort_own(sorted, setting));
        } else if (setting.key.size() == 2 && names.format.contains(space)) {
            TRY_ASSIGN(value, value_of(setting));
            sorted.format_options.push_back(
                {.key = setting.key.back(), .value = value, .at = setting.at});
        } else {
            return invalid(setting, "is not known here",
                           "the keys are " + names.own + ".* and " + *names.format.begin() + ".*");
        }
    }
    return sorted;
}

using Complete = Result<descriptors::Connector> (*)(std::string_view,
                                                    std::span<const descriptors::GivenOption>,
                                                    std::span<const descriptors::GivenOption>);

Result<BoundConnector> bind(const std::string& type, std::span<const sql::Setting> settings,
                            const Namespaces& names, Complete complete_both) {
    TRY_ASSIGN(sorted, sort(settings, names));
    TRY_ASSIGN(connector, complete_both(type, sorted.options, sorted.format_options));
    BoundConnector bound;
    static_cast<descriptors::Connector&>(bound) = std::move(connector);
    bound.host = std::move(sorted.host);
    bound.schema = std::move(sorted.schema);
    return bound;
}

}  // namespace

Result<BoundConnector> bind_source(const std::string& type,
                                   std::span<const sql::Setting> settings) {
    static const Namespaces kNames{.own = "SOURCE", .format = {"INPUT_FORMATTER", "PARSER"}};
    return bind(type, settings, kNames, descriptors::complete_source);
}

Result<BoundConnector> bind_sink(const std::string& type, std::span<const sql::Setting> settings) {
    static const Namespaces kNames{.own = "SINK", .format = {"OUTPUT_FORMATTER"}};
    return bind(type, settings, kNames, descriptors::complete_sink);
}

namespace {

// The settings of something whose keys are all in one namespace.
Result<Config> options_of(const descriptors::Descriptor& descriptor, std::string_view space,
                          std::string_view noun, std::span<const sql::Setting> settings) {
    std::vector<descriptors::GivenOption> options;
    for (const sql::Setting& setting : settings) {
        if (setting.key.size() != 2 || setting.key.front() != space) {
            return invalid(
                setting, "is not known here",
                "the keys of " + std::string(noun) + " are " + std::string(space) + ".*");
        }
        TRY_ASSIGN(value, value_of(setting));
        options.push_back({.key = setting.key.back(), .value = value, .at = setting.at});
    }
    return descriptors::complete(descriptor, options);
}

std::optional<std::string> taken_out(Config& options, const std::string& key) {
    const auto found = options.find(key);
    if (found == options.end()) return std::nullopt;
    std::string text = std::get<std::string>(std::move(found->second));
    options.erase(found);
    return text;
}

}  // namespace

Result<QuerySettings> bind_query(std::span<const sql::Setting> settings) {
    QuerySettings bound;
    TRY_ASSIGN(config, options_of(descriptors::query_descriptor(), "QUERY", "a query", settings));
    bound.options = std::move(config);
    bound.id = taken_out(bound.options, "ID");
    return bound;
}

Result<std::string> table_type(const std::string& written) {
    for (const std::string_view known : descriptors::table_types()) {
        if (equal_ignoring_case(written, known)) return std::string(known);
    }
    return Error{.code = ErrorCode::not_supported,
                 .message = "a table of type " + in_quotes(written) + " is not supported",
                 .hint = "the types of tables are Delta and Files"};
}

namespace {

// The catalog, and every client that reads it, would have them.
Result<Done> refuse_credentials(const std::string& location) {
    constexpr std::string_view kS3 = "s3://";
    if (!location.starts_with(kS3)) return Done{};
    const std::string_view rest = std::string_view(location).substr(kS3.size());
    bool found = rest.substr(0, rest.find_first_of("/?")).find('@') != std::string_view::npos;
    for (const char* const secret : {"access_key", "session_token"}) {
        found = found || rest.find(secret, std::min(rest.find('?'), rest.size())) != rest.npos;
    }
    if (!found) return Done{};
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "TABLE.LOCATION has credentials in it, which the catalog would keep",
                 .hint =
                     "give them to the coordinators, as AWS_ACCESS_KEY_ID and "
                     "AWS_SECRET_ACCESS_KEY of their environment or in a profile"};
}

}  // namespace

Result<TableSettings> bind_table(const std::string& type, std::span<const sql::Setting> settings) {
    TableSettings bound;
    TRY_ASSIGN(config,
               options_of(descriptors::table_descriptor(type), "TABLE", "a table", settings));
    bound.options = std::move(config);
    bound.location = taken_out(bound.options, "LOCATION");
    if (bound.location) TRY(refuse_credentials(*bound.location));
    return bound;
}

Result<InsertSettings> bind_insert(std::span<const sql::Setting> settings) {
    InsertSettings bound;
    TRY_ASSIGN(config,
               options_of(descriptors::insert_descriptor(), "INSERT", "an INSERT", settings));
    bound.key = taken_out(config, "KEY");
    return bound;
}

namespace {

Result<Done> bind_worker_setting(WorkerSettings& worker, const sql::Setting& setting) {
    const std::string& key = setting.key.back();
    if (key == "CAPACITY") {
        TRY_ASSIGN(value, value_of(setting));
        const auto* capacity = std::get_if<std::int64_t>(&value);
        if (capacity == nullptr || *capacity < 0) {
            return invalid(setting, "must be a whole number from 0");
        }
        if (worker.capacity) return invalid(setting, "is given twice");
        worker.capacity = static_cast<std::uint64_t>(*capacity);
        return Done{};
    }
    TRY_ASSIGN(text, text_of(setting));
    if (key == "DATA") {
        if (worker.data) return invalid(setting, "is given twice");
        TRY_ASSIGN(address, topology::parse_address(text));
        worker.data = address;
    } else if (key == "NAME") {
        if (!worker.name.empty()) return invalid(setting, "is given twice");
        worker.name = text;
    } else {
        auto& peers = key == "UPSTREAM" ? worker.upstream : worker.downstream;
        if (!peers.insert(text).second)
            return invalid(setting, "names " + in_quotes(text) + " twice");
    }
    return Done{};
}

}  // namespace

Result<WorkerSettings> bind_worker(const sql::CreateWorker& statement) {
    static const std::vector<std::string> kKeys = {"DATA", "CAPACITY", "DOWNSTREAM", "UPSTREAM",
                                                   "NAME"};
    WorkerSettings worker;
    TRY_ASSIGN(control, topology::parse_address(statement.address));
    worker.control = control;
    for (const sql::Setting& setting : statement.settings) {
        // WORKER.CAPACITY is CAPACITY.
        const bool qualified = setting.key.size() == 2 && setting.key.front() == "WORKER";
        const std::string& key = setting.key.back();
        const bool known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
        if (!known || (setting.key.size() != 1 && !qualified)) {
            std::string hint = did_you_mean(key, kKeys);
            if (hint.empty()) hint = "the keys of a worker are " + join(kKeys, ", ");
            return invalid(setting, "is not known here", hint);
        }
        TRY(bind_worker_setting(worker, setting));
    }
    if (worker.name.empty()) worker.name = to_string(control);
    return worker;
}

bool is_secret_setting(const sql::Setting& setting, const std::string& type) {
    const std::string& key = setting.key.back();
    const std::string& space = setting.key.front();
    const auto looks_secret_in = [&](descriptors::DescriptorKind kind, std::string_view name) {
        const auto descriptor = descriptors::descriptor_of(kind, name);
        return descriptors::is_secret(descriptor ? *descriptor : nullptr, key);
    };
    if (space == "SOURCE") return looks_secret_in(descriptors::DescriptorKind::source, type);
    if (space == "SINK") return looks_secret_in(descriptors::DescriptorKind::sink, type);
    return descriptors::is_secret(nullptr, key);
}

Result<std::optional<std::string>> default_worker(std::span<const std::string> workers,
                                                  const std::string& for_what) {
    if (workers.empty()) return std::optional<std::string>();
    if (workers.size() == 1) return std::optional<std::string>(workers.front());
    const std::string space = for_what.find("sink") == std::string::npos ? "SOURCE" : "SINK";
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "cannot place " + for_what + ": there are several workers (" +
                            enumerate(workers, 5) + ") and none is named",
                 .hint = "say which one with 'worker' AS " + space + ".HOST"};
}

}  // namespace baton::binding
