// The lists themselves: every type of source, sink and format, and what it can be told.
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "core/descriptors/descriptors.h"
#include "core/descriptors/generator.h"

namespace baton::descriptors {

namespace {

constexpr std::int64_t kPortMax = 65535;
constexpr std::int64_t kTenMinutesMs = 600000;

using Options = std::vector<Option>;

ConfigValue text(const char* value) {
    return std::string(value);
}

ConfigValue number(std::int64_t value) {
    return value;
}

Option needed_text(std::string_view key, std::string_view description) {
    return {.key = key, .required = true, .description = description};
}

// Times that the worker counts with; far beyond what anybody wants, and far below what overflows.
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kYearsMs = 100 * 365 * kDayMs;
constexpr std::int64_t kConnectSecondsMax = 3600;
constexpr std::int64_t kTableRowsMax = 100'000'000;
constexpr std::int64_t kTablePeriodMin = 100;
constexpr std::int64_t kKeepAliveMax = 65'535;  // of the protocol

Option whole_number(std::string_view key, std::int64_t default_value, std::int64_t least,
                    std::string_view description, std::int64_t most = INT64_MAX) {
    return {.key = key,
            .type = OptionType::integer,
            .default_value = number(default_value),
            .least = least,
            .most = most,
            .description = description};
}

Option yes_or_no(std::string_view key, bool default_value, std::string_view description) {
    return {.key = key,
            .type = OptionType::boolean,
            .default_value = default_value,
            .description = description};
}

Option delimiter(std::string_view key, const char* default_value, std::string_view description) {
    return {.key = key,
            .type = OptionType::delimiter,
            .default_value = text(default_value),
            .description = description};
}

Option choice(std::string_view key, const char* default_value,
              std::vector<std::string_view> choices, std::string_view description) {
    return {.key = key,
            .type = OptionType::choice,
            .default_value = text(default_value),
            .choices = std::move(choices),
            .description = description};
}

// The name of a format within its own namespace, so that a stored format says what it is.
Option format_name(const char* name) {
    return choice("TYPE", name, {name}, "the name of the format");
}

Options operator+(Options left, const Options& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

// ---- options that several types share ---------------------------------------------------------

Options of_every_source() {
    // A source has one batch under way at a time: any bound is kept.
    return {whole_number("MAX_INFLIGHT_BUFFERS", 0, 0,
                         "buffers under way at once; 0: as the worker is set up")};
}

Options of_every_sink(const std::vector<std::string_view>& formats) {
    return {
        {.key = "OUTPUT_FORMAT",
         .type = OptionType::choice,
         .choices = formats,
         .description = "the same as OUTPUT_FORMATTER.TYPE"},
        {.key = "INPUT_FORMAT",
         .type = OptionType::choice,
         .choices = formats,
         .description = "an older name of OUTPUT_FORMAT"},
        yes_or_no("ADD_TIMESTAMP", false,
                  "whether a first column, TIMESTAMP, has the time of writing in ms"),
        // A sink takes a batch when it has written the one before: none ever waits.
        whole_number("BACKPRESSURE_UPPER_THRESHOLD", 1000, 1,
                     "buffers waiting at which the sources are held back"),
        whole_number("BACKPRESSURE_LOWER_THRESHOLD", 200, 0,
                     "buffers waiting at which the sources go on"),
    };
}

Options of_every_broker() {
    return {
        needed_text("SERVER_URI", "the broker: tcp://broker:1883, or encrypted ssl://broker:8883"),
        needed_text("TOPIC", "the topic"),
        {.key = "CLIENT_ID", .description = "the client's name; the worker makes one if absent"},
        {.key = "QOS",
         .type = OptionType::integer,
         .default_value = number(1),
         .least = 0,
         .most = 2,
         .description = "how often a message arrives: 0 at most once, 1 at least, 2 exactly"},
        {.key = "USERNAME", .description = "the user that logs in to the broker"},
        {.key = "PASSWORD", .secret = true, .description = "the user's password"},
        whole_number("KEEP_ALIVE_SECONDS", 60, 0, "the longest silence on the connection",
                     kKeepAliveMax),
        yes_or_no("CLEAN_SESSION", true, "whether the broker forgets the client in between"),
        {.key = "TLS_CA",
         .description = "with ssl://: the certificates of the broker's issuers, as PEM; "
                        "those that the worker's machine trusts if absent"},
        {.key = "TLS_CERT", .description = "with ssl://: the client's certificate, as PEM"},
        {.key = "TLS_KEY", .secret = true, .description = "the key of TLS_CERT, as PEM"},
        {.key = "TLS_SERVER_NAME",
         .description = "with ssl://: the name in the broker's certificate; its host if absent"},
    };
}

// ---- what each value alone cannot say ---------------------------------------------------------

const std::string& text_in(const Config& config, const char* key) {
    return std::get<std::string>(config.at(key));
}

std::optional<Misfit> broker_misfit(const Config& config) {
    const std::string& uri = text_in(config, "SERVER_URI");
    if (uri.find('@') != std::string::npos) {
        return Misfit{.key = "SERVER_URI",
                      .message = "must not hold a user or password",
                      .hint = "use USERNAME and PASSWORD"};
    }
    const bool encrypted = equal_ignoring_case(uri.substr(0, 6), "ssl://") ||
                           equal_ignoring_case(uri.substr(0, 8), "mqtts://");
    for (const char* const key : {"TLS_CA", "TLS_CERT", "TLS_KEY", "TLS_SERVER_NAME"}) {
        if (!encrypted && config.contains(key)) {
            return Misfit{.key = key,
                          .message = "needs an encrypted connection",
                          .hint = "write ssl://host:8883 as SERVER_URI"};
        }
    }
    if (config.contains("TLS_CERT") != config.contains("TLS_KEY")) {
        return Misfit{.key = config.contains("TLS_CERT") ? "TLS_CERT" : "TLS_KEY",
                      .message = "needs the other one of TLS_CERT and TLS_KEY",
                      .hint = {}};
    }
    const bool anonymous = !config.contains("USERNAME");
    if (anonymous && config.contains("PASSWORD")) {
        return Misfit{.key = "PASSWORD", .message = "needs a USERNAME", .hint = {}};
    }
    return std::nullopt;
}

std::optional<Misfit> threshold_misfit(const Config& config) {
    const auto upper = std::get<std::int64_t>(config.at("BACKPRESSURE_UPPER_THRESHOLD"));
    const auto lower = std::get<std::int64_t>(config.at("BACKPRESSURE_LOWER_THRESHOLD"));
    if (lower <= upper) return std::nullopt;
    return Misfit{.key = "BACKPRESSURE_LOWER_THRESHOLD",
                  .message = "is " + std::to_string(lower) +
                             ", above BACKPRESSURE_UPPER_THRESHOLD, " + std::to_string(upper),
                  .hint = "set both"};
}

std::optional<Misfit> broker_sink_misfit(const Config& config) {
    if (auto misfit = broker_misfit(config)) return misfit;
    return threshold_misfit(config);
}

std::optional<Misfit> csv_misfit(const Config& config) {
    const std::string& field = text_in(config, "FIELD_DELIMITER");
    const std::string& tuple = text_in(config, "TUPLE_DELIMITER");
    if (field.find(tuple) == std::string::npos && tuple.find(field) == std::string::npos) {
        return std::nullopt;
    }
    return Misfit{.key = "FIELD_DELIMITER",
                  .message = "cannot be distinguished from TUPLE_DELIMITER",
                  .hint = "use two delimiters of which neither contains the other"};
}

// ---- sources ----------------------------------------------------------------------------------

Descriptor file_source() {
    return {.name = "File",
            .description = "reads a file of the worker once",
            .options = Options{needed_text("FILE_PATH", "the file, as the worker sees it")} +
                       of_every_source(),
            .formats = {"CSV", "JSON", "Parquet"},
            .opens_files = true};
}

Descriptor tcp_source() {
    return {
        .name = "TCP",
        .description = "connects to a server and reads what it sends",
        .options =
            Options{
                needed_text("SOCKET_HOST", "the server to connect to"),
                {.key = "SOCKET_PORT",
                 .type = OptionType::integer,
                 .required = true,
                 .least = 1,
                 .most = kPortMax,
                 .description = "its port"},
                choice("SOCKET_DOMAIN", "AF_INET", {"AF_INET", "AF_INET6"}, "IPv4 or IPv6"),
                choice("SOCKET_TYPE", "SOCK_STREAM", {"SOCK_STREAM"}, "a TCP connection"),
                {.key = "TUPLE_DELIMITER",
                 .type = OptionType::delimiter,
                 .description = "the same as INPUT_FORMATTER.TUPLE_DELIMITER"},
                whole_number("FLUSH_INTERVAL_MS", 0, 0,
                             "how long a partly filled buffer waits, at most; 0: no wait", kDayMs),
                whole_number("SOCKET_BUFFER_SIZE", 1024, 1, "bytes read at once"),
                whole_number("CONNECT_TIMEOUT_SECONDS", 10, 1, "how long to try to connect",
                             kConnectSecondsMax),
            } +
            of_every_source(),
        .formats = {"CSV", "JSON"}};
}

Descriptor mqtt_source() {
    return {
        .name = "MQTT",
        .description = "subscribes to a topic of a broker",
        .options = of_every_broker() +
                   Options{
                       whole_number("FLUSH_INTERVAL_MS", 0, 0,
                                    "how long a partly filled buffer waits, at most; "
                                    "0: no wait",
                                    kDayMs),
                       delimiter("IMPLICIT_MESSAGE_DELIMITER", "\n", "put between two messages"),
                       yes_or_no("LOG_MESSAGES", false, "whether every message is logged"),
                   } +
                   of_every_source(),
        .formats = {"CSV", "JSON"},
        .check = broker_misfit};
}

Descriptor generator_source() {
    return {.name = "Generator",
            .description = "generates rows",
            .options =
                Options{
                    needed_text("GENERATOR_SCHEMA", "a field description for each column"),
                    {.key = "SEED",
                     .type = OptionType::integer,
                     .least = 0,
                     .description = "of the random numbers; the worker draws one if absent"},
                    choice("GENERATOR_RATE_TYPE", "FIXED", {"FIXED", "SINUS"},
                           "how the rate behaves over time"),
                    {.key = "GENERATOR_RATE_CONFIG",
                     .default_value = text("emit_rate 1000"),
                     .description = "emit_rate n, or amplitude a, frequency f"},
                    whole_number("MAX_RUNTIME_MS", -1, -1, "when to end; -1: never", kYearsMs),
                    choice("STOP_GENERATOR_WHEN_SEQUENCE_FINISHES", "ALL", {"ALL", "ONE", "NONE"},
                           "end with the last sequence, with the first, or go on"),
                    whole_number("FLUSH_INTERVAL_MS", 10, 0,
                                 "how long a partly filled buffer waits, at most", kDayMs),
                } +
                of_every_source(),
            .formats = {"CSV"},
            .check = generator_misfit};
}

// ---- sinks ------------------------------------------------------------------------------------

Descriptor file_sink() {
    return {
        .name = "File",
        .description = "writes a file of the worker",
        .options = Options{needed_text("FILE_PATH", "the file, as the worker sees it"),
                           yes_or_no("APPEND", false, "whether the present contents are kept")} +
                   of_every_sink({"CSV", "JSON"}),
        .formats = {"CSV", "JSON"},
        .check = threshold_misfit,
        .opens_files = true};
}

Descriptor print_sink() {
    return {.name = "Print",
            .description = "writes to the worker's standard output",
            .options = Options{whole_number("INGESTION", 0, 0,
                                            "milliseconds to pause after each buffer", kDayMs)} +
                       of_every_sink({"CSV", "JSON"}),
            .formats = {"CSV", "JSON"},
            .check = threshold_misfit};
}

Descriptor void_sink() {
    return {.name = "Void",
            .description = "writes nothing",
            .options = Options{{.key = "FILE_PATH",
                                .description = "accepted so that a File sink can be swapped for "
                                               "this one; nothing is written there"}} +
                       of_every_sink({"CSV", "JSON"}),
            .formats = {"CSV", "JSON"},
            .check = threshold_misfit};
}

Descriptor checksum_sink() {
    return {.name = "Checksum",
            .description =
                "writes one row at the end: the number of lines and the sum of the "
                "bytes of the CSV text",
            .options = Options{needed_text("FILE_PATH", "the file, as the worker sees it")} +
                       of_every_sink({"CSV"}),
            .formats = {"CSV"},
            .check = threshold_misfit,
            .opens_files = true};
}

Descriptor mqtt_sink() {
    return {.name = "MQTT",
            .description = "publishes to a topic of a broker",
            .options = of_every_broker() +
                       Options{
                           yes_or_no("RETAINED", false,
                                     "whether the broker keeps the last message for newcomers"),
                           whole_number("MAX_OUTSTANDING_MESSAGES", 128, 1,
                                        "messages not yet confirmed before the sink waits"),
                       } +
                       of_every_sink({"CSV", "JSON"}),
            .formats = {"CSV", "JSON"},
            .check = broker_sink_misfit};
}

Descriptor parquet_sink() {
    return {.name = "Parquet",
            .description = "writes a Parquet file of the worker",
            .options = Options{needed_text("FILE_PATH", "the file, as the worker sees it")} +
                       of_every_sink({"Parquet"}),
            .formats = {"Parquet"},
            .check = threshold_misfit,
            .opens_files = true};
}

// ---- formats ----------------------------------------------------------------------------------

Option on_malformed() {
    return {.key = "ON_MALFORMED",
            .type = OptionType::choice,
            .choices = {"FAIL", "SKIP"},
            .description = "what to do with a record that cannot be read; FAIL if absent"};
}

Options csv_delimiters() {
    return {delimiter("TUPLE_DELIMITER", "\n", "between two rows"),
            delimiter("FIELD_DELIMITER", ",", "between two fields of a row")};
}

std::vector<Descriptor> input_formats() {
    return {
        {.name = "CSV",
         .description = "a row per line, fields in the order of the columns",
         .options = Options{format_name("CSV")} + csv_delimiters() +
                    Options{yes_or_no("ALLOW_COMMAS_IN_STRINGS", true,
                                      "whether a quoted field may hold a delimiter"),
                            {.key = "HEADER",
                             .type = OptionType::boolean,
                             .description = "whether the first row is no data; no if absent"},
                            on_malformed()},
         .check = csv_misfit},
        {.name = "JSON",
         .description = "an object per line, fields by name, nested ones as a/b",
         .options = {format_name("JSON"), delimiter("TUPLE_DELIMITER", "\n", "between two objects"),
                     on_malformed()}},
        {.name = "Parquet",
         .description = "the columnar file format, columns by name",
         .options = {format_name("Parquet")}}};
}

std::vector<Descriptor> output_formats() {
    return {{.name = "CSV",
             .description = "a row per line, fields in the order of the columns",
             .options = Options{format_name("CSV")} + csv_delimiters() +
                        Options{yes_or_no("QUOTE_STRINGS", false,
                                          "whether text is put between double quotes")},
             .check = csv_misfit},
            {.name = "JSON", .description = "an object per line", .options = {format_name("JSON")}},
            {.name = "Parquet",
             .description = "the columnar file format",
             .options = {format_name("Parquet")}}};
}

}  // namespace

std::span<const Descriptor> descriptors(DescriptorKind kind) {
    static const std::vector<Descriptor> kSources = {file_source(), tcp_source(),
                                                     generator_source(), mqtt_source()};
    static const std::vector<Descriptor> kSinks = {file_sink(),     print_sink(), void_sink(),
                                                   checksum_sink(), mqtt_sink(),  parquet_sink()};
    static const std::vector<Descriptor> kInputFormats = input_formats();
    static const std::vector<Descriptor> kOutputFormats = output_formats();
    switch (kind) {
        case DescriptorKind::source:
            return kSources;
        case DescriptorKind::sink:
            return kSinks;
        case DescriptorKind::input_format:
            return kInputFormats;
        case DescriptorKind::output_format:
            return kOutputFormats;
    }
    CHECK(false && "a kind that is not in the list");
}

const Descriptor& query_descriptor() {
    static const Descriptor kQuery = {
        .name = "QUERY",
        .description = "how a query is run",
        .options = {
            {.key = "ID", .description = "the query's name"},
            choice("LATE", "DROP", {"DROP", "FAIL"}, "what to do with a row that is too late"),
            choice("ON_FAILURE", "RESTART", {"RESTART", "FAIL"},
                   "what to do when a worker it runs on is lost"),
            whole_number("DEPLOY_TIMEOUT_MS", kTenMinutesMs, 0,
                         "how long it may take to run; 0: for ever"),
            {.key = "TABLE_WORKER",
             .description = "INTO a table: the worker that writes; the one nearest to the sources "
                            "if absent"},
            {.key = "TABLE_ROWS",
             .type = OptionType::integer,
             .least = 1,
             .most = kTableRowsMax,
             .description = "INTO a table: the rows of an object, about; 1000000 if absent"},
            {.key = "TABLE_PERIOD_MS",
             .type = OptionType::integer,
             .least = kTablePeriodMin,
             .most = kDayMs,
             .description = "INTO a table: how long a row waits to be in it; 60000 if absent"},
            {.key = "TABLE_PATIENCE_MS",
             .type = OptionType::integer,
             .least = kTablePeriodMin,
             .most = kDayMs,
             .description = "INTO a table: how long a store may be away; 60000 if absent"},
        }};
    return kQuery;
}

std::span<const std::string_view> table_types() {
    static constexpr std::array<std::string_view, 2> kTypes = {"Delta", "Files"};
    return kTypes;
}

const Descriptor& table_descriptor(std::string_view type) {
    constexpr std::int64_t kYears = 100 * 366;
    static const Descriptor kDelta = {
        .name = "Delta",
        .description = "rows in Parquet objects, with a Delta log",
        .options = {
            {.key = "LOCATION",
             .description = "the URL of a folder or bucket; none: the coordinators' store"},
            {.key = "PARTITION_BY", .description = "columns, separated by commas"},
            {.key = "RETENTION_DAYS",
             .type = OptionType::integer,
             .least = 1,
             .most = kYears,
             .description = "objects are removed when their newest row is older, by a column with "
                            "a time if there is one"},
        }};
    static const Descriptor kFiles = {
        .name = "Files",
        .description = "Parquet files, or a Delta table, written by others: read only",
        .options = {
            {.key = "LOCATION",
             .required = true,
             .description = "the URL of a folder or file; * stands for any name"},
        }};
    CHECK(type == kDelta.name || type == kFiles.name);
    return type == kDelta.name ? kDelta : kFiles;
}

const Descriptor& insert_descriptor() {
    static const Descriptor kInsert = {
        .name = "INSERT",
        .description = "how rows are added to a table",
        .options = {
            {.key = "KEY",
             .description = "an INSERT into the same table with the same key happens once"},
        }};
    return kInsert;
}

}  // namespace baton::descriptors
