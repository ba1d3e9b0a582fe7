// LineCheckpoints keeps checkpoints as the lines of JSON that they are made of: for tests of what
// stands on checkpoints, without Parquet. SettableClock is a clock that tests set.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "ports/checkpoint_files.h"
#include "ports/clock.h"

namespace baton::testing {

class LineCheckpoints final : public CheckpointFiles {
public:
    Result<Done> write(const std::function<std::string()>& next, const std::string& path) override {
        std::ofstream file(path, std::ios::binary);
        for (std::string piece = next(); !piece.empty(); piece = next()) file << piece;
        file.close();
        if (file) return Done{};
        return Error{.code = ErrorCode::cannot_write, .message = "cannot write a checkpoint"};
    }

    Result<Done> read(const std::string& path, const Limits& limits,
                      const std::function<Result<Done>(std::string_view line)>& take) override {
        std::ifstream file(path, std::ios::binary);
        std::uint64_t actions = 0;
        for (std::string line; std::getline(file, line);) {
            actions += 1;
            if (actions > limits.actions || line.size() > limits.line_bytes) {
                return Error{.code = ErrorCode::too_large, .message = "a checkpoint is too large"};
            }
            TRY(take(line));
        }
        if (actions > 0) return Done{};
        return Error{.code = ErrorCode::damaged_table, .message = "a checkpoint is empty"};
    }
};

class SettableClock final : public Clock {
public:
    explicit SettableClock(WallTime wall = WallTime(std::chrono::hours(500'000)))
        : wall_us_(wall.time_since_epoch().count()) {}

    [[nodiscard]] Instant now() const override { return Instant(Duration(passed_us_.load())); }
    [[nodiscard]] WallTime wall_now() const override {
        return WallTime(Duration(wall_us_.load() + passed_us_.load()));
    }
    void pass(Duration time) { passed_us_ += time.count(); }

private:
    std::atomic<std::int64_t> passed_us_ = 0;
    const std::atomic<std::int64_t> wall_us_;
};

}  // namespace baton::testing
