#include "core/analysis/operators.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/check.h"
#include "base/text.h"
#include "core/analysis/types.h"
#include "sql/printer.h"

namespace baton::analysis {

namespace {

Error no_type_fits(const sql::Expr& whole, const std::vector<Operand>& operands, std::string hint) {
    std::vector<std::string> parts;
    parts.reserve(operands.size());
    for (const Operand& operand : operands) parts.push_back(described(operand));
    return Error{.code = ErrorCode::type_inference,
                 .message = "no type fits " + shown(whole) + ": " + enumerate(parts, 4),
                 .at = whole.at,
                 .hint = std::move(hint)};
}

Error no_number(const sql::Expr& whole, const std::vector<Operand>& operands) {
    return no_type_fits(whole, operands, "numbers are needed; CAST(x AS T) converts");
}

// Gives bare NULLs the type that the others agree on; none if they do not agree.
std::optional<DataType> agree(std::vector<Operand>& operands) {
    std::vector<DataType> types;
    for (const Operand& operand : operands) {
        if (!operand.untyped) types.push_back(operand.value.type);
    }
    if (types.empty()) types.push_back(DataType::boolean);  // NULL = NULL
    const auto common = common_type(types);
    if (!common) return std::nullopt;
    for (Operand& operand : operands) {
        if (operand.untyped) operand.value = null_of(*common);
    }
    return common;
}

Error not_comparable(const sql::Expr& whole, const std::vector<Operand>& operands) {
    return no_type_fits(whole, operands, "CAST(x AS T) makes them comparable");
}

// Of two that agree.
DataType type_of_both(const Operand& one, const Operand& other) {
    const auto common = common_type(std::array{one.value.type, other.value.type});
    CHECK(common.has_value());
    return *common;
}

Expression compared(Function function, Expression left, Expression right, DataType type) {
    std::vector<Expression> both;
    both.push_back(converted(std::move(left), type));
    both.push_back(converted(std::move(right), type));
    return call(function, std::move(both), DataType::boolean);
}

bool all_untyped(const std::vector<Operand>& operands) {
    return std::all_of(operands.begin(), operands.end(),
                       [](const Operand& operand) { return operand.untyped; });
}

std::vector<Expression> all_converted(std::vector<Operand> operands, DataType type) {
    std::vector<Expression> values;
    values.reserve(operands.size());
    for (Operand& operand : operands) values.push_back(converted(std::move(operand.value), type));
    return values;
}

}  // namespace

Expression call(Function function, std::vector<Expression> arguments, DataType type) {
    const bool nullable = std::any_of(arguments.begin(), arguments.end(),
                                      [](const Expression& each) { return each.nullable; });
    return {.node = Call{.function = function, .arguments = std::move(arguments)},
            .type = type,
            .nullable = nullable};
}

Expression inverted(Expression truth) {
    std::vector<Expression> arguments;
    arguments.push_back(std::move(truth));
    return call(Function::logical_not, std::move(arguments), DataType::boolean);
}

std::string shown(const sql::Expr& expr) {
    constexpr std::size_t kLengthMax = 60;
    std::string text = sql::print(expr);
    if (text.size() <= kLengthMax) return text;
    std::size_t end = kLengthMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) end -= 1;
    return text.substr(0, end) + "..";
}

std::string described(const Operand& operand) {
    CHECK(operand.written != nullptr);
    if (operand.untyped) return "NULL";
    return shown(*operand.written) + " of type " + std::string(to_string(operand.value.type));
}

Result<Expression> arithmetic(Function function, Operand left, Operand right,
                              const sql::Expr& whole) {
    std::vector<Operand> operands;
    operands.push_back(std::move(left));
    operands.push_back(std::move(right));
    if (all_untyped(operands)) {
        return no_type_fits(whole, operands, "write a typed NULL, such as INT64(NULL)");
    }
    const auto common = agree(operands);
    if (!common || !is_number(*common)) return no_number(whole, operands);
    if (function == Function::modulo && is_float(*common)) {
        return no_type_fits(whole, operands, "whole numbers are needed; CAST(x AS INT64) converts");
    }
    const DataType type = promoted(*common);
    return call(function, all_converted(std::move(operands), type), type);
}

Result<Expression> negated(Operand operand, const sql::Expr& whole) {
    TRY_ASSIGN(value, unchanged(std::move(operand), whole));
    const DataType type = value.type;
    std::vector<Expression> arguments;
    arguments.push_back(std::move(value));
    return call(Function::negate, std::move(arguments), type);
}

Result<Expression> unchanged(Operand operand, const sql::Expr& whole) {
    const bool fits = !operand.untyped && is_number(operand.value.type);
    if (!fits) return no_number(whole, {operand});
    const DataType type = promoted(operand.value.type);
    return converted(std::move(operand.value), type);
}

Result<Expression> comparison(Function function, std::vector<Operand> operands,
                              const sql::Expr& whole) {
    const auto common = agree(operands);
    if (!common) return not_comparable(whole, operands);
    return call(function, all_converted(std::move(operands), *common), DataType::boolean);
}

Result<Expression> between(std::vector<Operand> operands, const sql::Expr& whole, Budget& budget) {
    if (!agree(operands)) return not_comparable(whole, operands);
    const DataType low = type_of_both(operands[0], operands[1]);
    const DataType high = type_of_both(operands[0], operands[2]);
    if (low == high) {
        return call(Function::between, all_converted(std::move(operands), low), DataType::boolean);
    }
    TRY(budget.spend(operands[0].value, whole.at));
    std::vector<Expression> both;
    both.push_back(
        compared(Function::greater_equal, operands[0].value, std::move(operands[1].value), low));
    both.push_back(compared(Function::less_equal, std::move(operands[0].value),
                            std::move(operands[2].value), high));
    return call(Function::logical_and, std::move(both), DataType::boolean);
}

Result<Expression> in_list(std::vector<Operand> operands, const sql::Expr& whole, Budget& budget) {
    if (!agree(operands)) return not_comparable(whole, operands);
    std::map<DataType, std::vector<Expression>> by_type;  // the subject, then candidates
    for (std::size_t i = 1; i < operands.size(); ++i) {
        const DataType type = type_of_both(operands[0], operands[i]);
        std::vector<Expression>& group = by_type[type];
        if (group.empty()) {
            if (by_type.size() > 1) TRY(budget.spend(operands[0].value, whole.at));
            group.push_back(converted(operands[0].value, type));
        }
        group.push_back(converted(std::move(operands[i].value), type));
    }
    std::vector<Expression> any;
    any.reserve(by_type.size());
    for (auto& [type, group] : by_type) {
        any.push_back(call(Function::in_list, std::move(group), DataType::boolean));
    }
    if (any.size() == 1) return std::move(any.front());
    return call(Function::logical_or, std::move(any), DataType::boolean);
}

Result<Expression> logical(Function function, std::vector<Operand> operands) {
    std::vector<Expression> values;
    const std::string_view what = function == Function::logical_and  ? "AND"
                                  : function == Function::logical_or ? "OR"
                                                                     : "NOT";
    for (Operand& operand : operands) {
        TRY_ASSIGN(value, needed(std::move(operand), DataType::boolean, what));
        values.push_back(std::move(value));
    }
    return call(function, std::move(values), DataType::boolean);
}

Expression is_null(Operand operand) {
    std::vector<Expression> arguments;
    arguments.push_back(operand.untyped ? null_of(DataType::boolean) : std::move(operand.value));
    Expression test = call(Function::is_null, std::move(arguments), DataType::boolean);
    test.nullable = false;
    return test;
}

Result<Expression> is_nan(Operand operand, const sql::Expr& whole) {
    if (operand.untyped) operand.value = null_of(DataType::float64);
    if (!is_number(operand.value.type)) return no_number(whole, {operand});
    std::vector<Expression> arguments;
    arguments.push_back(std::move(operand.value));
    return call(Function::is_nan, std::move(arguments), DataType::boolean);
}

Result<Expression> cast(Operand operand, DataType type, const sql::Expr& whole) {
    if (operand.untyped) return null_of(type);
    if (!castable(operand.value.type, type)) {
        return Error{.code = ErrorCode::type_mismatch,
                     .message = "cannot convert " + described(operand) + " to " +
                                std::string(to_string(type)),
                     .at = whole.at};
    }
    return converted(std::move(operand.value), type);
}

Result<Expression> typed(Operand operand) {
    if (!operand.untyped) return std::move(operand.value);
    return Error{.code = ErrorCode::type_inference,
                 .message = "NULL has no type here",
                 .at = operand.written->at,
                 .hint = "write a typed NULL, such as INT64(NULL)"};
}

Result<Expression> needed(Operand operand, DataType type, std::string_view what) {
    if (operand.untyped) return null_of(type);
    if (operand.value.type == type) return std::move(operand.value);
    return Error{.code = ErrorCode::type_mismatch,
                 .message = std::string(what) + " needs " + std::string(to_string(type)) +
                            ", but has " + described(operand),
                 .at = operand.written->at};
}

}  // namespace baton::analysis
