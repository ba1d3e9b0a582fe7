#include "core/questions/tree.h"

#include <algorithm>
#include <utility>

namespace baton::questions {

namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20U;
constexpr std::size_t kDepth = 2'000;

}  // namespace

json::Limits tree_limits() {
    return {.bytes = kBytes, .depth = kDepth, .damaged = ErrorCode::defect};
}

std::string_view text_of(const json::Value& object, std::string_view key) {
    const json::Value* value = json::find(object, key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
    return text == nullptr ? std::string_view() : *text;
}

bool is_true(const json::Value& object, std::string_view key) {
    const json::Value* value = json::find(object, key);
    const auto* flag = value == nullptr ? nullptr : std::get_if<bool>(&value->value);
    return flag != nullptr && *flag;
}

bool is_nothing(const json::Value& value) {
    if (std::holds_alternative<std::monostate>(value.value)) return true;
    if (const auto* flag = std::get_if<bool>(&value.value)) return !*flag;
    if (const auto* text = std::get_if<std::string>(&value.value)) return text->empty();
    if (const auto* items = std::get_if<json::Array>(&value.value)) return items->empty();
    if (const auto* fields = std::get_if<json::Object>(&value.value)) return fields->empty();
    return false;
}

bool is_nothing(const json::Value& object, std::string_view key) {
    const json::Value* value = json::find(object, key);
    return value == nullptr || is_nothing(*value);
}

json::Array* list_of(json::Value& object, std::string_view key) {
    json::Value* value = json::find(object, key);
    return value == nullptr ? nullptr : std::get_if<json::Array>(&value->value);
}

const json::Array* list_of(const json::Value& object, std::string_view key) {
    const json::Value* value = json::find(object, key);
    return value == nullptr ? nullptr : std::get_if<json::Array>(&value->value);
}

void set(json::Value& object, std::string_view key, json::Value value) {
    if (json::Value* old = json::find(object, key)) {
        *old = std::move(value);
        return;
    }
    if (auto* fields = std::get_if<json::Object>(&object.value)) {
        fields->push_back({.key = std::string(key), .value = std::move(value)});
    }
}

std::optional<std::uint32_t> offset_of(const json::Value& node) {
    const json::Value* value = json::find(node, "query_location");
    const auto* offset = value == nullptr ? nullptr : std::get_if<std::uint64_t>(&value->value);
    if (offset == nullptr || *offset > UINT32_MAX) return std::nullopt;
    return static_cast<std::uint32_t>(*offset);
}

Position position_at(std::string_view text, std::uint32_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto lines = std::count(before.begin(), before.end(), '\n');
    return {.offset = static_cast<std::uint32_t>(before.size()),
            .line = static_cast<std::uint32_t>(lines + 1),
            .column = static_cast<std::uint32_t>(before.size() - line_begin + 1)};
}

json::Value text_constant(std::string value, std::string alias, const json::Value* at) {
    const json::Value* place = at == nullptr ? nullptr : json::find(*at, "query_location");
    json::Object type{{.key = "id", .value = {std::string("VARCHAR")}},
                      {.key = "type_info", .value = {}}};
    json::Object constant{{.key = "type", .value = {std::move(type)}},
                          {.key = "is_null", .value = {false}},
                          {.key = "value", .value = {std::move(value)}}};
    return {json::Object{
        {.key = "class", .value = {std::string("CONSTANT")}},
        {.key = "type", .value = {std::string("VALUE_CONSTANT")}},
        {.key = "alias", .value = {std::move(alias)}},
        {.key = "query_location", .value = place == nullptr ? json::Value{UINT64_MAX} : *place},
        {.key = "value", .value = {std::move(constant)}}}};
}

}  // namespace baton::questions
