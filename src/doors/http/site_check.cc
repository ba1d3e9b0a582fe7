#include "doors/http/site_check.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/text.h"
#include "doors/http/problems.h"

namespace baton::http {

namespace {

// "127.0.0.1": four numbers. How a browser may write them otherwise, it does not write them.
std::optional<unsigned> first_of_ipv4(std::string_view host) {
    std::optional<unsigned> first;
    for (int i = 0; i < 4; ++i) {
        unsigned part = 256;
        const auto read = std::from_chars(host.data(), host.data() + host.size(), part);
        if (read.ec != std::errc() || part > 255) return std::nullopt;
        if (!first) first = part;
        host.remove_prefix(static_cast<std::size_t>(read.ptr - host.data()));
        if (i == 3) break;
        if (!host.starts_with('.')) return std::nullopt;
        host.remove_prefix(1);
    }
    return host.empty() ? first : std::nullopt;
}

// The name without its port and without the dot that may end it.
std::string_view name_in(std::string_view host) {
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        const bool whole =
            end != std::string_view::npos && (end + 1 == host.size() || host[end + 1] == ':');
        return whole ? host.substr(0, end + 1) : std::string_view();
    }
    host = host.substr(0, host.find(':'));
    if (host.ends_with('.')) host.remove_suffix(1);
    return host;
}

bool is_served(std::string_view host, const SitePolicy& policy) {
    const std::string_view name = name_in(host);
    if (equal_ignoring_case(name, "localhost") || name == "[::1]") return true;
    const auto ipv4 = first_of_ipv4(name);
    if (ipv4 == 127U) return true;
    if (policy.any_address && (ipv4 || name.starts_with('['))) return true;
    return std::any_of(policy.hosts.begin(), policy.hosts.end(),
                       [&](const std::string& known) { return equal_ignoring_case(known, name); });
}

Response refused(std::string message, std::string hint = {}) {
    return problem(
        {.code = ErrorCode::not_permitted, .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace

std::optional<Response> refused_site(const Request& head, const SitePolicy* open) {
    const auto hosts = std::count_if(head.headers.begin(), head.headers.end(),
                                     [](const auto& header) { return header.first == "host"; });
    if (hosts > 1) return problem(malformed("the header Host appears twice"));
    const std::string* host = head.header("host");
    if (host != nullptr && open != nullptr && !is_served(*host, *open)) {
        return refused("no requests for the host " + baton::in_quotes(*host) +
                           " are served while every client is trusted",
                       "ask for localhost or 127.0.0.1, or name the host in the setting "
                       "http.hosts");
    }
    if (const std::string* origin = head.header("origin")) {
        const std::size_t scheme = origin->find("://");
        if (host == nullptr || scheme == std::string::npos ||
            !equal_ignoring_case(origin->substr(scheme + 3), *host)) {
            return refused("requests from pages of other sites are not served");
        }
    }
    if (const std::string* site = head.header("sec-fetch-site")) {
        // A link on any page may lead here: what it opens, that page does not see.
        const std::string* mode = head.header("sec-fetch-mode");
        const bool opens = head.method == "GET" && mode != nullptr && *mode == "navigate";
        if (*site != "same-origin" && *site != "none" && !opens) {
            return refused("requests from pages of other sites are not served");
        }
    }
    return std::nullopt;
}

}  // namespace baton::http
