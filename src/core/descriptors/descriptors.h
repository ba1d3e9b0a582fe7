// Descriptors say, for every type of source, sink and format, and for queries, which options there
// are: their names, types, defaults, which are needed and which are secret.
//
// Every configuration is validated here before it is stored, so that what is in the catalog can
// be used. The same lists are what SHOW SOURCE TYPES and its likes print.
// Pure: no I/O; whether a file exists or a port is free is the worker's to find out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"

namespace baton::descriptors {

enum class OptionType : std::uint8_t {
    text,
    integer,
    real,
    boolean,
    choice,     // one of `choices`; stored as the descriptor spells it
    delimiter,  // text in which \n, \t, \r, \\ and \0 are escapes; stored decoded, never empty;
                // a backslash stands alone or not at all, so that decoding twice changes nothing
};

struct Option {
    std::string_view key;  // upper case
    OptionType type = OptionType::text;
    bool required = false;
    bool secret = false;
    std::optional<ConfigValue> default_value;
    std::vector<std::string_view> choices;
    std::int64_t least = INT64_MIN;  // of an integer
    std::int64_t most = INT64_MAX;
    std::string_view description;
};

// Why a complete configuration does not fit, though each value by itself does.
struct Misfit {
    std::string_view key;  // the option to blame
    std::string message;   // follows the key: "must have at least one field"
    std::string hint;
};

struct Descriptor {
    std::string_view name;  // as printed and stored: "File", "CSV"
    std::string_view description;
    std::vector<Option> options;
    // Of a source or sink: the formats it can be read or written in; the first is the default.
    std::vector<std::string_view> formats;
    std::optional<Misfit> (*check)(const Config& config) = nullptr;
    bool opens_files = false;  // of the worker, as its options say
};

enum class DescriptorKind : std::uint8_t { source, sink, input_format, output_format };

[[nodiscard]] std::span<const Descriptor> descriptors(DescriptorKind kind);
// Options of QUERY.*. The settings of CREATE WORKER are the catalog's business.
[[nodiscard]] const Descriptor& query_descriptor();

// Of tables of one of table_types(): options of TABLE.*.
[[nodiscard]] const Descriptor& table_descriptor(std::string_view type);
[[nodiscard]] std::span<const std::string_view> table_types();  // the first is the default
// Options of INSERT.*.
[[nodiscard]] const Descriptor& insert_descriptor();

// The descriptor of that name in any case; else unknown_source_type, unknown_sink_type,
// unknown_source_format or unknown_sink_format, with the nearest known name.
[[nodiscard]] Result<const Descriptor*> descriptor_of(DescriptorKind kind, std::string_view name);

// Whether a source or sink of that type opens files of its worker; false of types that are not
// known.
[[nodiscard]] bool opens_files(DescriptorKind kind, std::string_view type);

// One option as it was given.
struct GivenOption {
    std::string key;  // without its namespace; any case
    ConfigValue value;
    std::optional<Position> at;
};

// The complete configuration: given values converted to their option's type, defaults filled in.
// Fails with invalid_configuration (unknown key with the nearest known one, key given twice, value
// that does not fit, with values that would) or missing_configuration, which names every missing
// key. Completing a complete configuration changes nothing. No message holds the value of a secret.
[[nodiscard]] Result<Config> complete(const Descriptor& descriptor,
                                      std::span<const GivenOption> given);

// A source or sink with its format, both complete.
struct Connector {
    std::string type;  // as the descriptor spells it
    Config options;
    Config format;  // "TYPE" is the format's name

    friend bool operator==(const Connector&, const Connector&) = default;
};

// `options` are those of SOURCE.* or SINK.* without HOST and SCHEMA, `format` those of
// INPUT_FORMATTER.* (PARSER.*) or OUTPUT_FORMATTER.*. The format is named by TYPE there; users also
// write SINK.OUTPUT_FORMAT and SINK.INPUT_FORMAT, and SOURCE.TUPLE_DELIMITER for a TCP source.
// These are moved to where they belong; written in two ways they have to agree. Fails as
// descriptor_of and complete do.
[[nodiscard]] Result<Connector> complete_source(std::string_view type,
                                                std::span<const GivenOption> options,
                                                std::span<const GivenOption> format);
[[nodiscard]] Result<Connector> complete_sink(std::string_view type,
                                              std::span<const GivenOption> options,
                                              std::span<const GivenOption> format);

// The same configuration with '***' for every secret that is set. A key that no descriptor knows is
// taken for a secret if its name looks like one (PASSWORD, SECRET, TOKEN, CREDENTIAL).
[[nodiscard]] Config masked(const Descriptor& descriptor, Config config);
[[nodiscard]] bool is_secret(const Descriptor* descriptor, std::string_view key);

}  // namespace baton::descriptors
