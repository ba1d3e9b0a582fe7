// Records collects the fields of the records of one batch, then makes the batch of them, for the
// decoders of all text formats.
//
// A record with a fault does not become a row. Either it is an error, once the rows before it were
// given; or it is counted and left out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/columns/batch.h"
#include "engine/formats/cells.h"
#include "model/config.h"
#include "model/schema.h"

namespace baton::formats {

class Records {
public:
    // `wanted` are columns of `schema`, rising.
    Records(const Schema& schema, std::vector<std::size_t> wanted, const Config& format);

    [[nodiscard]] std::size_t rows() const { return begins_.size(); }
    [[nodiscard]] bool full() const { return begins_.size() == engine::kBatchRows; }
    [[nodiscard]] const std::vector<std::size_t>& wanted() const { return wanted_; }

    // A further row, all of whose fields are absent until they are set.
    void add(std::size_t begin);
    // The field of the last row in the column that is wanted as number `index`.
    void set(std::size_t index, const Cell& cell) {
        cells_[index * engine::kBatchRows + rows() - 1] = cell;
    }
    // A further row whose fields are all written by the caller, through row_cells.
    Cell* add_row(std::size_t begin) {
        begins_.push_back(begin);
        return cells_.get() + begins_.size() - 1;  // one per kBatchRows
    }
    void fault(std::size_t row, std::string what);
    [[nodiscard]] std::size_t begin_of(std::size_t row) const { return begins_[row]; }

    // The batch of the records that were added, which it then forgets. `place` says where a record
    // stands ("line 7"), given its beginning. False if no row is left. Where faults are errors, the
    // rows before the first one are given, and the error is what error() holds from now on.
    [[nodiscard]] bool deliver(engine::Batch& into, const engine::Holder& bytes,
                               const std::function<std::string(std::size_t begin)>& place);
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }
    [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

private:
    void leave_out_faults(engine::Batch& into);

    Schema schema_;
    std::vector<std::size_t> wanted_;
    bool skip_;
    // kBatchRows for each wanted column. Written before they are read, so that what waits for rows
    // takes no memory for them.
    struct Free {
        void operator()(Cell* cells) const { ::operator delete(cells); }
    };
    std::unique_ptr<Cell[], Free> cells_;
    std::vector<std::size_t> begins_;  // of the records, in their block
    std::vector<Fault> faults_;
    std::optional<Error> error_;
    std::uint64_t skipped_ = 0;
};

}  // namespace baton::formats
