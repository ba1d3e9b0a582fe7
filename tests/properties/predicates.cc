#include "properties/predicates.h"

#include "base/check.h"
#include "properties/picks.h"

namespace baton::properties {

namespace {

// Texts compare by their bytes, so some are not ASCII; the words are those that catalogs hold.
const std::vector<std::string>& texts() {
    static const std::vector<std::string> kTexts = {
        "",       "A",       "W1",      "W2", "a", "ä", "\xf0\x9f\x98\x80",
        "ACTIVE", "PENDING", "RUNNING", "%",  "0"};
    return kTexts;
}

// Also those that a double cannot tell from their neighbours.
const std::vector<std::int64_t>& integers() {
    static const std::vector<std::int64_t> kIntegers = {
        0, 1, 2, 3, -1, 9'007'199'254'740'992, 9'007'199'254'740'993, INT64_MAX, INT64_MIN};
    return kIntegers;
}

enum class Kind : std::uint8_t { text, number, truth };

Kind kind_of(kinds::ViewType type) {
    switch (type) {
        case kinds::ViewType::text:
        case kinds::ViewType::time:
        case kinds::ViewType::json:
            return Kind::text;
        case kinds::ViewType::unsigned_integer:
        case kinds::ViewType::float32:
        case kinds::ViewType::float64:
        case kinds::ViewType::integer:
            return Kind::number;
        case kinds::ViewType::boolean:
            return Kind::truth;
    }
    CHECK(false && "an unknown type");
}

sql::Literal any_number() {
    if (chance(25)) {
        return *rc::gen::element<double>(0.0, 0.5, 2.0, -1.0, 9007199254740992.0, 1e19,
                                         9223372036854775808.0, -9223372036854775808.0);
    }
    if (chance(5)) return sql::Integer{false, UINT64_MAX};
    const std::int64_t value = *rc::gen::elementOf(integers());
    const auto bits = static_cast<std::uint64_t>(value);
    return sql::Integer{value < 0, value < 0 ? 0 - bits : bits};
}

sql::Literal any_literal(Kind kind) {
    if (chance(10)) return sql::Null{};
    switch (kind) {
        case Kind::text:
            return *rc::gen::elementOf(texts());
        case Kind::number:
            return any_number();
        case Kind::truth:
            return *rc::gen::arbitrary<bool>();
    }
    CHECK(false && "an unknown kind");
}

template <class Node>
sql::Expr expr(Node node) {
    sql::Expr result;
    result.node = std::move(node);
    return result;
}

class Conditions {
public:
    Conditions(const kinds::View& view, bool derived) : view_(view), derived_(derived) {}

    [[nodiscard]] sql::Expr condition(int depth) const {
        if (depth > 0 && chance(50)) return joined(depth);
        const Kind kind = *rc::gen::element(Kind::text, Kind::number, Kind::truth);
        switch (between(0, 5)) {
            case 0:
                return expr(sql::Between{chance(40), operands(kind, 3)});
            case 1:
                return expr(sql::InList{chance(40), operands(kind, between(2, 5))});
            case 2:
                return expr(sql::IsTest{sql::IsWhat::null, chance(40), operands(kind, 1)});
            case 3:
                return operand(Kind::truth);
            default: {
                using enum sql::BinaryOp;
                const auto op = *rc::gen::element(eq, ne, lt, le, gt, ge);
                return expr(sql::Binary{op, operands(kind, 2)});
            }
        }
    }

private:
    [[nodiscard]] sql::Expr joined(int depth) const {
        if (chance(30)) {
            return expr(sql::Unary{sql::UnaryOp::logical_not, {condition(depth - 1)}});
        }
        sql::Logical logical;
        logical.op = chance(50) ? sql::LogicalOp::logical_and : sql::LogicalOp::logical_or;
        const int parts = between(2, 4);
        for (int i = 0; i < parts; ++i) logical.operands.push_back(condition(depth - 1));
        return expr(std::move(logical));
    }

    [[nodiscard]] std::vector<sql::Expr> operands(Kind kind, int count) const {
        std::vector<sql::Expr> result;
        for (int i = 0; i < count; ++i) result.push_back(operand(kind));
        return result;
    }

    [[nodiscard]] sql::Expr operand(Kind kind) const {
        std::vector<std::string> fitting;
        for (const kinds::ViewColumn& column : view_.columns) {
            if (kind_of(column.type) != kind || (column.derived && !derived_)) continue;
            fitting.emplace_back(column.name);
        }
        if (fitting.empty() || chance(45)) return expr(any_literal(kind));
        return expr(sql::ColumnRef{{*rc::gen::elementOf(fitting)}});
    }

    const kinds::View& view_;
    const bool derived_;
};

}  // namespace

rc::Gen<sql::Expr> any_condition(const kinds::View& view, bool derived) {
    return rc::gen::exec([&view, derived] { return Conditions(view, derived).condition(3); });
}

SqlValue any_value(kinds::ViewType type) {
    if (chance(20)) return std::monostate{};
    switch (kind_of(type)) {
        case Kind::text:
            return *rc::gen::elementOf(texts());
        case Kind::number:
            return *rc::gen::elementOf(integers());
        case Kind::truth:
            return std::int64_t{*rc::gen::arbitrary<bool>() ? 1 : 0};
    }
    CHECK(false && "an unknown kind");
}

}  // namespace baton::properties
