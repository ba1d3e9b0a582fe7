#include "engine/columns/batch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/columns/elements.h"

namespace baton::engine {

std::size_t width_of(DataType type) {
    return with_element(type, [](auto* none) { return sizeof(*none); });
}

ColumnVector::ColumnVector(DataType type, std::size_t rows)
    : type_(type), rows_(rows), values_(new std::byte[rows * width_of(type)]()) {}

ColumnVector::ColumnVector(DataType type, std::size_t rows,
                           std::shared_ptr<const std::byte[]> elements)
    : type_(type),
      rows_(rows),
      values_(std::const_pointer_cast<std::byte[]>(std::move(elements))) {}

std::uint8_t* ColumnVector::mutable_valid() {
    if (!valid_) {
        valid_.reset(new std::uint8_t[rows_]);
        std::fill_n(valid_.get(), rows_, std::uint8_t{1});
    }
    return valid_.get();
}

void ColumnVector::set_null(std::size_t row) {
    CHECK(row < rows_);
    mutable_valid()[row] = 0;
    const std::size_t width = width_of(type_);
    std::memset(values_.get() + row * width, 0, width);
}

void ColumnVector::hold(Holder bytes) {
    held_.push_back(std::move(bytes));
}

void ColumnVector::share_valid(const ColumnVector& other) {
    CHECK(other.rows_ >= rows_);
    valid_ = other.valid_;
}

void ColumnVector::shrink(std::size_t rows) {
    CHECK(rows <= rows_);
    rows_ = rows;
}

std::size_t ColumnVector::memory() const {
    std::size_t bytes = rows_ * (width_of(type_) + (valid_ ? 1 : 0));
    if (is_text(type_)) {
        for (std::size_t row = 0; row < rows_; ++row) bytes += texts()[row].size();
    }
    return bytes;
}

ColumnVector gather(const ColumnVector& column, std::span<const std::uint32_t> rows) {
    ColumnVector result(column.type(), rows.size());
    with_element(column.type(), [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        const T* from = column.data<T>();
        T* to = result.mutable_data<T>();
        for (std::size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
    });
    if (const std::uint8_t* valid = column.valid()) {
        std::uint8_t* to = result.mutable_valid();
        for (std::size_t i = 0; i < rows.size(); ++i) to[i] = valid[rows[i]];
    }
    for (const Holder& holder : column.held()) result.hold(holder);
    return result;
}

Batch gather(const Batch& batch, std::span<const std::uint32_t> rows) {
    Batch result{.rows = rows.size(), .columns = {}};
    result.columns.reserve(batch.columns.size());
    for (const ColumnVector& column : batch.columns) {
        result.columns.push_back(gather(column, rows));
    }
    return result;
}

Value value_at(const ColumnVector& column, std::size_t row) {
    CHECK(row < column.size());
    if (column.is_null(row)) return {};
    if (is_text(column.type())) return std::string(column.texts()[row]);
    return with_element(column.type(), [&](auto* none) -> Value {
        using T = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
            return {};
        } else {
            const T value = column.data<T>()[row];
            if (column.type() == DataType::boolean) return value != T{0};
            if constexpr (std::is_floating_point_v<T>) return static_cast<double>(value);
            if constexpr (std::is_signed_v<T>) return static_cast<std::int64_t>(value);
            return static_cast<std::uint64_t>(value);
        }
    });
}

ColumnVector column_of(DataType type, std::span<const Value> values) {
    ColumnVector column(type, values.size());
    auto bytes = std::make_shared<std::vector<std::string>>();
    bytes->reserve(values.size());  // short texts lie in the string itself: it must not move
    for (std::size_t row = 0; row < values.size(); ++row) {
        const Value& value = values[row];
        if (std::holds_alternative<std::monostate>(value)) {
            column.set_null(row);
            continue;
        }
        with_element(type, [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            T& cell = column.mutable_data<T>()[row];
            if constexpr (std::is_same_v<T, std::string_view>) {
                cell = bytes->emplace_back(std::get<std::string>(value));
            } else if (type == DataType::boolean) {
                cell = static_cast<T>(std::get<bool>(value));
            } else if constexpr (std::is_floating_point_v<T>) {
                cell = static_cast<T>(std::get<double>(value));
            } else if constexpr (std::is_signed_v<T>) {
                cell = static_cast<T>(std::get<std::int64_t>(value));
            } else {
                cell = static_cast<T>(std::get<std::uint64_t>(value));
            }
        });
    }
    if (is_text(type)) column.hold(std::move(bytes));
    return column;
}

}  // namespace baton::engine
