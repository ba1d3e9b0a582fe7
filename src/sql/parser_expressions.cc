// Expressions, by binding strength: a prefix, then operators as long as they bind tightly enough.
#include <algorithm>
#include <array>

#include "sql/grammar.h"
#include "sql/reserved_words.h"

namespace baton::sql {

namespace {

struct BinarySymbol {
    Symbol symbol;
    BinaryOp op;
    Binding binding;
};

constexpr std::array kBinarySymbols = {
    BinarySymbol{Symbol::plus, BinaryOp::add, Binding::sum},
    BinarySymbol{Symbol::minus, BinaryOp::subtract, Binding::sum},
    BinarySymbol{Symbol::star, BinaryOp::multiply, Binding::product},
    BinarySymbol{Symbol::slash, BinaryOp::divide, Binding::product},
    BinarySymbol{Symbol::percent, BinaryOp::modulo, Binding::product},
    BinarySymbol{Symbol::eq, BinaryOp::eq, Binding::predicate},
    BinarySymbol{Symbol::ne, BinaryOp::ne, Binding::predicate},
    BinarySymbol{Symbol::lt, BinaryOp::lt, Binding::predicate},
    BinarySymbol{Symbol::le, BinaryOp::le, Binding::predicate},
    BinarySymbol{Symbol::gt, BinaryOp::gt, Binding::predicate},
    BinarySymbol{Symbol::ge, BinaryOp::ge, Binding::predicate},
};

const BinarySymbol* binary_symbol(const Token& token) {
    if (token.kind != TokenKind::symbol) return nullptr;
    for (const BinarySymbol& known : kBinarySymbols) {
        if (token.symbol == known.symbol) return &known;
    }
    return nullptr;
}

std::vector<Expr> list_of(Expr&& first) {
    std::vector<Expr> list;
    list.push_back(std::move(first));
    return list;
}

}  // namespace

Result<Done> Grammar::within_depth(std::size_t height) {
    if (height <= limits_.depth_max && depth_ <= limits_.depth_max) return Done{};
    return tokens_.fails(
        ErrorCode::too_large,
        "the statement nests deeper than " + std::to_string(limits_.depth_max) + " levels",
        "use fewer parentheses and shorter chains of operators");
}

Result<Done> Grammar::one_more_part() {
    parts_ += 1;
    if (parts_ <= limits_.parts_max) return Done{};
    return tokens_.fails(ErrorCode::too_large,
                         "the statement has more than " + std::to_string(limits_.parts_max) +
                             " expressions, columns and settings",
                         "use shorter lists and chains, or several statements");
}

Result<Done> Grammar::one_more_column(std::size_t columns) {
    if (columns <= limits_.columns_max) return one_more_part();
    return tokens_.fails(
        ErrorCode::too_large,
        "more than " + std::to_string(limits_.columns_max) + " columns in one list",
        "name fewer columns");
}

Result<Tall<Expr>> Grammar::expr_of(ExprNode node, Position at, std::size_t height) {
    TRY(within_depth(height));
    TRY(one_more_part());
    return Tall<Expr>{.value = Expr{.node = std::move(node), .at = at}, .height = height};
}

Result<Tall<Expr>> Grammar::expression(Binding loosest) {
    const Level level(depth_);
    TRY(within_depth(1));
    TRY_ASSIGN(left, prefix(loosest));
    return continued(std::move(left), loosest);
}

// `left` and the operators after it that bind at least as tightly as `loosest`.
Result<Tall<Expr>> Grammar::continued(Tall<Expr> left, Binding loosest) {
    while (true) {
        Result<Tall<Expr>> whole = Error{};
        const BinarySymbol* symbol = binary_symbol(tokens_.peek());
        if (symbol != nullptr && symbol->binding >= loosest) {
            whole = binary(std::move(left), symbol->op, symbol->binding);
        } else if (sees_predicate() && loosest <= Binding::predicate) {
            whole = predicate(std::move(left));
        } else if (tokens_.sees("AND") && loosest <= Binding::logical_and) {
            whole = logical(std::move(left), LogicalOp::logical_and, Binding::logical_and);
        } else if (tokens_.sees("OR") && loosest <= Binding::logical_or) {
            whole = logical(std::move(left), LogicalOp::logical_or, Binding::logical_or);
        } else {
            tokens_.note("an operator");
            return left;
        }
        if (!whole) return whole;
        left = *std::move(whole);
    }
}

bool Grammar::sees_predicate() {
    return tokens_.sees("NOT") || tokens_.sees("BETWEEN") || tokens_.sees("IN") ||
           tokens_.sees("IS");
}

Result<Tall<Expr>> Grammar::predicate(Tall<Expr> left) {
    if (tokens_.accept("IS")) return is_test(std::move(left));
    const bool negated = tokens_.accept("NOT");
    if (tokens_.accept("BETWEEN")) return between(std::move(left), negated);
    if (tokens_.accept("IN")) return in_list(std::move(left), negated);
    return tokens_.unexpected();
}

Result<Tall<Expr>> Grammar::prefix(Binding loosest) {
    const Token& token = tokens_.peek();
    if (sees_literal()) {
        const Position at = token.at;
        TRY_ASSIGN(value, literal());
        return expr_of(std::move(value), at, 1);
    }
    if (token.kind == TokenKind::word) return word_prefix(loosest);
    if (token.kind == TokenKind::quoted_name) {
        const Position at = token.at;
        if (tokens_.sees(Symbol::open, 1)) {
            return tokens_.refused("the name of a function is not quoted", "leave out the quotes");
        }
        TRY_ASSIGN(column, column_ref());
        return expr_of(std::move(column), at, 1);
    }
    if (tokens_.sees(Symbol::plus) || tokens_.sees(Symbol::minus)) return signed_operand();
    if (tokens_.sees(Symbol::open)) return parenthesised();
    tokens_.note("an expression");
    return tokens_.unexpected();
}

// An expression that begins with an unquoted word.
Result<Tall<Expr>> Grammar::word_prefix(Binding loosest) {
    if (tokens_.sees("NOT")) return negation(loosest);
    TRY(refuse_foreign_word());
    const bool called = tokens_.sees(Symbol::open, 1);
    if (called && (tokens_.sees("CAST") || tokens_.sees("CASTTOTYPE"))) return cast();
    const auto type = data_type_ahead();
    if (type && tokens_.sees(Symbol::open, type->second)) {
        return typed_literal(type->first, type->second);
    }
    if (!tokens_.sees_name()) {
        tokens_.note("an expression");
        Error error = tokens_.unexpected();
        for (const std::string_view word : {"FULL", "INNER", "LEFT", "RIGHT", "ON", "SET"}) {
            if (tokens_.sees(word)) error.hint = "the name of a column is written in double quotes";
        }
        return error;
    }
    if (called) return call();
    const Position at = tokens_.peek().at;
    TRY_ASSIGN(column, column_ref());
    return expr_of(std::move(column), at, 1);
}

Result<Tall<Expr>> Grammar::negation(Binding loosest) {
    if (loosest > Binding::logical_not) {
        return tokens_.refused("NOT cannot stand after an operator that binds tighter",
                               "put it in parentheses");
    }
    const Position at = tokens_.take().at;
    TRY_ASSIGN(operand, expression(Binding::logical_not));
    return expr_of(Unary{.op = UnaryOp::logical_not, .operand = list_of(std::move(operand.value))},
                   at, operand.height + 1);
}

// Words that begin an expression in other dialects, unless they are columns here.
Result<Done> Grammar::refuse_foreign_word() {
    const bool called = tokens_.sees(Symbol::open, 1);
    const TokenKind after = tokens_.peek(1).kind;
    const bool constant =
        after == TokenKind::string || after == TokenKind::integer || after == TokenKind::decimal;
    if (tokens_.sees("CASE") && (called || constant || tokens_.sees_name(1))) {
        return tokens_.not_supported("CASE", "write CONDITIONAL(c1, v1, .., default)");
    }
    if (called && tokens_.sees("EXISTS")) return tokens_.not_supported("EXISTS", "write a JOIN");
    if (called && tokens_.sees("DISTINCT")) {
        return tokens_.not_supported("DISTINCT", "only COUNT(DISTINCT x) has it");
    }
    return Done{};
}

Result<Tall<Expr>> Grammar::signed_operand() {
    const Token sign = tokens_.take();
    const UnaryOp op = sign.symbol == Symbol::plus ? UnaryOp::plus : UnaryOp::minus;
    TRY_ASSIGN(operand, expression(Binding::sign));
    return expr_of(Unary{.op = op, .operand = list_of(std::move(operand.value))}, sign.at,
                   operand.height + 1);
}

Result<Tall<Expr>> Grammar::parenthesised() {
    tokens_.take();
    if (tokens_.sees("SELECT")) {
        return tokens_.not_supported("a query within an expression", "write a JOIN");
    }
    TRY_ASSIGN(inner, expression());
    TRY(tokens_.expect(Symbol::close));
    return inner;
}

// TYPE(constant) is a constant of that type; TYPE(e) of anything else converts, as CAST does.
Result<Tall<Expr>> Grammar::typed_literal(DataType type, std::size_t words) {
    const Position at = tokens_.peek().at;
    for (std::size_t i = 0; i < words + 1; ++i) tokens_.take();
    TRY_ASSIGN(operand, expression());
    TRY(tokens_.expect(Symbol::close));
    if (auto* value = std::get_if<Literal>(&operand.value.node)) {
        return expr_of(TypedLiteral{.type = type, .value = std::move(*value)}, at, 1);
    }
    return expr_of(Cast{.operand = list_of(std::move(operand.value)), .type = type}, at,
                   operand.height + 1);
}

Result<Tall<Expr>> Grammar::cast() {
    const Position at = tokens_.take().at;
    TRY(tokens_.expect(Symbol::open));
    TRY_ASSIGN(operand, expression());
    TRY(tokens_.expect("AS"));
    TRY_ASSIGN(type, data_type());
    TRY(tokens_.expect(Symbol::close));
    return expr_of(Cast{.operand = list_of(std::move(operand.value)), .type = type}, at,
                   operand.height + 1);
}

Result<Tall<Expr>> Grammar::call() {
    const Token name = tokens_.take();
    TRY(tokens_.expect(Symbol::open));
    Call call{.function = name.text};
    const bool counts = call.function == "COUNT";
    if (tokens_.sees(Symbol::star)) {
        if (!counts) return tokens_.refused("only COUNT takes a star", "name a column");
        tokens_.take();
        call.star = true;
        TRY(tokens_.expect(Symbol::close));
        return expr_of(std::move(call), name.at, 1);
    }
    const bool alone = tokens_.sees(Symbol::close, 1) || tokens_.sees(Symbol::comma, 1) ||
                       tokens_.sees(Symbol::dot, 1);
    if (tokens_.sees("DISTINCT") && !alone) {
        if (!counts) {
            return tokens_.not_supported("DISTINCT in " + call.function,
                                         "only COUNT(DISTINCT x) has it");
        }
        tokens_.take();
        call.distinct = true;
    }
    if (!call.distinct && tokens_.accept(Symbol::close)) {
        return expr_of(std::move(call), name.at, 1);
    }
    TRY_ASSIGN(height, expressions_into(call.arguments));
    if (call.distinct && call.arguments.size() > 1) {
        return tokens_.not_supported("COUNT(DISTINCT ..) of several columns", "name one");
    }
    TRY(tokens_.expect(Symbol::close));
    return expr_of(std::move(call), name.at, height + 1);
}

// e, e, ..: appends at least one; returns the height of the highest.
Result<std::size_t> Grammar::expressions_into(std::vector<Expr>& list) {
    std::size_t height = 0;
    do {
        TRY_ASSIGN(next, expression());
        height = std::max(height, next.height);
        list.push_back(std::move(next.value));
    } while (tokens_.accept(Symbol::comma));
    return height;
}

// Chains, also in parentheses, become one node: (a AND b) AND c is a AND b AND c.
Result<Tall<Expr>> Grammar::logical(Tall<Expr> left, LogicalOp op, Binding binding) {
    const std::string_view word = op == LogicalOp::logical_and ? "AND" : "OR";
    const Position at = left.value.at;
    Logical whole{.op = op};
    std::size_t height = 0;
    const auto append = [&](Tall<Expr>&& operand) {
        auto* same = std::get_if<Logical>(&operand.value.node);
        if (same != nullptr && same->op == op) {
            height = std::max(height, operand.height);
            if (whole.operands.empty()) {
                whole.operands = std::move(same->operands);
            } else {
                for (Expr& inner : same->operands) whole.operands.push_back(std::move(inner));
            }
        } else {
            height = std::max(height, operand.height + 1);
            whole.operands.push_back(std::move(operand.value));
        }
    };
    append(std::move(left));
    while (tokens_.accept(word)) {
        TRY_ASSIGN(right, expression(tighter(binding)));
        append(std::move(right));
    }
    return expr_of(std::move(whole), at, height);
}

Result<Tall<Expr>> Grammar::binary(Tall<Expr> left, BinaryOp op, Binding binding) {
    tokens_.take();
    TRY_ASSIGN(right, expression(tighter(binding)));
    const Position at = left.value.at;
    Binary node{.op = op, .operands = list_of(std::move(left.value))};
    node.operands.push_back(std::move(right.value));
    return expr_of(std::move(node), at, std::max(left.height, right.height) + 1);
}

Result<Tall<Expr>> Grammar::between(Tall<Expr> left, bool negated) {
    TRY_ASSIGN(low, expression(Binding::sum));
    TRY(tokens_.expect("AND"));
    TRY_ASSIGN(high, expression(Binding::sum));
    const Position at = left.value.at;
    Between node{.negated = negated, .operands = list_of(std::move(left.value))};
    node.operands.push_back(std::move(low.value));
    node.operands.push_back(std::move(high.value));
    return expr_of(std::move(node), at, std::max({left.height, low.height, high.height}) + 1);
}

Result<Tall<Expr>> Grammar::in_list(Tall<Expr> left, bool negated) {
    TRY(tokens_.expect(Symbol::open));
    if (tokens_.sees("SELECT")) {
        return tokens_.not_supported("IN with a query", "write a JOIN");
    }
    const Position at = left.value.at;
    InList node{.negated = negated, .operands = list_of(std::move(left.value))};
    TRY_ASSIGN(height, expressions_into(node.operands));
    TRY(tokens_.expect(Symbol::close));
    return expr_of(std::move(node), at, std::max(left.height, height) + 1);
}

Result<Tall<Expr>> Grammar::is_test(Tall<Expr> left) {
    IsTest node;
    node.negated = tokens_.accept("NOT");
    if (tokens_.accept("NULL")) {
        node.what = IsWhat::null;
    } else if (tokens_.accept("NAN")) {
        node.what = IsWhat::nan;
    } else if (tokens_.sees("TRUE") || tokens_.sees("FALSE") || tokens_.sees("UNKNOWN")) {
        return tokens_.not_supported("IS " + tokens_.peek().text,
                                     "write = TRUE, = FALSE or IS NULL");
    } else if (tokens_.sees("DISTINCT")) {
        return tokens_.not_supported("IS DISTINCT FROM", "write != and IS NULL");
    } else {
        return tokens_.unexpected();
    }
    const Position at = left.value.at;
    node.operand = list_of(std::move(left.value));
    return expr_of(std::move(node), at, left.height + 1);
}

Result<ColumnRef> Grammar::column_ref() {
    ColumnRef column;
    do {
        if (column.parts.size() == 2) {
            return tokens_.refused("a column is written NAME or SOURCE.NAME",
                                   "give the relation a short name with AS");
        }
        TRY_ASSIGN(part, tokens_.name("the name of a column"));
        column.parts.push_back(std::move(part));
    } while (tokens_.accept_unlisted(Symbol::dot));
    return column;
}

}  // namespace baton::sql
