// share_out() spreads objects over workers, or places of one worker, so that each gets about as
// many bytes as the others: the largest object first, always to the share that has least. The order
// of objects within a share is theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::questions {

// The places of the objects in each share; no share is empty, and there are at most `most`.
[[nodiscard]] std::vector<std::vector<std::size_t>> share_out(
    const std::vector<std::uint64_t>& bytes, std::size_t most);

}  // namespace baton::questions
