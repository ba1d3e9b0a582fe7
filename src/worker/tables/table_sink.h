// TableSink adds the rows of one run of one query to a table, each once.
//
// Rows are kept in a file of the worker until there are enough for an object, or until the first of
// them has waited long enough. Then they become objects in the table's store, and one entry of its
// log: they are in the table all at once. Meanwhile no further rows are taken, which holds sources
// back: a run has one file and one commit at a time, whatever the speed of the store.
//
// Each row once (docs/adr/0021-tables-from-streams.md):
//   - Each entry carries the application of the query, and a number of its run and of the commit
//     within it. A commit that is repeated is in the table once.
//   - Opening writes an entry with the first number of the run. From then on every commit of an
//     earlier run is refused, also one of a worker that was lost and is back.
//   - Where the sources begin anew with each run, the first entry with rows removes the objects of
//     earlier runs, which have the query and the run in their names.
// finish() adds the last rows. A sink that ends without it adds none of those that wait.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/tables/commit_plan.h"
#include "engine/streams/row_sink.h"
#include "engine/streams/table_files.h"
#include "model/schema.h"
#include "ports/clock.h"
#include "tables/access/table_access.h"

namespace baton::worker {

// All outlive the sink.
struct TableSinkParts {
    tables::TableAccess* access = nullptr;
    engine::TableFiles* files = nullptr;  // may write in the work folder of the access
    const Clock* clock = nullptr;
};

struct TableSinkOptions {
    std::string location;  // a URL
    std::string stamp;     // of the query
    std::uint64_t run = 1;
    bool replaces = false;
    std::uint64_t rows_max = 1'000'000;       // of a commit
    std::uint64_t bytes_max = 512ULL << 20U;  // of the rows of a commit, in memory's form
    Duration period = std::chrono::seconds(60);
    Duration patience = std::chrono::seconds(60);  // with a store that is away
};

class TableSink final : public engine::RowSink {
public:
    // `rows` has names of columns of the table. Fails with conflict if a later run has begun, with
    // schema if the table does not have these columns, and with the errors of the store.
    [[nodiscard]] static Result<std::unique_ptr<TableSink>> open(const TableSinkParts& parts,
                                                                 TableSinkOptions options,
                                                                 const Schema& rows);
    ~TableSink() override;
    TableSink(const TableSink&) = delete;
    TableSink& operator=(const TableSink&) = delete;

    Result<Done> write(const engine::Batch& batch) override;
    Result<Done> flush() override;
    [[nodiscard]] bool wants_flush() const override;
    Result<Done> finish() override;
    void interrupt() override;
    [[nodiscard]] engine::SinkCounts counts() const override;

private:
    TableSink(const TableSinkParts& parts, TableSinkOptions options, const Schema& rows,
              std::shared_ptr<tables::OpenTable> table);

    [[nodiscard]] Result<Done> claim();
    [[nodiscard]] Result<Done> bind_columns(const Schema& rows);
    [[nodiscard]] Result<Done> begin_file();
    [[nodiscard]] Result<Done> commit(bool last);
    [[nodiscard]] Result<std::vector<TableObject>> write_objects();
    [[nodiscard]] Result<Done> commit_entry(const std::vector<TableObject>& objects);
    [[nodiscard]] Result<tables::CommitRequest> request_of(const std::vector<TableObject>& objects);
    [[nodiscard]] Result<Done> check_ours(const tables::Committed& committed,
                                          const tables::CommitRequest& request) const;
    [[nodiscard]] std::vector<std::string> objects_of_earlier_runs(
        const tables::Snapshot& snapshot) const;
    void forget_file();

    [[nodiscard]] std::string path() const { return folder_ + "/rows.parquet"; }
    [[nodiscard]] Error fenced() const;
    [[nodiscard]] Error interrupted() const;
    [[nodiscard]] std::string application() const;
    [[nodiscard]] std::int64_t number(std::uint32_t commit) const;
    // Waits a moment before the next attempt; false: there is none, as it was interrupted or the
    // store had its time.
    [[nodiscard]] bool try_again(const Error& error, Instant deadline);

    const TableSinkParts parts_;
    const TableSinkOptions options_;
    const std::shared_ptr<tables::OpenTable> table_;
    Schema file_schema_;       // of the rows, with names that need no quotes
    SqlColumns file_columns_;  // the same
    tables::Layout layout_;    // of the table when it was opened
    std::string select_;       // the table's columns from the file

    std::string folder_;  // of the file and of what belongs to it; empty: there is none
    std::unique_ptr<engine::RowSink> file_;
    std::uint64_t rows_in_file_ = 0;
    std::uint64_t bytes_in_file_ = 0;
    std::uint32_t commits_ = 0;
    bool replaced_ = false;

    std::atomic<std::int64_t> due_us_;  // on the clock; the largest number: nothing waits
    std::atomic<std::uint64_t> rows_ = 0;
    std::atomic<std::uint64_t> bytes_ = 0;  // of objects
    std::atomic<bool> interrupted_ = false;
    std::mutex mutex_;  // of `file_` against interrupt(), and of waiting
    std::condition_variable changed_;
};

}  // namespace baton::worker
