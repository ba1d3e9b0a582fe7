// Watermarks tell how far the time of a stream has come: as far as the slowest of its origins that
// still give rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/check.h"

namespace baton::engine {

class Watermarks {
public:
    void begin(std::size_t origins) {
        origins_.assign(origins, {});
        live_ = origins;
    }

    void advance(std::size_t origin, std::uint64_t to) {
        CHECK(origin < origins_.size());
        std::optional<std::uint64_t>& passed = origins_[origin].passed;
        passed = std::max(passed.value_or(0), to);
    }
    void end(std::size_t origin) {
        CHECK(origin < origins_.size());
        if (!origins_[origin].ended) live_ -= 1;
        origins_[origin].ended = true;
    }

    [[nodiscard]] bool all_ended() const { return live_ == 0; }
    // None as long as a live origin has said nothing, and when all have ended.
    [[nodiscard]] std::optional<std::uint64_t> passed() const {
        std::optional<std::uint64_t> least;
        for (const Origin& origin : origins_) {
            if (origin.ended) continue;
            if (!origin.passed) return std::nullopt;
            least = std::min(least.value_or(*origin.passed), *origin.passed);
        }
        return least;
    }

private:
    struct Origin {
        std::optional<std::uint64_t> passed;
        bool ended = false;
    };
    std::vector<Origin> origins_;
    std::size_t live_ = 0;
};

}  // namespace baton::engine
