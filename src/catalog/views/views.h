// The read-only views of schema BATON: a documented contract (docs/VIEWS.md), the only way in which
// clients see the catalog. SHOW, SELECT .. FROM baton.x and WATCH all go through them.
//
// The columns of a view are first those of the entity's own row, then derived ones, computed from
// other rows when they are read. A change in the feed carries exactly the first part.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/entities.h"
#include "model/partition.h"
#include "ports/sql.h"

namespace baton {

enum class Entity : std::uint8_t {
    worker,
    link,
    logical_source,
    physical_source,
    sink,
    query,
    fragment,
    task_list,
    partition,
};
inline constexpr std::size_t kEntityCount = 9;

[[nodiscard]] std::string_view to_string(Entity entity);  // "worker", ...
[[nodiscard]] std::optional<Entity> entity_of(std::string_view name);

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
    std::string_view table;        // "baton_workers"
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

[[nodiscard]] std::span<const View> views();
[[nodiscard]] const View& view_of(Entity entity);
// By its name without the schema, in upper case. Fails with unknown_source, naming the nearest
// view.
[[nodiscard]] Result<const View*> find_view(std::string_view name);

// An entity as a row of its view (own columns), and the text that identifies it within its kind.
[[nodiscard]] SqlRow row_of(const Worker& worker);
[[nodiscard]] SqlRow row_of(const NetworkLink& link, Revision revision);
[[nodiscard]] SqlRow row_of(const LogicalSource& source);
[[nodiscard]] SqlRow row_of(const PhysicalSource& source);
[[nodiscard]] SqlRow row_of(const Sink& sink);
[[nodiscard]] SqlRow row_of(const Query& query);
[[nodiscard]] SqlRow row_of(const Fragment& fragment);
[[nodiscard]] SqlRow row_of(const TaskList& list);
[[nodiscard]] SqlRow row_of(const Partition& partition);
// The counters of view COUNTERS; NULLs if nobody knows them.
[[nodiscard]] SqlRow row_of(const std::optional<Counts>& counts);
[[nodiscard]] std::string key_of(const View& view, const SqlRow& row);

// The SQL condition under which a fragment occupies its slots.
[[nodiscard]] std::string occupies_slots(std::string_view state_column);

// {"NAME":"w1","CAPACITY":4,"DRAINING":false,...}: the given columns of a row of the view.
[[nodiscard]] std::string row_to_json(const View& view, const SqlRow& row);
[[nodiscard]] Result<SqlRow> row_from_json(const View& view, const std::string& text);
// A value as it is shown to people: NULL is empty, a boolean is true or false.
[[nodiscard]] std::string shown(const SqlValue& value, ViewType type);

}  // namespace baton
