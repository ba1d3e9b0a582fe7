#include "engine/formats/records.h"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "engine/formats/options.h"

namespace baton::formats {

static_assert(std::is_trivially_copyable_v<Cell> && std::is_trivially_destructible_v<Cell>);

Records::Records(const Schema& schema, std::vector<std::size_t> wanted, const Config& format)
    : schema_(schema),
      wanted_(std::move(wanted)),
      skip_(text_or(format, "ON_MALFORMED", "FAIL") == "SKIP"),
      cells_(
          static_cast<Cell*>(::operator new(wanted_.size() * engine::kBatchRows * sizeof(Cell)))) {
    for (const std::size_t column : wanted_) CHECK(column < schema_.columns.size());
    begins_.reserve(engine::kBatchRows);
}

void Records::add(std::size_t begin) {
    Cell* const cells = add_row(begin);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
        cells[i * engine::kBatchRows] = Cell{.kind = Cell::Kind::absent};
    }
}

void Records::fault(std::size_t row, std::string what) {
    faults_.push_back({.row = row, .what = std::move(what)});
}

bool Records::deliver(engine::Batch& into, const engine::Holder& bytes,
                      const std::function<std::string(std::size_t begin)>& place) {
    into = engine::Batch{.rows = rows(), .columns = {}};
    into.columns.reserve(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
        const Column& column = schema_.columns[wanted_[i]];
        into.columns.push_back(column_of_cells(
            column, wanted_[i] + 1, {cells_.get() + i * engine::kBatchRows, rows()}, faults_));
        if (is_text(column.type)) into.columns.back().hold(bytes);
    }
    if (!faults_.empty()) {
        std::stable_sort(faults_.begin(), faults_.end(),
                         [](const Fault& a, const Fault& b) { return a.row < b.row; });
        if (skip_) {
            leave_out_faults(into);
        } else {
            const Fault& first = faults_.front();
            error_ = Error{.code = ErrorCode::cannot_format,
                           .message = place(begins_[first.row]) + ": " + first.what,
                           .hint =
                               "correct it, or leave out what cannot be read with 'SKIP' AS "
                               "INPUT_FORMATTER.ON_MALFORMED"};
            into.rows = first.row;
            for (engine::ColumnVector& column : into.columns) column.shrink(first.row);
        }
        faults_.clear();
    }
    begins_.clear();
    return into.rows > 0;
}

void Records::leave_out_faults(engine::Batch& into) {
    std::vector<std::uint32_t> good;
    auto fault = faults_.begin();
    for (std::size_t row = 0; row < into.rows; ++row) {
        while (fault != faults_.end() && fault->row < row) ++fault;
        if (fault != faults_.end() && fault->row == row) continue;
        good.push_back(static_cast<std::uint32_t>(row));
    }
    skipped_ += into.rows - good.size();
    into = engine::gather(into, good);
}

}  // namespace baton::formats
