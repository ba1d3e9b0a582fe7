#include "core/questions/walk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "core/questions/tree.h"

namespace baton::questions {

namespace {

constexpr std::size_t kTypeDepthMax = 32;

class Walker {
public:
    explicit Walker(Visitor& visitor) : visitor_(visitor) {}

    Result<Done> statement(json::Value& value) {
        if (std::holds_alternative<std::monostate>(value.value)) return Done{};
        auto* fields = std::get_if<json::Object>(&value.value);
        if (fields == nullptr) return strange("a statement");
        for (json::Field& field : *fields) {
            if (field.key == "named_param_map") continue;  // names, which the engine reads
            if (field.key != "node") return refused("a statement with", field.key);
            TRY(node(field.value));
        }
        return Done{};
    }

private:
    static Error strange(const std::string& what) {
        return {.code = ErrorCode::not_supported,
                .message = "the question has " + what + " of an unknown form"};
    }

    [[nodiscard]] Error refused(const std::string& what, std::string_view name) const {
        Error error{.code = ErrorCode::not_supported,
                    .message = "questions do not support " + what + " " + in_quotes(name)};
        if (last_offset_) error.at = Position{.offset = *last_offset_};
        return error;
    }

    static bool has_word(std::string_view words, std::string_view word) {
        while (!words.empty()) {
            const std::size_t end = std::min(words.find(' '), words.size());
            if (words.substr(0, end) == word) return true;
            words.remove_prefix(std::min(end + 1, words.size()));
        }
        return false;
    }

    // All keys of the object, which are the known ones.
    Result<Done> keys(json::Value& object, std::span<const Key> known, const std::string& of) {
        auto* fields = std::get_if<json::Object>(&object.value);
        if (fields == nullptr) return strange(of);
        for (json::Field& field : *fields) {
            const auto key = std::find_if(known.begin(), known.end(),
                                          [&](const Key& one) { return one.name == field.key; });
            if (key == known.end()) return refused(of + " with", field.key);
            TRY(content(field.value, *key, of));
        }
        return Done{};
    }

    Result<Done> expression(json::Value& value) {
        if (std::holds_alternative<std::monostate>(value.value)) return Done{};
        if (const auto offset = offset_of(value)) last_offset_ = offset;
        TRY(visitor_.expression(value));
        const std::string kind(text_of(value, "class"));
        const Shape* shape = expression_shape(kind);
        if (shape == nullptr) return refused("the expression", kind);
        const std::string type(text_of(value, "type"));
        if (!(shape->types.empty() ? type == shape->name : has_word(shape->types, type))) {
            return refused("the expression", type);
        }
        return keys(value, shape->keys, "an expression " + kind);
    }

    Result<Done> table(json::Value& value) {
        if (std::holds_alternative<std::monostate>(value.value)) return Done{};
        if (const auto offset = offset_of(value)) last_offset_ = offset;
        TRY(visitor_.table(value));
        const std::string kind(text_of(value, "type"));
        const Shape* shape = table_shape(kind);
        if (shape == nullptr) return refused("in FROM", kind);
        if (kind == "BASE_TABLE" && !is_cte(value)) TRY(visitor_.relation(value));
        return keys(value, shape->keys, "a table reference " + kind);
    }

    [[nodiscard]] bool is_cte(const json::Value& table) const {
        const std::string_view schema = text_of(table, "schema_name");
        if (!text_of(table, "catalog_name").empty()) return false;
        if (!schema.empty() && schema != "recurring") return false;
        const std::string name = to_lower(text_of(table, "table_name"));
        return std::find(ctes_.begin(), ctes_.end(), name) != ctes_.end();
    }

    Result<Done> node(json::Value& value) {
        if (std::holds_alternative<std::monostate>(value.value)) return Done{};
        while (text_of(value, "type") == "CTE_NODE") {
            json::Value* child = json::find(value, "child");
            if (child == nullptr) return strange("a CTE");
            json::Value inner = std::move(*child);
            value = std::move(inner);
        }
        const std::string kind(text_of(value, "type"));
        const Shape* shape = node_shape(kind);
        if (shape == nullptr) return refused("the query", kind);
        TRY(visitor_.query(value));
        const std::size_t outer = ctes_.size();
        // Its CTEs first: the other parts see them.
        if (json::Value* ctes = json::find(value, "cte_map")) TRY(common_tables(*ctes));
        if (kind == "RECURSIVE_CTE_NODE") ctes_.push_back(to_lower(text_of(value, "cte_name")));
        auto outcome = keys(value, shape->keys, "a query " + kind);
        ctes_.resize(outer);
        return outcome;
    }

    Result<Done> common_tables(json::Value& map) {
        json::Array* entries = list_of(map, "map");
        if (entries == nullptr) return strange("a list of CTEs");
        for (json::Value& entry : *entries) {
            const std::string name(text_of(entry, "key"));
            json::Value* value = json::find(entry, "value");
            if (value == nullptr || name.empty()) return strange("a CTE");
            TRY(visitor_.cte(name));
            TRY(keys(*value, cte_keys(), "a CTE"));
            ctes_.push_back(to_lower(name));
        }
        return Done{};
    }

    template <class Each>
    Result<Done> each(json::Value& value, const std::string& of, Each one) {
        auto* items = std::get_if<json::Array>(&value.value);
        if (items == nullptr) return strange(of);
        for (json::Value& item : *items) TRY(one(item));
        return Done{};
    }

    Result<Done> expressions(json::Value& value, const std::string& of) {
        return each(value, of, [&](json::Value& item) { return expression(item); });
    }

    Result<Done> orders(json::Value& value, const std::string& of) {
        return each(value, of,
                    [&](json::Value& item) { return keys(item, order_keys(), "an order"); });
    }

    Result<Done> modifier(json::Value& value) {
        const std::string kind(text_of(value, "type"));
        const Shape* shape = modifier_shape(kind);
        if (shape == nullptr) return refused("the modifier", kind);
        TRY(visitor_.modifier(value));
        return keys(value, shape->keys, "a modifier " + kind);
    }

    Result<Done> cases(json::Value& value, const std::string& of) {
        return each(value, of, [&](json::Value& item) -> Result<Done> {
            auto* fields = std::get_if<json::Object>(&item.value);
            if (fields == nullptr) return strange(of);
            for (json::Field& field : *fields) {
                if (field.key != "when_expr" && field.key != "then_expr") {
                    return refused(of + " with", field.key);
                }
                TRY(expression(field.value));
            }
            return Done{};
        });
    }

    Result<Done> named(json::Value& value, const std::string& of) {
        return each(value, of, [&](json::Value& item) -> Result<Done> {
            json::Value* inner = json::find(item, "value");
            if (inner == nullptr || json::find(item, "key") == nullptr) return strange(of);
            return expression(*inner);
        });
    }

    // AT (VERSION => 3): the caller resolves it, and bind_relations() takes it away.
    Result<Done> moment(json::Value& value) {
        if (std::holds_alternative<std::monostate>(value.value)) return Done{};
        json::Value* inner = json::find(value, "expr");
        const std::string_view unit = text_of(value, "unit");
        const bool constant = inner != nullptr && (text_of(*inner, "class") == "CONSTANT" ||
                                                   text_of(*inner, "class") == "CAST");
        if (constant && (unit == "VERSION" || unit == "TIMESTAMP")) return expression(*inner);
        Error error = refused("AT with", unit);
        error.hint = "write AT (VERSION => 12) or AT (TIMESTAMP => TIMESTAMP '..')";
        return error;
    }

    // Types hold texts and further types; names of types are judged by the visitor of casts.
    Result<Done> type(const json::Value& value, std::size_t depth) {
        if (depth > kTypeDepthMax) return refused("a type of this depth", "");
        const std::string_view kind = text_of(value, "id");
        static constexpr std::string_view kTypesOfValues =
            "NULL BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER "
            "UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL VARCHAR BLOB DATE TIMESTAMP TIMESTAMP_S "
            "TIMESTAMP_MS TIMESTAMP_NS TIME INTERVAL UUID BIT LIST STRUCT MAP ARRAY ";
        const bool plain = !kind.empty() && has_word(kTypesOfValues, kind);
        const bool zoned = kind == "TIMESTAMP WITH TIME ZONE" || kind == "TIME WITH TIME ZONE";
        const json::Value* info = json::find(value, "type_info");
        if (kind == "USER" && info != nullptr) {
            const std::string name = to_lower(text_of(*info, "user_type_name"));
            const bool bare = is_nothing(*info, "schema") && is_nothing(*info, "catalog") &&
                              is_nothing(*info, "user_type_modifiers");
            if (name == "json" && bare) return Done{};
            return Error{.code = ErrorCode::type_mismatch,
                         .message = "unknown type " + in_quotes(text_of(*info, "user_type_name")),
                         .at = last_offset_ ? std::optional(Position{.offset = *last_offset_})
                                            : std::nullopt};
        }
        if (!plain && !zoned) return refused("the type", kind);
        if (info == nullptr || is_nothing(*info)) return Done{};
        if (const json::Value* child = json::find(*info, "child_type")) {
            TRY(type(*child, depth + 1));
        }
        if (const json::Array* children = list_of(*info, "child_types")) {
            for (const json::Value& child : *children) {
                const json::Value* second = json::find(child, "second");
                if (second == nullptr) return strange("a type");
                TRY(type(*second, depth + 1));
            }
        }
        return Done{};
    }

    Result<Done> constant(const json::Value& value) {
        const json::Value* kind = json::find(value, "type");
        if (kind == nullptr) return strange("a constant");
        return type(*kind, 0);
    }

    Result<Done> texts(json::Value& value, const std::string& of) {
        return each(value, of, [&](json::Value& item) -> Result<Done> {
            if (std::holds_alternative<std::string>(item.value)) return Done{};
            return strange(of);
        });
    }

    Result<Done> sample(json::Value& value) {
        if (std::holds_alternative<std::monostate>(value.value)) return Done{};
        return keys(value, sample_keys(), "a sample");
    }

    Result<Done> content(json::Value& value, const Key& key, const std::string& of) {
        switch (key.holds) {
            case Holds::text:
                if (std::holds_alternative<std::string>(value.value)) return Done{};
                return strange(of);
            case Holds::flag:
                if (std::holds_alternative<bool>(value.value)) return Done{};
                return strange(of);
            case Holds::number:
                if (std::holds_alternative<std::uint64_t>(value.value)) return Done{};
                if (std::holds_alternative<std::int64_t>(value.value)) return Done{};
                return strange(of);
            case Holds::nothing:
                if (is_nothing(value)) return Done{};
                return refused(of + " with", key.name);
            case Holds::names:
                return texts(value, of);
            case Holds::expression:
                return expression(value);
            case Holds::expressions:
                return expressions(value, of);
            case Holds::rows:
                return each(value, of, [&](json::Value& row) { return expressions(row, of); });
            case Holds::cases:
                return cases(value, of);
            case Holds::named:
                return named(value, of);
            case Holds::renamed:
            case Holds::excluded:
            case Holds::sets:
                return each(value, of, [](json::Value&) -> Result<Done> { return Done{}; });
            case Holds::orders:
                return orders(value, of);
            case Holds::ordering:
            case Holds::modifiers:
                if (key.holds == Holds::ordering) return modifier(value);
                return each(value, of, [&](json::Value& item) { return modifier(item); });
            case Holds::table:
                return table(value);
            case Holds::node:
                return node(value);
            case Holds::nodes:
                return each(value, of, [&](json::Value& item) { return node(item); });
            case Holds::statement:
                return statement(value);
            case Holds::ctes:
                return Done{};  // node() has been there
            case Holds::sample:
                return sample(value);
            case Holds::moment:
                return moment(value);
            case Holds::value:
                return constant(value);
            case Holds::type:
                return type(value, 0);
        }
        CHECK(false);
    }

    Visitor& visitor_;
    std::vector<std::string> ctes_;  // that are visible, in lower case
    std::optional<std::uint32_t> last_offset_;
};

}  // namespace

Result<Done> walk(json::Value& tree, Visitor& visitor) {
    return Walker(visitor).statement(tree);
}

}  // namespace baton::questions
