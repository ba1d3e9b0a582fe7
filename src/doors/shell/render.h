// Shows answers to people (text) and to programs (JSON, one object a line, and CSV).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "catalog/views/view_query.h"
#include "coordinator/reading/watch.h"

namespace baton::shell {

enum class Format : std::uint8_t { text, json, csv };
[[nodiscard]] std::optional<Format> format_of(std::string_view name);

// How things are shown.
struct Look {
    Format format = Format::text;
    std::size_t width_max = 0;  // columns of the screen; lines are cut there. 0: never
    bool colours = false;
};

// Rows that come little by little, as one table: the columns are as wide as the rows so far needed,
// and in text the widest are cut so that a line fits.
class RowLines {
public:
    RowLines(std::vector<views::TableColumn> columns, const Look& look)
        : columns_(std::move(columns)), look_(look) {}

    [[nodiscard]] std::string next(const std::vector<SqlRow>& rows);
    // After the last of them: how many they were, in text.
    [[nodiscard]] std::string end();

private:
    [[nodiscard]] std::string text_head(const std::vector<SqlRow>& rows);
    [[nodiscard]] std::string csv_head();

    const std::vector<views::TableColumn> columns_;
    const Look look_;
    std::vector<std::size_t> widths_;  // none yet: nothing was shown
    bool has_head_ = false;
    std::uint64_t count_ = 0;
};

[[nodiscard]] std::string render(const views::Table& table, const Look& look);

// Events of a watch, which began with none of them. In CSV they have OP and REVISION before the
// other columns.
class EventLines {
public:
    EventLines(std::vector<views::TableColumn> columns, const Look& look)
        : columns_(std::move(columns)), look_(look) {}
    [[nodiscard]] std::string next(const coordinator::WatchEvent& event);

private:
    [[nodiscard]] std::string csv(const coordinator::WatchEvent& event);

    const std::vector<views::TableColumn> columns_;
    const Look look_;
    bool has_head_ = false;
};

// The error with, if it has a position, the line of `text` and a mark below it. Strings are hidden:
// any of them may be a secret, and output ends up in logs.
[[nodiscard]] std::string render_error(const Error& error, std::string_view text,
                                       bool colours = false);

}  // namespace baton::shell
