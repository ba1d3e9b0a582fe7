// Ingest adds rows to tables. Rows that arrive for a table while an object of it is being written
// are gathered, and go into the next object together: a group commit, without a log of its own.
//
// An answer comes once the rows are in the table, durably, or with the reason why none of them is.
// Rows that do not fit the columns are refused alone: others that were gathered with them go in. An
// addition with a key happens once, however often it is asked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/tables/constants.h"
#include "model/entities.h"
#include "tables/access/table_access.h"
#include "tables/access/write_objects.h"
#include "threads/lane.h"
#include "threads/later.h"

namespace baton::tables {

// The rows of one INSERT.
struct Addition {
    Table table;
    std::vector<std::string> columns;  // as they were named; none: those of the table
    // Rows as long as the columns; or a task whose answer has as many columns.
    std::variant<std::vector<ConstantRow>, QuestionTask> rows;
    std::optional<std::string> key;
    std::function<bool()> given_up = {};  // asked until the commit begins
};

struct Added {
    std::uint64_t rows = 0;
    std::int64_t version = 0;  // of the table, with the rows
    bool before = false;       // an addition with this key was there already: nothing was added
};
using AddedLater = threads::Later<Result<Added>>;

struct IngestOptions {
    std::size_t threads = 4;
    std::size_t waiting_max = 10'000;               // additions
    std::size_t bytes_waiting_max = 256ULL << 20U;  // of constants, about
    std::size_t bytes_together = 8ULL << 20U;       // of an object
    // Called after each commit, by the thread that made it; must not wait.
    std::function<void(const Table&)> on_commit = {};
};

class Ingest {
public:
    // The access outlives it.
    explicit Ingest(TableAccess& access, const IngestOptions& options = {});
    // Additions that have begun are finished, the others are answered with cancelled.
    ~Ingest();
    Ingest(const Ingest&) = delete;
    Ingest& operator=(const Ingest&) = delete;

    [[nodiscard]] std::shared_ptr<AddedLater> add(Addition addition);

private:
    struct Waiting {
        Addition addition;
        std::size_t bytes = 0;
        std::shared_ptr<AddedLater> answer;
    };
    using Together = std::vector<Waiting>;
    struct Queue {
        std::deque<Waiting> waiting;
        bool busy = false;
    };

    void serve(const std::string& place, bool may);
    [[nodiscard]] Together take_together(Queue& queue);
    void carry_out(Together together);
    void add_constants(const OpenTable& table, const Layout& layout, Together together);
    [[nodiscard]] Result<Added> add_rows(const OpenTable& table, const Layout& layout,
                                         RowsToWrite rows, const Table& of,
                                         const std::optional<std::string>& key);
    [[nodiscard]] static std::function<bool()> all_given_up(const Together& together);

    TableAccess& access_;
    const IngestOptions options_;
    std::mutex mutex_;
    std::map<std::string, Queue> queues_;  // by the table's place
    std::size_t waiting_ = 0;
    std::size_t bytes_ = 0;
    std::atomic<bool> closing_ = false;
    threads::Lane lane_;  // last: its threads use everything above
};

}  // namespace baton::tables
