// The messages of proto/baton/exchange.proto, as this adapter uses them; internal to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/schema.h"

namespace baton {

inline constexpr std::size_t kExchangeBytesMax = 64 << 20;  // of one message
inline constexpr std::uint32_t kExchangeProtocol = 1;

// Equal for schemas with the same names and types in the same order.
[[nodiscard]] std::uint64_t fingerprint(const Schema& schema);

}  // namespace baton
