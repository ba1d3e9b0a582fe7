#include "core/questions/bounds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "core/questions/tree.h"
#include "core/questions/walk.h"

namespace baton::questions {

namespace {

using Is = ColumnBound::Is;
using Kind = SqlType::Kind;

// A literal: its text and the kind of its type.
struct Literal {
    std::string text;
    enum class Of : std::uint8_t { whole, decimal, text, date, timestamp, flag } of = Of::text;
};

std::string decimal_text(std::uint64_t digits, bool negative, std::uint64_t scale) {
    std::string text = std::to_string(digits);
    if (text.size() <= scale) text.insert(0, scale + 1 - text.size(), '0');
    if (scale > 0) text.insert(text.size() - scale, 1, '.');
    return (negative ? "-" : "") + text;
}

std::optional<Literal> constant_literal(const json::Value& node) {
    const json::Value* constant = json::find(node, "value");
    if (constant == nullptr || is_true(*constant, "is_null")) return std::nullopt;
    const json::Value* type = json::find(*constant, "type");
    const json::Value* value = json::find(*constant, "value");
    if (type == nullptr || value == nullptr) return std::nullopt;
    const std::string_view id = text_of(*type, "id");
    if (const auto* text = std::get_if<std::string>(&value->value); text && id == "VARCHAR") {
        return Literal{.text = *text};
    }
    if (const auto* flag = std::get_if<bool>(&value->value)) {
        return Literal{.text = *flag ? "true" : "false", .of = Literal::Of::flag};
    }
    const auto* positive = std::get_if<std::uint64_t>(&value->value);
    const auto* negative = std::get_if<std::int64_t>(&value->value);
    if (positive == nullptr && negative == nullptr) return std::nullopt;
    const std::uint64_t digits =
        positive != nullptr ? *positive : 0 - static_cast<std::uint64_t>(*negative);
    if (id == "DECIMAL") {
        const json::Value* info = json::find(*type, "type_info");
        const json::Value* scale = info == nullptr ? nullptr : json::find(*info, "scale");
        const auto* count = scale == nullptr ? nullptr : std::get_if<std::uint64_t>(&scale->value);
        if (count == nullptr) return std::nullopt;
        return Literal{.text = decimal_text(digits, negative != nullptr, *count),
                       .of = Literal::Of::decimal};
    }
    if (id != "INTEGER" && id != "BIGINT") return std::nullopt;
    return Literal{.text = decimal_text(digits, negative != nullptr, 0), .of = Literal::Of::whole};
}

std::optional<Literal> literal_of(const json::Value& node) {
    const std::string_view kind = text_of(node, "class");
    if (kind == "CONSTANT") return constant_literal(node);
    if (kind == "CAST" && !is_true(node, "try_cast")) {
        const json::Value* child = json::find(node, "child");
        const json::Value* type = json::find(node, "cast_type");
        if (child == nullptr || type == nullptr) return std::nullopt;
        auto literal = literal_of(*child);
        const std::string_view id = text_of(*type, "id");
        if (!literal || literal->of != Literal::Of::text) return std::nullopt;
        if (id == "DATE") literal->of = Literal::Of::date;
        if (id == "TIMESTAMP") literal->of = Literal::Of::timestamp;
        return id == "DATE" || id == "TIMESTAMP" ? literal : std::nullopt;
    }
    const json::Array* children = list_of(node, "children");
    const bool minus = kind == "FUNCTION" && text_of(node, "function_name") == "-" &&
                       children != nullptr && children->size() == 1;
    if (!minus) return std::nullopt;
    auto literal = literal_of(children->front());
    if (!literal || literal->text.starts_with('-')) return std::nullopt;
    if (literal->of != Literal::Of::whole && literal->of != Literal::Of::decimal) {
        return std::nullopt;
    }
    literal->text.insert(0, 1, '-');
    return literal;
}

bool is_whole(Kind kind) {
    return kind == Kind::tinyint || kind == Kind::smallint || kind == Kind::integer ||
           kind == Kind::bigint;
}

// A literal that is compared as a value of the column's own type.
bool fits(const Literal& literal, const SqlType& type) {
    using Of = Literal::Of;
    switch (literal.of) {
        case Of::whole:
            return is_whole(type.kind) || type.kind == Kind::decimal;
        case Of::decimal:
            return type.kind == Kind::decimal;
        case Of::text:
            return type.kind == Kind::varchar || type.kind == Kind::date ||
                   type.kind == Kind::timestamp;
        case Of::date:
            return type.kind == Kind::date;
        case Of::timestamp:
            return type.kind == Kind::timestamp;
        case Of::flag:
            return type.kind == Kind::boolean;
    }
    CHECK(false);
}

struct Source {
    const json::Value* table = nullptr;
    std::string alias;  // in lower case
    bool usable = true;
};

class Bounding final : public Visitor {
public:
    explicit Bounding(const std::vector<SqlColumns>& columns) : columns_(columns) {}

    // The mentions of a query are met after the query, in the order of its FROM.
    Result<Done> query(json::Value& node) override {
        if (text_of(node, "type") != "SELECT_NODE") return Done{};
        Scope scope;
        const json::Value* from = json::find(node, "from_table");
        if (from != nullptr) gather(*from, true, scope);
        if (!is_nothing(node, "sample")) return Done{};
        const json::Value* where = json::find(node, "where_clause");
        if (where != nullptr && !is_nothing(*where)) conjunction(*where, scope);
        return Done{};
    }

    Result<Done> relation(json::Value& node) override {
        mentions_.push_back(&node);
        return Done{};
    }

    std::vector<std::vector<ColumnBound>> take() {
        std::vector<std::vector<ColumnBound>> all(mentions_.size());
        CHECK(columns_.size() == mentions_.size());
        for (std::size_t i = 0; i < mentions_.size(); ++i) {
            for (const Pending& pending : pending_) settle(pending, i, all[i]);
        }
        return all;
    }

private:
    struct Scope {
        std::vector<Source> sources;
        bool closed = true;  // all of FROM are base tables
    };
    // A condition; its relation is known when all mentions are.
    struct Pending {
        std::vector<std::string> column;  // one or two names, in lower case
        Is is = Is::equal;
        std::vector<Literal> literals;
        Scope scope;
    };

    static void gather(const json::Value& table, bool usable, Scope& scope) {
        const std::string_view kind = text_of(table, "type");
        if (kind == "BASE_TABLE") {
            std::string_view alias = text_of(table, "alias");
            if (alias.empty()) alias = text_of(table, "table_name");
            const bool plain =
                is_nothing(table, "sample") && is_nothing(table, "column_name_alias");
            scope.closed = scope.closed && plain;
            scope.sources.push_back(
                {.table = &table, .alias = to_lower(alias), .usable = usable && plain});
            return;
        }
        const json::Value* left = json::find(table, "left");
        const json::Value* right = json::find(table, "right");
        if (kind != "JOIN" || left == nullptr || right == nullptr) {
            scope.closed = scope.closed && kind == "EMPTY";
            return;
        }
        const std::string_view type = text_of(table, "join_type");
        const std::string_view how = text_of(table, "ref_type");
        const bool regular = how == "REGULAR" || how == "CROSS" || how == "NATURAL";
        const bool inner = type == "INNER" && regular;
        const bool left_stays = inner || (type == "LEFT" || type == "SEMI" || type == "ANTI");
        gather(*left, usable && left_stays && regular, scope);
        gather(*right, usable && inner, scope);
    }

    void conjunction(const json::Value& node, const Scope& scope) {
        if (text_of(node, "type") == "CONJUNCTION_AND") {
            const json::Array* children = list_of(node, "children");
            if (children == nullptr) return;
            for (const json::Value& child : *children) conjunction(child, scope);
            return;
        }
        condition(node, scope);
    }

    static std::vector<std::string> column_of(const json::Value& node) {
        std::vector<std::string> column;
        const json::Array* names = list_of(node, "column_names");
        if (text_of(node, "class") != "COLUMN_REF" || names == nullptr || names->size() > 2) {
            return column;
        }
        for (const json::Value& name : *names) {
            const auto* text = std::get_if<std::string>(&name.value);
            column.push_back(text == nullptr ? "" : to_lower(*text));
        }
        return column;
    }

    void add(const json::Value& column, Is is, const std::vector<const json::Value*>& values,
             const Scope& scope) {
        Pending pending{.column = column_of(column), .is = is, .scope = scope};
        if (pending.column.empty()) return;
        for (const json::Value* value : values) {
            const auto literal = value == nullptr ? std::nullopt : literal_of(*value);
            if (!literal) return;
            pending.literals.push_back(*literal);
        }
        pending_.push_back(std::move(pending));
    }

    void comparison(const json::Value& node, const Scope& scope) {
        constexpr std::array<std::pair<std::string_view, std::pair<Is, Is>>, 5> kKinds = {{
            {"COMPARE_EQUAL", {Is::equal, Is::equal}},
            {"COMPARE_LESSTHAN", {Is::less, Is::greater}},
            {"COMPARE_LESSTHANOREQUALTO", {Is::less_or_equal, Is::greater_or_equal}},
            {"COMPARE_GREATERTHAN", {Is::greater, Is::less}},
            {"COMPARE_GREATERTHANOREQUALTO", {Is::greater_or_equal, Is::less_or_equal}},
        }};
        const json::Value* left = json::find(node, "left");
        const json::Value* right = json::find(node, "right");
        if (left == nullptr || right == nullptr) return;
        for (const auto& [kind, is] : kKinds) {
            if (text_of(node, "type") != kind) continue;
            add(*left, is.first, {right}, scope);
            add(*right, is.second, {left}, scope);
        }
    }

    void condition(const json::Value& node, const Scope& scope) {
        const std::string_view type = text_of(node, "type");
        if (text_of(node, "class") == "COMPARISON") return comparison(node, scope);
        if (type == "COMPARE_BETWEEN") {
            const json::Value* input = json::find(node, "input");
            if (input == nullptr) return;
            add(*input, Is::greater_or_equal, {json::find(node, "lower")}, scope);
            add(*input, Is::less_or_equal, {json::find(node, "upper")}, scope);
            return;
        }
        const json::Array* children = list_of(node, "children");
        if (children == nullptr || children->empty()) return;
        if (type == "OPERATOR_IS_NULL") add(children->front(), Is::null, {}, scope);
        if (type == "OPERATOR_IS_NOT_NULL") add(children->front(), Is::not_null, {}, scope);
        if (type == "COMPARE_IN") {
            std::vector<const json::Value*> values;
            for (std::size_t i = 1; i < children->size(); ++i) values.push_back(&(*children)[i]);
            add(children->front(), Is::one_of, values, scope);
        }
    }

    [[nodiscard]] const SqlField* field_of(const json::Value* table, std::string_view name) const {
        const auto mention = std::find(mentions_.begin(), mentions_.end(), table);
        if (mention == mentions_.end()) return nullptr;
        const auto& columns = columns_[static_cast<std::size_t>(mention - mentions_.begin())];
        const auto field = std::find_if(columns.begin(), columns.end(), [&](const SqlField& one) {
            return equal_ignoring_case(one.name, name);
        });
        return field == columns.end() ? nullptr : &*field;
    }

    // The condition belongs to this mention if its column can be no other's.
    void settle(const Pending& pending, std::size_t mention, std::vector<ColumnBound>& to) const {
        const json::Value* table = mentions_[mention];
        const SqlField* field = nullptr;
        std::size_t candidates = 0;
        for (const Source& source : pending.scope.sources) {
            const bool known =
                std::find(mentions_.begin(), mentions_.end(), source.table) != mentions_.end();
            if (!known) return;  // a CTE
            if (pending.column.size() == 2 && source.alias != pending.column.front()) continue;
            const SqlField* found = field_of(source.table, pending.column.back());
            if (found == nullptr) continue;
            candidates += 1;
            if (source.table == table && source.usable) field = found;
        }
        if (field == nullptr || candidates != 1) return;
        if (pending.column.size() == 1 && !pending.scope.closed) return;
        ColumnBound bound{.column = field->name, .is = pending.is};
        for (const Literal& literal : pending.literals) {
            if (!fits(literal, field->type)) return;
            bound.values.push_back(literal.text);
        }
        to.push_back(std::move(bound));
    }

    const std::vector<SqlColumns>& columns_;
    std::vector<const json::Value*> mentions_;
    std::vector<Pending> pending_;
};

}  // namespace

std::vector<std::vector<ColumnBound>> bounds(const json::Value& tree,
                                             const std::vector<SqlColumns>& columns) {
    json::Value copy = tree;
    Bounding visitor(columns);
    if (!walk(copy, visitor)) return std::vector<std::vector<ColumnBound>>(columns.size());
    return visitor.take();
}

}  // namespace baton::questions
