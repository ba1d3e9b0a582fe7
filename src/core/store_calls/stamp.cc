#include "core/store_calls/stamp.h"

#include <algorithm>

namespace baton::store_calls {

namespace {

constexpr std::size_t kEtagBytesMax = 128;

// It also has to pass through a header of HTTP as it is.
bool can_be_written(std::string_view etag) {
    return !etag.empty() && etag.size() <= kEtagBytesMax &&
           std::all_of(etag.begin(), etag.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// The part behind the nonce.
std::string_view origin_of(std::string_view stamp) {
    const std::size_t end = stamp.find(';');
    return end == std::string_view::npos ? std::string_view() : stamp.substr(end + 1);
}

}  // namespace

std::string stamp_of(std::string_view nonce, Wanted wanted, std::string_view etag) {
    const std::string start = std::string(nonce) + ";";
    if (wanted == Wanted::if_absent) return start + "new";
    if (wanted == Wanted::if_unchanged && can_be_written(etag)) {
        return start + "over;" + std::string(etag);
    }
    return start + "any";
}

Finding judge(const Put& put, const std::optional<Sight>& sight) {
    if (!sight) return Finding::unclear;
    if (!put.stamp.empty() && sight->stamp == put.stamp) return Finding::ours;
    // Without a stamp: another program made it, or this store keeps none.
    if (sight->stamp.empty()) {
        const bool others = put.wanted == Wanted::if_absent && sight->size != put.size;
        return others ? Finding::others : Finding::unclear;
    }
    const std::string_view origin = origin_of(sight->stamp);
    // Each was the one that met the condition which ours had to meet, too.
    const bool made = put.wanted == Wanted::if_absent && origin == "new";
    const bool replaced = put.wanted == Wanted::if_unchanged && origin.starts_with("over;") &&
                          origin.substr(5) == put.etag;
    return made || replaced ? Finding::others : Finding::unclear;
}

}  // namespace baton::store_calls
