#include <algorithm>
#include <array>

#include "engine/expressions/kernels.h"
#include "engine/expressions/loops.h"
#include "engine/expressions/text_writer.h"

namespace baton::expressions {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool continues(std::string_view text, std::size_t at, std::size_t count) {
    for (std::size_t i = at; i < at + count; ++i) {
        if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U)
            return false;
    }
    return true;
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        if (lead < 0x80U) {
            i += 1;
        } else if (lead >= 0xC2U && lead < 0xE0U && continues(text, i + 1, 1)) {
            i += 2;
        } else if ((lead & 0xF0U) == 0xE0U && continues(text, i + 1, 2)) {
            if ((lead == 0xE0U && next < 0xA0U) || (lead == 0xEDU && next >= 0xA0U)) return false;
            i += 3;
        } else if (lead >= 0xF0U && lead <= 0xF4U && continues(text, i + 1, 3)) {
            if ((lead == 0xF0U && next < 0x90U) || (lead == 0xF4U && next >= 0x90U)) return false;
            i += 4;
        } else {
            return false;
        }
    }
    return true;
}

std::uint64_t code_points(std::string_view text) {
    return static_cast<std::uint64_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

Result<engine::ColumnVector> char_length(const Arguments& of) {
    engine::ColumnVector out(of.type, of.rows);
    each<std::string_view>(of.operands[0], of.rows, out.mutable_data<std::uint64_t>(), code_points);
    take_nulls(out, of.operands);
    return out;
}

Result<engine::ColumnVector> octet_length(const Arguments& of) {
    engine::ColumnVector out(of.type, of.rows);
    each<std::string_view>(of.operands[0], of.rows, out.mutable_data<std::uint64_t>(),
                           [](std::string_view text) { return std::uint64_t{text.size()}; });
    take_nulls(out, of.operands);
    return out;
}

Result<engine::ColumnVector> concat(const Arguments& of) {
    if (any_null_constant(of.operands)) return nulls(of.type, of.rows);
    TextWriter writer(of.rows);
    for (std::size_t i = 0; i < of.rows; ++i) {
        for (const Operand& operand : of.operands) {
            writer.bytes() += operand.column.texts()[operand.constant ? 0 : i];
            if (writer.is_full()) return writer.too_long();
        }
        writer.end_row();
    }
    engine::ColumnVector out = std::move(writer).finish(of.type);
    take_nulls(out, of.operands);
    return out;
}

void append_base64(std::string& to, std::string_view from) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < from.size() ? static_cast<unsigned char>(from[i]) : 0U;
    };
    for (std::size_t i = 0; i < from.size(); i += 3) {
        const unsigned group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
        to += kDigits[group >> 18U];
        to += kDigits[group >> 12U & 63U];
        to += i + 1 < from.size() ? kDigits[group >> 6U & 63U] : '=';
        to += i + 2 < from.size() ? kDigits[group & 63U] : '=';
    }
}

constexpr std::uint8_t kNoDigit = 64;
constexpr auto kDigitValues = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(kNoDigit);
    for (std::size_t i = 0; i < kDigits.size(); ++i) {
        values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}();

// Whole groups of four with padding, as to_base64 gives them.
bool append_decoded(std::string& to, std::string_view from) {
    if (from.size() % 4 != 0) return false;
    std::size_t padding = 0;
    while (padding < 2 && padding < from.size() && from[from.size() - 1 - padding] == '=') {
        padding += 1;
    }
    for (std::size_t i = 0; i < from.size(); i += 4) {
        const std::size_t missing = i + 4 == from.size() ? padding : 0;
        unsigned group = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            const std::uint8_t digit =
                j < 4 - missing ? kDigitValues[static_cast<unsigned char>(from[i + j])] : 0;
            if (digit == kNoDigit) return false;
            group = group << 6U | digit;
        }
        for (std::size_t j = 0; j < 3 - missing; ++j) {
            to += static_cast<char>(group >> (16U - 8U * j) & 0xFFU);
        }
    }
    return true;
}

Result<engine::ColumnVector> to_base64(const Arguments& of) {
    TextWriter writer(of.rows);
    for (std::size_t i = 0; i < of.rows; ++i) {
        append_base64(writer.bytes(), of.operands[0].column.texts()[i]);
        if (writer.is_full()) return writer.too_long();
        writer.end_row();
    }
    engine::ColumnVector out = std::move(writer).finish(of.type);
    take_nulls(out, of.operands);
    return out;
}

Result<engine::ColumnVector> from_base64(const Arguments& of) {
    TextWriter writer(of.rows);
    for (std::size_t i = 0; i < of.rows; ++i) {
        const std::size_t start = writer.bytes().size();
        const bool decoded = append_decoded(writer.bytes(), of.operands[0].column.texts()[i]);
        const auto bytes = std::string_view(writer.bytes()).substr(start);
        if (!decoded || !is_utf8(bytes)) {
            return Error{.code = ErrorCode::cannot_format,
                         .message = decoded ? "the decoded base64 is no valid UTF-8"
                                            : "a text is no valid base64"};
        }
        writer.end_row();
    }
    engine::ColumnVector out = std::move(writer).finish(of.type);
    take_nulls(out, of.operands);
    return out;
}

}  // namespace

Kernel text_kernel(Function function) {
    if (function == Function::concat) return concat;
    if (function == Function::char_length) return char_length;
    if (function == Function::octet_length) return octet_length;
    if (function == Function::to_base64) return to_base64;
    return function == Function::from_base64 ? from_base64 : nullptr;
}

}  // namespace baton::expressions
