#include "core/analysis/types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/overload.h"
#include "sql/printer.h"

namespace baton::analysis {

namespace {

struct IntegerRange {
    DataType type;
    bool is_signed;
    int bits;
};

// Of each signedness, the smallest first.
constexpr std::array kIntegers = {
    IntegerRange{DataType::int8, true, 8},     IntegerRange{DataType::int16, true, 16},
    IntegerRange{DataType::int32, true, 32},   IntegerRange{DataType::int64, true, 64},
    IntegerRange{DataType::uint8, false, 8},   IntegerRange{DataType::uint16, false, 16},
    IntegerRange{DataType::uint32, false, 32}, IntegerRange{DataType::uint64, false, 64},
};

const IntegerRange* range_of(DataType type) {
    for (const IntegerRange& range : kIntegers) {
        if (range.type == type) return &range;
    }
    return nullptr;
}

bool holds(const IntegerRange& range, const sql::Integer& value) {
    const int bits = range.is_signed ? range.bits - 1 : range.bits;
    const std::uint64_t most = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << unsigned(bits)) - 1;
    if (!value.negative) return value.magnitude <= most;
    return range.is_signed && value.magnitude <= most + 1;
}

Value integer_value(const IntegerRange& range, const sql::Integer& value) {
    if (!range.is_signed) return value.magnitude;
    // Negating without leaving the range of either type: -2^63 has no positive counterpart.
    if (value.negative) return static_cast<std::int64_t>(~value.magnitude + 1);
    return static_cast<std::int64_t>(value.magnitude);
}

std::optional<sql::Integer> integer_of(const Value& value) {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
        return sql::Integer{.negative = false, .magnitude = *number};
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        const auto bits = static_cast<std::uint64_t>(*number);
        return sql::Integer{.negative = *number < 0, .magnitude = *number < 0 ? ~bits + 1 : bits};
    }
    return std::nullopt;
}

double real_of(const sql::Integer& value, DataType type) {
    const auto rounded = [&](auto magnitude) {
        return static_cast<double>(value.negative ? -magnitude : magnitude);
    };
    if (type == DataType::float32) return rounded(static_cast<float>(value.magnitude));
    return rounded(static_cast<double>(value.magnitude));
}

Expression constant(Value value, DataType type) {
    return {.node = Constant{std::move(value)}, .type = type, .nullable = false};
}

// A whole number as another numeric type, if that holds it.
std::optional<Expression> whole_as(const sql::Integer& value, DataType type) {
    if (is_float(type)) return constant(real_of(value, type), type);
    const IntegerRange* range = range_of(type);
    if (range == nullptr || !holds(*range, value)) return std::nullopt;
    return constant(integer_value(*range, value), type);
}

std::size_t code_points(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

// The value as that type, if it is one.
std::optional<Expression> literal_as(const sql::Literal& literal, DataType type) {
    using Answer = std::optional<Expression>;
    return std::visit(Overload{
                          [&](sql::Null) -> Answer { return null_of(type); },
                          [&](bool value) -> Answer {
                              if (type != DataType::boolean) return std::nullopt;
                              return constant(value, type);
                          },
                          [&](const sql::Integer& value) -> Answer {
                              const bool digit = !value.negative && value.magnitude <= 1;
                              if (type == DataType::boolean && digit)
                                  return constant(value.magnitude == 1, type);
                              return whole_as(value, type);
                          },
                          [&](double value) -> Answer {
                              if (type == DataType::float64) return constant(value, type);
                              constexpr double kMost = std::numeric_limits<float>::max();
                              if (type != DataType::float32 || std::abs(value) > kMost)
                                  return std::nullopt;
                              return constant(static_cast<double>(static_cast<float>(value)), type);
                          },
                          [&](const std::string& value) -> Answer {
                              if (!is_text(type)) return std::nullopt;
                              if (type == DataType::character && code_points(value) != 1)
                                  return std::nullopt;
                              return constant(value, type);
                          },
                      },
                      literal);
}

}  // namespace

DataType promoted(DataType type) {
    const IntegerRange* range = range_of(type);
    return range != nullptr && range->bits < 32 ? DataType::int32 : type;
}

DataType arithmetic_type(DataType a, DataType b) {
    CHECK(is_number(a) && is_number(b));
    if (a == DataType::float64 || b == DataType::float64) return DataType::float64;
    if (is_float(a) || is_float(b)) return DataType::float32;
    const IntegerRange& left = *range_of(promoted(a));
    const IntegerRange& right = *range_of(promoted(b));
    if (left.bits != right.bits) return left.bits > right.bits ? left.type : right.type;
    return left.is_signed ? right.type : left.type;
}

std::optional<DataType> common_type(std::span<const DataType> types) {
    if (types.empty()) return std::nullopt;
    DataType common = types.front();
    for (const DataType type : types) {
        if (type == common) continue;
        if (is_number(type) && is_number(common)) {
            common = arithmetic_type(common, type);
        } else if (is_text(type) && is_text(common)) {
            common = DataType::varsized;
        } else {
            return std::nullopt;
        }
    }
    return common;
}

bool castable(DataType from, DataType to) {
    if (from == to || to == DataType::varsized) return true;
    if (to == DataType::character) return false;
    const bool from_truth = from == DataType::boolean;
    const bool to_truth = to == DataType::boolean;
    return is_text(from) || ((is_number(from) || from_truth) && (is_number(to) || to_truth));
}

Expression converted(Expression expression, DataType type) {
    if (expression.type == type) return expression;
    if (const auto* known = std::get_if<Constant>(&expression.node)) {
        if (std::holds_alternative<std::monostate>(known->value)) return null_of(type);
        if (const auto whole = integer_of(known->value)) {
            if (auto other = whole_as(*whole, type)) return *std::move(other);
        }
    }
    const bool nullable = expression.nullable;
    Call cast{.function = Function::cast};
    cast.arguments.push_back(std::move(expression));
    return {.node = std::move(cast), .type = type, .nullable = nullable};
}

Expression null_of(DataType type) {
    return {.node = Constant{}, .type = type, .nullable = true};
}

Expression bare_literal(const sql::Literal& literal) {
    CHECK(!std::holds_alternative<sql::Null>(literal));
    if (const auto* value = std::get_if<sql::Integer>(&literal)) {
        for (const IntegerRange& range : kIntegers) {
            const bool fits = range.is_signed == value->negative && holds(range, *value);
            if (fits) return constant(integer_value(range, *value), range.type);
        }
        CHECK(false);  // Integer promises to be within -2^63 and 2^64-1
    }
    if (const auto* truth = std::get_if<bool>(&literal)) {
        return constant(*truth, DataType::boolean);
    }
    if (const auto* real = std::get_if<double>(&literal)) {
        return constant(*real, DataType::float64);
    }
    return constant(std::get<std::string>(literal), DataType::varsized);
}

Result<Expression> typed_literal(const sql::TypedLiteral& literal, Position at) {
    if (auto value = literal_as(literal.value, literal.type)) return *std::move(value);
    const std::string type(to_string(literal.type));
    const std::string written = sql::print(literal.value);
    const bool short_text = literal.type == DataType::character;
    return Error{
        .code = ErrorCode::type_mismatch,
        .message = written + " is no value of type " + type,
        .at = at,
        .hint = short_text ? "a CHAR is one character, in quotes"
                           : "leave the type out, or write CAST(" + written + " AS " + type + ")"};
}

}  // namespace baton::analysis
