#include "engine/operators/batches.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/columns/elements.h"

namespace baton::engine {

namespace {

ColumnVector concatenated_column(std::span<const Batch> batches, std::size_t column,
                                 std::size_t rows) {
    ColumnVector out(batches[0].columns[column].type(), rows);
    std::size_t at = 0;
    for (const Batch& batch : batches) {
        const ColumnVector& from = batch.columns[column];
        with_element(out.type(), [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            std::copy_n(from.data<T>(), batch.rows, out.mutable_data<T>() + at);
        });
        if (from.valid() != nullptr) {
            std::copy_n(from.valid(), batch.rows, out.mutable_valid() + at);
        }
        for (const Holder& holder : from.held()) {
            const auto& held = out.held();
            if (held.empty() || held.back() != holder) out.hold(holder);
        }
        at += batch.rows;
    }
    return out;
}

}  // namespace

Batch concatenated(std::span<const Batch> batches) {
    CHECK(!batches.empty());
    if (batches.size() == 1) return batches[0];
    Batch result;
    for (const Batch& batch : batches) result.rows += batch.rows;
    for (std::size_t i = 0; i < batches[0].columns.size(); ++i) {
        result.columns.push_back(concatenated_column(batches, i, result.rows));
    }
    return result;
}

std::vector<Batch> pieces_of(Batch batch, std::size_t rows) {
    std::vector<Batch> pieces;
    if (batch.rows <= rows) {
        pieces.push_back(std::move(batch));
        return pieces;
    }
    for (std::size_t from = 0; from < batch.rows; from += rows) {
        std::vector<std::uint32_t> some(std::min(rows, batch.rows - from));
        std::iota(some.begin(), some.end(), static_cast<std::uint32_t>(from));
        pieces.push_back(gather(batch, some));
    }
    return pieces;
}

Batch owned(const Batch& batch, std::span<const std::uint32_t> rows) {
    Batch result{.rows = rows.size(), .columns = {}};
    for (const ColumnVector& column : batch.columns) {
        if (!is_text(column.type())) {
            result.columns.push_back(gather(column, rows));
            continue;
        }
        const std::string_view* from = column.texts();
        std::size_t size = 0;
        for (const std::uint32_t row : rows) size += from[row].size();
        auto bytes = std::make_shared<std::string>();
        bytes->reserve(size);
        ColumnVector out(column.type(), rows.size());
        std::string_view* to = out.mutable_data<std::string_view>();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t start = bytes->size();
            bytes->append(from[rows[i]]);
            to[i] = std::string_view(*bytes).substr(start);
            if (column.is_null(rows[i])) out.set_null(i);
        }
        out.hold(std::move(bytes));
        result.columns.push_back(std::move(out));
    }
    return result;
}

ColumnVector gather_or_null(const ColumnVector& column, std::span<const std::uint32_t> rows) {
    ColumnVector out(column.type(), rows.size());
    with_element(column.type(), [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        const T* from = column.data<T>();
        T* to = out.mutable_data<T>();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i] != kNoRow) to[i] = from[rows[i]];
        }
    });
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] == kNoRow || column.is_null(rows[i])) out.mutable_valid()[i] = 0;
    }
    for (const Holder& holder : column.held()) out.hold(holder);
    return out;
}

std::size_t memory_of(const Batch& batch) {
    std::size_t bytes = sizeof(Batch);
    for (const ColumnVector& column : batch.columns) {
        bytes += sizeof(ColumnVector) + column.memory();
    }
    return bytes;
}

ColumnVector repeated(std::uint64_t value, std::size_t rows) {
    ColumnVector out(DataType::uint64, rows);
    std::fill_n(out.mutable_data<std::uint64_t>(), rows, value);
    return out;
}

Result<Done> BatchCollector::add(Batch batch) {
    if (rows_ + batch.rows > kBatchRows) TRY(flush());
    rows_ += batch.rows;
    if (batch.rows > 0) waiting_.push_back(std::move(batch));
    return Done{};
}

Result<Done> BatchCollector::flush() {
    if (waiting_.empty()) return Done{};
    Frame frame{.origin = origin_, .batch = concatenated(waiting_), .watermark = {}, .end = false};
    waiting_.clear();
    rows_ = 0;
    return out_.push(std::move(frame));
}

}  // namespace baton::engine
