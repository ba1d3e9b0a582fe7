// The rows of one statement on their way to a client: those of a table, which end, those of a
// watch, which do not, or those of streams, which may.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "coordinator/reading/watch.h"
#include "coordinator/rows/row_stream.h"
#include "doors/pg/server/statements.h"
#include "doors/pg/wire/connection_events.h"
#include "doors/pg/wire/values.h"
#include "ports/sql.h"

namespace baton::pgserver {

struct Stream {
    std::vector<pgwire::Column> columns;
    std::vector<pgwire::Format> formats;  // one for each column, or none: all text
    std::deque<SqlRow> rows;              // not given yet
    std::string tag;                      // "SELECT"; the number of rows is added
    std::optional<CopyFormat> copy;
    std::size_t given = 0;
    std::size_t bytes_of_row = 0;  // on average; 0: not known yet

    // Where more rows come from; none of them: there will be no more.
    std::shared_ptr<coordinator::Watch> watch;
    std::shared_ptr<coordinator::RowStream> feed;
    bool polling = false;
    std::shared_ptr<std::atomic<bool>> news;  // there may be more; set by any thread

    // The next rows, at most `most` and about as many as fill a portion. Fails with cannot_format.
    [[nodiscard]] Result<pgwire::connection::Event> take(std::size_t most);
    // About as many bytes as the rows take that were not given yet.
    [[nodiscard]] std::size_t bytes();
    // After so many rows.
    [[nodiscard]] std::string complete_tag(std::size_t count) const;
};

}  // namespace baton::pgserver
