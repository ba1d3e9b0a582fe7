#include "core/tables/schema_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "core/json/json.h"

namespace baton::tables {

namespace {

using Kind = SqlType::Kind;

constexpr std::size_t kSchemaBytesMax = 4ULL << 20U;
constexpr std::size_t kSchemaDepthMax = 100;  // of JSON; a level of a type takes up to three
constexpr std::size_t kTypeDepthMax = 20;
constexpr std::size_t kColumnsMax = 2'000;

struct Simple {
    Kind kind;
    std::string_view name;
};
constexpr std::array kSimple = {
    Simple{Kind::boolean, "boolean"},
    Simple{Kind::tinyint, "byte"},
    Simple{Kind::smallint, "short"},
    Simple{Kind::integer, "integer"},
    Simple{Kind::bigint, "long"},
    Simple{Kind::real, "float"},
    Simple{Kind::double_precision, "double"},
    Simple{Kind::varchar, "string"},
    Simple{Kind::blob, "binary"},
    Simple{Kind::date, "date"},
    Simple{Kind::timestamptz, "timestamp"},
    Simple{Kind::timestamp, "timestamp_ntz"},
};

Error damaged_schema(const std::string& why) {
    return Error{.code = ErrorCode::damaged_table,
                 .message = "the schema in the table's log is damaged: " + why};
}

json::Field field(std::string key, json::Value value) {
    return {.key = std::move(key), .value = std::move(value)};
}

json::Value fields_json(const SqlColumns& columns);

json::Value type_json(const SqlType& type) {
    if (type.kind == Kind::decimal) {
        return {"decimal(" + std::to_string(type.precision) + "," + std::to_string(type.scale) +
                ")"};
    }
    if (type.kind == Kind::list) {
        CHECK(type.parts.size() == 1);
        return {json::Object{field("type", {std::string("array")}),
                             field("elementType", type_json(type.parts.front().type)),
                             field("containsNull", {type.parts.front().nullable})}};
    }
    if (type.kind == Kind::map) {
        CHECK(type.parts.size() == 2);
        return {json::Object{field("type", {std::string("map")}),
                             field("keyType", type_json(type.parts[0].type)),
                             field("valueType", type_json(type.parts[1].type)),
                             field("valueContainsNull", {type.parts[1].nullable})}};
    }
    if (type.kind == Kind::structure) return fields_json(type.parts);
    const Kind kind = type.kind == Kind::timestamp ? Kind::timestamptz : type.kind;
    const auto found = std::find_if(kSimple.begin(), kSimple.end(),
                                    [&](const Simple& simple) { return simple.kind == kind; });
    CHECK(found != kSimple.end());  // not a type of tables
    return {std::string(found->name)};
}

// The type of which a list is one, however deep.
template <class Type>
Type& innermost(Type& type) {
    Type* inner = &type;
    while (inner->kind == Kind::list && !inner->parts.empty()) inner = &inner->parts.front().type;
    return *inner;
}

json::Value fields_json(const SqlColumns& columns) {
    json::Array fields;
    for (const SqlField& column : columns) {
        json::Object metadata;
        if (innermost(column.type).kind == Kind::timestamp) {
            metadata.push_back(field("baton.type", {std::string("TIMESTAMP")}));
        }
        fields.push_back({json::Object{
            field("name", {column.name}), field("type", type_json(column.type)),
            field("nullable", {column.nullable}), field("metadata", {std::move(metadata)})}});
    }
    return {
        json::Object{field("type", {std::string("struct")}), field("fields", {std::move(fields)})}};
}

const std::string* text_at(const json::Value& value, std::string_view key) {
    const json::Value* found = json::find(value, key);
    return found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
}

bool flag_at(const json::Value& value, std::string_view key, bool otherwise) {
    const json::Value* found = json::find(value, key);
    const bool* flag = found == nullptr ? nullptr : std::get_if<bool>(&found->value);
    return flag == nullptr ? otherwise : *flag;
}

Result<SqlType> simple_type(const std::string& name) {
    const auto found = std::find_if(kSimple.begin(), kSimple.end(),
                                    [&](const Simple& simple) { return simple.name == name; });
    if (found != kSimple.end()) return SqlType{.kind = found->kind};
    if (name.starts_with("decimal")) {
        // Spark also writes `decimal` for decimal(10,0), and spaces after the comma.
        const Result<SqlType> type = table_type_of(name == "decimal" ? "decimal(10,0)" : name);
        if (type) return type;
        return damaged_schema("a decimal has other digits than a decimal can have");
    }
    return Error{.code = ErrorCode::table_not_supported,
                 .message = "the table has a column of the type " + in_quotes(name.substr(0, 100)),
                 .hint = "read it with the engine that wrote it"};
}

Result<SqlColumns> read_fields(const json::Value& value, std::size_t depth);

Result<SqlType> read_type(const json::Value& value, std::size_t depth) {
    if (depth > kTypeDepthMax) return damaged_schema("a type is nested too deep");
    if (const auto* name = std::get_if<std::string>(&value.value)) return simple_type(*name);
    const std::string* kind = text_at(value, "type");
    if (kind == nullptr) return damaged_schema("a type has no name");
    const auto part = [&](std::string_view key) -> Result<SqlType> {
        const json::Value* found = json::find(value, key);
        if (found == nullptr) return damaged_schema("a type has no " + std::string(key));
        return read_type(*found, depth + 1);
    };
    if (*kind == "array") {
        TRY_ASSIGN(element, part("elementType"));
        return SqlType{.kind = Kind::list,
                       .parts = {{.type = std::move(element),
                                  .nullable = flag_at(value, "containsNull", true)}}};
    }
    if (*kind == "map") {
        TRY_ASSIGN(key, part("keyType"));
        TRY_ASSIGN(element, part("valueType"));
        return SqlType{.kind = Kind::map,
                       .parts = {{.type = std::move(key), .nullable = false},
                                 {.type = std::move(element),
                                  .nullable = flag_at(value, "valueContainsNull", true)}}};
    }
    if (*kind != "struct") return simple_type(*kind);
    TRY_ASSIGN(fields, read_fields(value, depth + 1));
    return SqlType{.kind = Kind::structure, .parts = std::move(fields)};
}

Result<SqlColumns> read_fields(const json::Value& value, std::size_t depth) {
    const json::Value* list = json::find(value, "fields");
    const auto* items = list == nullptr ? nullptr : std::get_if<json::Array>(&list->value);
    if (items == nullptr) return damaged_schema("a struct has no fields");
    if (items->size() > kColumnsMax) return damaged_schema("a struct has too many fields");
    SqlColumns columns;
    std::vector<std::string> names;
    for (const json::Value& item : *items) {
        const std::string* name = text_at(item, "name");
        const json::Value* type = json::find(item, "type");
        if (name == nullptr || name->empty() || type == nullptr) {
            return damaged_schema("a field has no name or no type");
        }
        TRY_ASSIGN(read, read_type(*type, depth));
        const json::Value* metadata = json::find(item, "metadata");
        const std::string* declared =
            metadata == nullptr ? nullptr : text_at(*metadata, "baton.type");
        SqlType& inner = innermost(read);
        if (inner.kind == Kind::timestamptz && declared != nullptr && *declared == "TIMESTAMP") {
            inner.kind = Kind::timestamp;
        }
        names.push_back(to_lower(*name));
        columns.push_back(
            {.name = *name, .type = std::move(read), .nullable = flag_at(item, "nullable", true)});
    }
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
        return damaged_schema("two fields have the same name");
    }
    return columns;
}

Result<json::Value> parse_schema(std::string_view text) {
    return json::parse(
        text,
        {.bytes = kSchemaBytesMax, .depth = kSchemaDepthMax, .damaged = ErrorCode::damaged_table});
}

struct ColumnFeature {
    std::string_view key;  // of the metadata of a column
    std::string_view feature;
};
constexpr std::array kColumnFeatures = {
    ColumnFeature{"delta.invariants", "invariants"},
    ColumnFeature{"delta.generationExpression", "generatedColumns"},
    ColumnFeature{"delta.identity.start", "identityColumns"},
    ColumnFeature{"delta.columnMapping.physicalName", "columnMapping"},
    ColumnFeature{"CURRENT_DEFAULT", "allowColumnDefaults"},
    ColumnFeature{"delta.typeChanges", "typeWidening"},
    // The length of VARCHAR(n): a writer would have to check it.
    ColumnFeature{"__CHAR_VARCHAR_TYPE_STRING", "texts of a bounded length"},
};

}  // namespace

std::string schema_text(const SqlColumns& columns) {
    return json::to_text(fields_json(columns));
}

Result<SqlColumns> columns_of(std::string_view schema_text) {
    TRY_ASSIGN(value, parse_schema(schema_text));
    TRY_ASSIGN(columns, read_fields(value, 1));
    return columns;
}

std::vector<std::string> features_of_columns(std::string_view schema_text) {
    std::vector<std::string> features;
    const Result<json::Value> value = parse_schema(schema_text);
    if (!value) return features;
    std::vector<const json::Value*> open = {&*value};
    while (!open.empty()) {
        const json::Value* next = open.back();
        open.pop_back();
        if (const auto* items = std::get_if<json::Array>(&next->value)) {
            for (const json::Value& item : *items) open.push_back(&item);
        }
        const auto* object = std::get_if<json::Object>(&next->value);
        if (object == nullptr) continue;
        for (const json::Field& member : *object) {
            open.push_back(&member.value);
            for (const ColumnFeature& feature : kColumnFeatures) {
                if (member.key == feature.key) features.emplace_back(feature.feature);
            }
        }
    }
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
    return features;
}

}  // namespace baton::tables
