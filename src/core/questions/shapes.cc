#include "core/questions/shapes.h"

#include <algorithm>
#include <array>

namespace baton::questions {

namespace {

constexpr Key kAlias{"alias", Holds::text};
constexpr Key kClass{"class", Holds::text};
constexpr Key kType{"type", Holds::text};
constexpr Key kLocation{"query_location", Holds::number};
constexpr Key kModifiers{"modifiers", Holds::modifiers};
constexpr Key kCtes{"cte_map", Holds::ctes};
constexpr Key kSample{"sample", Holds::sample};
constexpr Key kColumnAliases{"column_name_alias", Holds::names};

constexpr std::array kConstant = {kClass, kType, kAlias, kLocation, Key{"value", Holds::value}};
constexpr std::array kColumnRef = {kClass, kType, kAlias, kLocation,
                                   Key{"column_names", Holds::names}};
constexpr std::array kFunction = {kClass,
                                  kType,
                                  kAlias,
                                  kLocation,
                                  Key{"function_name", Holds::text},
                                  Key{"schema", Holds::text},
                                  Key{"catalog", Holds::nothing},
                                  Key{"children", Holds::expressions},
                                  Key{"filter", Holds::expression},
                                  Key{"order_bys", Holds::ordering},
                                  Key{"distinct", Holds::flag},
                                  Key{"is_operator", Holds::flag},
                                  Key{"export_state", Holds::nothing}};
constexpr std::array kWindow = {kClass,
                                kType,
                                kAlias,
                                kLocation,
                                Key{"function_name", Holds::text},
                                Key{"schema", Holds::text},
                                Key{"catalog", Holds::nothing},
                                Key{"children", Holds::expressions},
                                Key{"partitions", Holds::expressions},
                                Key{"orders", Holds::orders},
                                Key{"start", Holds::text},
                                Key{"end", Holds::text},
                                Key{"start_expr", Holds::expression},
                                Key{"end_expr", Holds::expression},
                                Key{"offset_expr", Holds::expression},
                                Key{"default_expr", Holds::expression},
                                Key{"ignore_nulls", Holds::flag},
                                Key{"filter_expr", Holds::expression},
                                Key{"exclude_clause", Holds::text},
                                Key{"distinct", Holds::flag},
                                Key{"arg_orders", Holds::orders}};
constexpr std::array kCase = {kClass,
                              kType,
                              kAlias,
                              kLocation,
                              Key{"case_checks", Holds::cases},
                              Key{"else_expr", Holds::expression}};
constexpr std::array kCast = {kClass,
                              kType,
                              kAlias,
                              kLocation,
                              Key{"child", Holds::expression},
                              Key{"cast_type", Holds::type},
                              Key{"try_cast", Holds::flag}};
constexpr std::array kComparison = {kClass,
                                    kType,
                                    kAlias,
                                    kLocation,
                                    Key{"left", Holds::expression},
                                    Key{"right", Holds::expression}};
constexpr std::array kChildren = {kClass, kType, kAlias, kLocation,
                                  Key{"children", Holds::expressions}};
constexpr std::array kBetween = {kClass,
                                 kType,
                                 kAlias,
                                 kLocation,
                                 Key{"input", Holds::expression},
                                 Key{"lower", Holds::expression},
                                 Key{"upper", Holds::expression}};
constexpr std::array kSubquery = {kClass,
                                  kType,
                                  kAlias,
                                  kLocation,
                                  Key{"subquery_type", Holds::text},
                                  Key{"subquery", Holds::statement},
                                  Key{"child", Holds::expression},
                                  Key{"comparison_type", Holds::text}};
constexpr std::array kParameter = {kClass, kType, kAlias, kLocation,
                                   Key{"identifier", Holds::text}};
constexpr std::array kStar = {kClass,
                              kType,
                              kAlias,
                              kLocation,
                              Key{"relation_name", Holds::text},
                              Key{"exclude_list", Holds::excluded},
                              Key{"replace_list", Holds::named},
                              Key{"columns", Holds::flag},
                              Key{"expr", Holds::expression},
                              Key{"unpacked", Holds::flag},
                              Key{"qualified_exclude_list", Holds::excluded},
                              Key{"rename_list", Holds::renamed}};
constexpr std::array kCollate = {kClass,
                                 kType,
                                 kAlias,
                                 kLocation,
                                 Key{"child", Holds::expression},
                                 Key{"collation", Holds::text}};
constexpr std::array kLambda = {kClass,
                                kType,
                                kAlias,
                                kLocation,
                                Key{"lhs", Holds::expression},
                                Key{"expr", Holds::expression},
                                Key{"syntax_type", Holds::text}};
constexpr std::array kPositional = {kClass, kType, kAlias, kLocation, Key{"index", Holds::number}};

constexpr std::array kExpressions = {
    Shape{"CONSTANT", "VALUE_CONSTANT", kConstant},
    Shape{"COLUMN_REF", "", kColumnRef},
    Shape{"FUNCTION", "", kFunction},
    Shape{"WINDOW",
          "WINDOW_AGGREGATE WINDOW_RANK WINDOW_RANK_DENSE WINDOW_NTILE WINDOW_PERCENT_RANK "
          "WINDOW_CUME_DIST WINDOW_ROW_NUMBER WINDOW_FIRST_VALUE WINDOW_LAST_VALUE WINDOW_LEAD "
          "WINDOW_LAG WINDOW_NTH_VALUE WINDOW_FILL",
          kWindow},
    Shape{"CASE", "CASE_EXPR", kCase},
    Shape{"CAST", "OPERATOR_CAST", kCast},
    Shape{"COMPARISON",
          "COMPARE_EQUAL COMPARE_NOTEQUAL COMPARE_LESSTHAN COMPARE_GREATERTHAN "
          "COMPARE_LESSTHANOREQUALTO COMPARE_GREATERTHANOREQUALTO COMPARE_DISTINCT_FROM "
          "COMPARE_NOT_DISTINCT_FROM",
          kComparison},
    Shape{"CONJUNCTION", "CONJUNCTION_AND CONJUNCTION_OR", kChildren},
    Shape{"OPERATOR",
          "OPERATOR_NOT OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL COMPARE_IN COMPARE_NOT_IN "
          "OPERATOR_COALESCE OPERATOR_NULLIF OPERATOR_TRY ARRAY_EXTRACT ARRAY_SLICE "
          "STRUCT_EXTRACT ARRAY_CONSTRUCTOR GROUPING_FUNCTION OPERATOR_UNPACK",
          kChildren},
    Shape{"BETWEEN", "COMPARE_BETWEEN", kBetween},
    Shape{"SUBQUERY", "", kSubquery},
    Shape{"PARAMETER", "VALUE_PARAMETER", kParameter},
    Shape{"STAR", "", kStar},
    Shape{"COLLATE", "", kCollate},
    Shape{"LAMBDA", "", kLambda},
    Shape{"POSITIONAL_REFERENCE", "", kPositional},
};

constexpr std::array kBaseTable = {kType,
                                   kAlias,
                                   kLocation,
                                   kSample,
                                   kColumnAliases,
                                   Key{"schema_name", Holds::text},
                                   Key{"table_name", Holds::text},
                                   Key{"catalog_name", Holds::text},
                                   Key{"at_clause", Holds::moment}};
constexpr std::array kSubqueryRef = {kType,   kAlias,         kLocation,
                                     kSample, kColumnAliases, Key{"subquery", Holds::statement}};
// Without conditions of its own making: those of a plan are no part of a text.
constexpr std::array kJoin = {kType,
                              kAlias,
                              kLocation,
                              kSample,
                              Key{"left", Holds::table},
                              Key{"right", Holds::table},
                              Key{"condition", Holds::expression},
                              Key{"join_type", Holds::text},
                              Key{"ref_type", Holds::text},
                              Key{"using_columns", Holds::names},
                              Key{"delim_flipped", Holds::nothing},
                              Key{"duplicate_eliminated_columns", Holds::nothing}};
constexpr std::array kTableFunction = {kType,
                                       kAlias,
                                       kLocation,
                                       kSample,
                                       kColumnAliases,
                                       Key{"function", Holds::expression},
                                       Key{"with_ordinality", Holds::text}};
constexpr std::array kExpressionList = {kType,
                                        kAlias,
                                        kLocation,
                                        kSample,
                                        Key{"values", Holds::rows},
                                        Key{"expected_names", Holds::nothing},
                                        Key{"expected_types", Holds::nothing}};
constexpr std::array kEmpty = {kType, kAlias, kLocation, kSample};

constexpr std::array kTables = {
    Shape{"BASE_TABLE", "", kBaseTable},
    Shape{"SUBQUERY", "", kSubqueryRef},
    Shape{"JOIN", "", kJoin},
    Shape{"TABLE_FUNCTION", "", kTableFunction},
    Shape{"EXPRESSION_LIST", "", kExpressionList},
    Shape{"EMPTY", "", kEmpty},
};

constexpr std::array kSelect = {kType,
                                kModifiers,
                                kCtes,
                                kSample,
                                Key{"select_list", Holds::expressions},
                                Key{"from_table", Holds::table},
                                Key{"where_clause", Holds::expression},
                                Key{"group_expressions", Holds::expressions},
                                Key{"group_sets", Holds::sets},
                                Key{"aggregate_handling", Holds::text},
                                Key{"having", Holds::expression},
                                Key{"qualify", Holds::expression}};
constexpr std::array kSetOperation = {kType,
                                      kModifiers,
                                      kCtes,
                                      Key{"setop_type", Holds::text},
                                      Key{"setop_all", Holds::flag},
                                      Key{"left", Holds::node},
                                      Key{"right", Holds::node},
                                      Key{"children", Holds::nodes}};
constexpr std::array kRecursive = {kType,
                                   kModifiers,
                                   kCtes,
                                   Key{"cte_name", Holds::text},
                                   Key{"union_all", Holds::flag},
                                   Key{"left", Holds::node},
                                   Key{"right", Holds::node},
                                   Key{"aliases", Holds::names},
                                   Key{"key_targets", Holds::expressions}};

constexpr std::array kNodes = {
    Shape{"SELECT_NODE", "", kSelect},
    Shape{"SET_OPERATION_NODE", "", kSetOperation},
    Shape{"RECURSIVE_CTE_NODE", "", kRecursive},
};

constexpr std::array kOrderModifier = {kType, Key{"orders", Holds::orders}};
constexpr std::array kLimit = {kType, Key{"limit", Holds::expression},
                               Key{"offset", Holds::expression}};
constexpr std::array kDistinct = {kType, Key{"distinct_on_targets", Holds::expressions}};

constexpr std::array kModifierShapes = {
    Shape{"ORDER_MODIFIER", "", kOrderModifier},
    Shape{"LIMIT_MODIFIER", "", kLimit},
    Shape{"LIMIT_PERCENT_MODIFIER", "", kLimit},
    Shape{"DISTINCT_MODIFIER", "", kDistinct},
};

constexpr std::array kStatement = {Key{"node", Holds::node},
                                   Key{"named_param_map", Holds::nothing}};
constexpr std::array kCte = {Key{"aliases", Holds::names}, Key{"query", Holds::statement},
                             Key{"materialized", Holds::text},
                             Key{"key_targets", Holds::expressions}};
constexpr std::array kOrder = {kType, Key{"null_order", Holds::text},
                               Key{"expression", Holds::expression}};
constexpr std::array kSampleKeys = {Key{"sample_size", Holds::value},
                                    Key{"is_percentage", Holds::flag}, Key{"method", Holds::text},
                                    Key{"seed", Holds::number}};

template <std::size_t N>
const Shape* found(const std::array<Shape, N>& shapes, std::string_view kind) {
    const auto shape = std::find_if(shapes.begin(), shapes.end(),
                                    [&](const Shape& one) { return one.name == kind; });
    return shape == shapes.end() ? nullptr : &*shape;
}

}  // namespace

const Shape* expression_shape(std::string_view kind) {
    return found(kExpressions, kind);
}
const Shape* table_shape(std::string_view kind) {
    return found(kTables, kind);
}
const Shape* node_shape(std::string_view kind) {
    return found(kNodes, kind);
}
const Shape* modifier_shape(std::string_view kind) {
    return found(kModifierShapes, kind);
}
std::span<const Key> statement_keys() {
    return kStatement;
}
std::span<const Key> cte_keys() {
    return kCte;
}
std::span<const Key> order_keys() {
    return kOrder;
}
std::span<const Key> sample_keys() {
    return kSampleKeys;
}

}  // namespace baton::questions
