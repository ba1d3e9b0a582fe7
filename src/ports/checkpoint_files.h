// CheckpointFiles translates checkpoints of tables between lines of JSON, one action each, and the
// Parquet files that Delta Lake has for them.
//
// A line is an object with one field, the action: {"add":{"path":..}}. The columns of the file are
// those of the protocol: txn, add, remove, metaData, protocol, each a struct with the fields of the
// JSON form; `partitionValues`, `tags`, `configuration` and `options` are maps of texts. Reading
// ignores other columns and fields.
//
// Calls block; any thread, many at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

class CheckpointFiles {
public:
    virtual ~CheckpointFiles() = default;

    // Writes a new file. `next` gives the lines, each with its line break, some thousand at a time;
    // empty: that was all. Fails with cannot_write, and leaves no file then.
    [[nodiscard]] virtual Result<Done> write(const std::function<std::string()>& next,
                                             const std::string& path) = 0;

    struct Limits {
        std::uint64_t actions = 20'000'000;
        std::uint64_t line_bytes = 16ULL << 20U;
    };
    // Gives all lines, those with protocol and metaData before all others. Ends with the error of
    // `take`, or damaged_table for a file that is no checkpoint, and too_large beyond the limits.
    [[nodiscard]] virtual Result<Done> read(
        const std::string& path, const Limits& limits,
        const std::function<Result<Done>(std::string_view line)>& take) = 0;
};

}  // namespace baton
