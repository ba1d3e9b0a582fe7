// The trees of literals, expressions and queries: see sql/ast.h, which has the statements around
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "model/data_type.h"
#include "model/schema.h"

namespace baton::sql {

// ---- literals ---------------------------------------------------------------------------------

struct Null {
    friend bool operator==(Null, Null) = default;
};

// A whole number from -2^63 to 2^64-1. Zero is never negative.
struct Integer {
    bool negative = false;
    std::uint64_t magnitude = 0;

    friend bool operator==(const Integer&, const Integer&) = default;
};

using Literal = std::variant<Null, bool, Integer, double, std::string>;

// ---- expressions ------------------------------------------------------------------------------

struct Expr;

struct ColumnRef {
    std::vector<std::string> parts;  // NAME or SOURCE.NAME; never empty

    friend bool operator==(const ColumnRef&, const ColumnRef&) = default;
};

// `*` or `SOURCE.*`; only as an item of SELECT.
struct Star {
    std::optional<std::string> qualifier;

    friend bool operator==(const Star&, const Star&) = default;
};

// UINT64(5), VARSIZED('x')
struct TypedLiteral {
    DataType type = DataType::int64;
    Literal value;

    friend bool operator==(const TypedLiteral&, const TypedLiteral&) = default;
};

struct Call {
    std::string function;   // upper case
    bool star = false;      // COUNT(*)
    bool distinct = false;  // COUNT(DISTINCT x)
    std::vector<Expr> arguments;

    friend bool operator==(const Call&, const Call&) = default;
};

// CAST(e AS T); CASTTOTYPE(e AS T) gives the same tree.
struct Cast {
    std::vector<Expr> operand;  // one
    DataType type = DataType::int64;

    friend bool operator==(const Cast&, const Cast&) = default;
};

enum class UnaryOp : std::uint8_t { plus, minus, logical_not };
enum class BinaryOp : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,
    modulo,
    eq,
    ne,
    lt,
    le,
    gt,
    ge
};
enum class LogicalOp : std::uint8_t { logical_and, logical_or };

// A minus directly before a number is part of the literal, not a Unary.
struct Unary {
    UnaryOp op = UnaryOp::plus;
    std::vector<Expr> operand;  // one

    friend bool operator==(const Unary&, const Unary&) = default;
};

struct Binary {
    BinaryOp op = BinaryOp::add;
    std::vector<Expr> operands;  // two

    friend bool operator==(const Binary&, const Binary&) = default;
};

// a AND b AND c is one node with three operands, so that long chains are not deep. Parentheses do
// not matter: the parser gives no AND directly below an AND, and no OR directly below an OR.
struct Logical {
    LogicalOp op = LogicalOp::logical_and;
    std::vector<Expr> operands;  // two or more

    friend bool operator==(const Logical&, const Logical&) = default;
};

struct Between {
    bool negated = false;
    std::vector<Expr> operands;  // subject, low, high

    friend bool operator==(const Between&, const Between&) = default;
};

struct InList {
    bool negated = false;
    std::vector<Expr> operands;  // subject, then at least one candidate

    friend bool operator==(const InList&, const InList&) = default;
};

enum class IsWhat : std::uint8_t { null, nan };
struct IsTest {
    IsWhat what = IsWhat::null;
    bool negated = false;
    std::vector<Expr> operand;  // one

    friend bool operator==(const IsTest&, const IsTest&) = default;
};

struct Expr {
    std::variant<Literal, TypedLiteral, ColumnRef, Star, Call, Cast, Unary, Binary, Logical,
                 Between, InList, IsTest>
        node;
    Position at;

    friend bool operator==(const Expr&, const Expr&) = default;
};

// ---- queries ----------------------------------------------------------------------------------

struct Query;
struct Relation;

// `value AS NAMESPACE.KEY` within SET ( ... ), an inline source or an inline sink.
struct Setting {
    std::vector<std::string> key;         // {"SOURCE", "FILE_PATH"}; never empty
    std::variant<Literal, Schema> value;  // a Schema: SCHEMA(col TYPE, ...)
    Position at;

    friend bool operator==(const Setting&, const Setting&) = default;
};

struct NamedRelation {
    std::vector<std::string> parts;  // NAME, or BATON.VIEW
    std::optional<std::string> alias;

    friend bool operator==(const NamedRelation&, const NamedRelation&) = default;
};

struct Subquery {
    std::vector<Query> query;  // one
    std::optional<std::string> alias;

    friend bool operator==(const Subquery&, const Subquery&) = default;
};

struct InlineSource {
    std::string type;
    std::vector<Setting> settings;
    std::optional<std::string> alias;

    friend bool operator==(const InlineSource&, const InlineSource&) = default;
};

// At most 2^63-1 microseconds, so that it fits a Duration. In a window it is never 0.
enum class TimeUnit : std::uint8_t { millisecond, second, minute, hour, day };
struct TimeSpan {
    std::uint64_t count = 0;
    TimeUnit unit = TimeUnit::millisecond;

    friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

// TUMBLING(ts, SIZE ..) or, with `advance`, SLIDING(ts, SIZE .., ADVANCE BY ..).
struct Window {
    std::vector<ColumnRef>
        timestamps;  // none (ingestion time, tumbling only), one, or one per side of a join
    TimeSpan size;
    std::optional<TimeSpan> advance;
    Position at;

    friend bool operator==(const Window&, const Window&) = default;
};

enum class JoinKind : std::uint8_t { inner, left, right, full };
struct Join {
    JoinKind kind = JoinKind::inner;
    std::vector<Relation> sides;  // left, right; the right one is no Join
    Expr on;
    Window window;

    friend bool operator==(const Join&, const Join&) = default;
};

struct Relation {
    std::variant<NamedRelation, Subquery, InlineSource, Join> node;
    Position at;

    friend bool operator==(const Relation&, const Relation&) = default;
};

struct SelectItem {
    Expr expr;
    std::optional<std::string> alias;

    friend bool operator==(const SelectItem&, const SelectItem&) = default;
};

struct Select {
    std::vector<SelectItem> items;
    Relation from;
    std::optional<Expr> where;
    std::vector<Expr> group_by;
    std::optional<Window> window;
    std::optional<Expr> having;

    friend bool operator==(const Select&, const Select&) = default;
};

// (a UNION b) UNION c is one node with three branches: the parser gives no Union below a Union.
struct Union {
    std::vector<Query> branches;  // two or more

    friend bool operator==(const Union&, const Union&) = default;
};

struct Query {
    std::variant<Select, Union> node;
    Position at;

    friend bool operator==(const Query&, const Query&) = default;
};

struct InlineSink {
    std::string type;
    std::vector<Setting> settings;

    friend bool operator==(const InlineSink&, const InlineSink&) = default;
};

// The client that asked gets the rows, by this token. Stands in no text: it is what becomes of a
// SELECT without INTO.
struct ToClient {
    std::string token;

    friend bool operator==(const ToClient&, const ToClient&) = default;
};

struct SinkTarget {
    std::variant<std::string, InlineSink, ToClient> node;  // a name, or defined on the spot
    Position at;

    friend bool operator==(const SinkTarget&, const SinkTarget&) = default;
};

}  // namespace baton::sql
