#include "engine/formats/encoder.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "engine/columns/elements.h"
#include "engine/formats/options.h"

namespace baton::formats {

namespace {

template <class Number>
void append_whole(std::string& to, Number number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    to.append(digits.data(), end.ptr);
}

// Digits after the point, without those zeros at the end that can go.
std::string_view without_zeros(std::string_view text) {
    while (text.ends_with('0') && text[text.size() - 2] != '.') text.remove_suffix(1);
    return text;
}

// Whether six decimals of the number are surely those of `millionths`: the product was rounded, so
// one that lies near the middle between two might have been on its other side.
bool is_sure(double scaled, double millionths) {
    return std::abs(std::abs(scaled - millionths) - 0.5) > 0.125;
}

void append_exactly(std::string& to, double number) {
    std::array<char, 400> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::fixed, 6);
    to += without_zeros({digits.data(), end.ptr});
}

template <class T>
void append_real(std::string& to, T number) {
    append_decimal(to, static_cast<double>(number));
}

class CsvEncoder final : public Encoder {
public:
    CsvEncoder(const Config& format, const Schema& schema)
        : schema_(schema),
          field_(text_or(format, "FIELD_DELIMITER", ",")),
          tuple_(text_or(format, "TUPLE_DELIMITER", "\n")),
          quotes_(flag_or(format, "QUOTE_STRINGS", false)) {}

    [[nodiscard]] std::string header() const override {
        std::string text;
        for (const Column& column : schema_.columns) {
            if (!text.empty()) text += field_;
            text += column.name;
            text += ':';
            text += to_string(column.type);
            text += column.nullable ? ":IS_NULLABLE" : ":NOT_NULLABLE";
        }
        return text + tuple_;
    }

    void encode(const engine::Batch& batch, std::string& to) const override {
        for (std::size_t row = 0; row < batch.rows; ++row) {
            for (std::size_t i = 0; i < batch.columns.size(); ++i) {
                if (i > 0) to += field_;
                append_cell(batch.columns[i], row, to);
            }
            to += tuple_;
        }
    }

private:
    void append_cell(const engine::ColumnVector& column, std::size_t row, std::string& to) const {
        if (column.is_null(row)) {
            to += "NULL";
            return;
        }
        engine::with_element(column.type(), [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            const T& value = column.data<T>()[row];
            if constexpr (std::is_same_v<T, std::string_view>) {
                append_text(value, to);
            } else if constexpr (std::is_floating_point_v<T>) {
                append_real(to, value);
            } else if (column.type() == DataType::boolean) {
                to += value != T{0} ? "true" : "false";
            } else {
                append_whole(to, value);
            }
        });
    }

    void append_text(std::string_view text, std::string& to) const {
        if (!quotes_) {
            to += text;
            return;
        }
        to += '"';
        for (const char c : text) {
            if (c == '"') to += '"';
            to += c;
        }
        to += '"';
    }

    Schema schema_;
    std::string field_;
    std::string tuple_;
    bool quotes_;
};

class JsonEncoder final : public Encoder {
public:
    explicit JsonEncoder(const Schema& schema) {
        for (const Column& column : schema.columns) {
            std::string key = keys_.empty() ? "{" : ",";
            append_json_string(key, column.name);
            keys_.push_back(key + ":");
        }
    }

    [[nodiscard]] std::string header() const override { return {}; }

    void encode(const engine::Batch& batch, std::string& to) const override {
        for (std::size_t row = 0; row < batch.rows; ++row) {
            for (std::size_t i = 0; i < batch.columns.size(); ++i) {
                to += keys_[i];
                append_cell(batch.columns[i], row, to);
            }
            to += "}\n";
        }
    }

private:
    static void append_cell(const engine::ColumnVector& column, std::size_t row, std::string& to) {
        if (column.is_null(row)) {
            to += "null";
            return;
        }
        engine::with_element(column.type(), [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            const T& value = column.data<T>()[row];
            if constexpr (std::is_same_v<T, std::string_view>) {
                append_json_string(to, value);
            } else if constexpr (std::is_floating_point_v<T>) {
                append_shortest(value, to);
            } else if (column.type() == DataType::boolean) {
                to += value != T{0} ? "true" : "false";
            } else {
                append_whole(to, value);
            }
        });
    }

    template <class Real>
    static void append_shortest(Real value, std::string& to) {
        if (std::isfinite(value)) {
            std::array<char, 32> digits{};
            const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
            to.append(digits.data(), end.ptr);
        } else if (std::isnan(value)) {
            to += "\"NaN\"";
        } else {
            to += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
        }
    }

    std::vector<std::string> keys_;  // with what precedes and follows them
};

}  // namespace

void append_decimal(std::string& to, double number) {
    constexpr double kMillion = 1e6;
    constexpr double kQuickMax = 1e9;  // above it, millionths are lost in the product
    if (!std::isfinite(number)) {
        to += std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
        return;
    }
    const double scaled = std::abs(number) * kMillion;
    const double millionths = std::nearbyint(scaled);
    const bool quick =
        std::abs(number) < kQuickMax && millionths > 0 && is_sure(scaled, millionths);
    if (!quick) {
        append_exactly(to, number);
        return;
    }
    const auto value = static_cast<std::uint64_t>(millionths);
    if (number < 0) to += '-';
    append_whole(to, value / 1000000);
    std::array<char, 7> decimals = {'.', '0', '0', '0', '0', '0', '0'};
    std::uint64_t rest = value % 1000000;
    for (std::size_t i = 6; i > 0; --i, rest /= 10)
        decimals[i] = static_cast<char>('0' + rest % 10);
    to += without_zeros({decimals.data(), decimals.size()});
}

Result<std::unique_ptr<Encoder>> make_encoder(const Config& format, const Schema& schema) {
    const std::string type = text_or(format, "TYPE", "CSV");
    if (type == "CSV") {
        return std::unique_ptr<Encoder>(std::make_unique<CsvEncoder>(format, schema));
    }
    if (type == "JSON") return std::unique_ptr<Encoder>(std::make_unique<JsonEncoder>(schema));
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "rows cannot be written in the format " + in_quotes(type),
                 .hint = "known: CSV, JSON"};
}

}  // namespace baton::formats
