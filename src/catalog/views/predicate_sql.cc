// A predicate as SQL with parameters.
#include <span>

#include "base/check.h"
#include "base/overload.h"
#include "catalog/views/predicate.h"

namespace baton::views {

std::string_view Predicate::symbol(sql::BinaryOp op) {
    switch (op) {
        case sql::BinaryOp::eq:
            return "=";
        case sql::BinaryOp::ne:
            return "<>";
        case sql::BinaryOp::lt:
            return "<";
        case sql::BinaryOp::le:
            return "<=";
        case sql::BinaryOp::gt:
            return ">";
        case sql::BinaryOp::ge:
            return ">=";
        case sql::BinaryOp::add:
        case sql::BinaryOp::subtract:
        case sql::BinaryOp::multiply:
        case sql::BinaryOp::divide:
        case sql::BinaryOp::modulo:
            break;
    }
    return "";
}

std::string quoted_column(SqlDialect dialect, std::string_view column) {
    const char quote = dialect == SqlDialect::mariadb ? '`' : '"';
    return quote + std::string(column) + quote;
}

class Predicate::Renderer {
    static constexpr std::size_t kChainMax = 64;

public:
    Renderer(const kinds::View& view, SqlDialect dialect) : view_(view), dialect_(dialect) {}

    void render(const Node& node) {
        result.sql += "(";
        std::visit([&](const auto& n) { write(n); }, node.node);
        result.sql += ")";
    }

    Fragment result;
    bool derived = false;

private:
    void put(const Operand& operand) {
        if (const auto* column = std::get_if<std::size_t>(&operand)) {
            derived = derived || view_.columns[*column].derived;
            result.sql += quoted_column(dialect_, view_.columns[*column].name);
            return;
        }
        const auto& value = std::get<SqlValue>(operand);
        if (std::holds_alternative<std::monostate>(value)) {
            result.sql += "NULL";  // a parameter would have no type in some databases
            return;
        }
        result.sql += "?";
        result.parameters.push_back(value);
    }

    void write(const Truth& truth) {
        put(truth.operand);
        result.sql += " <> 0";
    }
    void write(const Compare& compare) {
        put(compare.left);
        result.sql += " " + std::string(symbol(compare.op)) + " ";
        put(compare.right);
    }
    void write(const Between& between) {
        put(between.subject);
        result.sql += between.negated ? " NOT BETWEEN " : " BETWEEN ";
        put(between.low);
        result.sql += " AND ";
        put(between.high);
    }
    void write(const InList& in) {
        put(in.subject);
        result.sql += in.negated ? " NOT IN (" : " IN (";
        for (const Operand& candidate : in.candidates) {
            if (&candidate != &in.candidates.front()) result.sql += ", ";
            put(candidate);
        }
        result.sql += ")";
    }
    void write(const IsNull& is) {
        put(is.operand);
        result.sql += is.negated ? " IS NOT NULL" : " IS NULL";
    }
    void write(const Junction& junction) { write(junction.op, junction.operands); }
    // A long chain in halves: databases bound the depth of an expression, and read a chain as a
    // tree that is as deep as the chain is long.
    void write(sql::LogicalOp op, std::span<const Node> operands) {
        const std::string_view word = op == sql::LogicalOp::logical_and ? " AND " : " OR ";
        if (operands.size() > kChainMax) {
            result.sql += "(";
            write(op, operands.first(operands.size() / 2));
            result.sql += ")" + std::string(word) + "(";
            write(op, operands.subspan(operands.size() / 2));
            result.sql += ")";
            return;
        }
        for (const Node& operand : operands) {
            if (&operand != &operands.front()) result.sql += word;
            render(operand);
        }
    }
    void write(const Negation& negation) {
        result.sql += "NOT ";
        render(negation.operand.front());
    }

    const kinds::View& view_;
    SqlDialect dialect_;
};

Predicate::Fragment Predicate::to_sql(SqlDialect dialect) const {
    Renderer renderer(*view_, dialect);
    renderer.render(root_);
    return std::move(renderer.result);
}

bool Predicate::needs_derived() const {
    Renderer renderer(*view_, SqlDialect::sqlite);
    renderer.render(root_);
    return renderer.derived;
}

}  // namespace baton::views
