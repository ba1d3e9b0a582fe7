// Shows answers to people (TEXT) and to programs (JSON, one object per line).
#pragma once

#include <string>

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

// The error with, if it has a position, the line of `text` and a mark below it. Strings are hidden:
// any of them may be a secret, and what is shown ends up in logs.
[[nodiscard]] std::string render_error(const Error& error, std::string_view text);

}  // namespace baton
