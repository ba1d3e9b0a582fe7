#include "core/tables/protocol.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/tables/schema_text.h"

namespace baton::tables {

namespace {

// Features by version are older than features by name.
constexpr std::uint64_t kReaderByName = 3;
constexpr std::uint64_t kWriterByName = 7;
constexpr std::uint64_t kWriterMax = 2;  // append-only tables and invariants

struct VersionFeature {
    std::uint64_t version;
    std::string_view feature;
};
constexpr std::array kWriterVersions = {
    VersionFeature{3, "checkConstraints"}, VersionFeature{4, "changeDataFeed"},
    VersionFeature{4, "generatedColumns"}, VersionFeature{5, "columnMapping"},
    VersionFeature{6, "identityColumns"},
};

// Without an effect for a reader, or served: a column of timestamp_ntz is a TIMESTAMP.
constexpr std::array<std::string_view, 2> kReadable = {"timestampNtz", "vacuumProtocolCheck"};
constexpr std::array<std::string_view, 3> kWritable = {"appendOnly", "invariants", "timestampNtz"};

std::string setting(const Metadata& metadata, const std::string& key) {
    const auto found = metadata.configuration.find(key);
    return found == metadata.configuration.end() ? std::string() : to_lower(found->second);
}

bool maps_columns(const Metadata& metadata) {
    const std::string mode = setting(metadata, "delta.columnMapping.mode");
    return !mode.empty() && mode != "none";
}

Result<Done> refuse(std::string_view verb, std::vector<std::string> features) {
    if (features.empty()) return Done{};
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
    for (std::string& feature : features) feature = in_quotes(feature.substr(0, 100));
    return Error{
        .code = ErrorCode::table_not_supported,
        .message = "the table cannot be " + std::string(verb) + ": it uses " + enumerate(features),
        .hint = "use the engine that wrote it"};
}

}  // namespace

Result<Done> check_readable(const Protocol& protocol, const Metadata& metadata) {
    std::vector<std::string> missing;
    if (protocol.reader > kReaderByName) {
        missing.push_back("version " + std::to_string(protocol.reader) + " of the protocol");
    }
    if (protocol.reader == kReaderByName) {
        for (const std::string& feature : protocol.reader_features) {
            const bool known =
                std::find(kReadable.begin(), kReadable.end(), feature) != kReadable.end() ||
                (feature == "columnMapping" && !maps_columns(metadata));
            if (!known) missing.push_back(feature);
        }
    }
    if (maps_columns(metadata)) missing.emplace_back("columnMapping");
    return refuse("read", std::move(missing));
}

Result<Done> check_writable(const Protocol& protocol, const Metadata& metadata) {
    TRY(check_readable(protocol, metadata));
    std::vector<std::string> missing = features_of_columns(metadata.schema_text);
    if (protocol.writer > kWriterByName) {
        missing.push_back("version " + std::to_string(protocol.writer) + " of the protocol");
    } else if (protocol.writer == kWriterByName) {
        for (const std::string& feature : protocol.writer_features) {
            const bool known =
                std::find(kWritable.begin(), kWritable.end(), feature) != kWritable.end();
            if (!known) missing.push_back(feature);
        }
    } else if (protocol.writer > kWriterMax) {
        for (const VersionFeature& feature : kWriterVersions) {
            if (feature.version <= protocol.writer) missing.emplace_back(feature.feature);
        }
    }
    if (setting(metadata, "delta.enableChangeDataFeed") == "true") {
        missing.emplace_back("changeDataFeed");
    }
    return refuse("written", std::move(missing));
}

}  // namespace baton::tables
