#include "model/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"

namespace baton {

namespace {

// How a call is written.
struct Notation {
    Function function = Function::add;
    std::string_view
        text;         // of an operator, with its blanks, or of a function; else in predicate()
    int binding = 0;  // of an operator, the loosest first; 0: NAME(arguments)
};

constexpr int kOr = 1;
constexpr int kAnd = 2;
constexpr int kNot = 3;
constexpr int kPredicate = 4;
constexpr int kSum = 5;
constexpr int kProduct = 6;
constexpr int kSign = 7;

// In the order of the enumeration.
constexpr std::array kNotations = {
    Notation{Function::add, " + ", kSum},
    Notation{Function::subtract, " - ", kSum},
    Notation{Function::multiply, " * ", kProduct},
    Notation{Function::divide, " / ", kProduct},
    Notation{Function::modulo, " % ", kProduct},
    Notation{Function::negate, "-", kSign},
    Notation{Function::equal, " = ", kPredicate},
    Notation{Function::not_equal, " != ", kPredicate},
    Notation{Function::less, " < ", kPredicate},
    Notation{Function::less_equal, " <= ", kPredicate},
    Notation{Function::greater, " > ", kPredicate},
    Notation{Function::greater_equal, " >= ", kPredicate},
    Notation{Function::logical_and, " AND ", kAnd},
    Notation{Function::logical_or, " OR ", kOr},
    Notation{Function::logical_not, "NOT ", kNot},
    Notation{Function::between, "", kPredicate},
    Notation{Function::in_list, "", kPredicate},
    Notation{Function::is_null, "", kPredicate},
    Notation{Function::is_nan, "", kPredicate},
    Notation{Function::abs, "ABS"},
    Notation{Function::ceil, "CEIL"},
    Notation{Function::floor, "FLOOR"},
    Notation{Function::round, "ROUND"},
    Notation{Function::exp, "EXP"},
    Notation{Function::pow, "POW"},
    Notation{Function::sqrt, "SQRT"},
    Notation{Function::concat, "CONCAT"},
    Notation{Function::char_length, "CHAR_LENGTH"},
    Notation{Function::octet_length, "OCTET_LENGTH"},
    Notation{Function::to_base64, "TO_BASE64"},
    Notation{Function::from_base64, "FROM_BASE64"},
    Notation{Function::cast_to_unix_ts, "CASTTOUNIXTS"},
    Notation{Function::cast_from_unix_ts, "CASTFROMUNIXTS"},
    Notation{Function::day_of, "DAY_OF"},
    Notation{Function::month_of, "MONTH_OF"},
    Notation{Function::year_of, "YEAR_OF"},
    Notation{Function::conditional, "CONDITIONAL"},
    Notation{Function::cast, "CAST"},
};

const Notation& notation_of(Function function) {
    const Notation& notation = kNotations.at(static_cast<std::size_t>(function));
    CHECK(notation.function == function);
    return notation;
}

// The shortest text that gives the same number of that type.
template <class Real>
std::string decimal_text(Real value) {
    std::array<char, 64> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    CHECK(result.ec == std::errc());
    std::string text(buffer.data(), result.ptr);
    const bool whole = text.find_first_of(".ein") == std::string::npos;
    return whole ? text + ".0" : text;
}

std::string string_text(const std::string& value) {
    std::string text = "'";
    for (const char c : value) text += c == '\'' ? std::string("''") : std::string(1, c);
    return text + "'";
}

std::string value_text(const Value& value) {
    return std::visit(Overload{
                          [](std::monostate) { return std::string("NULL"); },
                          [](bool truth) { return std::string(truth ? "TRUE" : "FALSE"); },
                          [](std::int64_t number) { return std::to_string(number); },
                          [](std::uint64_t number) { return std::to_string(number); },
                          [](double number) { return decimal_text(number); },
                          [](const std::string& text) { return string_text(text); },
                      },
                      value);
}

class Printing {
public:
    explicit Printing(const Schema& input) : input_(input) {}

    // In parentheses if it binds looser than `loosest`.
    void print(const Expression& expression, int loosest) {
        if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) {
            text += column->index < input_.columns.size()
                        ? printed_name(input_.columns[column->index].name)
                        : "$" + std::to_string(column->index);
            return;
        }
        if (const auto* constant = std::get_if<Constant>(&expression.node)) {
            const auto* real = std::get_if<double>(&constant->value);
            text += real != nullptr && expression.type == DataType::float32
                        ? decimal_text(static_cast<float>(*real))
                        : value_text(constant->value);
            return;
        }
        const Call& call = std::get<Call>(expression.node);
        const Notation& notation = notation_of(call.function);
        if (notation.binding == 0) return named(call, expression.type);
        const bool enclosed = notation.binding < loosest;
        if (enclosed) text += "(";
        if (!notation.text.empty()) {
            infix(call, notation);
        } else {
            predicate(call);
        }
        if (enclosed) text += ")";
    }

    std::string text;

private:
    void named(const Call& call, DataType type) {
        text += notation_of(call.function).text;
        text += "(";
        list(call, 0);
        if (call.function == Function::cast) text += " AS " + std::string(to_string(type));
        text += ")";
    }

    void list(const Call& call, std::size_t from) {
        for (std::size_t i = from; i < call.arguments.size(); ++i) {
            if (i > from) text += ", ";
            print(call.arguments[i], 0);
        }
    }

    void infix(const Call& call, const Notation& notation) {
        if (call.arguments.size() == 1) {
            text += notation.text;
            print(call.arguments.front(), notation.binding + 1);
            return;
        }
        const bool chain = notation.binding > kNot && notation.binding != kPredicate;
        for (std::size_t i = 0; i < call.arguments.size(); ++i) {
            if (i > 0) text += notation.text;
            print(call.arguments[i], chain && i == 0 ? notation.binding : notation.binding + 1);
        }
    }

    void predicate(const Call& call) {
        print(call.arguments.front(), kPredicate + 1);
        if (call.function == Function::is_null) {
            text += " IS NULL";
        } else if (call.function == Function::is_nan) {
            text += " IS NAN";
        } else if (call.function == Function::in_list) {
            text += " IN (";
            list(call, 1);
            text += ")";
        } else {
            text += " BETWEEN ";
            print(call.arguments[1], kSum);
            text += " AND ";
            print(call.arguments[2], kSum);
        }
    }

    const Schema& input_;
};

}  // namespace

std::string to_string(const Expression& expression, const Schema& input) {
    Printing printing(input);
    printing.print(expression, 0);
    return std::move(printing.text);
}

std::string printed_name(const std::string& name) {
    const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool plain =
        !name.empty() && letter(name.front()) &&
        std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
    return plain ? name : in_quotes(name);
}

}  // namespace baton
