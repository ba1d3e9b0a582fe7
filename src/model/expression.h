// An Expression is a typed computation over the columns of one row, by position.
//
// It is what binding makes of the text of a query, and all that a worker ever computes: user text
// reaches no engine. Every node knows its type and whether it can be NULL, so nothing is inferred
// twice. Meanings are those of the dialect (three-valued logic, promotion as in C++, integer
// division truncates); conversions are explicit `cast` nodes, put in by binding: the arguments of
// arithmetic and of comparisons have one type, and so have the values of CONDITIONAL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/data_type.h"
#include "model/schema.h"

namespace baton {

// NULL, or a value of the type that stands beside it. Signed integers are int64, unsigned ones
// uint64, both floats double, CHAR and VARSIZED text.
using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

enum class Function : std::uint8_t {
    // arithmetic; arguments and result of one type
    add,
    subtract,
    multiply,
    divide,
    modulo,
    negate,
    // comparison: two arguments of one type
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    // logic
    logical_and,  // two or more arguments
    logical_or,   // two or more arguments
    logical_not,
    between,  // the first argument lies between the second and the third, ends included
    in_list,  // the first argument is equal to one of the others
    is_null,
    is_nan,
    // functions
    abs,
    ceil,
    floor,
    round,
    exp,
    pow,
    sqrt,
    concat,
    char_length,
    octet_length,
    to_base64,
    from_base64,
    cast_to_unix_ts,
    cast_from_unix_ts,
    day_of,
    month_of,
    year_of,
    conditional,  // condition, value, condition, value, .., default
    cast,         // to the type of the node; numbers as C++ converts them: -1 AS UINT8 is 255
};

struct Expression;

struct ColumnIndex {
    std::size_t index = 0;  // in the input's schema; of a join, left columns come first

    friend bool operator==(const ColumnIndex&, const ColumnIndex&) = default;
};

struct Constant {
    Value value;

    friend bool operator==(const Constant&, const Constant&) = default;
};

struct Call {
    Function function = Function::add;
    std::vector<Expression> arguments;

    friend bool operator==(const Call&, const Call&) = default;
};

struct Expression {
    std::variant<ColumnIndex, Constant, Call> node;
    DataType type = DataType::int64;
    bool nullable = true;  // a rewrite may leave it true of what is never NULL, not the reverse

    friend bool operator==(const Expression&, const Expression&) = default;
};

// For people: A + CAST(B AS INT64) > 5. Columns have their names in `input`, by position; one that
// `input` does not have is printed as $7. Types are seen only in casts.
[[nodiscard]] std::string to_string(const Expression& expression, const Schema& input);

// A name as it stands in such a text: quoted unless it reads the same without.
[[nodiscard]] std::string printed_name(const std::string& name);

}  // namespace baton
