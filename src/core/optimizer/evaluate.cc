#include "core/optimizer/evaluate.h"

#include <cmath>
#include <vector>

#include "core/optimizer/types.h"

namespace baton::optimizer {

namespace {

bool is_null(const Value& value) {
    return std::holds_alternative<std::monostate>(value);
}

bool is_known(const Value& value, bool truth) {
    const auto* known = std::get_if<bool>(&value);
    return known != nullptr && *known == truth;
}

Error fails(const std::string& why) {
    return Error{.code = ErrorCode::arithmetic, .message = why};
}

Error left_to_the_engine() {
    return Error{.code = ErrorCode::not_supported,
                 .message = "only the engine computes this expression"};
}

// ---- arithmetic ---------------------------------------------------------------------------------

Result<Value> fitting(DataType type, std::int64_t value) {
    if (value < least_of(type) || value > static_cast<std::int64_t>(most_of(type))) {
        return left_to_the_engine();
    }
    return Value(value);
}

Result<Value> fitting(DataType type, std::uint64_t value) {
    if (value > most_of(type)) return left_to_the_engine();
    return Value(value);
}

template <class Integer>
Result<Value> integer_arithmetic(Function function, DataType type, Integer a, Integer b) {
    Integer result = 0;
    bool overflow = false;
    const bool divides = function == Function::divide || function == Function::modulo;
    if (divides && b == 0) return fails("division by zero");
    if (divides && std::is_signed_v<Integer> && b == static_cast<Integer>(-1)) {
        return left_to_the_engine();  // of the smallest integer it is an overflow
    }
    if (function == Function::add) {
        overflow = __builtin_add_overflow(a, b, &result);
    } else if (function == Function::subtract) {
        overflow = __builtin_sub_overflow(a, b, &result);
    } else if (function == Function::multiply) {
        overflow = __builtin_mul_overflow(a, b, &result);
    } else {
        result = function == Function::divide ? a / b : a % b;
    }
    if (overflow) return left_to_the_engine();
    return fitting(type, result);
}

Value rounded(DataType type, double value) {
    if (type == DataType::float32) return static_cast<double>(static_cast<float>(value));
    return value;
}

Result<Value> real_arithmetic(Function function, DataType type, double a, double b) {
    if (function == Function::add) return rounded(type, a + b);
    if (function == Function::subtract) return rounded(type, a - b);
    if (function == Function::multiply) return rounded(type, a * b);
    if (function != Function::divide || b == 0) return left_to_the_engine();
    return rounded(type, a / b);
}

Result<Value> arithmetic(Function function, DataType type, const Value& a, const Value& b) {
    if (is_null(a) || is_null(b)) return Value();
    if (a.index() != b.index()) return left_to_the_engine();
    if (const auto* left = std::get_if<std::int64_t>(&a)) {
        return integer_arithmetic(function, type, *left, std::get<std::int64_t>(b));
    }
    if (const auto* left = std::get_if<std::uint64_t>(&a)) {
        return integer_arithmetic(function, type, *left, std::get<std::uint64_t>(b));
    }
    if (const auto* left = std::get_if<double>(&a)) {
        return real_arithmetic(function, type, *left, std::get<double>(b));
    }
    return left_to_the_engine();
}

Result<Value> negated(DataType type, const Value& value) {
    if (is_null(value)) return value;
    if (const auto* real = std::get_if<double>(&value)) return Value(-*real);
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer == nullptr || *integer == least_of(type)) return left_to_the_engine();
    return Value(-*integer);
}

Result<Value> absolute(DataType type, const Value& value) {
    if (const auto* real = std::get_if<double>(&value)) return Value(std::abs(*real));
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer == nullptr) return value;
    if (*integer == least_of(type)) return fails("ABS of the smallest integer");
    return Value(std::abs(*integer));
}

// ---- conversion ---------------------------------------------------------------------------------

Result<Value> converted(const Value& value, DataType from, DataType to) {
    if (is_null(value) || from == to) return value;
    if (is_float(to) && is_float(from)) return rounded(to, std::get<double>(value));
    if (!is_integer(from)) return left_to_the_engine();
    const auto* with_sign = std::get_if<std::int64_t>(&value);
    if (is_float(to)) {
        return rounded(to, with_sign != nullptr
                               ? static_cast<double>(*with_sign)
                               : static_cast<double>(std::get<std::uint64_t>(value)));
    }
    if (is_signed(to)) {
        if (with_sign != nullptr) return fitting(to, *with_sign);
        const auto plain = std::get<std::uint64_t>(value);
        if (plain > most_of(to)) return left_to_the_engine();
        return Value(static_cast<std::int64_t>(plain));
    }
    if (!is_integer(to)) return left_to_the_engine();
    if (with_sign == nullptr) return fitting(to, std::get<std::uint64_t>(value));
    if (*with_sign < 0) return left_to_the_engine();
    return fitting(to, static_cast<std::uint64_t>(*with_sign));
}

// ---- comparison and logic -----------------------------------------------------------------------

// SQL compares numbers as IEEE does: a NaN is equal to nothing.
Value compares(Function function, const Value& a, const Value& b) {
    if (is_null(a) || is_null(b)) return {};
    if (const auto* left = std::get_if<double>(&a)) {
        if (std::isnan(*left) || std::isnan(std::get<double>(b))) {
            return function == Function::not_equal;
        }
    }
    const int order = compare(a, b);
    if (function == Function::equal) return order == 0;
    if (function == Function::not_equal) return order != 0;
    if (function == Function::less) return order < 0;
    if (function == Function::less_equal) return order <= 0;
    if (function == Function::greater) return order > 0;
    return order >= 0;
}

// AND and OR end at the first argument that decides.
Result<Value> logic(const Call& call, std::span<const Value> row) {
    const bool decides = call.function == Function::logical_or;
    bool unknown = false;
    for (const Expression& argument : call.arguments) {
        TRY_ASSIGN(value, evaluate(argument, row));
        if (is_known(value, decides)) return value;
        unknown = unknown || is_null(value);
    }
    if (unknown) return Value();
    return Value(!decides);
}

Result<Value> chosen(const Call& call, std::span<const Value> row) {
    for (std::size_t i = 0; i + 1 < call.arguments.size(); i += 2) {
        TRY_ASSIGN(condition, evaluate(call.arguments[i], row));
        if (is_known(condition, true)) return evaluate(call.arguments[i + 1], row);
    }
    return evaluate(call.arguments.back(), row);
}

Value both(const Value& a, const Value& b) {
    if (is_known(a, false) || is_known(b, false)) return false;
    if (is_null(a) || is_null(b)) return {};
    return true;
}

Value found_in(const std::vector<Value>& arguments) {
    bool unknown = false;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const Value same = compares(Function::equal, arguments[0], arguments[i]);
        if (is_known(same, true)) return true;
        unknown = unknown || is_null(same);
    }
    if (unknown) return {};
    return false;
}

// ---- calls --------------------------------------------------------------------------------------

Result<Value> applied(const Expression& expression, const Call& call,
                      const std::vector<Value>& arguments) {
    const Value& first = arguments.front();
    switch (call.function) {
        case Function::add:
        case Function::subtract:
        case Function::multiply:
        case Function::divide:
        case Function::modulo:
            return arithmetic(call.function, expression.type, first, arguments.at(1));
        case Function::negate:
            return negated(expression.type, first);
        case Function::equal:
        case Function::not_equal:
        case Function::less:
        case Function::less_equal:
        case Function::greater:
        case Function::greater_equal:
            if (!is_null(first) && !is_null(arguments.at(1)) &&
                first.index() != arguments[1].index()) {
                return left_to_the_engine();
            }
            return compares(call.function, first, arguments.at(1));
        case Function::logical_not:
            if (is_null(first)) return first;
            return Value(!is_known(first, true));
        case Function::between:
            return both(compares(Function::greater_equal, first, arguments.at(1)),
                        compares(Function::less_equal, first, arguments.at(2)));
        case Function::in_list:
            return found_in(arguments);
        case Function::is_null:
            return Value(is_null(first));
        case Function::is_nan:
            if (is_null(first)) return left_to_the_engine();
            return Value(std::holds_alternative<double>(first) &&
                         std::isnan(std::get<double>(first)));
        case Function::abs:
            return absolute(expression.type, first);
        case Function::cast:
            return converted(first, call.arguments.front().type, expression.type);
        case Function::logical_and:
        case Function::logical_or:
        case Function::conditional:
        case Function::ceil:
        case Function::floor:
        case Function::round:
        case Function::exp:
        case Function::pow:
        case Function::sqrt:
        case Function::concat:
        case Function::char_length:
        case Function::octet_length:
        case Function::to_base64:
        case Function::from_base64:
        case Function::cast_to_unix_ts:
        case Function::cast_from_unix_ts:
        case Function::day_of:
        case Function::month_of:
        case Function::year_of:
            break;
    }
    return left_to_the_engine();
}

Result<Value> called(const Expression& expression, const Call& call, std::span<const Value> row) {
    if (call.function == Function::logical_and || call.function == Function::logical_or) {
        return logic(call, row);
    }
    if (call.function == Function::conditional) return chosen(call, row);
    std::vector<Value> arguments;
    for (const Expression& argument : call.arguments) {
        TRY_ASSIGN(value, evaluate(argument, row));
        arguments.push_back(std::move(value));
    }
    if (arguments.empty()) return left_to_the_engine();
    return applied(expression, call, arguments);
}

}  // namespace

int compare(const Value& a, const Value& b) {
    if (const auto* left = std::get_if<double>(&a)) {
        const double right = std::get<double>(b);
        if (std::isnan(*left) || std::isnan(right)) {
            return static_cast<int>(std::isnan(*left)) - static_cast<int>(std::isnan(right));
        }
        return *left < right ? -1 : static_cast<int>(*left > right);
    }
    if (a == b) return 0;
    return a < b ? -1 : 1;
}

Result<Value> evaluate(const Expression& expression, std::span<const Value> row) {
    if (const auto* constant = std::get_if<Constant>(&expression.node)) return constant->value;
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) {
        if (column->index >= row.size()) return left_to_the_engine();
        return row[column->index];
    }
    return called(expression, std::get<Call>(expression.node), row);
}

}  // namespace baton::optimizer
