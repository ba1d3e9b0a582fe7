#include "core/plan_format/fields.h"

#include "base/overload.h"
#include "base/text.h"

namespace baton::plan_format {

Error damaged_plan(const std::string& where, const std::string& why) {
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "damaged plan of a fragment, at " + in_quotes(where) + ": " + why};
}

Result<Fields> Fields::of(const json::Value& json, std::string where) {
    const auto* object = std::get_if<json::Object>(&json.value);
    if (object == nullptr) return damaged_plan(where, "an object is expected");
    return Fields(*object, std::move(where));
}

std::string Fields::where(std::string_view key) const {
    return where_.empty() ? std::string(key) : where_ + "." + std::string(key);
}

std::string Fields::where(std::string_view key, std::size_t index) const {
    return where(key) + "[" + std::to_string(index) + "]";
}

const json::Value* Fields::find(std::string_view key) {
    for (std::size_t i = 0; i < object_->size(); ++i) {
        if ((*object_)[i].key != key) continue;
        taken_[i] = true;
        return &(*object_)[i].value;
    }
    return nullptr;
}

Result<const json::Value*> Fields::take(std::string_view key) {
    const json::Value* found = find(key);
    if (found == nullptr) return damaged_plan(where(key), "it is missing");
    return found;
}

Result<std::string> Fields::text(std::string_view key) {
    TRY_ASSIGN(json, take(key));
    const auto* found = std::get_if<std::string>(&json->value);
    if (found == nullptr) return damaged_plan(where(key), "a text is expected");
    return *found;
}

Result<bool> Fields::flag(std::string_view key) {
    TRY_ASSIGN(json, take(key));
    const auto* found = std::get_if<bool>(&json->value);
    if (found == nullptr) return damaged_plan(where(key), "true or false is expected");
    return *found;
}

Result<std::uint64_t> Fields::number(std::string_view key) {
    TRY_ASSIGN(json, take(key));
    const auto* found = std::get_if<std::uint64_t>(&json->value);
    if (found == nullptr) return damaged_plan(where(key), "a whole number is expected");
    return *found;
}

Result<std::optional<std::size_t>> Fields::optional_number(std::string_view key) {
    if (find(key) == nullptr) return std::optional<std::size_t>();
    TRY_ASSIGN(found, number(key));
    return std::optional<std::size_t>(found);
}

Result<const json::Array*> Fields::list(std::string_view key) {
    TRY_ASSIGN(json, take(key));
    const auto* found = std::get_if<json::Array>(&json->value);
    if (found == nullptr) return damaged_plan(where(key), "a list is expected");
    return found;
}

Result<DataType> Fields::type(std::string_view key) {
    TRY_ASSIGN(name, text(key));
    const auto found = data_type_of(name);
    if (!found || to_string(*found) != name) return damaged_plan(where(key), "an unknown type");
    return *found;
}

Result<Schema> Fields::schema(std::string_view key) {
    TRY_ASSIGN(items, list(key));
    Schema schema;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const auto* parts = std::get_if<json::Array>(&(*items)[i].value);
        const auto wrong = [&] {
            return damaged_plan(where(key, i), "[name, type, nullable] is expected");
        };
        if (parts == nullptr || parts->size() != 3) return wrong();
        const auto* name = std::get_if<std::string>(&(*parts)[0].value);
        const auto* type_name = std::get_if<std::string>(&(*parts)[1].value);
        const auto* nullable = std::get_if<bool>(&(*parts)[2].value);
        if (name == nullptr || type_name == nullptr || nullable == nullptr) return wrong();
        const auto found = data_type_of(*type_name);
        if (!found || to_string(*found) != *type_name) return wrong();
        schema.columns.push_back({.name = *name, .type = *found, .nullable = *nullable});
    }
    if (schema.columns.empty()) return damaged_plan(where(key), "it has no columns");
    return schema;
}

Result<Config> Fields::config(std::string_view key) {
    TRY_ASSIGN(json, take(key));
    const auto* options = std::get_if<json::Object>(&json->value);
    if (options == nullptr) return damaged_plan(where(key), "an object is expected");
    Config config;
    for (const auto& [name, value] : *options) {
        const auto* plain = std::get_if<std::uint64_t>(&value.value);
        if (const auto* text_value = std::get_if<std::string>(&value.value)) {
            config[name] = *text_value;
        } else if (const auto* truth = std::get_if<bool>(&value.value)) {
            config[name] = *truth;
        } else if (const auto* real = std::get_if<double>(&value.value)) {
            config[name] = *real;
        } else if (const auto* below_zero = std::get_if<std::int64_t>(&value.value)) {
            config[name] = *below_zero;
        } else if (plain != nullptr && *plain <= INT64_MAX) {
            config[name] = static_cast<std::int64_t>(*plain);
        } else {
            return damaged_plan(where(key), "an option that is no plain value");
        }
    }
    return config;
}

Result<std::vector<std::string>> Fields::texts(std::string_view key) {
    TRY_ASSIGN(items, list(key));
    std::vector<std::string> result;
    for (const json::Value& item : *items) {
        const auto* found = std::get_if<std::string>(&item.value);
        if (found == nullptr) return damaged_plan(where(key), "a list of texts is expected");
        result.push_back(*found);
    }
    return result;
}

Result<std::vector<std::size_t>> Fields::numbers(std::string_view key) {
    TRY_ASSIGN(items, list(key));
    std::vector<std::size_t> result;
    for (const json::Value& item : *items) {
        const auto* found = std::get_if<std::uint64_t>(&item.value);
        if (found == nullptr) return damaged_plan(where(key), "a list of numbers is expected");
        result.push_back(*found);
    }
    return result;
}

Result<Done> Fields::end() const {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        if (!taken_[i]) return damaged_plan(where_, "it has a key that is not known");
    }
    return Done{};
}

}  // namespace baton::plan_format
