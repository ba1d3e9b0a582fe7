// Fields takes an object of the plan format apart, key by key, and knows where it stands.
//
// Every key is taken once; a key that is left at the end is unknown and refused. Errors are
// catalog_corrupt and name the place, as in "roots[0].inputs[1].predicate", never its text.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/json/json.h"
#include "model/plan.h"

namespace baton::plan_format {

[[nodiscard]] Error damaged_plan(const std::string& where, const std::string& why);

class Fields {
public:
    [[nodiscard]] static Result<Fields> of(const json::Value& json, std::string where);

    [[nodiscard]] const std::string& where() const { return where_; }
    [[nodiscard]] std::string where(std::string_view key) const;
    [[nodiscard]] std::string where(std::string_view key, std::size_t index) const;

    // The value of a key that may be missing.
    [[nodiscard]] const json::Value* find(std::string_view key);
    [[nodiscard]] Result<const json::Value*> take(std::string_view key);

    [[nodiscard]] Result<std::string> text(std::string_view key);
    [[nodiscard]] Result<bool> flag(std::string_view key);
    [[nodiscard]] Result<std::uint64_t> number(std::string_view key);
    [[nodiscard]] Result<std::optional<std::size_t>> optional_number(std::string_view key);
    [[nodiscard]] Result<const json::Array*> list(std::string_view key);
    [[nodiscard]] Result<DataType> type(std::string_view key);
    [[nodiscard]] Result<Schema> schema(std::string_view key);
    [[nodiscard]] Result<Config> config(std::string_view key);
    [[nodiscard]] Result<std::vector<std::string>> texts(std::string_view key);
    [[nodiscard]] Result<std::vector<std::size_t>> numbers(std::string_view key);

    template <class Enum, std::size_t N>
    [[nodiscard]] Result<Enum> word(std::string_view key,
                                    const std::array<std::string_view, N>& words) {
        TRY_ASSIGN(given, text(key));
        for (std::size_t i = 0; i < N; ++i) {
            if (words[i] == given) return static_cast<Enum>(i);
        }
        return damaged_plan(where(key), "an unknown word");
    }

    // Nothing may be left.
    [[nodiscard]] Result<Done> end() const;

private:
    Fields(const json::Object& object, std::string where)
        : object_(&object), where_(std::move(where)), taken_(object.size()) {}

    const json::Object* object_;
    std::string where_;
    std::vector<bool> taken_;
};

}  // namespace baton::plan_format
