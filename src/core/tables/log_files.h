// The files of a table's log: their names, and which of them a reader needs for a version.
//
//     _delta_log/00000000000000000012.json                  the entry of version 12
//     _delta_log/00000000000000000010.checkpoint.parquet    everything up to version 10, in one
//     _delta_log/…10.checkpoint.0000000001.0000000003.parquet   .. or in parts, by other engines
//     _delta_log/_last_checkpoint                           a hint of the newest checkpoint
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton::tables {

inline constexpr std::string_view kLogFolder = "_delta_log/";
inline constexpr std::string_view kLastCheckpointKey = "_delta_log/_last_checkpoint";

[[nodiscard]] std::string entry_key(std::int64_t version);
[[nodiscard]] std::string checkpoint_key(std::int64_t version);
// The key that sorts before each file of this version and behind those of all earlier ones.
[[nodiscard]] std::string key_before(std::int64_t version);

struct LogFile {
    std::int64_t version = 0;
    bool is_checkpoint = false;
    std::uint32_t part = 1;  // of a checkpoint
    std::uint32_t parts = 1;

    friend bool operator==(const LogFile&, const LogFile&) = default;
};
// None: another file, which is ignored.
[[nodiscard]] std::optional<LogFile> log_file_of(std::string_view key);

struct LastCheckpoint {
    std::int64_t version = 0;
    std::uint64_t actions = 0;
    std::optional<std::uint32_t> parts;

    friend bool operator==(const LastCheckpoint&, const LastCheckpoint&) = default;
};
[[nodiscard]] std::string last_checkpoint_text(const LastCheckpoint& last);
// None: damaged, which is no error. It is only a hint.
[[nodiscard]] std::optional<LastCheckpoint> last_checkpoint_of(std::string_view text);

struct ReadPlan {
    std::optional<std::int64_t> checkpoint;
    std::vector<std::string> checkpoint_keys;  // in the order of its parts
    std::int64_t first_entry = 0;
    std::int64_t last_entry = -1;  // before the first: none

    friend bool operator==(const ReadPlan&, const ReadPlan&) = default;
};

// The least to be read for a version, or for the newest, of the files that are there. Fails with
// damaged_table if an entry is missing, and with invalid_question for a version that is not there,
// or no longer. `keys` may begin anywhere at or before the newest checkpoint.
[[nodiscard]] Result<ReadPlan> plan_read(const std::vector<std::string>& keys,
                                         std::optional<std::int64_t> version);

}  // namespace baton::tables
