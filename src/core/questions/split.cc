#include "core/questions/split.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/text.h"
#include "core/questions/nodes.h"
#include "core/questions/split_survey.h"
#include "core/questions/tree.h"

namespace baton::questions {

namespace {

using Kind = SqlType::Kind;

bool in(std::string_view word, std::span<const std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

class Splitter {
public:
    explicit Splitter(const SplitRequest& request)
        : request_(request), tree_(request.tree), node_(*json::find(tree_, "node")) {}

    std::variant<Split, Whole> run() {
        if (std::string why = trouble(); !why.empty()) return Whole{std::move(why)};
        const json::Array& list = *list_of(node_, "select_list");
        const bool grouped = !is_nothing(node_, "group_expressions") ||
                             std::any_of(list.begin(), list.end(), has_aggregate) ||
                             !is_nothing(node_, "having");
        std::optional<Split> parts = grouped ? aggregate() : plain();
        if (!parts) return Whole{std::move(why_)};
        return *std::move(parts);
    }

private:
    std::string trouble() {
        if (text_of(node_, "type") != "SELECT_NODE") return "it is no single SELECT";
        const auto survey = surveyed(tree_);
        if (const auto* whole = std::get_if<Whole>(&survey)) return whole->why;
        const auto& mentions = std::get<0>(survey);
        if (request_.shared >= mentions.size()) return "it has no such relation";
        if (!is_nothing(node_, "sample")) return "it takes a sample";
        if (!is_nothing(node_, "qualify")) return "it has QUALIFY";
        if (text_of(node_, "aggregate_handling") != "STANDARD_HANDLING") return "it groups by ALL";
        const json::Array* sets = list_of(node_, "group_sets");
        if (sets == nullptr || sets->size() > 1) return "it has grouping sets";
        if (!drives(*json::find(node_, "from_table"), mentions[request_.shared])) {
            return "the rows of the shared relation do not drive its join";
        }
        for (const SqlColumns& table : request_.tables) {
            for (const SqlField& column : table) known_.insert(to_lower(column.name));
        }
        modifiers_ = *list_of(node_, "modifiers");
        for (const json::Value& one : *list_of(node_, "select_list")) {
            has_star_ = has_star_ || text_of(one, "class") == "STAR";
        }
        for (const char* part : {"select_list", "where_clause", "from_table"}) {
            if (uses_unknown(*json::find(node_, part))) return "it uses an alias of its own";
        }
        for (const SqlField& field : request_.answer) {
            const bool nested = field.type.kind == Kind::list ||
                                field.type.kind == Kind::structure ||
                                field.type.kind == Kind::map || field.type.kind == Kind::other;
            if (nested) return "it has lists or structures";
        }
        const auto count = list_of(node_, "select_list")->size();
        if (!has_star_ && count != request_.answer.size()) return "its columns are not known";
        return trouble_with(modifiers_);
    }

    std::optional<Split> whole(std::string why) {
        why_ = std::move(why);
        return std::nullopt;
    }

    // The expression behind an ORDER BY or GROUP BY term, if it is a place or an alias of the
    // select list. `alias_first`: an alias wins against a column of the name.
    std::optional<std::size_t> place_of(const json::Value& term, bool alias_first) const {
        const json::Array& list = *list_of(node_, "select_list");
        if (const auto number = whole_literal(term)) {
            const bool inside = *number >= 1 && *number <= request_.answer.size();
            return inside ? std::optional<std::size_t>(*number - 1) : std::nullopt;
        }
        const auto name = bare_name(term);
        if (!name || has_star_) return std::nullopt;
        if (!alias_first && known_.contains(*name)) return std::nullopt;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (to_lower(text_of(list[i], "alias")) == *name) return i;
        }
        return std::nullopt;
    }

    // A bare name that is no column: an alias, or the parameter of a lambda.
    [[nodiscard]] bool uses_unknown(const json::Value& value) const {
        if (const auto name = bare_name(value)) return !known_.contains(*name);
        if (const auto* items = std::get_if<json::Array>(&value.value)) {
            return std::any_of(items->begin(), items->end(),
                               [&](const auto& item) { return uses_unknown(item); });
        }
        const auto* fields = std::get_if<json::Object>(&value.value);
        return fields != nullptr &&
               std::any_of(fields->begin(), fields->end(),
                           [&](const auto& field) { return uses_unknown(field.value); });
    }

    // An alias somewhere inside would mean something else in another list.
    [[nodiscard]] bool mentions_alias(const json::Value& value) const {
        if (const auto name = bare_name(value)) {
            const json::Array& list = *list_of(node_, "select_list");
            return std::any_of(list.begin(), list.end(), [&](const json::Value& one) {
                return to_lower(text_of(one, "alias")) == *name;
            });
        }
        if (const auto* items = std::get_if<json::Array>(&value.value)) {
            return std::any_of(items->begin(), items->end(),
                               [&](const auto& item) { return mentions_alias(item); });
        }
        const auto* fields = std::get_if<json::Object>(&value.value);
        return fields != nullptr &&
               std::any_of(fields->begin(), fields->end(),
                           [&](const auto& field) { return mentions_alias(field.value); });
    }

    [[nodiscard]] bool names_are_unique() const {
        std::set<std::string> names;
        for (const SqlField& field : request_.answer) {
            if (field.name.empty() || !names.insert(to_lower(field.name)).second) return false;
        }
        return true;
    }

    // A leaf has the columns l0, l1, .. and the final part names them as the answer does; with a
    // star the leaf has the names of the answer.
    [[nodiscard]] std::string leaf_name(std::size_t i) const {
        return has_star_ ? request_.answer[i].name : "l" + std::to_string(i);
    }

    json::Array final_list() {
        json::Array list;
        for (std::size_t i = 0; i < request_.answer.size(); ++i) {
            list.push_back(column_node(leaf_name(i), request_.answer[i].name));
        }
        return list;
    }

    // The leaf's own LIMIT: no leaf gives more than all leaves together have to.
    static void limit_leaf(json::Array& modifiers) {
        for (json::Value& one : modifiers) {
            if (text_of(one, "type") != "LIMIT_MODIFIER") continue;
            const json::Value* limit = json::find(one, "limit");
            const json::Value* offset = json::find(one, "offset");
            const auto rows = limit == nullptr ? std::nullopt : whole_literal(*limit);
            const auto skipped = offset == nullptr ? std::nullopt : whole_literal(*offset);
            constexpr std::uint64_t kMost = INT64_MAX / 4;
            const std::uint64_t taken = rows.value_or(kMost + 1);
            const std::uint64_t before = skipped.value_or(0);
            const bool all = taken > kMost || before > kMost;
            set(one, "limit", all ? json::Value() : number_node(taken + before));
            set(one, "offset", {});
        }
        std::erase_if(modifiers, [](const json::Value& one) {
            return text_of(one, "type") == "LIMIT_MODIFIER" && is_nothing(one, "limit");
        });
    }

    static bool has_limit(const json::Array& modifiers) {
        return std::any_of(modifiers.begin(), modifiers.end(), [](const json::Value& one) {
            return text_of(one, "type") == "LIMIT_MODIFIER" && !is_nothing(one, "limit");
        });
    }

    static std::optional<std::size_t> order_in(const json::Array& modifiers) {
        for (std::size_t i = 0; i < modifiers.size(); ++i) {
            if (text_of(modifiers[i], "type") == "ORDER_MODIFIER") return i;
        }
        return std::nullopt;
    }

    [[nodiscard]] json::Value final_tree(json::Array list, json::Array modifiers) const {
        json::Value node = select_node(std::move(list), table_node(std::string(kLeaves)));
        set(node, "modifiers", {std::move(modifiers)});
        return statement_node(std::move(node));
    }

    std::optional<Split> plain() {
        const bool distinct = is_distinct(modifiers_);
        if (has_star_ && !names_are_unique()) return whole("two of its columns have one name");
        json::Value leaf = tree_;
        json::Value& leaf_node = *json::find(leaf, "node");
        json::Array& list = *list_of(leaf_node, "select_list");
        if (!has_star_) {
            for (std::size_t i = 0; i < list.size(); ++i) set(list[i], "alias", {leaf_name(i)});
        }
        json::Array leaf_modifiers = modifiers_;
        json::Array final_modifiers = modifiers_;
        const auto order = order_in(modifiers_);
        if (order) {
            json::Array& leaf_orders = *list_of(leaf_modifiers[*order], "orders");
            json::Array& final_orders = *list_of(final_modifiers[*order], "orders");
            for (std::size_t i = 0; i < leaf_orders.size(); ++i) {
                const json::Value term = *json::find(leaf_orders[i], "expression");
                if (const auto place = place_of(term, true)) {
                    set(leaf_orders[i], "expression", number_node(*place + 1));
                    set(final_orders[i], "expression", number_node(*place + 1));
                    continue;
                }
                const bool usable = text_of(term, "class") != "STAR" && !mentions_alias(term) &&
                                    text_of(term, "class") != "CONSTANT";
                if (distinct || !usable) return whole("its ORDER BY is not of its columns");
                const std::string name = "__baton_o" + std::to_string(i);
                json::Value key = term;
                set(key, "alias", {name});
                list.push_back(std::move(key));
                set(leaf_orders[i], "expression", column_node(name, ""));
                set(final_orders[i], "expression", column_node(name, ""));
            }
        }
        // A leaf that gives all its rows need not sort them.
        const bool limited = has_limit(modifiers_);
        if (order && !limited) {
            leaf_modifiers.erase(leaf_modifiers.begin() + static_cast<std::ptrdiff_t>(*order));
        }
        limit_leaf(leaf_modifiers);
        set(leaf_node, "modifiers", {std::move(leaf_modifiers)});
        return Split{.strategy = distinct           ? "distinct"
                                 : order && limited ? "top"
                                                    : "scan",
                     .leaf = std::move(leaf),
                     .final = final_tree(final_list(), std::move(final_modifiers))};
    }

    // --- groups

    struct Group {
        json::Value expression;
        std::string name;
    };

    bool gather_groups() {
        for (const json::Value& term : *list_of(node_, "group_expressions")) {
            json::Value expression = term;
            if (const auto place = place_of(term, false)) {
                if (has_star_) return false;
                expression = (*list_of(node_, "select_list"))[*place];
            } else if (text_of(term, "class") == "CONSTANT") {
                return false;
            }
            if (has_aggregate(expression)) return false;
            set(expression, "alias", {std::string()});
            groups_.push_back({.expression = std::move(expression),
                               .name = "g" + std::to_string(groups_.size())});
        }
        return true;
    }

    // An argument that sum() takes: numbers, as far as the tree shows.
    [[nodiscard]] bool is_numeric(const json::Value& node) const {
        const std::string_view kind = text_of(node, "class");
        if (kind == "CONSTANT") return whole_literal(node).has_value();
        if (kind == "FUNCTION") {
            constexpr std::array<std::string_view, 4> kArithmetic = {"+", "-", "*", "abs"};
            const json::Array* children = list_of(node, "children");
            return in(text_of(node, "function_name"), kArithmetic) && children != nullptr &&
                   std::all_of(children->begin(), children->end(),
                               [&](const auto& child) { return is_numeric(child); });
        }
        const json::Array* names = list_of(node, "column_names");
        if (kind != "COLUMN_REF" || names == nullptr) return false;
        const auto* name = std::get_if<std::string>(&names->back().value);
        if (name == nullptr) return false;
        bool numeric = false;
        for (const SqlColumns& table : request_.tables) {
            for (const SqlField& column : table) {
                if (!equal_ignoring_case(column.name, *name)) continue;
                numeric = column.type.kind >= Kind::tinyint && column.type.kind <= Kind::decimal;
                if (!numeric) return false;
            }
        }
        return numeric;
    }

    // A column of the leaf with this expression; the same expression has one column.
    std::string partial(json::Value expression) {
        set(expression, "alias", {std::string()});
        for (const Group& one : partials_) {
            if (same(one.expression, expression)) return one.name;
        }
        partials_.push_back(
            {.expression = std::move(expression), .name = "p" + std::to_string(partials_.size())});
        return partials_.back().name;
    }

    json::Value renamed(const json::Value& call, const char* function) {
        json::Value copy = call;
        set(copy, "function_name", {std::string(function)});
        return copy;
    }

    std::optional<json::Value> combined(const json::Value& call) {
        const std::string name = to_lower(text_of(call, "function_name"));
        const json::Array* arguments = list_of(call, "children");
        const json::Value* order = json::find(call, "order_bys");
        const bool ordered = order != nullptr && !is_nothing(*order, "orders");
        if (arguments == nullptr || ordered || !is_nothing(call, "schema")) return std::nullopt;
        if (is_true(call, "distinct")) return distinct_call(call, name);
        plain_calls_ = true;
        const auto column = [&](json::Value part) {
            return column_node(partial(std::move(part)), "");
        };
        if (name == "count_star" || name == "count") {
            return cast_node(or_zero_node(function_node("sum", {column(call)})), "BIGINT");
        }
        if (arguments->size() != 1) return std::nullopt;
        if (name == "min" || name == "max" || name == "bool_and" || name == "bool_or") {
            return function_node(name, {column(call)});
        }
        if (name == "sum" && is_numeric(arguments->front())) {
            return function_node("sum", {column(call)});
        }
        if ((name == "avg" || name == "mean") && is_numeric(arguments->front())) {
            auto sum = function_node("sum", {column(renamed(call, "sum"))});
            auto count = function_node("sum", {column(renamed(call, "count"))});
            return function_node(
                "/", {cast_node(std::move(sum), "DOUBLE"), cast_node(std::move(count), "DOUBLE")});
        }
        return std::nullopt;
    }

    // Leaves give the different values; the final part counts them.
    std::optional<json::Value> distinct_call(const json::Value& call, std::string_view name) {
        constexpr std::array<std::string_view, 5> kKnown = {"count", "sum", "min", "max", "avg"};
        const json::Array& arguments = *list_of(call, "children");
        const bool usable = in(name, kKnown) && arguments.size() == 1 && is_nothing(call, "filter");
        if (!usable || (name != "count" && !is_numeric(arguments.front()))) return std::nullopt;
        distinct_calls_ = true;
        json::Value copy = call;
        set(copy, "children", {json::Array{column_node(partial(arguments.front()), "")}});
        set(copy, "alias", {std::string()});
        return copy;
    }

    // The expression over the columns of the leaves; none: it cannot be.
    std::optional<json::Value> over_leaves(const json::Value& value) {
        const json::Value* kind = json::find(value, "class");
        if (kind != nullptr) {
            for (const Group& group : groups_) {
                if (same(group.expression, value)) return column_node(group.name, "");
            }
            if (is_aggregate(value)) return combined(value);
            const std::string_view of = text_of(value, "class");
            if (of == "COLUMN_REF" || of == "LAMBDA" || of == "STAR") return std::nullopt;
        }
        if (const auto* items = std::get_if<json::Array>(&value.value)) {
            json::Array copy;
            for (const json::Value& item : *items) {
                auto one = over_leaves(item);
                if (!one) return std::nullopt;
                copy.push_back(*std::move(one));
            }
            return json::Value{std::move(copy)};
        }
        const auto* fields = std::get_if<json::Object>(&value.value);
        if (fields == nullptr) return value;
        json::Object copy;
        for (const json::Field& field : *fields) {
            auto one = over_leaves(field.value);
            if (!one) return std::nullopt;
            copy.push_back({.key = field.key, .value = *std::move(one)});
        }
        return json::Value{std::move(copy)};
    }

    bool order_groups(json::Array& modifiers) {
        const auto order = order_in(modifiers);
        if (!order) return true;
        for (json::Value& term : *list_of(modifiers[*order], "orders")) {
            const json::Value expression = *json::find(term, "expression");
            if (const auto place = place_of(expression, true)) {
                set(term, "expression", number_node(*place + 1));
                continue;
            }
            if (mentions_alias(expression)) return false;
            const auto over = over_leaves(expression);
            if (!over || text_of(*over, "class") == "CONSTANT") return false;
            set(term, "expression", *over);
        }
        return true;
    }

    std::optional<Split> aggregate() {
        if (has_star_) return whole("it groups all columns");
        if (is_distinct(modifiers_)) return whole("it has DISTINCT over groups");
        if (!gather_groups()) return whole("its groups are no expressions of rows");
        json::Array final_items;
        const json::Array& list = *list_of(node_, "select_list");
        for (std::size_t i = 0; i < list.size(); ++i) {
            auto item = over_leaves(list[i]);
            if (!item) return whole("a column of it cannot be combined");
            set(*item, "alias", {request_.answer[i].name});
            final_items.push_back(*std::move(item));
        }
        json::Value having;
        if (const json::Value* old = json::find(node_, "having"); old && !is_nothing(*old)) {
            auto over = mentions_alias(*old) ? std::nullopt : over_leaves(*old);
            if (!over) return whole("its HAVING cannot be combined");
            having = *std::move(over);
        }
        json::Array final_modifiers = modifiers_;
        if (!order_groups(final_modifiers)) return whole("its ORDER BY cannot be combined");
        if (distinct_calls_ && plain_calls_)
            return whole("it has aggregates with and without DISTINCT");
        json::Value final = final_tree(std::move(final_items), std::move(final_modifiers));
        json::Value& final_node = *json::find(final, "node");
        group_by_names(final_node);
        set(final_node, "having", std::move(having));
        return Split{.strategy = distinct_calls_ ? "distinct sets" : "aggregate",
                     .leaf = grouped_leaf(),
                     .final = std::move(final)};
    }

    void group_by_names(json::Value& node) const {
        json::Array terms;
        json::Array places;
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            terms.push_back(column_node(groups_[i].name, ""));
            places.push_back({static_cast<std::uint64_t>(i)});
        }
        if (terms.empty()) return;
        set(node, "group_expressions", {std::move(terms)});
        set(node, "group_sets", {json::Array{{std::move(places)}}});
    }

    [[nodiscard]] json::Value grouped_leaf() const {
        json::Value leaf = tree_;
        json::Value& node = *json::find(leaf, "node");
        json::Array list;
        json::Array terms;
        json::Array places;
        for (const Group& group : groups_) {
            json::Value item = group.expression;
            set(item, "alias", {group.name});
            list.push_back(std::move(item));
            places.push_back({static_cast<std::uint64_t>(terms.size())});
            terms.push_back(number_node(terms.size() + 1));
        }
        for (const Group& one : partials_) {
            json::Value item = one.expression;
            set(item, "alias", {one.name});
            list.push_back(std::move(item));
        }
        json::Array modifiers;
        if (distinct_calls_) {
            terms.clear();
            modifiers.push_back(distinct_node());
        }
        if (list.empty()) list.push_back(number_node(1));
        set(node, "select_list", {std::move(list)});
        set(node, "modifiers", {std::move(modifiers)});
        set(node, "having", {});
        set(node, "group_sets", {terms.empty() ? json::Array{} : json::Array{{std::move(places)}}});
        set(node, "group_expressions", {std::move(terms)});
        return leaf;
    }

    const SplitRequest& request_;
    json::Value tree_;
    json::Value& node_;
    json::Array modifiers_;
    std::set<std::string> known_;  // columns, in lower case
    bool has_star_ = false;
    std::vector<Group> groups_;
    std::vector<Group> partials_;
    bool plain_calls_ = false;
    bool distinct_calls_ = false;
    std::string why_;
};

}  // namespace

std::variant<Split, Whole> split(const SplitRequest& request) {
    const json::Value* node = json::find(request.tree, "node");
    if (node == nullptr || !list_of(*node, "modifiers")) return Whole{"it is of an unknown form"};
    return Splitter(request).run();
}

}  // namespace baton::questions
