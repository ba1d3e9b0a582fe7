// Shows answers to people (TEXT) and to programs (JSON, one object per line).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/session.h"

namespace baton {

// A table with a header, columns as wide as their widest value; wide ones are cut at `width_max`
// columns of the screen in all, if it is not 0.
[[nodiscard]] std::string render_text(const Table& table, std::size_t width_max);
[[nodiscard]] std::string render_json(const Table& table);

// "CREATE QUERY Q7 (id 12)" and the like; ends with a line break.
[[nodiscard]] std::string render_answer(const StatementResult& result);

[[nodiscard]] std::string render_event(const WatchEvent& event,
                                       const std::vector<TableColumn>& columns,
                                       sql::OutputFormat format, std::size_t width_max);

// Rows that come little by little, as one table: the columns are as wide as the rows so far needed.
class RowLines {
public:
    RowLines(std::vector<TableColumn> columns, sql::OutputFormat format, std::size_t width_max)
        : columns_(std::move(columns)), format_(format), width_max_(width_max) {}

    [[nodiscard]] std::string next(const std::vector<SqlRow>& rows);
    // After the last of them: how many they were; nothing in JSON.
    [[nodiscard]] std::string end();
    [[nodiscard]] std::uint64_t count() const { return count_; }

private:
    [[nodiscard]] std::string head(const std::vector<SqlRow>& rows);

    const std::vector<TableColumn> columns_;
    const sql::OutputFormat format_;
    const std::size_t width_max_;
    std::vector<std::size_t> widths_;  // none yet: nothing was shown
    std::uint64_t count_ = 0;
};

// The error with, if it has a position, the line of `text` and a mark below it. Strings are hidden:
// any of them may be a secret, and what is shown ends up in logs.
[[nodiscard]] std::string render_error(const Error& error, std::string_view text);

}  // namespace baton
