#include "testing/engine/tables.h"

#include <algorithm>

namespace baton::testing {

engine::Batch batch_of(const Schema& schema, const std::vector<Row>& rows) {
    engine::Batch batch{.rows = rows.size(), .columns = {}};
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
        std::vector<Value> values;
        for (const Row& row : rows) values.push_back(row.at(i));
        batch.columns.push_back(engine::column_of(schema.columns[i].type, values));
    }
    return batch;
}

std::vector<engine::Batch> batches_of(const Schema& schema, const std::vector<Row>& rows,
                                      std::size_t size) {
    std::vector<engine::Batch> batches;
    for (std::size_t from = 0; from < rows.size(); from += size) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(from);
        const auto count = static_cast<std::ptrdiff_t>(std::min(size, rows.size() - from));
        batches.push_back(batch_of(schema, {begin, begin + count}));
    }
    return batches;
}

void append_rows(std::vector<Row>& rows, const engine::Batch& batch) {
    for (std::size_t i = 0; i < batch.rows; ++i) {
        Row row;
        for (const engine::ColumnVector& column : batch.columns)
            row.push_back(engine::value_at(column, i));
        rows.push_back(std::move(row));
    }
}

}  // namespace baton::testing
