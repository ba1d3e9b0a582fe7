// Finds up to three bytes in a text: where the delimiters and quotes of a CSV are.
//
// Uses the widest vectors that the machine has. All ways give the same positions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace baton::formats {

// The bytes to find; the same byte may be there twice.
using Needles = std::array<char, 3>;

// Writes to `positions`, in their order, the offsets in [from, to) of `text` at which one of the
// needles stands, and returns how many there are. 64 bytes past `to` must be readable, and
// `positions` have room for to - from + 8; the entries behind the last one are overwritten. Offsets
// fit 32 bits.
std::size_t index_bytes(const char* text, std::size_t from, std::size_t to, const Needles& needles,
                        std::uint32_t* positions);

// The same, without vectors: for machines that have none, and for tests.
std::size_t index_bytes_plainly(const char* text, std::size_t from, std::size_t to,
                                const Needles& needles, std::uint32_t* positions);

}  // namespace baton::formats
