#include "core/tables/constants.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/overload.h"
#include "base/text.h"

namespace baton::tables {

namespace {

using ColumnKind = SqlType::Kind;
using Handed = std::variant<std::monostate, std::int64_t, double, std::string>;

struct WholeRange {
    std::int64_t least;
    std::int64_t most;
};

std::optional<WholeRange> whole_range(ColumnKind kind) {
    const auto of = []<class T>(T) {
        return WholeRange{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    };
    if (kind == ColumnKind::tinyint) return of(std::int8_t{});
    if (kind == ColumnKind::smallint) return of(std::int16_t{});
    if (kind == ColumnKind::integer) return of(std::int32_t{});
    if (kind == ColumnKind::bigint) return of(std::int64_t{});
    return std::nullopt;
}

bool is_real_column(ColumnKind kind) {
    return kind == ColumnKind::real || kind == ColumnKind::double_precision;
}

std::string constant_text(double value) {
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

std::string constant_text(const Constant& constant) {
    return std::visit(Overload{
                          [](std::monostate) { return std::string("NULL"); },
                          [](bool flag) { return std::string(flag ? "true" : "false"); },
                          [](std::int64_t number) { return std::to_string(number); },
                          [](double number) { return constant_text(number); },
                          [](const std::string& text) { return text; },
                      },
                      constant);
}

// Of a message: values are the client's own, but need not be long.
std::string shown_constant(const Constant& constant) {
    constexpr std::size_t kMost = 40;
    std::string text = constant_text(constant);
    if (text.size() > kMost) text = text.substr(0, kMost) + "..";
    return std::holds_alternative<std::string>(constant) ? "'" + text + "'" : text;
}

Error cannot_convert_to(const SqlField& column, const Constant& constant) {
    return Error{.code = ErrorCode::cannot_convert,
                 .message = "cannot convert " + shown_constant(constant) + " to " +
                            to_string(column.type) + ", the type of column " +
                            in_quotes(column.name)};
}

std::string_view constant_without_spaces(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

template <class Number>
std::optional<Number> constant_number(std::string_view text) {
    text = constant_without_spaces(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    Number number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || problem != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

std::optional<std::int64_t> whole_constant(const Constant& constant) {
    if (const auto* number = std::get_if<std::int64_t>(&constant)) return *number;
    if (const auto* text = std::get_if<std::string>(&constant)) {
        return constant_number<std::int64_t>(*text);
    }
    return std::nullopt;
}

std::optional<double> real_constant(const Constant& constant) {
    if (const auto* number = std::get_if<std::int64_t>(&constant)) {
        return static_cast<double>(*number);
    }
    if (const auto* number = std::get_if<double>(&constant)) return *number;
    if (const auto* text = std::get_if<std::string>(&constant))
        return constant_number<double>(*text);
    return std::nullopt;
}

std::optional<bool> flag_constant(const Constant& constant) {
    if (const auto* flag = std::get_if<bool>(&constant)) return *flag;
    const auto* text = std::get_if<std::string>(&constant);
    if (text == nullptr) return std::nullopt;
    const std::string word = to_lower(constant_without_spaces(*text));
    for (const std::string_view yes : {"true", "t", "yes", "y", "on", "1"}) {
        if (word == yes) return true;
    }
    for (const std::string_view no : {"false", "f", "no", "n", "off", "0"}) {
        if (word == no) return false;
    }
    return std::nullopt;
}

// PostgreSQL's "\x00ff" in the engine's form, which marks each byte; other texts are as they are.
std::string blob_text(std::string text) {
    const std::string_view digits =
        std::string_view(text).substr(std::min<std::size_t>(2, text.size()));
    const bool hexadecimal =
        text.starts_with("\\x") && digits.size() % 2 == 0 &&
        digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (!hexadecimal) return text;
    std::string marked;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        marked += "\\x";
        marked += digits.substr(i, 2);
    }
    return marked;
}

// A number with a fraction is rounded_constant for a column of whole numbers, as PostgreSQL does.
std::optional<std::int64_t> rounded_constant(double value) {
    constexpr double kMost = 9.2e18;
    if (!(value > -kMost && value < kMost)) return std::nullopt;
    const auto below = static_cast<std::int64_t>(value);
    const double rest = value - static_cast<double>(below);
    const bool even = below % 2 == 0;
    if (rest > 0.5 || (rest == 0.5 && !even)) return below + 1;
    if (rest < -0.5 || (rest == -0.5 && !even)) return below - 1;
    return below;
}

}  // namespace

SqlColumns handed_over(const SqlColumns& columns) {
    SqlColumns handed;
    for (const SqlField& column : columns) {
        SqlType type{.kind = ColumnKind::varchar};
        if (whole_range(column.type.kind)) type.kind = ColumnKind::bigint;
        if (is_real_column(column.type.kind)) type.kind = ColumnKind::double_precision;
        if (column.type.kind == ColumnKind::boolean) type.kind = ColumnKind::boolean;
        handed.push_back({.name = column.name, .type = std::move(type)});
    }
    return handed;
}

Result<Handed> fit(const SqlField& column, const Constant& constant) {
    if (std::holds_alternative<std::monostate>(constant)) {
        if (column.nullable) return Handed();
        return Error{.code = ErrorCode::not_null_violation,
                     .message = "column " + in_quotes(column.name) + " must have a value"};
    }
    if (const auto range = whole_range(column.type.kind)) {
        auto whole = whole_constant(constant);
        if (const auto* real = std::get_if<double>(&constant)) whole = rounded_constant(*real);
        if (!whole || *whole < range->least || *whole > range->most) {
            return cannot_convert_to(column, constant);
        }
        return Handed(*whole);
    }
    if (is_real_column(column.type.kind)) {
        const auto real = real_constant(constant);
        if (!real) return cannot_convert_to(column, constant);
        return Handed(*real);
    }
    if (column.type.kind == ColumnKind::boolean) {
        const auto flag = flag_constant(constant);
        if (!flag) return cannot_convert_to(column, constant);
        return Handed(std::int64_t{*flag ? 1 : 0});
    }
    if (column.type.kind == ColumnKind::blob) return Handed(blob_text(constant_text(constant)));
    return Handed(constant_text(constant));
}

Result<std::vector<std::size_t>> places_of(const std::vector<std::string>& named,
                                           const SqlColumns& table) {
    std::vector<std::size_t> places;
    std::vector<bool> taken(table.size());
    for (const std::string& name : named) {
        const auto found = std::find_if(table.begin(), table.end(), [&](const SqlField& column) {
            return equal_ignoring_case(column.name, name);
        });
        if (found == table.end()) {
            std::vector<std::string> known;
            for (const SqlField& column : table) known.push_back(column.name);
            return Error{.code = ErrorCode::unknown_field,
                         .message = "the table has no column " + in_quotes(name),
                         .hint = did_you_mean(name, known)};
        }
        const auto place = static_cast<std::size_t>(found - table.begin());
        if (taken[place]) {
            return Error{.code = ErrorCode::schema,
                         .message = "column " + in_quotes(name) + " is named twice"};
        }
        taken[place] = true;
        places.push_back(place);
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (named.empty()) places.push_back(i);
        if (named.empty() || taken[i] || table[i].nullable) continue;
        return Error{.code = ErrorCode::not_null_violation,
                     .message = "column " + in_quotes(table[i].name) +
                                " must have a value, and is not named"};
    }
    return places;
}

}  // namespace baton::tables
