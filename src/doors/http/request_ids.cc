#include "doors/http/request_ids.h"

#include <algorithm>

namespace baton::http {

bool is_request_id(std::string_view text) {
    constexpr std::size_t kMost = 128;
    return !text.empty() && text.size() <= kMost &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("-_.:+/=@").find(c) != std::string_view::npos;
           });
}

std::string RequestIds::id_for(const Request& request) {
    const std::string* given = request.header("x-request-id");
    if (given != nullptr && is_request_id(*given)) return *given;
    return prefix_ + "-" + std::to_string(++last_);
}

}  // namespace baton::http
