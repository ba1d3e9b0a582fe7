// Variants of inputs, for tests that replay a corpus.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/prng.h"

namespace baton::fuzz {

// A text with some bytes changed, or with a piece of another; the same for the same number. Variant
// 0 is the text itself.
inline std::string variant_of(std::string text, const std::string& other, std::uint64_t number,
                              std::size_t size_max) {
    Prng prng(number);
    const std::uint64_t changes = number == 0 ? 0 : prng.between(1, 4);
    for (std::uint64_t i = 0; i < changes; ++i) {
        const std::size_t at = prng.between(0, text.size());
        const std::size_t size = prng.between(0, std::min<std::size_t>(text.size() - at, 32));
        switch (prng.between(0, 5)) {
            case 0:
                text.insert(at, 1, static_cast<char>(prng.between(0, 255)));
                break;
            case 1:
                text.erase(at, size);
                break;
            case 2:
                text.insert(at, text.substr(at, size));
                break;
            case 3:
                if (at < text.size()) {
                    text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^
                                                 (1U << prng.between(0, 7)));
                }
                break;
            case 4:
                text.resize(at);
                break;
            default: {
                const std::size_t from = prng.between(0, other.size());
                text.insert(at, other, from, prng.between(1, 64));
            }
        }
    }
    text.resize(std::min(text.size(), size_max));
    return text;
}

}  // namespace baton::fuzz
