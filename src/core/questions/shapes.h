// The parts of a tree that a question may have: for each kind of node its keys, and the content of
// each. A node, a kind or a key that is not here is refused by name, so that a later DuckDB cannot
// bring anything that has not been judged.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace baton::questions {

// The content of a key.
enum class Holds : std::uint8_t {
    text,
    number,
    flag,
    names,        // a list of texts
    nothing,      // null, false, an empty text or an empty list
    expression,   // or null
    expressions,  // a list
    rows,         // a list of lists of expressions
    cases,        // a list of pairs WHEN, THEN
    named,        // a list of pairs name, expression
    renamed,      // a list of pairs old column, new name
    excluded,     // a list of columns
    orders,       // a list of orders
    ordering,     // one modifier with orders
    modifiers,    // a list of modifiers
    table,        // or null
    node,         // a query node, or null
    nodes,        // a list
    statement,    // a query node in its envelope, or null
    ctes,
    sets,  // a list of lists of numbers
    sample,
    moment,  // AT, or null
    value,   // of a constant
    type,    // of a column
};

struct Key {
    std::string_view name;
    Holds holds;
};

struct Shape {
    std::string_view name;
    std::string_view types;  // allowed in "type", separated by spaces; empty: only the name itself
    std::span<const Key> keys;
};

[[nodiscard]] const Shape* expression_shape(std::string_view kind);
[[nodiscard]] const Shape* table_shape(std::string_view kind);
[[nodiscard]] const Shape* node_shape(std::string_view kind);
[[nodiscard]] const Shape* modifier_shape(std::string_view kind);
// Keys that are objects without a kind.
[[nodiscard]] std::span<const Key> statement_keys();
[[nodiscard]] std::span<const Key> cte_keys();
[[nodiscard]] std::span<const Key> order_keys();
[[nodiscard]] std::span<const Key> sample_keys();

}  // namespace baton::questions
