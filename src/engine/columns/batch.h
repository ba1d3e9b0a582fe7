// A Batch is rows in columns, as they move between operators.
//
// Layout, by type of the column:
//   whole and real numbers  an array of the C++ type of that width
//   BOOLEAN                 an array of std::uint8_t, 0 or 1
//   CHAR, VARSIZED          an array of std::string_view into bytes that the column holds on to
// Beside it a byte per row that is 1 where there is a value, or none if there is no NULL at all.
// The value under a NULL is zero, or an empty text: kernels compute on it without looking.
//
// Rules:
//   - Only its maker writes a column, and only until it is passed on: batches share columns freely,
//     between threads too.
//   - Text is valid UTF-8. The code that lets bytes in has checked them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "model/data_type.h"
#include "model/expression.h"

namespace baton::engine {

// How many rows a source or operator puts into a batch at most. Others may give less, and operators
// that expand (joins) cut what they give.
inline constexpr std::size_t kBatchRows = 4096;

[[nodiscard]] std::size_t width_of(DataType type);  // bytes of an element, as laid out above

// Keeps bytes alive that text points into.
using Holder = std::shared_ptr<const void>;

class ColumnVector {
public:
    ColumnVector() = default;
    // Room for `rows` elements, all zero or empty, none NULL.
    ColumnVector(DataType type, std::size_t rows);
    // Over elements that exist already, aligned for the type, and are no longer written.
    ColumnVector(DataType type, std::size_t rows, std::shared_ptr<const std::byte[]> elements);

    [[nodiscard]] DataType type() const { return type_; }
    [[nodiscard]] std::size_t size() const { return rows_; }

    template <class T>
    [[nodiscard]] const T* data() const {
        CHECK(sizeof(T) == width_of(type_));
        return reinterpret_cast<const T*>(values_.get());
    }
    [[nodiscard]] const std::string_view* texts() const { return data<std::string_view>(); }
    // Null if there is no NULL.
    [[nodiscard]] const std::uint8_t* valid() const { return valid_.get(); }
    [[nodiscard]] bool is_null(std::size_t row) const { return valid_ && valid_.get()[row] == 0; }

    // ---- only for the maker of the column ----
    template <class T>
    [[nodiscard]] T* mutable_data() {
        CHECK(sizeof(T) == width_of(type_));
        return reinterpret_cast<T*>(values_.get());
    }
    // Made on the first call, all 1.
    [[nodiscard]] std::uint8_t* mutable_valid();
    void set_null(std::size_t row);  // leaves zero or an empty text behind
    void hold(Holder bytes);
    [[nodiscard]] const std::vector<Holder>& held() const { return held_; }
    // Shares the mask of another column of the same size.
    void share_valid(const ColumnVector& other);
    void shrink(std::size_t rows);  // forgets the rows from there on

    // The size in bytes, texts included once per element.
    [[nodiscard]] std::size_t memory() const;

private:
    DataType type_ = DataType::int64;
    std::size_t rows_ = 0;
    std::shared_ptr<std::byte[]> values_;
    std::shared_ptr<std::uint8_t[]> valid_;
    std::vector<Holder> held_;
};

struct Batch {
    std::size_t rows = 0;  // also where there are no columns
    std::vector<ColumnVector> columns;
};

// The rows with these numbers, in this order; text is shared, not copied.
[[nodiscard]] ColumnVector gather(const ColumnVector& column, std::span<const std::uint32_t> rows);
[[nodiscard]] Batch gather(const Batch& batch, std::span<const std::uint32_t> rows);

// One cell; for tests and messages, not for rows in motion.
[[nodiscard]] Value value_at(const ColumnVector& column, std::size_t row);
// A column with these values; text is copied. Each is NULL or of the kind that `type` has.
[[nodiscard]] ColumnVector column_of(DataType type, std::span<const Value> values);

}  // namespace baton::engine
