#include "engine/connectors/formatted_connectors.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "core/descriptors/descriptors.h"
#include "engine/connectors/formatted_sink.h"
#include "engine/connectors/formatted_source.h"
#include "engine/connectors/generator_source.h"
#include "engine/connectors/small_sinks.h"
#include "engine/formats/decoder.h"
#include "engine/formats/encoder.h"
#include "engine/formats/options.h"
#include "engine/results/results_sink.h"

namespace baton::engine {

namespace {

constexpr std::string_view kParquet = "Parquet";

Error unsupported(std::string_view what, const std::string& type) {
    return {.code = ErrorCode::not_supported,
            .message =
                "a " + std::string(what) + " of type " + in_quotes(type) + " cannot be opened here",
            .hint = "this program was put together without it"};
}

Error missing(const std::string& type, std::string_view key) {
    return {.code = ErrorCode::missing_configuration,
            .message = in_quotes(type) + " needs the option " + in_quotes(key)};
}

std::optional<std::string> text_if(const Config& config, std::string_view key) {
    const auto found = config.find(std::string(key));
    if (found == config.end()) return std::nullopt;
    const auto* const text = std::get_if<std::string>(&found->second);
    return text == nullptr ? std::nullopt : std::optional(*text);
}

Result<std::string> path_of(const std::string& type, const Config& config) {
    const auto path = text_if(config, "FILE_PATH");
    if (!path || path->empty()) return missing(type, "FILE_PATH");
    return *path;
}

Duration milliseconds_in(const Config& config, std::string_view key) {
    return std::chrono::milliseconds(formats::number_or(config, key, 0));
}

std::vector<descriptors::GivenOption> given(const Config& config) {
    std::vector<descriptors::GivenOption> options;
    for (const auto& [key, value] : config) {
        options.push_back({.key = key, .value = value, .at = {}});
    }
    return options;
}

// ---- sources ----------------------------------------------------------------------------------

struct OpenedBytes {
    std::string name;
    std::unique_ptr<ByteSource> bytes;
};

Result<OpenedBytes> open_file(FileDoor& files, const SourceScan& scan) {
    TRY_ASSIGN(path, path_of(scan.type, scan.source));
    TRY_ASSIGN(bytes, files.read(path));
    return OpenedBytes{.name = path, .bytes = std::move(bytes)};
}

Result<OpenedBytes> open_tcp(TcpDoor& tcp, const SourceScan& scan) {
    const auto host = text_if(scan.source, "SOCKET_HOST");
    const std::int64_t port = formats::number_or(scan.source, "SOCKET_PORT", 0);
    if (!host || host->empty()) return missing(scan.type, "SOCKET_HOST");
    if (port < 1 || port > UINT16_MAX) return missing(scan.type, "SOCKET_PORT");
    const TcpServer server{
        .host = *host,
        .port = static_cast<std::uint16_t>(port),
        .ipv6 = formats::text_or(scan.source, "SOCKET_DOMAIN", "AF_INET") == "AF_INET6",
        .read_bytes = static_cast<std::size_t>(
            std::max<std::int64_t>(1, formats::number_or(scan.source, "SOCKET_BUFFER_SIZE", 1024))),
        .connect_timeout =
            std::chrono::seconds(formats::number_or(scan.source, "CONNECT_TIMEOUT_SECONDS", 10))};
    TRY_ASSIGN(bytes, tcp.connect(server));
    return OpenedBytes{.name = *host + ":" + std::to_string(port), .bytes = std::move(bytes)};
}

Result<MqttBroker> broker_of(const std::string& type, const Config& config) {
    const auto uri = text_if(config, "SERVER_URI");
    const auto topic = text_if(config, "TOPIC");
    if (!uri) return missing(type, "SERVER_URI");
    if (!topic) return missing(type, "TOPIC");
    return MqttBroker{.uri = *uri,
                      .topic = *topic,
                      .client_id = text_if(config, "CLIENT_ID"),
                      .qos = static_cast<int>(formats::number_or(config, "QOS", 1)),
                      .username = text_if(config, "USERNAME"),
                      .password = text_if(config, "PASSWORD"),
                      .keep_alive_seconds =
                          static_cast<int>(formats::number_or(config, "KEEP_ALIVE_SECONDS", 60)),
                      .clean_session = formats::flag_or(config, "CLEAN_SESSION", true),
                      .tls_ca = text_if(config, "TLS_CA"),
                      .tls_cert = text_if(config, "TLS_CERT"),
                      .tls_key = text_if(config, "TLS_KEY"),
                      .tls_server_name = text_if(config, "TLS_SERVER_NAME")};
}

Result<OpenedBytes> open_mqtt(MqttDoor& mqtt, const SourceScan& scan) {
    TRY_ASSIGN(broker, broker_of(scan.type, scan.source));
    const MqttSubscription subscription{
        .broker = broker,
        .delimiter = formats::text_or(scan.source, "IMPLICIT_MESSAGE_DELIMITER", "\n"),
        .log_messages = formats::flag_or(scan.source, "LOG_MESSAGES", false)};
    TRY_ASSIGN(bytes, mqtt.subscribe(subscription));
    return OpenedBytes{.name = broker.topic, .bytes = std::move(bytes)};
}

Result<OpenedBytes> open_bytes(const ConnectorPorts& ports, const SourceScan& scan) {
    if (scan.type == "File") return open_file(*ports.files, scan);
    if (scan.type == "TCP" && ports.tcp != nullptr) return open_tcp(*ports.tcp, scan);
    if (scan.type == "MQTT" && ports.mqtt != nullptr) return open_mqtt(*ports.mqtt, scan);
    return unsupported("source", scan.type);
}

// ---- sinks ------------------------------------------------------------------------------------

Result<std::unique_ptr<RowSink>> open_file(FileDoor& files, const SinkWrite& sink,
                                           std::unique_ptr<formats::Encoder> encoder) {
    TRY_ASSIGN(path, path_of(sink.type, sink.sink));
    TRY_ASSIGN(file, files.write(path, formats::flag_or(sink.sink, "APPEND", false)));
    return std::unique_ptr<RowSink>(
        std::make_unique<FormattedSink>(FormattedSink::Parts{.bytes = std::move(file.sink),
                                                             .encoder = std::move(encoder),
                                                             .with_header = file.is_empty}));
}

Result<std::unique_ptr<RowSink>> open_checksum(FileDoor& files, const SinkWrite& sink,
                                               std::unique_ptr<formats::Encoder> encoder) {
    TRY_ASSIGN(path, path_of(sink.type, sink.sink));
    TRY_ASSIGN(file, files.write(path, false));
    return std::unique_ptr<RowSink>(
        std::make_unique<ChecksumSink>(std::move(file.sink), std::move(encoder)));
}

Result<std::unique_ptr<RowSink>> open_print(FileDoor& files, const SinkWrite& sink,
                                            std::unique_ptr<formats::Encoder> encoder) {
    TRY_ASSIGN(bytes, files.print());
    return std::unique_ptr<RowSink>(std::make_unique<FormattedSink>(
        FormattedSink::Parts{.bytes = std::move(bytes),
                             .encoder = std::move(encoder),
                             .pause = milliseconds_in(sink.sink, "INGESTION")}));
}

Result<std::unique_ptr<RowSink>> open_mqtt(MqttDoor& mqtt, const SinkWrite& sink,
                                           std::unique_ptr<formats::Encoder> encoder) {
    TRY_ASSIGN(broker, broker_of(sink.type, sink.sink));
    const MqttPublication publication{
        .broker = broker,
        .retained = formats::flag_or(sink.sink, "RETAINED", false),
        .outstanding_max = static_cast<std::size_t>(std::max<std::int64_t>(
            1, formats::number_or(sink.sink, "MAX_OUTSTANDING_MESSAGES", 128)))};
    TRY_ASSIGN(bytes, mqtt.publish(publication));
    return std::unique_ptr<RowSink>(std::make_unique<FormattedSink>(
        FormattedSink::Parts{.bytes = std::move(bytes), .encoder = std::move(encoder)}));
}

Result<std::unique_ptr<RowSink>> open_results(ResultHub& hub, const SinkWrite& sink,
                                              const Schema& schema) {
    const auto token = text_if(sink.sink, kResultsToken);
    if (!token) return missing(sink.type, kResultsToken);
    TRY_ASSIGN(inlet, hub.open(*token));
    return std::unique_ptr<RowSink>(std::make_unique<ResultsSink>(std::move(inlet), schema));
}

Result<std::unique_ptr<RowSink>> open_rows(const ConnectorPorts& ports, const SinkWrite& sink,
                                           const Schema& schema) {
    if (sink.type == "Void") return std::unique_ptr<RowSink>(std::make_unique<VoidSink>());
    if (sink.type == "Parquet" && ports.tables != nullptr) {
        TRY_ASSIGN(path, path_of(sink.type, sink.sink));
        return ports.tables->write(path, schema);
    }
    if (sink.type == "Parquet") return unsupported("sink", sink.type);
    if (sink.type == kResultsSink && ports.results != nullptr) {
        return open_results(*ports.results, sink, schema);
    }
    TRY_ASSIGN(encoder, formats::make_encoder(sink.format, schema));
    if (sink.type == "File") return open_file(*ports.files, sink, std::move(encoder));
    if (sink.type == "Checksum") return open_checksum(*ports.files, sink, std::move(encoder));
    if (sink.type == "Print") return open_print(*ports.files, sink, std::move(encoder));
    if (sink.type == "MQTT" && ports.mqtt != nullptr) {
        return open_mqtt(*ports.mqtt, sink, std::move(encoder));
    }
    return unsupported("sink", sink.type);
}

}  // namespace

FormattedConnectors::FormattedConnectors(const ConnectorPorts& ports) : ports_(ports) {
    CHECK(ports.clock != nullptr && ports.files != nullptr);
}

// The plan says what the coordinator checked; a worker takes nobody's word for it.
Result<std::unique_ptr<RowSource>> FormattedConnectors::open_source(const SourceScan& written) {
    TRY_ASSIGN(complete, descriptors::complete_source(written.type, given(written.source),
                                                      given(written.format)));
    SourceScan scan = written;
    scan.type = complete.type;
    scan.source = std::move(complete.options);
    scan.format = std::move(complete.format);
    if (scan.type == "Generator") {
        return GeneratorSource::open(scan.source, scan.parsed, scan.wanted, *ports_.clock);
    }
    if (formats::text_or(scan.format, "TYPE", "CSV") == kParquet) {
        if (scan.type != "File" || ports_.tables == nullptr)
            return unsupported("source", scan.type);
        TRY_ASSIGN(path, path_of(scan.type, scan.source));
        return ports_.tables->read(path, scan.parsed, scan.wanted);
    }
    TRY_ASSIGN(decoder, formats::make_decoder(
                            {.format = scan.format, .schema = scan.parsed, .wanted = scan.wanted}));
    TRY_ASSIGN(opened, open_bytes(ports_, scan));
    return std::unique_ptr<RowSource>(std::make_unique<FormattedSource>(
        FormattedSource::Parts{.name = std::move(opened.name),
                               .bytes = std::move(opened.bytes),
                               .decoder = std::move(decoder),
                               .flush_interval = milliseconds_in(scan.source, "FLUSH_INTERVAL_MS"),
                               .clock = ports_.clock}));
}

Result<std::unique_ptr<RowSink>> FormattedConnectors::open_sink(const SinkWrite& written,
                                                                const Schema& rows) {
    if (written.type == kResultsSink) return open_rows(ports_, written, rows);
    TRY_ASSIGN(complete, descriptors::complete_sink(written.type, given(written.sink),
                                                    given(written.format)));
    SinkWrite sink = written;
    sink.type = complete.type;
    sink.sink = std::move(complete.options);
    sink.format = std::move(complete.format);
    if (!formats::flag_or(sink.sink, "ADD_TIMESTAMP", false)) return open_rows(ports_, sink, rows);
    const std::string name(TimestampSink::kColumn);
    Schema wider{.columns = {{.name = name, .type = DataType::uint64, .nullable = false}}};
    for (const Column& column : rows.columns) {
        if (column.name == name) {
            return Error{.code = ErrorCode::invalid_configuration,
                         .message = "option \"ADD_TIMESTAMP\" would add a column " +
                                    in_quotes(name) + ", but the rows have one",
                         .hint = "give that column another name with AS"};
        }
        wider.columns.push_back(column);
    }
    TRY_ASSIGN(next, open_rows(ports_, sink, wider));
    return std::unique_ptr<RowSink>(
        std::make_unique<TimestampSink>(std::move(next), *ports_.clock));
}

}  // namespace baton::engine
