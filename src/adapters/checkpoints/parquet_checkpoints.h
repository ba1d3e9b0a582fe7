// ParquetCheckpoints translates checkpoints of tables between lines of JSON and Parquet, by DuckDB:
// its reader of JSON with the columns of the protocol, and its reader and writer of Parquet.
//
// Each call has an instance of its own, which may touch the files of the call and nothing else, and
// takes at most `memory_max`. Beside the file that write() makes there are its lines for a while,
// in `<path>.lines`.
#pragma once

#include <cstdint>
#include <string>

#include "ports/checkpoint_files.h"

namespace baton::checkpoints {

class ParquetCheckpoints final : public CheckpointFiles {
public:
    explicit ParquetCheckpoints(std::uint64_t memory_max = 512ULL << 20U)
        : memory_max_(memory_max) {}

    [[nodiscard]] Result<Done> write(const std::function<std::string()>& next,
                                     const std::string& path) override;
    [[nodiscard]] Result<Done> read(
        const std::string& path, const Limits& limits,
        const std::function<Result<Done>(std::string_view line)>& take) override;

private:
    const std::uint64_t memory_max_;
};

}  // namespace baton::checkpoints
