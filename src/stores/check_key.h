// The rules of keys (ports/object_store.h), in one place for all stores.
#pragma once

#include <string_view>

#include "base/result.h"

namespace baton::stores {

inline constexpr std::size_t kKeyBytesMax = 900;

// Fails with store_refused, naming the key and the rule that it breaks.
[[nodiscard]] Result<Done> check_key(std::string_view key);

// A prefix of keys, which may be empty and may end in a slash or in the middle of a part.
[[nodiscard]] Result<Done> check_prefix(std::string_view prefix);

// The key in a message: quoted, and cut if it is long.
[[nodiscard]] std::string shown_key(std::string_view key);

}  // namespace baton::stores
