#include "core/analysis/functions.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "core/analysis/aggregates.h"
#include "core/analysis/types.h"

namespace baton::analysis {

namespace {

using Arguments = std::vector<Operand>;
constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

struct ScalarEntry;
using Make = Result<Expression> (*)(const ScalarEntry&, Arguments, const sql::Expr&);

struct ScalarEntry {
    std::string_view name;
    std::size_t least = 1;
    std::size_t most = 1;
    Make make = nullptr;
    Function function = Function::abs;
    DataType result = DataType::uint64;  // where it does not depend on the arguments
};

DataType absolute_type(DataType type) {
    if (type == DataType::int8) return DataType::int16;
    if (type == DataType::int16) return DataType::int32;
    return type == DataType::int32 ? DataType::int64 : type;
}

Error needs(const ScalarEntry& entry, std::string_view what, const Operand& operand,
            ErrorCode code) {
    return Error{.code = code,
                 .message = std::string(entry.name) + " needs " + std::string(what) + ", but has " +
                            described(operand),
                 .at = operand.written->at,
                 .hint = "CAST(x AS T) converts"};
}

Result<Expression> number(const ScalarEntry& entry, Operand operand) {
    if (operand.untyped) operand.value = null_of(DataType::float64);
    if (is_number(operand.value.type)) return std::move(operand.value);
    return needs(entry, "a number", operand, ErrorCode::type_inference);
}

// ABS, CEIL, FLOOR, ROUND
Result<Expression> rounding(const ScalarEntry& entry, Arguments arguments, const sql::Expr&) {
    TRY_ASSIGN(value, number(entry, std::move(arguments.front())));
    const DataType type = entry.function == Function::abs ? absolute_type(value.type) : value.type;
    std::vector<Expression> values;
    values.push_back(converted(std::move(value), type));
    return call(entry.function, std::move(values), type);
}

// EXP, POW, SQRT
Result<Expression> real(const ScalarEntry& entry, Arguments arguments, const sql::Expr&) {
    std::vector<Expression> values;
    for (Operand& argument : arguments) {
        TRY_ASSIGN(value, number(entry, std::move(argument)));
        values.push_back(converted(std::move(value), DataType::float64));
    }
    return call(entry.function, std::move(values), DataType::float64);
}

Result<Expression> modulo(const ScalarEntry&, Arguments arguments, const sql::Expr& whole) {
    return arithmetic(Function::modulo, std::move(arguments[0]), std::move(arguments[1]), whole);
}

// What takes texts.
Result<Expression> textual(const ScalarEntry& entry, Arguments arguments, const sql::Expr&) {
    std::vector<Expression> values;
    for (Operand& argument : arguments) {
        if (argument.untyped) argument.value = null_of(DataType::varsized);
        if (!is_text(argument.value.type)) {
            return needs(entry, "a text", argument, ErrorCode::type_mismatch);
        }
        values.push_back(converted(std::move(argument.value), DataType::varsized));
    }
    return call(entry.function, std::move(values), entry.result);
}

// What takes a time in ms.
Result<Expression> temporal(const ScalarEntry& entry, Arguments arguments, const sql::Expr&) {
    Operand& argument = arguments.front();
    if (argument.untyped) argument.value = null_of(DataType::uint64);
    if (!is_integer(argument.value.type)) {
        return needs(entry, "a time in ms, UINT64", argument, ErrorCode::type_mismatch);
    }
    std::vector<Expression> values;
    values.push_back(converted(std::move(argument.value), DataType::uint64));
    return call(entry.function, std::move(values), entry.result);
}

Result<Expression> test_null(const ScalarEntry&, Arguments arguments, const sql::Expr&) {
    return is_null(std::move(arguments.front()));
}

Result<Expression> test_nan(const ScalarEntry&, Arguments arguments, const sql::Expr& whole) {
    return is_nan(std::move(arguments.front()), whole);
}

// The type that the values of CONDITIONAL agree on.
Result<DataType> type_of_values(const Arguments& arguments, const sql::Expr& whole) {
    std::vector<DataType> types;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool is_value = i % 2 == 1 || i + 1 == arguments.size();
        if (!is_value || arguments[i].untyped) continue;
        types.push_back(arguments[i].value.type);
        parts.push_back(described(arguments[i]));
    }
    if (types.empty()) {
        return Error{.code = ErrorCode::type_inference,
                     .message = "no type fits " + shown(whole) + ": every value is NULL",
                     .at = whole.at,
                     .hint = "write a typed NULL, such as INT64(NULL)"};
    }
    const auto common = common_type(types);
    if (common) return *common;
    return Error{
        .code = ErrorCode::type_mismatch,
        .message = "the values of CONDITIONAL need one type, but are " + enumerate(parts, 4),
        .at = whole.at,
        .hint = "CAST(x AS T) converts"};
}

Result<Expression> conditional(const ScalarEntry& entry, Arguments arguments,
                               const sql::Expr& whole) {
    if (arguments.size() % 2 == 0) {
        return Error{.code = ErrorCode::arity,
                     .message =
                         "CONDITIONAL takes conditions and values in turn and then a "
                         "default, but has " +
                         std::to_string(arguments.size()) + " arguments",
                     .at = whole.at,
                     .hint = "write CONDITIONAL(c1, v1, .., default)"};
    }
    TRY_ASSIGN(type, type_of_values(arguments, whole));
    std::vector<Expression> values;
    bool nullable = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool is_value = i % 2 == 1 || i + 1 == arguments.size();
        if (!is_value) {
            TRY_ASSIGN(condition, needed(std::move(arguments[i]), DataType::boolean,
                                         "a condition of CONDITIONAL"));
            values.push_back(std::move(condition));
            continue;
        }
        values.push_back(arguments[i].untyped ? null_of(type)
                                              : converted(std::move(arguments[i].value), type));
        nullable = nullable || values.back().nullable;
    }
    Expression result = call(entry.function, std::move(values), type);
    result.nullable = nullable;  // a condition that is NULL only means the next one
    return result;
}

constexpr std::array kFunctions = {
    ScalarEntry{"ABS", 1, 1, rounding, Function::abs},
    ScalarEntry{"CEIL", 1, 1, rounding, Function::ceil},
    ScalarEntry{"FLOOR", 1, 1, rounding, Function::floor},
    ScalarEntry{"ROUND", 1, 1, rounding, Function::round},
    ScalarEntry{"EXP", 1, 1, real, Function::exp},
    ScalarEntry{"POW", 2, 2, real, Function::pow},
    ScalarEntry{"SQRT", 1, 1, real, Function::sqrt},
    ScalarEntry{"MOD", 2, 2, modulo, Function::modulo},
    ScalarEntry{"CONCAT", 2, kAny, textual, Function::concat, DataType::varsized},
    ScalarEntry{"CHAR_LENGTH", 1, 1, textual, Function::char_length, DataType::uint64},
    ScalarEntry{"OCTET_LENGTH", 1, 1, textual, Function::octet_length, DataType::uint64},
    ScalarEntry{"TO_BASE64", 1, 1, textual, Function::to_base64, DataType::varsized},
    ScalarEntry{"FROM_BASE64", 1, 1, textual, Function::from_base64, DataType::varsized},
    ScalarEntry{"CASTTOUNIXTS", 1, 1, textual, Function::cast_to_unix_ts, DataType::uint64},
    ScalarEntry{"CASTFROMUNIXTS", 1, 1, temporal, Function::cast_from_unix_ts, DataType::varsized},
    ScalarEntry{"DAY_OF", 1, 1, temporal, Function::day_of, DataType::uint64},
    ScalarEntry{"DAYOF", 1, 1, temporal, Function::day_of, DataType::uint64},
    ScalarEntry{"MONTH_OF", 1, 1, temporal, Function::month_of, DataType::uint64},
    ScalarEntry{"MONTHOF", 1, 1, temporal, Function::month_of, DataType::uint64},
    ScalarEntry{"YEAR_OF", 1, 1, temporal, Function::year_of, DataType::uint64},
    ScalarEntry{"YEAROF", 1, 1, temporal, Function::year_of, DataType::uint64},
    ScalarEntry{"ISNULL", 1, 1, test_null, Function::is_null},
    ScalarEntry{"ISNAN", 1, 1, test_nan, Function::is_nan},
    ScalarEntry{"CONDITIONAL", 3, kAny, conditional, Function::conditional},
};

}  // namespace

Result<Expression> call_function(const sql::Expr& whole, std::vector<Operand> arguments) {
    const std::string& name = std::get<sql::Call>(whole.node).function;
    for (const ScalarEntry& entry : kFunctions) {
        if (entry.name != name) continue;
        if (arguments.size() < entry.least || arguments.size() > entry.most) {
            return wrong_arity(whole, entry.least, entry.most);
        }
        return entry.make(entry, std::move(arguments), whole);
    }
    return unknown_function(whole);
}

Error wrong_arity(const sql::Expr& whole, std::size_t least, std::size_t most) {
    const auto& written = std::get<sql::Call>(whole.node);
    const std::string limit = least == most ? "" : "at least ";
    return Error{.code = ErrorCode::arity,
                 .message = written.function + " takes " + limit + std::to_string(least) +
                            (least == 1 ? " argument" : " arguments") + ", but has " +
                            (written.star ? "*" : std::to_string(written.arguments.size())),
                 .at = whole.at};
}

Error unknown_function(const sql::Expr& whole) {
    const auto& written = std::get<sql::Call>(whole.node);
    std::vector<std::string> known;
    known.reserve(kFunctions.size() + aggregate_names().size());
    for (const ScalarEntry& entry : kFunctions) known.emplace_back(entry.name);
    for (const std::string_view name : aggregate_names()) known.emplace_back(name);
    return Error{.code = ErrorCode::not_supported,
                 .message = "unknown function " + in_quotes(written.function),
                 .at = whole.at,
                 .hint = did_you_mean(written.function, known)};
}

}  // namespace baton::analysis
