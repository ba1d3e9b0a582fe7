#include "core/questions/nodes.h"

#include <utility>

namespace baton::questions {

namespace {

json::Field field(std::string key, json::Value value) {
    return {.key = std::move(key), .value = std::move(value)};
}

json::Value text(std::string value) {
    return {std::move(value)};
}

json::Object expression(std::string kind, std::string type, std::string alias) {
    return {field("class", text(std::move(kind))), field("type", text(std::move(type))),
            field("alias", text(std::move(alias))), field("query_location", {UINT64_MAX})};
}

json::Value list() {
    return {json::Array()};
}

}  // namespace

json::Value column_node(std::string name, std::string alias) {
    auto node = expression("COLUMN_REF", "COLUMN_REF", std::move(alias));
    node.push_back(field("column_names", {json::Array{text(std::move(name))}}));
    return {std::move(node)};
}

json::Value number_node(std::uint64_t number) {
    auto node = expression("CONSTANT", "VALUE_CONSTANT", "");
    json::Value type{json::Object{field("id", text("BIGINT")), field("type_info", {})}};
    node.push_back(
        field("value", {json::Object{field("type", std::move(type)), field("is_null", {false}),
                                     field("value", {number})}}));
    return {std::move(node)};
}

json::Value function_node(std::string name, json::Array arguments) {
    auto node = expression("FUNCTION", "FUNCTION", "");
    node.push_back(field("function_name", text(std::move(name))));
    node.push_back(field("schema", text("")));
    node.push_back(field("children", {std::move(arguments)}));
    node.push_back(field("filter", {}));
    node.push_back(field("order_bys", {json::Object{field("type", text("ORDER_MODIFIER")),
                                                    field("orders", list())}}));
    node.push_back(field("distinct", {false}));
    node.push_back(field("is_operator", {false}));
    node.push_back(field("export_state", {false}));
    node.push_back(field("catalog", text("")));
    return {std::move(node)};
}

json::Value or_zero_node(json::Value number) {
    auto node = expression("OPERATOR", "OPERATOR_COALESCE", "");
    node.push_back(field("children", {json::Array{std::move(number), number_node(0)}}));
    return {std::move(node)};
}

json::Value cast_node(json::Value child, std::string type) {
    auto node = expression("CAST", "OPERATOR_CAST", "");
    node.push_back(field("child", std::move(child)));
    node.push_back(field(
        "cast_type", {json::Object{field("id", text(std::move(type))), field("type_info", {})}}));
    node.push_back(field("try_cast", {false}));
    return {std::move(node)};
}

json::Value table_node(std::string name) {
    return {json::Object{field("type", text("BASE_TABLE")), field("alias", text("")),
                         field("sample", {}), field("query_location", {UINT64_MAX}),
                         field("schema_name", text("")), field("table_name", text(std::move(name))),
                         field("column_name_alias", list()), field("catalog_name", text("")),
                         field("at_clause", {})}};
}

json::Value distinct_node() {
    return {json::Object{field("type", text("DISTINCT_MODIFIER")),
                         field("distinct_on_targets", list())}};
}

json::Value select_node(json::Array items, json::Value from) {
    return {json::Object{field("type", text("SELECT_NODE")), field("modifiers", list()),
                         field("cte_map", {json::Object{field("map", list())}}),
                         field("select_list", {std::move(items)}),
                         field("from_table", std::move(from)), field("where_clause", {}),
                         field("group_expressions", list()), field("group_sets", list()),
                         field("aggregate_handling", text("STANDARD_HANDLING")),
                         field("having", {}), field("sample", {}), field("qualify", {})}};
}

json::Value statement_node(json::Value node) {
    return {json::Object{field("node", std::move(node)), field("named_param_map", list())}};
}

}  // namespace baton::questions
