#include "core/tables/actions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/overload.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/json/json.h"
#include "core/tables/schema_text.h"
#include "core/tables/statistics.h"
#include "core/tables/values.h"

namespace baton::tables {

namespace {

constexpr std::size_t kActionDepthMax = 64;
constexpr std::size_t kKeyBytesMax = 900;
constexpr std::string_view kChecksumTag = "baton.xxh3";

Error damaged_log(const std::string& why) {
    return Error{.code = ErrorCode::damaged_table, .message = "the table's log is damaged: " + why};
}

const json::Value* member(const json::Value& object, std::string_view key) {
    const json::Value* found = json::find(object, key);
    return found == nullptr || std::holds_alternative<std::monostate>(found->value) ? nullptr
                                                                                    : found;
}

Result<std::string> text_member(const json::Value& object, std::string_view key) {
    const json::Value* found = member(object, key);
    const auto* text = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
    if (text == nullptr) return damaged_log("an action has no text " + in_quotes(key));
    return *text;
}

std::string optional_text(const json::Value& object, std::string_view key) {
    const json::Value* found = member(object, key);
    const auto* text = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
    return text == nullptr ? std::string() : *text;
}

std::optional<std::uint64_t> count_member(const json::Value& object, std::string_view key) {
    const json::Value* found = member(object, key);
    const auto* count = found == nullptr ? nullptr : std::get_if<std::uint64_t>(&found->value);
    return count == nullptr ? std::nullopt : std::optional(*count);
}

bool flag_member(const json::Value& object, std::string_view key, bool otherwise) {
    const json::Value* found = member(object, key);
    const auto* flag = found == nullptr ? nullptr : std::get_if<bool>(&found->value);
    return flag == nullptr ? otherwise : *flag;
}

// Milliseconds since 1970, as far as calendars go here: up to the year 9999.
std::optional<WallTime> time_member(const json::Value& object, std::string_view key) {
    constexpr std::uint64_t kLast = 253'402'300'799'999;
    const auto count = count_member(object, key);
    if (!count || *count > kLast) return std::nullopt;
    return WallTime(std::chrono::milliseconds(static_cast<std::int64_t>(*count)));
}

std::uint64_t milliseconds_of(WallTime time) {
    const auto count =
        std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

std::vector<std::string> texts_member(const json::Value& object, std::string_view key) {
    std::vector<std::string> texts;
    const json::Value* found = member(object, key);
    const auto* items = found == nullptr ? nullptr : std::get_if<json::Array>(&found->value);
    if (items == nullptr) return texts;
    for (const json::Value& item : *items) {
        if (const auto* text = std::get_if<std::string>(&item.value)) texts.push_back(*text);
    }
    return texts;
}

Result<Action> read_protocol(const json::Value& value) {
    const auto reader = count_member(value, "minReaderVersion");
    const auto writer = count_member(value, "minWriterVersion");
    if (!reader || !writer) return damaged_log("a protocol has no versions");
    return Action(Protocol{.reader = *reader,
                           .writer = *writer,
                           .reader_features = texts_member(value, "readerFeatures"),
                           .writer_features = texts_member(value, "writerFeatures")});
}

Result<Action> read_metadata(const json::Value& value) {
    Metadata metadata{.id = optional_text(value, "id"),
                      .name = optional_text(value, "name"),
                      .created = time_member(value, "createdTime").value_or(WallTime())};
    if (const json::Value* format = member(value, "format")) {
        const std::string provider = optional_text(*format, "provider");
        if (provider != "parquet") {
            return Error{.code = ErrorCode::table_not_supported,
                         .message = "the objects of the table are not in Parquet"};
        }
    }
    TRY_ASSIGN(schema, text_member(value, "schemaString"));
    TRY_ASSIGN(columns, columns_of(schema));
    metadata.schema_text = std::move(schema);
    metadata.columns = std::move(columns);
    for (std::string& name : texts_member(value, "partitionColumns")) {
        const auto found =
            std::find_if(metadata.columns.begin(), metadata.columns.end(),
                         [&](const SqlField& column) { return column.name == name; });
        if (found == metadata.columns.end()) {
            return damaged_log("the table is partitioned by a column that it does not have");
        }
        metadata.partition_by.push_back(std::move(name));
    }
    const json::Value* settings = member(value, "configuration");
    const auto* fields =
        settings == nullptr ? nullptr : std::get_if<json::Object>(&settings->value);
    if (fields != nullptr) {
        for (const json::Field& field : *fields) {
            const auto* text = std::get_if<std::string>(&field.value.value);
            if (text != nullptr) metadata.configuration.emplace(field.key, *text);
        }
    }
    return Action(std::move(metadata));
}

Result<std::optional<std::string>> partition_value(const SqlField& column,
                                                   const json::Value& values) {
    const json::Value* found = json::find(values, column.name);
    if (found == nullptr) return damaged_log("an object has no value of a partition column");
    if (std::holds_alternative<std::monostate>(found->value)) return std::optional<std::string>();
    const auto* text = std::get_if<std::string>(&found->value);
    if (text == nullptr) return damaged_log("the value of a partition is no text");
    if (text->empty()) return std::optional<std::string>();  // so the protocol says
    if (order_of(column.type) != Order::whole) return std::optional(*text);
    const auto number = whole_of(column.type, *text);
    if (!number) {
        return damaged_log("the value of a partition is no " + to_string(column.type));
    }
    return std::optional(whole_text(column.type, *number));
}

void read_tags(const json::Value& value, AddObject& add) {
    const json::Value* tags = member(value, "tags");
    const auto* fields = tags == nullptr ? nullptr : std::get_if<json::Object>(&tags->value);
    if (fields == nullptr) return;
    json::Object others;
    for (const json::Field& field : *fields) {
        const auto* text = std::get_if<std::string>(&field.value.value);
        if (field.key == kChecksumTag && text != nullptr && text->size() <= 32) {
            add.object.checksum = *text;
        } else {
            others.push_back(field);
        }
    }
    if (!others.empty()) add.other_tags = json::to_text({std::move(others)});
}

Error no_deletion_vectors() {
    return Error{.code = ErrorCode::table_not_supported,
                 .message = "the table uses the feature \"deletionVectors\"",
                 .hint = "rewrite it without deletion vectors, in the engine that wrote it"};
}

Result<Action> read_add(const json::Value& value, const Layout* layout) {
    if (layout == nullptr) return damaged_log("an object stands before the columns of the table");
    if (member(value, "deletionVector") != nullptr) return no_deletion_vectors();
    AddObject add{.data_change = flag_member(value, "dataChange", true)};
    TRY_ASSIGN(path, text_member(value, "path"));
    TRY_ASSIGN(key, key_of_path(path));
    add.object.key = std::move(key);
    const auto bytes = count_member(value, "size");
    if (!bytes) return damaged_log("an object has no size");
    add.object.bytes = *bytes;
    add.object.modified = time_member(value, "modificationTime").value_or(WallTime());
    const json::Value* values = member(value, "partitionValues");
    for (const std::string& name : layout->partition_by) {
        const SqlField* column = layout->find(name);
        CHECK(column != nullptr);
        if (values == nullptr) return damaged_log("an object has no values of its partition");
        TRY_ASSIGN(read, partition_value(*column, *values));
        add.object.partition.emplace(name, std::move(read));
    }
    const std::string statistics = optional_text(value, "stats");
    if (!statistics.empty()) read_statistics(statistics, *layout, add.object);
    read_tags(value, add);
    return Action(std::move(add));
}

Result<Action> read_remove(const json::Value& value) {
    if (member(value, "deletionVector") != nullptr) return no_deletion_vectors();
    TRY_ASSIGN(path, text_member(value, "path"));
    TRY_ASSIGN(key, key_of_path(path));
    return Action(
        RemoveObject{.key = std::move(key),
                     .removed = time_member(value, "deletionTimestamp").value_or(WallTime()),
                     .data_change = flag_member(value, "dataChange", true)});
}

Result<Action> read_transaction(const json::Value& value) {
    TRY_ASSIGN(application, text_member(value, "appId"));
    const json::Value* number = member(value, "version");
    Transaction transaction{.application = std::move(application),
                            .updated = time_member(value, "lastUpdated")};
    const auto* negative = number == nullptr ? nullptr : std::get_if<std::int64_t>(&number->value);
    const auto count = count_member(value, "version");
    constexpr std::uint64_t kMax = INT64_MAX;
    if (negative == nullptr && (!count || *count > kMax)) {
        return damaged_log("a transaction has no version");
    }
    transaction.version = negative != nullptr ? *negative : static_cast<std::int64_t>(*count);
    return Action(std::move(transaction));
}

Result<Action> read_info(const json::Value& value) {
    return Action(CommitInfo{.time = time_member(value, "timestamp").value_or(WallTime()),
                             .operation = optional_text(value, "operation"),
                             .engine = optional_text(value, "engineInfo"),
                             .nonce = optional_text(value, "txnId")});
}

json::Field field(std::string key, json::Value value) {
    return {.key = std::move(key), .value = std::move(value)};
}

json::Value texts_json(const std::vector<std::string>& texts) {
    json::Array items;
    for (const std::string& text : texts) items.push_back({text});
    return {std::move(items)};
}

json::Value protocol_json(const Protocol& protocol) {
    json::Object object = {field("minReaderVersion", {protocol.reader}),
                           field("minWriterVersion", {protocol.writer})};
    if (protocol.reader >= 3) {
        object.push_back(field("readerFeatures", texts_json(protocol.reader_features)));
    }
    if (protocol.writer >= 7) {
        object.push_back(field("writerFeatures", texts_json(protocol.writer_features)));
    }
    return {std::move(object)};
}

json::Value metadata_json(const Metadata& metadata) {
    json::Object settings;
    for (const auto& [key, value] : metadata.configuration) {
        settings.push_back(field(key, {value}));
    }
    json::Object object = {field("id", {metadata.id})};
    if (!metadata.name.empty()) object.push_back(field("name", {metadata.name}));
    object.push_back(field("format", {json::Object{field("provider", {std::string("parquet")}),
                                                   field("options", {json::Object()})}}));
    object.push_back(field("schemaString", {metadata.schema_text}));
    object.push_back(field("partitionColumns", texts_json(metadata.partition_by)));
    object.push_back(field("configuration", {std::move(settings)}));
    object.push_back(field("createdTime", {milliseconds_of(metadata.created)}));
    return {std::move(object)};
}

json::Value add_json(const AddObject& add, const Layout& layout) {
    json::Object partition;
    for (const std::string& name : layout.partition_by) {
        const auto found = add.object.partition.find(name);
        CHECK(found != add.object.partition.end());
        partition.push_back(
            field(name, found->second ? json::Value{*found->second} : json::Value{}));
    }
    json::Object object = {
        field("path", {path_text(add.object.key)}),
        field("partitionValues", {std::move(partition)}),
        field("size", {add.object.bytes}),
        field("modificationTime", {milliseconds_of(add.object.modified)}),
        field("dataChange", {add.data_change}),
    };
    std::string statistics = statistics_text(add.object, layout);
    if (statistics != "{}") object.push_back(field("stats", {std::move(statistics)}));
    json::Object tags;
    if (!add.other_tags.empty()) {
        Result<json::Value> others =
            json::parse(add.other_tags, {.bytes = add.other_tags.size(), .depth = kActionDepthMax});
        CHECK(others);
        tags = std::get<json::Object>(std::move(others->value));
    }
    if (!add.object.checksum.empty()) {
        tags.push_back(field(std::string(kChecksumTag), {add.object.checksum}));
    }
    if (!tags.empty()) object.push_back(field("tags", {std::move(tags)}));
    return {std::move(object)};
}

json::Value remove_json(const RemoveObject& remove) {
    return {json::Object{field("path", {path_text(remove.key)}),
                         field("deletionTimestamp", {milliseconds_of(remove.removed)}),
                         field("dataChange", {remove.data_change})}};
}

json::Value transaction_json(const Transaction& transaction) {
    json::Object object = {field("appId", {transaction.application}),
                           field("version", {transaction.version})};
    if (transaction.updated) {
        object.push_back(field("lastUpdated", {milliseconds_of(*transaction.updated)}));
    }
    return {std::move(object)};
}

json::Value info_json(const CommitInfo& info) {
    json::Object object = {
        field("timestamp", {milliseconds_of(info.time)}), field("operation", {info.operation}),
        field("operationParameters", {json::Object()}), field("engineInfo", {info.engine})};
    if (!info.nonce.empty()) object.push_back(field("txnId", {info.nonce}));
    return {std::move(object)};
}

// The order in which actions of one entry take effect.
int rank_of(const Action& action) {
    return std::visit(
        Overload{[](const Protocol&) { return 0; }, [](const Metadata&) { return 1; },
                 [](const RemoveObject&) { return 2; }, [](const AddObject&) { return 3; },
                 [](const Transaction&) { return 4; }, [](const CommitInfo&) { return 5; }},
        action);
}

bool is_plain_in_path(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~/=").find(c) != std::string_view::npos;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_key(std::string_view key) {
    if (key.empty() || key.size() > kKeyBytesMax || !is_valid_utf8(key)) return false;
    const bool printable = std::all_of(key.begin(), key.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    });
    if (!printable) return false;
    for (std::size_t start = 0; start <= key.size();) {
        const std::size_t end = std::min(key.find('/', start), key.size());
        const std::string_view part = key.substr(start, end - start);
        if (part.empty() || part == "." || part == "..") return false;
        start = end + 1;
    }
    return true;
}

}  // namespace

const SqlField* Layout::find(std::string_view column) const {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const SqlField& field) { return field.name == column; });
    return found == columns.end() ? nullptr : &*found;
}

bool Layout::is_partition(std::string_view column) const {
    return std::find(partition_by.begin(), partition_by.end(), column) != partition_by.end();
}

std::string path_text(std::string_view key) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string path;
    for (const char c : key) {
        if (is_plain_in_path(c)) {
            path += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        path += '%';
        path += kDigits[byte >> 4U];
        path += kDigits[byte & 15U];
    }
    return path;
}

Result<std::string> key_of_path(std::string_view path) {
    const std::size_t colon = path.find(':');
    const bool absolute =
        path.starts_with('/') || (colon != std::string_view::npos && path.find('/') == colon + 1);
    if (absolute) {
        return Error{.code = ErrorCode::table_not_supported,
                     .message = "the table has objects outside of its location"};
    }
    std::string key;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] != '%') {
            key += path[i];
            continue;
        }
        const int high = i + 2 < path.size() ? hex_digit(path[i + 1]) : -1;
        const int low = i + 2 < path.size() ? hex_digit(path[i + 2]) : -1;
        if (high < 0 || low < 0) return damaged_log("a path has an escape without two digits");
        key += static_cast<char>(high * 16 + low);
        i += 2;
    }
    if (!is_key(key)) return damaged_log("a path does not name an object of the table");
    return key;
}

Result<std::optional<Action>> read_action(std::string_view line, const Layout* layout,
                                          const EntryLimits& limits) {
    TRY_ASSIGN(value, json::parse(line, {.bytes = limits.line_bytes,
                                         .depth = kActionDepthMax,
                                         .damaged = ErrorCode::damaged_table}));
    const auto* fields = std::get_if<json::Object>(&value.value);
    if (fields == nullptr) return damaged_log("a line is no object");
    for (const json::Field& action : *fields) {
        if (!std::holds_alternative<json::Object>(action.value.value)) continue;
        const auto wrapped = [](Result<Action> read) -> Result<std::optional<Action>> {
            if (!read) return read.error();
            return std::optional<Action>(*std::move(read));
        };
        if (action.key == "add") return wrapped(read_add(action.value, layout));
        if (action.key == "remove") return wrapped(read_remove(action.value));
        if (action.key == "metaData") return wrapped(read_metadata(action.value));
        if (action.key == "protocol") return wrapped(read_protocol(action.value));
        if (action.key == "txn") return wrapped(read_transaction(action.value));
        if (action.key == "commitInfo") return wrapped(read_info(action.value));
    }
    return std::optional<Action>();
}

Result<std::vector<Action>> read_entry(std::string_view text, const Layout* layout,
                                       const EntryLimits& limits) {
    if (text.size() > limits.bytes) return damaged_log("an entry is too large");
    std::vector<std::string_view> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const std::string_view line = text.substr(start, end - start);
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back(line);
        start = end + 1;
    }
    // The columns first: the other lines are read by them, wherever they stand.
    const Layout none;
    std::optional<Layout> changed;
    std::vector<Action> actions;
    for (const std::string_view line : lines) {
        if (line.find("\"metaData\"") == std::string_view::npos) continue;
        TRY_ASSIGN(action, read_action(line, &none, limits));
        const auto* metadata = action ? std::get_if<Metadata>(&*action) : nullptr;
        if (metadata == nullptr) continue;
        if (changed) return damaged_log("an entry has two schemas");
        changed = Layout{.columns = metadata->columns, .partition_by = metadata->partition_by};
    }
    for (const std::string_view line : lines) {
        TRY_ASSIGN(action, read_action(line, changed ? &*changed : layout, limits));
        if (action) actions.push_back(*std::move(action));
    }
    std::stable_sort(actions.begin(), actions.end(),
                     [](const Action& a, const Action& b) { return rank_of(a) < rank_of(b); });
    return actions;
}

std::string to_text(const Action& action, const Layout& layout) {
    const auto [key, value] =
        std::visit(Overload{
                       [](const Protocol& a) { return std::pair("protocol", protocol_json(a)); },
                       [](const Metadata& a) { return std::pair("metaData", metadata_json(a)); },
                       [&](const AddObject& a) { return std::pair("add", add_json(a, layout)); },
                       [](const RemoveObject& a) { return std::pair("remove", remove_json(a)); },
                       [](const Transaction& a) { return std::pair("txn", transaction_json(a)); },
                       [](const CommitInfo& a) { return std::pair("commitInfo", info_json(a)); },
                   },
                   action);
    return json::to_text({json::Object{field(key, value)}}) + "\n";
}

std::string entry_text(const std::vector<Action>& actions, const Layout& layout) {
    std::string text;
    for (const Action& action : actions) text += to_text(action, layout);
    return text;
}

}  // namespace baton::tables
