// Actions are the lines of a table's log, as values; reading and writing of their text.
//
// The log is that of Delta Lake: each version is one object with one action a line, in JSON. All
// text comes from outside and is bounded. Unknown actions and fields are ignored, as the protocol
// demands; a table that a reader must not read without knowing more is refused by the name of the
// feature (see protocol.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/table.h"

namespace baton::tables {

struct Protocol {
    std::uint64_t reader = 1;
    std::uint64_t writer = 2;
    std::vector<std::string> reader_features;
    std::vector<std::string> writer_features;

    friend bool operator==(const Protocol&, const Protocol&) = default;
};

struct Metadata {
    std::string id;
    std::string name;
    std::string schema_text;                           // as it stands in the log
    SqlColumns columns;                                // the same as columns
    std::vector<std::string> partition_by;             // names as in `columns`
    std::map<std::string, std::string> configuration;  // delta.appendOnly, ..
    WallTime created;

    friend bool operator==(const Metadata&, const Metadata&) = default;
};

// Statistics and partition values are texts of values.h.
struct AddObject {
    TableObject object;
    bool data_change = true;
    std::string other_tags;  // those that are not ours, as JSON; empty: none

    friend bool operator==(const AddObject&, const AddObject&) = default;
};

struct RemoveObject {
    std::string key;
    WallTime removed;
    bool data_change = true;

    friend bool operator==(const RemoveObject&, const RemoveObject&) = default;
};

// The newest number of an application whose work is in the table.
struct Transaction {
    std::string application;
    std::int64_t version = 0;
    std::optional<WallTime> updated;

    friend bool operator==(const Transaction&, const Transaction&) = default;
};

struct CommitInfo {
    WallTime time;
    std::string operation;  // "WRITE", "OPTIMIZE", ..
    std::string engine;
    std::string nonce;  // tells this attempt from all others; empty in entries of others

    friend bool operator==(const CommitInfo&, const CommitInfo&) = default;
};

using Action = std::variant<Protocol, Metadata, AddObject, RemoveObject, Transaction, CommitInfo>;

// A line is understood by the columns of the table: statistics and partition values have the types
// of columns.
struct Layout {
    SqlColumns columns;
    std::vector<std::string> partition_by;

    [[nodiscard]] const SqlField* find(std::string_view column) const;  // by its exact name
    [[nodiscard]] bool is_partition(std::string_view column) const;

    friend bool operator==(const Layout&, const Layout&) = default;
};

struct EntryLimits {
    std::size_t bytes = 256ULL << 20U;
    std::size_t line_bytes = 16ULL << 20U;
};

// One line. None: an action that does not concern the rows of a table. An `add` needs the layout.
// Fails with damaged_table, and with table_not_supported for an object that cannot be read alone.
[[nodiscard]] Result<std::optional<Action>> read_action(std::string_view line, const Layout* layout,
                                                        const EntryLimits& limits);

// A whole entry, in the order in which the actions take effect: protocol, metadata, removals, the
// rest. `layout` is that of the table before it; none for its first entry.
[[nodiscard]] Result<std::vector<Action>> read_entry(std::string_view text, const Layout* layout,
                                                     const EntryLimits& limits);

// With its line break.
[[nodiscard]] std::string to_text(const Action& action, const Layout& layout);
[[nodiscard]] std::string entry_text(const std::vector<Action>& actions, const Layout& layout);

// The object as the log will say it: keys of ranges and values that the log cannot say exactly are
// left out, long texts are shortened, timestamps widened to milliseconds.
[[nodiscard]] TableObject normalised(TableObject object, const Layout& layout);

// A key as the path of an action, and back: percent-encoding. Fails for a path that leaves the
// table's location, or that no store has as a key.
[[nodiscard]] std::string path_text(std::string_view key);
[[nodiscard]] Result<std::string> key_of_path(std::string_view path);

}  // namespace baton::tables
