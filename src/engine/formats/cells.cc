#include "engine/formats/cells.h"

#include <algorithm>
#include <type_traits>

#include "base/text.h"
#include "engine/columns/elements.h"
#include "engine/formats/numbers.h"
#include "engine/formats/utf8.h"

namespace baton::formats {

namespace {

constexpr std::size_t kShownMax = 60;  // bytes of a field in a message

std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string field_name(const Column& column, std::size_t number) {
    return "field " + std::to_string(number) + ", " + in_quotes(column.name) + ", ";
}

std::string type_name(DataType type) {
    const std::string name(to_string(type));
    const bool vowel = name[0] == 'I';
    return (vowel ? "an " : "a ") + name;
}

std::string why_not(const Column& column, std::size_t number, const Cell& cell, Parsed parsed) {
    const std::string field = field_name(column, number);
    if (cell.kind == Cell::Kind::absent) return field + "is missing";
    if (cell.kind == Cell::Kind::null) return field + "is NULL, but the column is NOT NULL";
    const bool empty = cell.size == 0 && cell.kind == Cell::Kind::plain;
    if (empty) return field + "is empty, but the column is NOT NULL";
    const std::string value = field + "is " + shown(cell.view());
    if (parsed == Parsed::out_of_range) {
        return value + ", out of the range of " + std::string(to_string(column.type));
    }
    if (column.type == DataType::character) return value + ", more than one character";
    return value + ", not " + type_name(column.type);
}

Parsed parse_boolean(std::string_view text, std::uint8_t& value) {
    const bool yes = text == "1" || equal_ignoring_case(text, "true");
    const bool no = text == "0" || equal_ignoring_case(text, "false");
    value = yes ? 1 : 0;
    return yes || no ? Parsed::ok : Parsed::malformed;
}

// Strategies: how a field becomes an element.
template <class T>
struct NumberField {
    using Element = T;
    static Parsed parse(const Cell& cell, T& value) {
        return parse_number(cell.text, cell.size, value);
    }
};

struct BooleanField {
    using Element = std::uint8_t;
    static Parsed parse(const Cell& cell, std::uint8_t& value) {
        return parse_boolean(cell.view(), value);
    }
};

bool is_null_text(const Cell& cell) {
    if (cell.kind == Cell::Kind::quoted) return false;
    return cell.kind != Cell::Kind::plain || cell.size == 0;
}

class Filling {
public:
    Filling(const Column& column, std::size_t number, std::span<const Cell> cells,
            std::vector<Fault>& faults)
        : column_(column),
          number_(number),
          cells_(cells),
          faults_(faults),
          filled_(column.type, cells.size()) {}

    template <class Field>
    void fill_values() {
        using T = typename Field::Element;
        T* const values = filled_.mutable_data<T>();
        for (std::size_t row = 0; row < cells_.size(); ++row) {
            const Cell& cell = cells_[row];
            const Parsed parsed = Field::parse(cell, values[row]);
            if (parsed != Parsed::ok || cell.kind > Cell::Kind::quoted) [[unlikely]] {
                settle<Field>(row, parsed);
            }
        }
    }

    void fill_texts() {
        auto* const values = filled_.mutable_data<std::string_view>();
        for (std::size_t row = 0; row < cells_.size(); ++row) {
            const Cell& cell = cells_[row];
            values[row] = cell.view();
            if (is_null_text(cell)) [[unlikely]]
                settle_empty_text(row);
        }
        if (column_.type == DataType::character) check_lengths();
    }

    engine::ColumnVector take() { return std::move(filled_); }

private:
    // What is not simply a value: NULL, blanks around it, or a fault.
    template <class Field>
    void settle(std::size_t row, Parsed parsed) {
        Cell cell = cells_[row];
        if (cell.kind == Cell::Kind::plain || cell.kind == Cell::Kind::quoted) {
            const std::string_view trimmed = without_blanks(cell.view());
            const bool says_null = cell.kind == Cell::Kind::plain && trimmed == "NULL";
            if (trimmed.empty() || says_null) {
                cell.kind = says_null ? Cell::Kind::null : Cell::Kind::plain;
                cell.size = 0;
                settle_null(row, cell);
                return;
            }
            if (trimmed.size() != cell.size) {
                const Cell inner{.text = trimmed.data(),
                                 .size = static_cast<std::uint32_t>(trimmed.size()),
                                 .kind = cell.kind};
                parsed = Field::parse(inner, filled_.mutable_data<typename Field::Element>()[row]);
                if (parsed == Parsed::ok) return;
            }
            filled_.set_null(row);
            faults_.push_back({.row = row, .what = why_not(column_, number_, cell, parsed)});
            return;
        }
        settle_null(row, cell);
    }

    void settle_null(std::size_t row, const Cell& cell) {
        filled_.set_null(row);
        if (column_.nullable) return;
        faults_.push_back({.row = row, .what = why_not(column_, number_, cell, Parsed::malformed)});
    }

    void settle_empty_text(std::size_t row) {
        const Cell& cell = cells_[row];
        if (!column_.nullable && cell.kind == Cell::Kind::plain) return;  // an empty text
        settle_null(row, cell);
    }

    void check_lengths() {
        const std::string_view* const values = filled_.texts();
        for (std::size_t row = 0; row < cells_.size(); ++row) {
            const auto characters = std::count_if(
                values[row].begin(), values[row].end(),
                [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
            if (characters <= 1) continue;
            filled_.set_null(row);
            faults_.push_back(
                {.row = row, .what = why_not(column_, number_, cells_[row], Parsed::malformed)});
        }
    }

    const Column& column_;
    std::size_t number_;
    std::span<const Cell> cells_;
    std::vector<Fault>& faults_;
    engine::ColumnVector filled_;
};

}  // namespace

engine::ColumnVector column_of_cells(const Column& column, std::size_t number,
                                     std::span<const Cell> cells, std::vector<Fault>& faults) {
    Filling filling(column, number, cells, faults);
    if (column.type == DataType::boolean) {
        filling.fill_values<BooleanField>();
        return filling.take();
    }
    engine::with_element(column.type, [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
            filling.fill_texts();
        } else {
            filling.fill_values<NumberField<T>>();
        }
    });
    return filling.take();
}

std::string shown(std::string_view text) {
    if (!is_utf8(text)) return std::to_string(text.size()) + " bytes that are not UTF-8";
    if (text.size() <= kShownMax) return in_quotes(text);
    std::size_t end = kShownMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) end -= 1;
    return in_quotes(text.substr(0, end)) + "...";
}

}  // namespace baton::formats
