#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/columns/elements.h"
#include "engine/expressions/kernels.h"
#include "engine/expressions/loops.h"
#include "engine/expressions/number_text.h"
#include "engine/expressions/text_writer.h"

namespace baton::expressions {

namespace {

Error unreadable(std::string_view text, DataType type) {
    constexpr std::size_t kShownMax = 60;
    return Error{.code = ErrorCode::cannot_format,
                 .message = "cannot read \"" + std::string(text.substr(0, kShownMax)) + "\" as " +
                            std::string(to_string(type))};
}

template <class To, class From>
To converted(From value) {
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
        // The first value above the range is a power of two, which the real types have exactly.
        constexpr From kAbove = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
        constexpr From kLeast = static_cast<From>(std::numeric_limits<To>::min());
        if (std::isnan(value)) return To{0};
        if (value >= kAbove) return std::numeric_limits<To>::max();
        if (value <= kLeast) return std::numeric_limits<To>::min();
    }
    return static_cast<To>(value);
}

template <class From, class To>
Result<engine::ColumnVector> between_numbers(const Arguments& of) {
    engine::ColumnVector out(of.type, of.rows);
    each<From>(of.operands[0], of.rows, out.mutable_data<To>(),
               [](From a) { return converted<To>(a); });
    take_nulls(out, of.operands);
    return out;
}

template <class From>
Result<engine::ColumnVector> to_truth(const Arguments& of) {
    engine::ColumnVector out(of.type, of.rows);
    each<From>(of.operands[0], of.rows, out.mutable_data<std::uint8_t>(),
               [](From a) { return static_cast<std::uint8_t>(a != From{0}); });
    take_nulls(out, of.operands);
    return out;
}

template <class From>
Result<engine::ColumnVector> to_text(const Arguments& of) {
    const Operand& from = of.operands[0];
    const From* values = from.column.data<From>();
    const bool truth = from.column.type() == DataType::boolean;
    TextWriter writer(of.rows);
    for (std::size_t i = 0; i < of.rows; ++i) {
        if (from.column.is_null(i)) {
            writer.end_row();
            continue;
        }
        if constexpr (std::is_floating_point_v<From>) {
            append_real(writer.bytes(), static_cast<double>(values[i]));
        } else if (truth) {
            writer.bytes() += values[i] != 0 ? "true" : "false";
        } else {
            writer.bytes() += std::to_string(values[i]);
        }
        writer.end_row();
    }
    engine::ColumnVector out = std::move(writer).finish(of.type);
    take_nulls(out, of.operands);
    return out;
}

template <class To>
Result<engine::ColumnVector> from_text(const Arguments& of) {
    const Operand& from = of.operands[0];
    const std::string_view* texts = from.column.texts();
    engine::ColumnVector out(of.type, of.rows);
    To* values = out.mutable_data<To>();
    for (std::size_t i = 0; i < of.rows; ++i) {
        if (from.column.is_null(i)) continue;
        const std::optional<To> number = number_of<To>(texts[i]);
        if (!number) return unreadable(texts[i], of.type);
        values[i] = *number;
    }
    take_nulls(out, of.operands);
    return out;
}

std::optional<std::uint8_t> truth_of(std::string_view text) {
    if (text == "true" || text == "TRUE" || text == "True" || text == "1") return 1;
    if (text == "false" || text == "FALSE" || text == "False" || text == "0") return 0;
    return std::nullopt;
}

Result<engine::ColumnVector> truth_from_text(const Arguments& of) {
    const Operand& from = of.operands[0];
    engine::ColumnVector out(of.type, of.rows);
    for (std::size_t i = 0; i < of.rows; ++i) {
        if (from.column.is_null(i)) continue;
        const auto truth = truth_of(from.column.texts()[i]);
        if (!truth) return unreadable(from.column.texts()[i], of.type);
        out.mutable_data<std::uint8_t>()[i] = *truth;
    }
    take_nulls(out, of.operands);
    return out;
}

Result<engine::ColumnVector> text_to_text(const Arguments& of) {
    const engine::ColumnVector& from = of.operands[0].column;
    engine::ColumnVector out(of.type, of.rows);
    std::copy_n(from.texts(), of.rows, out.mutable_data<std::string_view>());
    for (const engine::Holder& holder : from.held()) out.hold(holder);
    take_nulls(out, of.operands);
    return out;
}

template <class From>
Kernel kernel_from(DataType to) {
    if (to == DataType::varsized) return to_text<From>;
    if (to == DataType::boolean) return to_truth<From>;
    return engine::with_element(to, [&](auto* none) -> Kernel {
        using To = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_arithmetic_v<To>) {
            return between_numbers<From, To>;
        } else {
            return nullptr;
        }
    });
}

Kernel kernel_from_text(DataType to) {
    if (is_text(to)) return text_to_text;
    if (to == DataType::boolean) return truth_from_text;
    return engine::with_element(to, [&](auto* none) -> Kernel {
        using To = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_arithmetic_v<To>) {
            return from_text<To>;
        } else {
            return nullptr;
        }
    });
}

}  // namespace

void append_real(std::string& to, double value) {
    if (std::isnan(value)) {
        to += "nan";
        return;
    }
    if (std::isinf(value)) {
        to += value < 0 ? "-inf" : "inf";
        return;
    }
    char digits[400];  // the largest double has 309 digits before the point
    const auto [end, problem] =
        std::to_chars(std::begin(digits), std::end(digits), value, std::chars_format::fixed, 6);
    CHECK(problem == std::errc());
    const char* last = end;
    while (last[-1] == '0' && last[-2] != '.') --last;
    to.append(&digits[0], static_cast<std::size_t>(last - &digits[0]));
}

Kernel cast_kernel(DataType from, DataType to) {
    if (is_text(from)) return kernel_from_text(to);
    if (to == DataType::character) return nullptr;
    return engine::with_element(from, [&](auto* none) -> Kernel {
        using From = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_arithmetic_v<From>) {
            return kernel_from<From>(to);
        } else {
            return nullptr;
        }
    });
}

}  // namespace baton::expressions
