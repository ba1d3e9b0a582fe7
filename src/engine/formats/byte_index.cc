#include "engine/formats/byte_index.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace baton::formats {

namespace {

#if defined(__x86_64__)

constexpr std::size_t kStride = 64;

// Writes the offsets of the set bits, and up to three more, and returns where the next one goes.
inline std::uint32_t* spill(std::uint64_t mask, std::size_t base, std::uint32_t* to) {
    std::uint32_t* const end = to + std::popcount(mask);
    while (mask != 0) {
        for (int i = 0; i < 4; ++i) {
            *to++ = static_cast<std::uint32_t>(base) +
                    static_cast<std::uint32_t>(std::countr_zero(mask));
            mask &= mask - 1;
        }
    }
    return end;
}

// The bits at which a needle may count: those before `left`.
inline std::uint64_t kept(std::uint64_t mask, std::size_t left) {
    return left < kStride ? mask & ((std::uint64_t{1} << left) - 1) : mask;
}

std::size_t index_sse2(const char* text, std::size_t from, std::size_t to, const Needles& needles,
                       std::uint32_t* positions) {
    const __m128i a = _mm_set1_epi8(needles[0]);
    const __m128i b = _mm_set1_epi8(needles[1]);
    const __m128i c = _mm_set1_epi8(needles[2]);
    std::uint32_t* out = positions;
    for (std::size_t at = from; at < to; at += kStride) {
        std::uint64_t mask = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const auto* const part = reinterpret_cast<const __m128i*>(text + at + 16 * i);
            const __m128i bytes = _mm_loadu_si128(part);
            const __m128i found =
                _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, a), _mm_cmpeq_epi8(bytes, b)),
                             _mm_cmpeq_epi8(bytes, c));
            const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(found));
            mask |= static_cast<std::uint64_t>(bits) << (16 * i);
        }
        out = spill(kept(mask, to - at), at, out);
    }
    return static_cast<std::size_t>(out - positions);
}

__attribute__((target("avx2,bmi,popcnt"))) std::size_t index_avx2(const char* text,
                                                                  std::size_t from, std::size_t to,
                                                                  const Needles& needles,
                                                                  std::uint32_t* positions) {
    const __m256i a = _mm256_set1_epi8(needles[0]);
    const __m256i b = _mm256_set1_epi8(needles[1]);
    const __m256i c = _mm256_set1_epi8(needles[2]);
    std::uint32_t* out = positions;
    for (std::size_t at = from; at < to; at += kStride) {
        std::uint64_t mask = 0;
        for (unsigned i = 0; i < 2; ++i) {
            const auto* const part = reinterpret_cast<const __m256i*>(text + at + 32 * i);
            const __m256i bytes = _mm256_loadu_si256(part);
            const __m256i found = _mm256_or_si256(
                _mm256_or_si256(_mm256_cmpeq_epi8(bytes, a), _mm256_cmpeq_epi8(bytes, b)),
                _mm256_cmpeq_epi8(bytes, c));
            const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(found));
            mask |= static_cast<std::uint64_t>(bits) << (32 * i);
        }
        out = spill(kept(mask, to - at), at, out);
    }
    return static_cast<std::size_t>(out - positions);
}

#endif

}  // namespace

std::size_t index_bytes_plainly(const char* text, std::size_t from, std::size_t to,
                                const Needles& needles, std::uint32_t* positions) {
    std::uint32_t* out = positions;
    for (std::size_t at = from; at < to; ++at) {
        const char c = text[at];
        if (c == needles[0] || c == needles[1] || c == needles[2]) {
            *out++ = static_cast<std::uint32_t>(at);
        }
    }
    return static_cast<std::size_t>(out - positions);
}

std::size_t index_bytes(const char* text, std::size_t from, std::size_t to, const Needles& needles,
                        std::uint32_t* positions) {
#if defined(__x86_64__)
    static const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0 &&
                                 __builtin_cpu_supports("bmi") != 0 &&
                                 __builtin_cpu_supports("popcnt") != 0;
    if (kHasAvx2) return index_avx2(text, from, to, needles, positions);
    return index_sse2(text, from, to, needles, positions);
#else
    return index_bytes_plainly(text, from, to, needles, positions);
#endif
}

}  // namespace baton::formats
