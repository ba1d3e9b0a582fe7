#include "adapters/server_sql/place.h"

#include <algorithm>

namespace baton::server_sql {

std::string without_password(const std::string& url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string::npos) return "the server";
    const std::size_t start = scheme + 3;
    const std::size_t end = std::min(url.find_first_of("/?", start), url.size());
    const std::size_t at = url.rfind('@', end);
    std::string shown = url.substr(0, url.find('?'));
    if (at == std::string::npos || at < start) return shown;
    const std::size_t colon = url.find(':', start);
    if (colon == std::string::npos || colon > at) return shown;
    return shown.substr(0, colon) + shown.substr(at);
}

}  // namespace baton::server_sql
