#include "core/descriptors/descriptors.h"

#include <gtest/gtest.h>

namespace baton::descriptors {

namespace {

using enum DescriptorKind;
using Given = std::vector<GivenOption>;

const Descriptor& type(DescriptorKind kind, std::string_view name) {
    return **descriptor_of(kind, name);
}

Error refused(const Descriptor& descriptor, const Given& given) {
    const auto result = complete(descriptor, given);
    EXPECT_FALSE(result.has_value());
    return result ? Error{} : result.error();
}

ConfigValue text(std::string value) {
    return value;
}

ConfigValue number(std::int64_t value) {
    return value;
}

const Given kTcp = {{"SOCKET_HOST", text("h"), {}}, {"SOCKET_PORT", number(5000), {}}};

Given tcp_with(const std::string& key, ConfigValue value) {
    Given given = kTcp;
    given.push_back({key, std::move(value), Position{.offset = 7, .line = 2, .column = 3}});
    return given;
}

TEST(Descriptors, ListTheTypesOfTheDialect) {
    const auto names = [](DescriptorKind kind) {
        std::vector<std::string> all;
        for (const Descriptor& d : descriptors(kind)) all.emplace_back(d.name);
        return all;
    };
    EXPECT_EQ(names(source), (std::vector<std::string>{"File", "TCP", "Generator", "MQTT"}));
    EXPECT_EQ(names(sink),
              (std::vector<std::string>{"File", "Print", "Void", "Checksum", "MQTT", "Parquet"}));
    EXPECT_EQ(names(input_format), (std::vector<std::string>{"CSV", "JSON", "Parquet"}));
    EXPECT_EQ(names(output_format), (std::vector<std::string>{"CSV", "JSON", "Parquet"}));
}

TEST(Descriptors, DescribeEveryTypeAndOption) {
    for (const DescriptorKind kind : {source, sink, input_format, output_format}) {
        for (const Descriptor& d : descriptors(kind)) {
            EXPECT_FALSE(d.description.empty()) << d.name;
            for (const Option& o : d.options) {
                EXPECT_FALSE(o.description.empty()) << d.name << " " << o.key;
                EXPECT_EQ(o.type == OptionType::choice, !o.choices.empty()) << o.key;
                EXPECT_FALSE(o.required && o.default_value) << o.key;
            }
        }
    }
}

TEST(Descriptors, AreFoundInAnyCase) {
    EXPECT_EQ(type(source, "FILE").name, "File");
    EXPECT_EQ(type(sink, "checksum").name, "Checksum");
    EXPECT_EQ(type(input_format, "csv").name, "CSV");
}

TEST(Descriptors, AnUnknownTypeIsRefusedByItsKindWithTheNearestName) {
    EXPECT_EQ(to_string(descriptor_of(source, "Fiel").error()),
              R"(error 2107: unknown source type "Fiel"; did you mean "File"?)");
    EXPECT_EQ(to_string(descriptor_of(sink, "Kafka").error()),
              "error 2106: unknown sink type \"Kafka\"; known: File, Print, Void, Checksum, MQTT, "
              "Parquet");
    EXPECT_EQ(descriptor_of(input_format, "XML").error().code, ErrorCode::unknown_source_format);
    EXPECT_EQ(descriptor_of(output_format, "XML").error().code, ErrorCode::unknown_sink_format);
}

TEST(Complete, RefusesAByte0InAText) {
    using namespace std::string_literals;
    const auto refused = complete_source(
        "TCP",
        std::vector<GivenOption>{{.key = "SOCKET_HOST", .value = "192.0.2.7\0.example.com"s},
                                 {.key = "SOCKET_PORT", .value = std::int64_t{80}}},
        {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("byte 0"), std::string::npos) << refused.error().message;
}

TEST(Complete, FillsInTheDefaults) {
    const auto config = complete(type(source, "TCP"), kTcp);
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(*config, (Config{{"SOCKET_HOST", text("h")},
                               {"SOCKET_PORT", number(5000)},
                               {"SOCKET_DOMAIN", text("AF_INET")},
                               {"SOCKET_TYPE", text("SOCK_STREAM")},
                               {"FLUSH_INTERVAL_MS", number(0)},
                               {"SOCKET_BUFFER_SIZE", number(1024)},
                               {"CONNECT_TIMEOUT_SECONDS", number(10)},
                               {"MAX_INFLIGHT_BUFFERS", number(0)}}));
}

TEST(Complete, KnowsTheKeysInAnyCase) {
    const auto config = complete(type(source, "File"), Given{{"file_path", text("a.csv"), {}}});
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->at("FILE_PATH"), text("a.csv"));
}

TEST(Complete, AnUnknownKeyIsRefusedWithItsPositionAndTheNearestKnownOne) {
    EXPECT_EQ(to_string(refused(type(source, "TCP"), tcp_with("SOKET_DOMAIN", text("AF_INET")))),
              "error 1000 at 2:3: \"TCP\" has no option \"SOKET_DOMAIN\"; did you mean "
              "\"SOCKET_DOMAIN\"?");
}

TEST(Complete, AnUnknownKeyNearToNoneIsRefusedWithAllTheKnownOnes) {
    EXPECT_EQ(refused(query_descriptor(), Given{{"PRIORITY", number(1), {}}}).hint,
              "known: ID, LATE, ON_FAILURE, DEPLOY_TIMEOUT_MS, TABLE_WORKER, TABLE_ROWS, "
              "TABLE_PERIOD_MS, TABLE_PATIENCE_MS");
}

TEST(Complete, AKeyGivenTwiceIsRefusedInWhateverCase) {
    EXPECT_EQ(to_string(refused(type(source, "TCP"), tcp_with("socket_host", text("h")))),
              R"(error 1000 at 2:3: option "SOCKET_HOST" is given twice)");
}

TEST(Complete, NamesAllMissingKeysAtOnce) {
    EXPECT_EQ(to_string(refused(type(source, "TCP"), {})),
              R"(error 1001: "TCP" needs the options "SOCKET_HOST", "SOCKET_PORT")");
    EXPECT_EQ(to_string(refused(type(sink, "File"), {})),
              R"(error 1001: "File" needs the option "FILE_PATH")");
}

TEST(Complete, ANeededTextMayNotBeEmpty) {
    EXPECT_EQ(refused(type(sink, "File"), Given{{"FILE_PATH", text(""), {}}}).code,
              ErrorCode::invalid_configuration);
}

TEST(Complete, ReadsNumbersAlsoFromTextAndFromWholeDecimals) {
    for (const ConfigValue& value : {number(60), text("60"), ConfigValue(60.0)}) {
        const auto config =
            complete(type(source, "TCP"), tcp_with("CONNECT_TIMEOUT_SECONDS", value));
        ASSERT_TRUE(config.has_value());
        EXPECT_EQ(config->at("CONNECT_TIMEOUT_SECONDS"), number(60));
    }
}

TEST(Complete, SaysWhichWholeNumberWouldFit) {
    const auto message = [](const std::string& key, const ConfigValue& value) {
        return to_string(refused(type(source, "TCP"), tcp_with(key, value)));
    };
    EXPECT_EQ(message("SOCKET_BUFFER_SIZE", text("1,000")),
              "error 1000 at 2:3: option \"SOCKET_BUFFER_SIZE\" cannot be '1,000': it must "
              "be a whole number of at least 1");
    EXPECT_EQ(message("CONNECT_TIMEOUT_SECONDS", number(INT64_MAX)),
              "error 1000 at 2:3: option \"CONNECT_TIMEOUT_SECONDS\" cannot be "
              "9223372036854775807: it must be a whole number from 1 to 3600");
    for (const ConfigValue& value : std::vector<ConfigValue>{
             number(0), ConfigValue(1.5), ConfigValue(1e300), ConfigValue(true), text(""),
             text(" 5"), text("5s"), text("99999999999999999999")}) {
        EXPECT_NE(message("CONNECT_TIMEOUT_SECONDS", value), "");
    }
    EXPECT_EQ(to_string(refused(type(source, "TCP"), Given{{"SOCKET_PORT", number(65536), {}}})),
              "error 1000: option \"SOCKET_PORT\" cannot be 65536: it must be a whole number from "
              "1 to 65535");
}

TEST(Complete, ReadsTruthAlsoFromText) {
    const auto appends = [](const ConfigValue& value) {
        return complete(type(sink, "File"),
                        Given{{"FILE_PATH", text("a"), {}}, {"APPEND", value, {}}});
    };
    for (const ConfigValue& value : {ConfigValue(true), text("true"), text("TRUE")}) {
        ASSERT_TRUE(appends(value).has_value());
        EXPECT_EQ(appends(value)->at("APPEND"), ConfigValue(true));
    }
    EXPECT_EQ(appends(text("False"))->at("APPEND"), ConfigValue(false));
    EXPECT_EQ(appends(number(1)).error().message,
              "option \"APPEND\" cannot be 1: it must be true or false");
}

TEST(Complete, SpellsAChoiceAsTheDescriptorDoes) {
    const auto config = complete(
        query_descriptor(), Given{{"LATE", text("fail"), {}}, {"ON_FAILURE", text("Restart"), {}}});
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->at("LATE"), text("FAIL"));
    EXPECT_EQ(config->at("ON_FAILURE"), text("RESTART"));
}

TEST(Complete, SaysWhichChoicesThereAre) {
    EXPECT_EQ(to_string(refused(query_descriptor(), Given{{"LATE", text("DORP"), {}}})),
              "error 1000: option \"LATE\" cannot be 'DORP': it must be one of DROP, FAIL; did you "
              "mean \"DROP\"?");
    EXPECT_EQ(refused(type(source, "TCP"), tcp_with("SOCKET_TYPE", text("SOCK_DGRAM"))).message,
              "option \"SOCKET_TYPE\" cannot be 'SOCK_DGRAM': it must be one of SOCK_STREAM");
}

TEST(Complete, DecodesADelimiter) {
    const auto field_delimiter = [](const ConfigValue& value) {
        return complete(type(input_format, "CSV"), Given{{"FIELD_DELIMITER", value, {}}});
    };
    const auto decoded = [&](const std::string& written) {
        const auto config = field_delimiter(written);
        return config ? std::get<std::string>(config->at("FIELD_DELIMITER")) : "refused";
    };
    EXPECT_EQ(decoded("|"), "|");
    EXPECT_EQ(decoded("\\t"), "\t");
    EXPECT_EQ(decoded("\t"), "\t");
    EXPECT_EQ(decoded("\\r"), "\r");
    EXPECT_EQ(decoded("\\0"), std::string(1, '\0'));
    EXPECT_EQ(decoded("\\\\"), "\\");
    EXPECT_EQ(decoded("\\"), "\\");
    EXPECT_EQ(decoded("||"), "||");
    EXPECT_EQ(decoded(""), "refused");
    EXPECT_EQ(decoded("\\x"), "refused");
    EXPECT_EQ(decoded("a\\"), "refused");
    EXPECT_EQ(decoded("\\\\n"), "refused");  // decoded twice it would be a line end
    EXPECT_FALSE(field_delimiter(number(5)).has_value());
}

TEST(Complete, TextMayBeANumberButNoOtherValue) {
    const auto named = [](const ConfigValue& value) {
        return complete(query_descriptor(), Given{{"ID", value, {}}});
    };
    EXPECT_EQ(named(number(7))->at("ID"), text("7"));
    EXPECT_EQ(named(ConfigValue(1.5)).error().message,
              "option \"ID\" cannot be 1.5: it must be text in single quotes");
    EXPECT_FALSE(named(ConfigValue(true)).has_value());
}

TEST(Complete, KnowsTheOptionsOfAQuery) {
    const auto config = complete(query_descriptor(), {});
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(*config, (Config{{"LATE", text("DROP")},
                               {"ON_FAILURE", text("RESTART")},
                               {"DEPLOY_TIMEOUT_MS", number(600000)}}));
    EXPECT_FALSE(complete(query_descriptor(), Given{{"DEPLOY_TIMEOUT_MS", number(-1), {}}}));
    EXPECT_TRUE(complete(query_descriptor(), Given{{"DEPLOY_TIMEOUT_MS", number(0), {}}}));
}

TEST(Complete, TheDelimitersOfCsvMustBeTellable) {
    EXPECT_EQ(to_string(refused(type(input_format, "CSV"),
                                Given{{"FIELD_DELIMITER", text("\\n"), Position{}}})),
              "error 1000 at 1:1: option \"FIELD_DELIMITER\" cannot be distinguished from "
              "TUPLE_DELIMITER; "
              "use two delimiters of which neither contains the other");
    EXPECT_FALSE(complete(type(output_format, "CSV"), Given{{"TUPLE_DELIMITER", text(",\n"), {}}}));
}

const Given kMqtt = {{"SERVER_URI", text("tcp://b:1883"), {}}, {"TOPIC", text("t"), {}}};

Given mqtt_with(const std::string& key, ConfigValue value) {
    Given given = kMqtt;
    given.push_back({key, std::move(value), {}});
    return given;
}

TEST(Complete, ABrokerIsNotGivenAPasswordWithinItsAddress) {
    const Given given = {{"SERVER_URI", text("tcp://me:hunter2@b:1883"), {}},
                         {"TOPIC", text("t"), {}}};
    for (const DescriptorKind kind : {source, sink}) {
        EXPECT_EQ(to_string(refused(type(kind, "MQTT"), given)),
                  "error 1000: option \"SERVER_URI\" must not hold a user or password; use "
                  "USERNAME and PASSWORD");
    }
}

TEST(Complete, APasswordNeedsAUser) {
    EXPECT_FALSE(complete(type(source, "MQTT"), mqtt_with("PASSWORD", text("x"))));
}

TEST(Complete, QosIsZeroOneOrTwo) {
    EXPECT_TRUE(complete(type(sink, "MQTT"), mqtt_with("QOS", text("2"))));
    EXPECT_FALSE(complete(type(sink, "MQTT"), mqtt_with("QOS", number(3))));
}

TEST(Complete, TheThresholdsOfASinkAreInOrder) {
    EXPECT_FALSE(
        complete(type(sink, "Print"), Given{{"BACKPRESSURE_UPPER_THRESHOLD", number(4), {}}}));
    EXPECT_TRUE(
        complete(type(sink, "Print"), Given{{"BACKPRESSURE_UPPER_THRESHOLD", text("4"), {}},
                                            {"BACKPRESSURE_LOWER_THRESHOLD", text("2"), {}}}));
}

TEST(Complete, NoMessageHoldsASecretOrAWholeBook) {
    const Error secret = refused(type(source, "MQTT"), mqtt_with("PASSWORD", number(12345)));
    EXPECT_EQ(
        to_string(secret),
        "error 1000: option \"PASSWORD\" cannot be the value given: it must be text in single "
        "quotes");
    const Error book =
        refused(query_descriptor(), Given{{"LATE", text(std::string(1U << 20U, 'x')), {}}});
    EXPECT_LT(book.message.size(), 400U);
}

// ---- sources and sinks with their formats -----------------------------------------------------

const Given kPath = {{"FILE_PATH", text("a.csv"), {}}};

TEST(CompleteSource, TakesTheFormatFromItsOwnNamespace) {
    const auto file = complete_source("FILE", kPath, Given{{"TYPE", text("json"), {}}});
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->type, "File");
    EXPECT_EQ(file->format, (Config{{"TYPE", text("JSON")}, {"TUPLE_DELIMITER", text("\n")}}));
}

TEST(CompleteSource, ReadsCsvIfNothingElseIsSaid) {
    EXPECT_EQ(complete_source("File", kPath, {})->format.at("TYPE"), text("CSV"));
}

TEST(CompleteSource, MovesTheDelimiterOfTcpToTheFormat) {
    const auto tcp = complete_source("TCP", tcp_with("TUPLE_DELIMITER", text("\\r")), {});
    ASSERT_TRUE(tcp.has_value());
    EXPECT_FALSE(tcp->options.contains("TUPLE_DELIMITER"));
    EXPECT_EQ(tcp->format.at("TUPLE_DELIMITER"), text("\r"));
    EXPECT_FALSE(complete_source("File", tcp_with("TUPLE_DELIMITER", text("\n")), {}).has_value());
}

TEST(CompleteSource, RefusesAFormatItDoesNotKnowAtItsPosition) {
    const Given xml = {{"TYPE", text("XML"), Position{.offset = 0, .line = 4, .column = 5}}};
    EXPECT_EQ(to_string(complete_source("File", kPath, xml).error()),
              "error 2109 at 4:5: unknown input format \"XML\"; known: CSV, JSON, Parquet");
    EXPECT_EQ(complete_source("File", kPath, Given{{"TYPE", number(5), {}}}).error().code,
              ErrorCode::unknown_source_format);
}

TEST(CompleteSource, RefusesAFormatThatTheTypeCannotRead) {
    const Given made_up = {{"GENERATOR_SCHEMA", text("RANDOMSTR 1 2"), {}}};
    EXPECT_EQ(
        to_string(complete_source("Generator", made_up, Given{{"TYPE", text("JSON"), {}}}).error()),
        "error 1000: \"Generator\" cannot have the format \"JSON\"; it can have CSV");
}

TEST(CompleteSink, TakesItsFormatFromAnyOfThreePlaces) {
    const auto with = [](const std::string& key) {
        return complete_sink("File", Given{kPath[0], {key, text("json"), {}}}, {});
    };
    const auto plain = complete_sink("File", kPath, Given{{"type", text("JSON"), {}}});
    ASSERT_TRUE(plain.has_value());
    EXPECT_EQ(plain->format, (Config{{"TYPE", text("JSON")}}));
    for (const char* key : {"OUTPUT_FORMAT", "INPUT_FORMAT", "output_format"}) {
        ASSERT_TRUE(with(key).has_value());
        EXPECT_EQ(*with(key), *plain);
    }
}

TEST(CompleteSink, AFormatNamedTwiceMustBeTheSame) {
    const Given options = {
        kPath[0], {"OUTPUT_FORMAT", text("CSV"), Position{.offset = 1, .line = 1, .column = 9}}};
    EXPECT_TRUE(complete_sink("File", options, Given{{"TYPE", text("csv"), {}}}).has_value());
    EXPECT_EQ(
        to_string(complete_sink("File", options, Given{{"TYPE", text("JSON"), {}}}).error()),
        "error 1000 at 1:9: option \"OUTPUT_FORMAT\" says 'CSV', but the format's option \"TYPE\" "
        "says 'JSON'; give one of the two");
    const Given twice = {kPath[0], options[1], options[1]};
    EXPECT_EQ(complete_sink("File", twice, {}).error().message,
              "option \"OUTPUT_FORMAT\" is given twice");
}

TEST(CompleteSink, WritesTheFormatOfItsType) {
    EXPECT_EQ(complete_sink("Parquet", kPath, {})->format.at("TYPE"), text("Parquet"));
    EXPECT_FALSE(complete_sink("Parquet", kPath, Given{{"TYPE", text("CSV"), {}}}).has_value());
    EXPECT_FALSE(complete_sink("File", kPath, Given{{"TYPE", text("Parquet"), {}}}).has_value());
    EXPECT_TRUE(complete_sink("Void", kPath, Given{{"TYPE", text("JSON"), {}}}).has_value());
    EXPECT_TRUE(complete_sink("Print", {}, {}).has_value());
}

TEST(CompleteSink, RefusesAnUnknownType) {
    EXPECT_EQ(complete_sink("Files", kPath, {}).error().code, ErrorCode::unknown_sink_type);
}

// ---- secrets ----------------------------------------------------------------------------------

TEST(Secrets, AreWhatTheDescriptorSays) {
    EXPECT_TRUE(is_secret(&type(source, "MQTT"), "password"));
    EXPECT_FALSE(is_secret(&type(source, "MQTT"), "USERNAME"));
}

TEST(Secrets, AreGuessedForKeysThatNoDescriptorKnows) {
    EXPECT_TRUE(is_secret(nullptr, "broker_Password"));
    EXPECT_TRUE(is_secret(nullptr, "API_TOKEN"));
    EXPECT_TRUE(is_secret(&type(source, "File"), "CREDENTIALS"));
    EXPECT_TRUE(is_secret(&type(source, "File"), "CLIENT_SECRET"));
    EXPECT_FALSE(is_secret(nullptr, "FILE_PATH"));
}

TEST(Secrets, AreMaskedWhereSet) {
    const Config config = {{"PASSWORD", text("x")}, {"TOPIC", text("t")}, {"TOKEN", number(5)}};
    EXPECT_EQ(masked(type(sink, "MQTT"), config),
              (Config{{"PASSWORD", text("***")}, {"TOPIC", text("t")}, {"TOKEN", text("***")}}));
    EXPECT_EQ(masked(type(sink, "MQTT"), {}), Config{});
}

// Who may name files is said by a right of its own (doors/desk/access.h).
TEST(Descriptors, KnowWhichTypesOpenFiles) {
    for (const auto kind : {DescriptorKind::source, DescriptorKind::sink}) {
        for (const Descriptor& each : descriptors(kind)) {
            const bool has_path =
                std::any_of(each.options.begin(), each.options.end(),
                            [](const Option& option) { return option.key == "FILE_PATH"; });
            EXPECT_EQ(opens_files(kind, each.name), has_path && each.name != "Void") << each.name;
        }
    }
    EXPECT_TRUE(opens_files(DescriptorKind::sink, "checksum"));
    EXPECT_FALSE(opens_files(DescriptorKind::source, "no such type"));
}

TEST(Complete, CertificatesNeedAnEncryptedBroker) {
    Given given = {
        {"SERVER_URI", text("tcp://b"), {}}, {"TOPIC", text("t"), {}}, {"TLS_CA", text("PEM"), {}}};
    EXPECT_EQ(to_string(refused(type(sink, "MQTT"), given)),
              "error 1000: option \"TLS_CA\" needs an encrypted connection; write ssl://host:8883 "
              "as SERVER_URI");
    given[0].value = text("ssl://b");
    EXPECT_TRUE(complete(type(sink, "MQTT"), given).has_value());
    given.push_back({"TLS_CERT", text("PEM"), {}});
    EXPECT_EQ(refused(type(sink, "MQTT"), given).message,
              "option \"TLS_CERT\" needs the other one of TLS_CERT and TLS_KEY");
    given.push_back({"TLS_KEY", text("PEM"), {}});
    const auto config = complete(type(sink, "MQTT"), given);
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(masked(type(sink, "MQTT"), *config).at("TLS_KEY"), text("***"));
}

}  // namespace

}  // namespace baton::descriptors
