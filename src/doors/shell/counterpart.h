// Counterpart is the coordinator that a shell talks to: in its own process, or at the other end of
// a connection. It runs statements and returns their outcomes as values to be shown; it shows
// nothing itself.
//
// Used by one thread at a time, except where it says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "catalog/views/view_query.h"
#include "coordinator/reading/watch.h"
#include "coordinator/sessions/row_feed.h"
#include "sql/ast.h"

namespace baton::shell {

// The rows of a SELECT over streams. They end with its object.
class ComingRows {
public:
    virtual ~ComingRows() = default;
    [[nodiscard]] virtual const std::vector<views::TableColumn>& columns() const = 0;
    // Waits for rows until the time is over; an error is the end.
    [[nodiscard]] virtual Result<coordinator::FedRows> next(Duration patience) = 0;
};

// The events of a WATCH. They end with its object.
class ComingEvents {
public:
    virtual ~ComingEvents() = default;
    [[nodiscard]] virtual std::vector<views::TableColumn> columns() const = 0;
    [[nodiscard]] virtual Result<std::vector<coordinator::WatchEvent>> next(Duration patience) = 0;
    // Everything up to this revision was given; none: nothing yet.
    [[nodiscard]] virtual std::optional<Revision> revision() const = 0;
};

// The outcome of one statement.
struct Reply {
    // A line that says it; or what there is to see.
    std::variant<std::string, views::Table, std::unique_ptr<ComingRows>,
                 std::unique_ptr<ComingEvents>>
        value;
    std::optional<sql::OutputFormat> format;  // that was asked for
};

struct Replies {
    std::vector<Reply> done;     // of the statements before the error, or of all
    std::optional<Error> error;  // with its place in the text that was given
};

class Counterpart {
public:
    virtual ~Counterpart() = default;

    // Runs the statements of the text in order and stops at the first error. A stream of rows or
    // events is the last reply, and ends before the next text is given.
    [[nodiscard]] virtual Replies execute(std::string_view text) = 0;
    // As of the last execute().
    [[nodiscard]] virtual bool in_transaction() const = 0;
    // An execute() under way ends as soon as it can, with `cancelled`. Its changes stay. Any
    // thread; nothing happens if there is none.
    virtual void interrupt() = 0;
    // A SHOW or SELECT of a view, beside what is being executed. Any thread.
    [[nodiscard]] virtual Result<views::Table> look(std::string_view question) = 0;
};

}  // namespace baton::shell
