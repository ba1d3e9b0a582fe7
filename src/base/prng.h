// Prng is the only source of randomness in code that decides. The owner of the seed owns the run.
#pragma once

#include <cstdint>

#include "base/check.h"

namespace baton {

// SplitMix64: small, fast, and the same on every platform, unlike std::uniform_int_distribution.
class Prng {
public:
    explicit Prng(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31U);
    }

    // Uniform in [low, high].
    std::uint64_t between(std::uint64_t low, std::uint64_t high) {
        CHECK(low <= high);
        const std::uint64_t count = high - low + 1;
        return count == 0 ? next() : low + next() % count;  // 0: the whole range
    }

    bool chance(std::uint64_t numerator, std::uint64_t denominator) {
        CHECK(denominator > 0);
        return next() % denominator < numerator;
    }

private:
    std::uint64_t state_;
};

}  // namespace baton
