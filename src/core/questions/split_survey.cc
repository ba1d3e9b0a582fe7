#include "core/questions/split_survey.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "core/questions/tree.h"
#include "core/questions/walk.h"

namespace baton::questions {

namespace {

// Parts that have another value in each leaf, or that need all rows at once.
constexpr std::array<std::string_view, 22> kWholeFunctions = {"random",
                                                              "uuid",
                                                              "gen_random_uuid",
                                                              "uuidv4",
                                                              "uuidv7",
                                                              "now",
                                                              "current_date",
                                                              "today",
                                                              "get_current_timestamp",
                                                              "transaction_timestamp",
                                                              "current_localtime",
                                                              "current_localtimestamp",
                                                              "get_current_time",
                                                              "unnest",
                                                              "error",
                                                              "generate_subscripts",
                                                              "age",
                                                              "current_timestamp",
                                                              "localtime",
                                                              "localtimestamp",
                                                              "current_time",
                                                              "regexp_split_to_table"};
constexpr std::array<std::string_view, 7> kBareClocks = {
    "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
    "today",        "user"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// The reason why a tree cannot be split, and its mentions.
class Survey final : public Visitor {
public:
    Result<Done> expression(json::Value& node) override {
        const std::string_view kind = text_of(node, "class");
        if (kind == "SUBQUERY") note("it has a subquery");
        if (kind == "WINDOW") note("it has a window");
        if (kind == "PARAMETER") note("it has a parameter");
        if (kind == "COLLATE") note("it has a collation");
        if (kind == "POSITIONAL_REFERENCE") note("it has a positional reference");
        if (kind == "STAR" && (is_true(node, "columns") || !is_nothing(node, "expr"))) {
            note("it has COLUMNS");
        }
        if (text_of(node, "type") == "GROUPING_FUNCTION") note("it has GROUPING");
        if (kind == "FUNCTION") {
            const std::string name = to_lower(text_of(node, "function_name"));
            if (is_one_of(name, kWholeFunctions)) note("it calls " + name);
        }
        const json::Array* names = list_of(node, "column_names");
        if (kind == "COLUMN_REF" && names != nullptr && names->size() == 1) {
            const auto* name = std::get_if<std::string>(&names->front().value);
            if (name != nullptr && is_one_of(to_lower(*name), kBareClocks))
                note("it uses " + *name);
        }
        return Done{};
    }
    Result<Done> table(json::Value& node) override {
        const std::string_view kind = text_of(node, "type");
        if (!is_nothing(node, "sample")) note("it takes a sample");
        if (kind == "JOIN") join(node);
        if (kind == "SUBQUERY" || kind == "TABLE_FUNCTION") note("FROM has more than tables");
        return Done{};
    }
    Result<Done> relation(json::Value& node) override {
        mentions.push_back(&node);
        return Done{};
    }
    Result<Done> cte(const std::string& /*name*/) override {
        note("it has a CTE");
        return Done{};
    }

    std::string why;
    std::vector<const json::Value*> mentions;

private:
    void note(std::string reason) {
        if (why.empty()) why = std::move(reason);
    }
    void join(const json::Value& node) {
        const std::string_view how = text_of(node, "ref_type");
        const std::string_view type = text_of(node, "join_type");
        if (how != "REGULAR" && how != "CROSS" && how != "NATURAL") note("its join has no leaf");
        if (type != "INNER" && type != "LEFT" && type != "SEMI" && type != "ANTI") {
            note("its join needs all rows");
        }
    }
};

bool is_aggregate_name(std::string_view name) {
    constexpr std::array<std::string_view, 73> kAggregates = {"any_value",
                                                              "approx_count_distinct",
                                                              "approx_quantile",
                                                              "approx_top_k",
                                                              "arbitrary",
                                                              "arg_max",
                                                              "arg_max_null",
                                                              "arg_min",
                                                              "arg_min_null",
                                                              "argmax",
                                                              "argmin",
                                                              "array_agg",
                                                              "avg",
                                                              "bit_and",
                                                              "bit_or",
                                                              "bit_xor",
                                                              "bitstring_agg",
                                                              "bool_and",
                                                              "bool_or",
                                                              "corr",
                                                              "count",
                                                              "count_if",
                                                              "count_star",
                                                              "countif",
                                                              "covar_pop",
                                                              "covar_samp",
                                                              "entropy",
                                                              "favg",
                                                              "first",
                                                              "fsum",
                                                              "group_concat",
                                                              "histogram",
                                                              "histogram_exact",
                                                              "kahan_sum",
                                                              "kurtosis",
                                                              "kurtosis_pop",
                                                              "last",
                                                              "list",
                                                              "listagg",
                                                              "mad",
                                                              "max",
                                                              "max_by",
                                                              "mean",
                                                              "median",
                                                              "min",
                                                              "min_by",
                                                              "mode",
                                                              "product",
                                                              "quantile",
                                                              "quantile_cont",
                                                              "quantile_disc",
                                                              "regr_avgx",
                                                              "regr_avgy",
                                                              "regr_count",
                                                              "regr_intercept",
                                                              "regr_r2",
                                                              "regr_slope",
                                                              "regr_sxx",
                                                              "regr_sxy",
                                                              "regr_syy",
                                                              "reservoir_quantile",
                                                              "sem",
                                                              "skewness",
                                                              "stddev",
                                                              "stddev_pop",
                                                              "stddev_samp",
                                                              "string_agg",
                                                              "sum",
                                                              "sum_no_overflow",
                                                              "sumkahan",
                                                              "var_pop",
                                                              "var_samp",
                                                              "variance"};
    // Macros that are made of aggregates.
    constexpr std::array<std::string_view, 7> kMacros = {
        "geomean",           "geometric_mean",      "wavg", "weighted_avg", "json_group_array",
        "json_group_object", "json_group_structure"};
    return is_one_of(name, kAggregates) || is_one_of(name, kMacros);
}

}  // namespace

std::variant<std::vector<const json::Value*>, Whole> surveyed(json::Value& tree) {
    Survey survey;
    if (!walk(tree, survey)) return Whole{"it is of an unknown form"};
    if (!survey.why.empty()) return Whole{survey.why};
    return survey.mentions;
}

// A row of the join is of one row of the shared table: it stands where no outer join extends it.
bool drives(const json::Value& table, const json::Value* shared) {
    if (&table == shared) return true;
    if (text_of(table, "type") != "JOIN") return false;
    const json::Value* left = json::find(table, "left");
    const json::Value* right = json::find(table, "right");
    if (left != nullptr && drives(*left, shared)) return true;
    return text_of(table, "join_type") == "INNER" && right != nullptr && drives(*right, shared);
}

// Equal but for places and aliases.
bool same(const json::Value& a, const json::Value& b) {
    const auto* left = std::get_if<json::Object>(&a.value);
    const auto* right = std::get_if<json::Object>(&b.value);
    if (left != nullptr && right != nullptr) {
        if (left->size() != right->size()) return false;
        for (std::size_t i = 0; i < left->size(); ++i) {
            const std::string& key = (*left)[i].key;
            if (key != (*right)[i].key) return false;
            if (key == "query_location" || key == "alias") continue;
            if (!same((*left)[i].value, (*right)[i].value)) return false;
        }
        return true;
    }
    const auto* items = std::get_if<json::Array>(&a.value);
    const auto* others = std::get_if<json::Array>(&b.value);
    if (items == nullptr || others == nullptr) return a == b;
    return std::equal(items->begin(), items->end(), others->begin(), others->end(), same);
}

std::optional<std::string> bare_name(const json::Value& node) {
    const json::Array* names = list_of(node, "column_names");
    if (text_of(node, "class") != "COLUMN_REF" || names == nullptr || names->size() != 1) {
        return std::nullopt;
    }
    const auto* name = std::get_if<std::string>(&names->front().value);
    return name == nullptr ? std::nullopt : std::optional(to_lower(*name));
}

std::optional<std::uint64_t> whole_literal(const json::Value& node) {
    if (text_of(node, "class") != "CONSTANT") return std::nullopt;
    const json::Value* constant = json::find(node, "value");
    const json::Value* value = constant == nullptr ? nullptr : json::find(*constant, "value");
    const auto* number = value == nullptr ? nullptr : std::get_if<std::uint64_t>(&value->value);
    return number == nullptr ? std::nullopt : std::optional(*number);
}

bool is_aggregate(const json::Value& node) {
    return text_of(node, "class") == "FUNCTION" &&
           is_aggregate_name(to_lower(text_of(node, "function_name")));
}

// Any node below, too.
bool has_aggregate(const json::Value& value) {
    if (is_aggregate(value)) return true;
    if (const auto* items = std::get_if<json::Array>(&value.value)) {
        return std::any_of(items->begin(), items->end(), has_aggregate);
    }
    const auto* fields = std::get_if<json::Object>(&value.value);
    return fields != nullptr && std::any_of(fields->begin(), fields->end(), [](const auto& field) {
               return has_aggregate(field.value);
           });
}

bool is_distinct(const json::Array& modifiers) {
    return std::any_of(modifiers.begin(), modifiers.end(), [](const json::Value& one) {
        return text_of(one, "type") == "DISTINCT_MODIFIER";
    });
}

// Why the modifiers cannot be split; empty: they can.
std::string trouble_with(const json::Array& modifiers) {
    for (const json::Value& one : modifiers) {
        const std::string_view kind = text_of(one, "type");
        if (kind == "LIMIT_PERCENT_MODIFIER") return "its LIMIT is a share";
        if (kind == "DISTINCT_MODIFIER" && !is_nothing(one, "distinct_on_targets")) {
            return "it has DISTINCT ON";
        }
        if (kind != "LIMIT_MODIFIER") continue;
        for (const char* key : {"limit", "offset"}) {
            const json::Value* value = json::find(one, key);
            if (value != nullptr && !is_nothing(*value) && !whole_literal(*value)) {
                return "its LIMIT is no number";
            }
        }
    }
    return "";
}

}  // namespace baton::questions
