// A View of schema BATON, as data: its columns, and the SELECT that it stands for.
//
// The columns of a view are first those of the entity's own row, then derived ones, computed from
// other rows when they are read. A change in the feed carries exactly the first part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/kinds/entity.h"
#include "ports/sql.h"

namespace baton::kinds {

// The columns of views are of the first five; rows of streams have numbers of the others, too. An
// unsigned number beyond what a SqlValue's integer holds is a text of its digits.
enum class ViewType : std::uint8_t {
    text,
    integer,
    boolean,
    time,
    json,
    unsigned_integer,
    float32,
    float64,
};
inline constexpr std::size_t kViewTypes = 8;

struct ViewColumn {
    std::string_view name;  // upper case
    ViewType type = ViewType::text;
    bool derived = false;
    bool brief = false;  // part of what SHOW shows; SELECT * shows everything
    std::string_view meaning;
};

struct View {
    std::string_view name;         // "WORKERS"
    std::string table;             // "baton_workers"
    std::optional<Entity> entity;  // whose changes are its changes; none: it cannot be watched
    std::size_t key_columns = 1;   // the first columns identify a row
    std::vector<ViewColumn> columns;
    std::string definition;  // the SELECT it stands for
    // The last columns are counters: those of fragments that run are known to the process that
    // leads them, and to no catalog.
    bool live = false;
    std::string_view meaning;

    [[nodiscard]] std::size_t own_columns() const;  // how many are not derived
    [[nodiscard]] std::optional<std::size_t> column(std::string_view column_name) const;
};

// The text that identifies a row within its view.
[[nodiscard]] std::string key_of(const View& view, const SqlRow& row);
// {"NAME":"w1","CAPACITY":4,"DRAINING":false,...}: the first columns of the view, as many as the
// row has.
[[nodiscard]] std::string row_to_json(const View& view, const SqlRow& row);
// All columns that are not derived; NULL for one that is newer than the row.
[[nodiscard]] Result<SqlRow> row_from_json(const View& view, const std::string& text);
// A value as it is shown to people: NULL is empty, a boolean is true or false.
[[nodiscard]] std::string shown(const SqlValue& value, ViewType type);

}  // namespace baton::kinds
