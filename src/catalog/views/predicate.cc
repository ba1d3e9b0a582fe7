#include "catalog/views/predicate.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "sql/printer.h"

namespace baton::views {

namespace {

enum class Class : std::uint8_t { text, number, boolean, null };

Class class_of(kinds::ViewType type) {
    switch (type) {
        case kinds::ViewType::text:
        case kinds::ViewType::time:
        case kinds::ViewType::json:
            return Class::text;
        case kinds::ViewType::integer:
        case kinds::ViewType::unsigned_integer:
        case kinds::ViewType::float32:
        case kinds::ViewType::float64:
            return Class::number;
        case kinds::ViewType::boolean:
            return Class::boolean;
    }
    CHECK(false && "an unknown type");
}

std::string_view name_of(Class what) {
    switch (what) {
        case Class::text:
            return "a text";
        case Class::number:
            return "a number";
        case Class::boolean:
            return "TRUE or FALSE";
        case Class::null:
            return "NULL";
    }
    CHECK(false && "an unknown class");
}

Error not_supported(const sql::Expr& expr) {
    return Error{.code = ErrorCode::not_supported,
                 .message = "the filter of a view cannot hold " + sql::print(expr),
                 .at = expr.at,
                 .hint =
                     "compare columns with literals by = <> < <= > >=, BETWEEN, IN, IS NULL, "
                     "joined by AND, OR, NOT"};
}

int order(const auto& a, const auto& b) {
    return a < b ? -1 : (b < a ? 1 : 0);
}

// Exact, as the database compares them: not every integer is a double.
int order_of(std::int64_t whole, double real) {
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63
    if (real >= kBeyond) return -1;
    if (real < -kBeyond) return 1;
    const auto truncated = static_cast<std::int64_t>(real);
    if (whole != truncated) return order(whole, truncated);
    return order(static_cast<double>(truncated), real);
}

// -1, 0, 1, or nothing if one of them is NULL.
std::optional<int> compared(const SqlValue& a, const SqlValue& b) {
    using Order = std::optional<int>;
    return std::visit(
        Overload{
            [](std::int64_t x, std::int64_t y) -> Order { return order(x, y); },
            [](double x, double y) -> Order { return order(x, y); },
            [](const std::string& x, const std::string& y) -> Order { return order(x, y); },
            [](std::int64_t x, double y) -> Order { return order_of(x, y); },
            [](double x, std::int64_t y) -> Order { return -order_of(y, x); },
            [](const auto&, const auto&) -> Order { return std::nullopt; },
        },
        a, b);
}

using Truth3 = std::optional<bool>;  // nothing: unknown

Truth3 negate(Truth3 value) {
    return value ? Truth3(!*value) : value;
}

}  // namespace

// ---- from the tree ------------------------------------------------------------------------------

class Predicate::Compiler {
public:
    explicit Compiler(const kinds::View& view) : view_(view) {}

    Result<Node> node(const sql::Expr& expr) const {
        return std::visit(Overload{
                              [&](const sql::Literal&) { return truth(expr); },
                              [&](const sql::ColumnRef&) { return truth(expr); },
                              [&](const sql::Unary& unary) { return negation(expr, unary); },
                              [&](const sql::Binary& binary) { return comparison(expr, binary); },
                              [&](const sql::Logical& logical) { return junction(logical); },
                              [&](const sql::Between& between) { return range(between); },
                              [&](const sql::InList& in) { return list(in); },
                              [&](const sql::IsTest& is) { return null_test(expr, is); },
                              [&](const auto&) -> Result<Node> { return not_supported(expr); },
                          },
                          expr.node);
    }

private:
    struct Typed {
        Operand operand;
        Class type = Class::null;
    };

    Result<Typed> operand(const sql::Expr& expr) const {
        if (const auto* literal = std::get_if<sql::Literal>(&expr.node)) {
            return literal_operand(*literal);
        }
        const auto* ref = std::get_if<sql::ColumnRef>(&expr.node);
        if (ref == nullptr) return not_supported(expr);
        const std::string& name = ref->parts.back();
        if (const auto column = view_.column(name)) {
            return Typed{*column, class_of(view_.columns[*column].type)};
        }
        std::vector<std::string> known;
        for (const kinds::ViewColumn& column : view_.columns) known.emplace_back(column.name);
        std::string hint = did_you_mean(name, known);
        if (hint.empty()) hint = "the columns are " + join(known, ", ");
        return Error{
            .code = ErrorCode::unknown_field,
            .message = "unknown column " + in_quotes(name) + " of " + std::string(view_.name),
            .at = expr.at,
            .hint = std::move(hint)};
    }

    static Result<Typed> literal_operand(const sql::Literal& literal) {
        return std::visit(
            Overload{
                [](sql::Null) {
                    return Typed{SqlValue(), Class::null};
                },
                [](bool v) {
                    return Typed{SqlValue(std::int64_t{v ? 1 : 0}), Class::boolean};
                },
                [](const sql::Integer& v) {
                    constexpr std::uint64_t kMost = INT64_MAX;
                    if (v.magnitude > kMost) {
                        const double size = static_cast<double>(v.magnitude);
                        return Typed{SqlValue(v.negative ? -size : size), Class::number};
                    }
                    const auto size = static_cast<std::int64_t>(v.magnitude);
                    return Typed{SqlValue(v.negative ? -size : size), Class::number};
                },
                [](double v) {
                    return Typed{SqlValue(v), Class::number};
                },
                [](const std::string& v) {
                    return Typed{SqlValue(v), Class::text};
                },
            },
            literal);
    }

    static Result<Done> same_class(const Typed& a, const Typed& b, const sql::Expr& at) {
        if (a.type == b.type || a.type == Class::null || b.type == Class::null) return Done{};
        return Error{.code = ErrorCode::type_mismatch,
                     .message = "cannot compare " + std::string(name_of(a.type)) + " with " +
                                std::string(name_of(b.type)),
                     .at = at.at};
    }

    // A constant in quotes is what the column it is compared with needs, if it can be read so: that
    // is how clients give values whose type they do not know.
    static void fit(Typed& typed, Class wanted) {
        const auto* value = std::get_if<SqlValue>(&typed.operand);
        const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
        const auto number = text == nullptr ? std::nullopt : read_as(wanted, *text);
        if (!number) return;
        typed.operand = SqlValue(*number);
        typed.type = wanted;
    }

    static std::optional<std::int64_t> read_as(Class wanted, const std::string& text) {
        if (wanted == Class::boolean) {
            const std::string word = to_upper(text);
            if (word == "TRUE" || word == "T") return 1;
            if (word == "FALSE" || word == "F") return 0;
        }
        if (wanted != Class::number) return std::nullopt;
        std::int64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, number);
        if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
        return number;
    }

    // Operands that are compared with the first one.
    Result<std::vector<Operand>> operands(const std::vector<sql::Expr>& exprs) const {
        std::vector<Typed> all;
        Class wanted = Class::null;
        for (const sql::Expr& expr : exprs) {
            TRY_ASSIGN(typed, operand(expr));
            if (std::holds_alternative<std::size_t>(typed.operand)) wanted = typed.type;
            all.push_back(std::move(typed));
        }
        for (Typed& typed : all) fit(typed, wanted);
        std::vector<Operand> result;
        for (std::size_t i = 0; i < all.size(); ++i) {
            TRY(same_class(all[0], all[i], exprs[i]));
            result.push_back(all[i].operand);
        }
        return result;
    }

    Result<Node> truth(const sql::Expr& expr) const {
        TRY_ASSIGN(typed, operand(expr));
        if (typed.type != Class::boolean && typed.type != Class::null) {
            return Error{
                .code = ErrorCode::type_mismatch,
                .message = "a condition is needed, not " + std::string(name_of(typed.type)),
                .at = expr.at};
        }
        return Node{Truth{std::move(typed.operand)}};
    }

    Result<Node> negation(const sql::Expr& expr, const sql::Unary& unary) const {
        if (unary.op != sql::UnaryOp::logical_not) return not_supported(expr);
        TRY_ASSIGN(inner, node(unary.operand.front()));
        return Node{Negation{{std::move(inner)}}};
    }

    Result<Node> comparison(const sql::Expr& expr, const sql::Binary& binary) const {
        if (symbol(binary.op).empty()) return not_supported(expr);
        TRY_ASSIGN(sides, operands(binary.operands));
        return Node{Compare{binary.op, std::move(sides[0]), std::move(sides[1])}};
    }

    Result<Node> junction(const sql::Logical& logical) const {
        Junction result{.op = logical.op, .operands = {}};
        for (const sql::Expr& expr : logical.operands) {
            TRY_ASSIGN(inner, node(expr));
            result.operands.push_back(std::move(inner));
        }
        return Node{std::move(result)};
    }

    Result<Node> range(const sql::Between& between) const {
        TRY_ASSIGN(all, operands(between.operands));
        return Node{
            Between{between.negated, std::move(all[0]), std::move(all[1]), std::move(all[2])}};
    }

    Result<Node> list(const sql::InList& in) const {
        TRY_ASSIGN(all, operands(in.operands));
        InList result{.negated = in.negated, .subject = std::move(all.front()), .candidates = {}};
        result.candidates.assign(std::make_move_iterator(all.begin() + 1),
                                 std::make_move_iterator(all.end()));
        return Node{std::move(result)};
    }

    Result<Node> null_test(const sql::Expr& expr, const sql::IsTest& is) const {
        if (is.what != sql::IsWhat::null) return not_supported(expr);
        TRY_ASSIGN(typed, operand(is.operand.front()));
        return Node{IsNull{is.negated, std::move(typed.operand)}};
    }

    const kinds::View& view_;
};

Result<Predicate> Predicate::compile(const kinds::View& view, const sql::Expr& expr) {
    TRY_ASSIGN(root, Compiler(view).node(expr));
    return Predicate(view, std::move(root));
}

Result<Predicate> Predicate::equal(const kinds::View& view, const std::string& column,
                                   const sql::Literal& value, Position at) {
    const auto leaf = [&](auto node) { return sql::Expr{.node = std::move(node), .at = at}; };
    return compile(
        view,
        leaf(sql::Binary{.op = sql::BinaryOp::eq,
                         .operands = {leaf(sql::ColumnRef{{column}}), leaf(sql::Literal(value))}}));
}

Predicate Predicate::both(Predicate a, Predicate b) {
    CHECK(a.view_ == b.view_);
    Junction all{.op = sql::LogicalOp::logical_and, .operands = {}};
    all.operands.push_back(std::move(a.root_));
    all.operands.push_back(std::move(b.root_));
    return {*a.view_, Node{std::move(all)}};
}

// ---- of a row -----------------------------------------------------------------------------------

class Predicate::Evaluator {
public:
    explicit Evaluator(const SqlRow& row) : row_(row) {}

    [[nodiscard]] Truth3 value(const Node& node) const {
        return std::visit([&](const auto& n) { return of(n); }, node.node);
    }

private:
    const SqlValue& get(const Operand& operand) const {
        if (const auto* column = std::get_if<std::size_t>(&operand)) {
            CHECK(*column < row_.size());
            return row_[*column];
        }
        return std::get<SqlValue>(operand);
    }

    Truth3 of(const Truth& truth) const {
        const auto* value = std::get_if<std::int64_t>(&get(truth.operand));
        return value == nullptr ? Truth3() : Truth3(*value != 0);
    }

    Truth3 of(const Compare& compare) const {
        const auto order = compared(get(compare.left), get(compare.right));
        if (!order) return std::nullopt;
        switch (compare.op) {
            case sql::BinaryOp::eq:
                return *order == 0;
            case sql::BinaryOp::ne:
                return *order != 0;
            case sql::BinaryOp::lt:
                return *order < 0;
            case sql::BinaryOp::le:
                return *order <= 0;
            case sql::BinaryOp::gt:
                return *order > 0;
            case sql::BinaryOp::ge:
                return *order >= 0;
            case sql::BinaryOp::add:
            case sql::BinaryOp::subtract:
            case sql::BinaryOp::multiply:
            case sql::BinaryOp::divide:
            case sql::BinaryOp::modulo:
                break;
        }
        CHECK(false && "not a comparison");
    }

    Truth3 of(const Between& between) const {
        const auto low = compared(get(between.subject), get(between.low));
        const auto high = compared(get(between.subject), get(between.high));
        const Truth3 above = low ? Truth3(*low >= 0) : Truth3();
        const Truth3 below = high ? Truth3(*high <= 0) : Truth3();
        Truth3 inside;
        if ((above && !*above) || (below && !*below)) inside = false;
        if (above && below) inside = *above && *below;
        return between.negated ? negate(inside) : inside;
    }

    Truth3 of(const InList& in) const {
        Truth3 found = false;
        for (const Operand& candidate : in.candidates) {
            const auto order = compared(get(in.subject), get(candidate));
            if (order && *order == 0) {
                found = true;
                break;
            }
            if (!order) found = std::nullopt;
        }
        return in.negated ? negate(found) : found;
    }

    Truth3 of(const IsNull& is) const {
        return std::holds_alternative<std::monostate>(get(is.operand)) != is.negated;
    }

    Truth3 of(const Junction& junction) const {
        const bool decides = junction.op == sql::LogicalOp::logical_or;
        Truth3 result = !decides;
        for (const Node& operand : junction.operands) {
            const Truth3 one = value(operand);
            if (one && *one == decides) return decides;
            if (!one) result = std::nullopt;
        }
        return result;
    }

    Truth3 of(const Negation& negation) const { return negate(value(negation.operand.front())); }

    const SqlRow& row_;
};

bool Predicate::matches(const SqlRow& row) const {
    return Evaluator(row).value(root_).value_or(false);
}

}  // namespace baton::views
