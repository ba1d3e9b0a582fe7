#include "core/questions/shares.h"

#include <algorithm>
#include <numeric>

namespace baton::questions {

std::vector<std::vector<std::size_t>> share_out(const std::vector<std::uint64_t>& bytes,
                                                std::size_t most) {
    std::vector<std::vector<std::size_t>> shares(std::min(bytes.size(), most));
    if (shares.empty()) return shares;
    std::vector<std::size_t> by_size(bytes.size());
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
    std::vector<std::uint64_t> taken(shares.size());
    for (const std::size_t object : by_size) {
        const auto least = std::min_element(taken.begin(), taken.end());
        shares[static_cast<std::size_t>(least - taken.begin())].push_back(object);
        *least += std::max<std::uint64_t>(bytes[object], 1);
    }
    for (auto& share : shares) std::sort(share.begin(), share.end());
    return shares;
}

}  // namespace baton::questions
