#include "engine/results/result_rows.h"

#include <cstdint>
#include <string>

namespace baton::engine {

namespace {

template <class T>
SqlValue value_of(T number) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<double>(number);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        if (number > static_cast<std::uint64_t>(INT64_MAX)) return std::to_string(number);
        return static_cast<std::int64_t>(number);
    } else {
        return static_cast<std::int64_t>(number);
    }
}

template <class T>
void fill(const ColumnVector& column, std::size_t at, std::vector<SqlRow>& rows) {
    const T* values = column.data<T>();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!column.is_null(i)) rows[i][at] = value_of(values[i]);
    }
}

void fill_text(const ColumnVector& column, std::size_t at, std::vector<SqlRow>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!column.is_null(i)) rows[i][at] = std::string(column.texts()[i]);
    }
}

void fill_any(const ColumnVector& column, std::size_t at, std::vector<SqlRow>& rows) {
    switch (column.type()) {
        case DataType::int8:
            return fill<std::int8_t>(column, at, rows);
        case DataType::int16:
            return fill<std::int16_t>(column, at, rows);
        case DataType::int32:
            return fill<std::int32_t>(column, at, rows);
        case DataType::int64:
            return fill<std::int64_t>(column, at, rows);
        case DataType::uint8:
        case DataType::boolean:
            return fill<std::uint8_t>(column, at, rows);
        case DataType::uint16:
            return fill<std::uint16_t>(column, at, rows);
        case DataType::uint32:
            return fill<std::uint32_t>(column, at, rows);
        case DataType::uint64:
            return fill<std::uint64_t>(column, at, rows);
        case DataType::float32:
            return fill<float>(column, at, rows);
        case DataType::float64:
            return fill<double>(column, at, rows);
        case DataType::character:
        case DataType::varsized:
            return fill_text(column, at, rows);
    }
}

}  // namespace

Result<std::vector<SqlRow>> rows_in(const Schema& schema, const arrow::ArrowBytes& bytes) {
    TRY_ASSIGN(batch, arrow::read_arrow_batch(schema, bytes));
    std::vector<SqlRow> rows(batch.rows, SqlRow(schema.columns.size()));
    for (std::size_t i = 0; i < batch.columns.size(); ++i) fill_any(batch.columns[i], i, rows);
    return rows;
}

}  // namespace baton::engine
