// From the text of fields to columns: the rules that all text formats share.
//
//   - An empty field is NULL where the column is nullable. Where it is not it is an empty text in a
//     text column and malformed in any other.
//   - A quoted text is never NULL. The word NULL, unquoted, is one where the column is nullable and
//     not text: a source can read the output of a sink.
//   - Numbers as in numbers.h, BOOLEAN is true, false, 1 or 0 in any case, CHAR one character at
//     most. Blanks around a value that is not text do not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/columns/batch.h"
#include "model/schema.h"

namespace baton::formats {

// One field of a record. At least eight bytes past `text` are readable.
struct Cell {
    enum class Kind : std::uint8_t {
        plain,
        quoted,
        null,    // said to be NULL by other means than an empty text
        absent,  // not said
    };
    const char* text = "";
    std::uint32_t size = 0;
    Kind kind = Kind::plain;

    [[nodiscard]] std::string_view view() const { return {text, size}; }
};

// The fault of a row of a batch under way.
struct Fault {
    std::size_t row = 0;
    std::string what;  // "field 2, "PRICE", is "abc", not a FLOAT64"
};

// Fills a column with the fields, one for each row. Rows that cannot be are left NULL and appended
// to `faults`, in their order. Text is not copied. `number` is the column's place in the record,
// from 1, for the message.
[[nodiscard]] engine::ColumnVector column_of_cells(const Column& column, std::size_t number,
                                                   std::span<const Cell> cells,
                                                   std::vector<Fault>& faults);

// `"abc"`, shortened, for a message; bytes that are not UTF-8 are only counted.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace baton::formats
