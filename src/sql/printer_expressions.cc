// Names, literals and expressions.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "sql/printing.h"
#include "sql/reserved_words.h"

namespace baton::sql {

namespace {

bool is_plain(const std::string& name) {
    const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (name.empty() || !letter(name.front())) return false;
    return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

// The shortest text that gives the same number, and that is no integer's: 2.0, 1e+300.
std::string decimal_text(double value) {
    std::array<char, 64> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    CHECK(result.ec == std::errc());
    std::string text(buffer.data(), result.ptr);
    const bool decimal = text.find_first_of(".e") != std::string::npos;
    return decimal ? to_upper(text) : text + ".0";
}

std::string_view text_of(BinaryOp op) {
    switch (op) {
        case BinaryOp::add:
            return " + ";
        case BinaryOp::subtract:
            return " - ";
        case BinaryOp::multiply:
            return " * ";
        case BinaryOp::divide:
            return " / ";
        case BinaryOp::modulo:
            return " % ";
        case BinaryOp::eq:
            return " = ";
        case BinaryOp::ne:
            return " != ";
        case BinaryOp::lt:
            return " < ";
        case BinaryOp::le:
            return " <= ";
        case BinaryOp::gt:
            return " > ";
        case BinaryOp::ge:
            return " >= ";
    }
    return "?";
}

Binding binding_of(BinaryOp op) {
    switch (op) {
        case BinaryOp::add:
        case BinaryOp::subtract:
            return Binding::sum;
        case BinaryOp::multiply:
        case BinaryOp::divide:
        case BinaryOp::modulo:
            return Binding::product;
        case BinaryOp::eq:
        case BinaryOp::ne:
        case BinaryOp::lt:
        case BinaryOp::le:
        case BinaryOp::gt:
        case BinaryOp::ge:
            return Binding::predicate;
    }
    return Binding::predicate;
}

Binding binding_of(const Expr& expr) {
    if (const auto* binary = std::get_if<Binary>(&expr.node)) return binding_of(binary->op);
    if (const auto* unary = std::get_if<Unary>(&expr.node)) {
        return unary->op == UnaryOp::logical_not ? Binding::logical_not : Binding::sign;
    }
    if (const auto* logical = std::get_if<Logical>(&expr.node)) {
        return logical->op == LogicalOp::logical_and ? Binding::logical_and : Binding::logical_or;
    }
    const bool predicate = std::holds_alternative<Between>(expr.node) ||
                           std::holds_alternative<InList>(expr.node) ||
                           std::holds_alternative<IsTest>(expr.node);
    return predicate ? Binding::predicate : Binding::primary;
}

bool is_number(const Expr& expr) {
    const auto* literal = std::get_if<Literal>(&expr.node);
    if (literal == nullptr) return false;
    return std::holds_alternative<Integer>(*literal) || std::holds_alternative<double>(*literal);
}

bool begins_with_minus(const Expr& expr) {
    if (const auto* unary = std::get_if<Unary>(&expr.node)) return unary->op == UnaryOp::minus;
    return is_number(expr) && print(expr).front() == '-';
}

}  // namespace

std::string print_name(const std::string& name) {
    if (is_plain(name) && !is_reserved(name) && !is_doubtful(name)) return name;
    return in_quotes(name);
}

void Printing::name(const std::string& name) {
    put(print_name(name));
}

// A backslash is doubled only where it would otherwise change what follows.
void Printing::string(std::string_view value) {
    put("'");
    for (std::size_t i = 0; i < value.size(); ++i) {
        const char c = value[i];
        const char after = i + 1 < value.size() ? value[i + 1] : '\'';
        const bool doubled = c == '\'' || (c == '\\' && (after == '\\' || after == '\''));
        if (doubled) text_ += c;
        text_ += c;
    }
    put("'");
}

void Printing::literal(const Literal& literal) {
    std::visit(Overload{
                   [&](Null) { put("NULL"); },
                   [&](bool value) { put(value ? "TRUE" : "FALSE"); },
                   [&](const Integer& value) {
                       if (value.negative) put("-");
                       put(std::to_string(value.magnitude));
                   },
                   [&](double value) { put(decimal_text(value)); },
                   [&](const std::string& value) { string(value); },
               },
               literal);
}

void Printing::expressions(const std::vector<Expr>& list, std::size_t from) {
    for (std::size_t i = from; i < list.size(); ++i) {
        if (i > from) put(", ");
        expression(list[i]);
    }
}

void Printing::expression(const Expr& expr, Binding loosest) {
    const bool parentheses = binding_of(expr) < loosest;
    if (parentheses) put("(");
    std::visit(Overload{
                   [&](const Literal& node) { literal(node); },
                   [&](const TypedLiteral& node) {
                       put(to_string(node.type));
                       put("(");
                       literal(node.value);
                       put(")");
                   },
                   [&](const ColumnRef& node) { names(node.parts); },
                   [&](const Star& node) {
                       if (node.qualifier) {
                           name(*node.qualifier);
                           put(".");
                       }
                       put("*");
                   },
                   [&](const Call& node) { call(node); },
                   [&](const Cast& node) {
                       put("CAST(");
                       expression(node.operand.front());
                       put(" AS ");
                       put(to_string(node.type));
                       put(")");
                   },
                   [&](const Unary& node) { unary(node); },
                   [&](const Binary& node) { binary(node); },
                   [&](const Logical& node) { logical(node); },
                   [&](const Between& node) {
                       expression(node.operands[0], Binding::predicate);
                       put(node.negated ? " NOT BETWEEN " : " BETWEEN ");
                       expression(node.operands[1], Binding::sum);
                       put(" AND ");
                       expression(node.operands[2], Binding::sum);
                   },
                   [&](const InList& node) {
                       expression(node.operands[0], Binding::predicate);
                       put(node.negated ? " NOT IN (" : " IN (");
                       expressions(node.operands, 1);
                       put(")");
                   },
                   [&](const IsTest& node) {
                       expression(node.operand.front(), Binding::predicate);
                       put(node.negated ? " IS NOT " : " IS ");
                       put(node.what == IsWhat::null ? "NULL" : "NAN");
                   },
               },
               expr.node);
    if (parentheses) put(")");
}

void Printing::call(const Call& call) {
    put(call.function);
    put("(");
    if (call.star) put("*");
    if (call.distinct) put("DISTINCT ");
    expressions(call.arguments);
    put(")");
}

// A minus before a number would become part of it, and two would begin a comment.
void Printing::unary(const Unary& unary) {
    const Expr& operand = unary.operand.front();
    switch (unary.op) {
        case UnaryOp::logical_not:
            put("NOT ");
            expression(operand, Binding::logical_not);
            return;
        case UnaryOp::plus:
            put("+");
            expression(operand, Binding::sign);
            return;
        case UnaryOp::minus:
            break;
    }
    put("-");
    if (begins_with_minus(operand)) {
        put(" ");
        expression(operand, Binding::sign);
    } else if (is_number(operand)) {
        put("(");
        expression(operand);
        put(")");
    } else {
        expression(operand, Binding::sign);
    }
}

void Printing::binary(const Binary& binary) {
    const Binding binding = binding_of(binary.op);
    expression(binary.operands[0], binding);
    put(text_of(binary.op));
    expression(binary.operands[1], tighter(binding));
}

void Printing::logical(const Logical& logical) {
    const bool both = logical.op == LogicalOp::logical_and;
    for (std::size_t i = 0; i < logical.operands.size(); ++i) {
        if (i > 0) put(both ? " AND " : " OR ");
        expression(logical.operands[i], both ? Binding::logical_not : Binding::logical_and);
    }
}

}  // namespace baton::sql
