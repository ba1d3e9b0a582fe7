#include "core/identity/identity.h"

#include <algorithm>
#include <array>

#include "base/overload.h"
#include "base/text.h"

namespace baton::identity {

namespace {

constexpr std::string_view kScheme = "baton://";
constexpr std::array<std::string_view, 2> kRoles = {"coordinator", "worker"};
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

std::string_view word_of(ProcessRole role) {
    return kRoles[static_cast<std::size_t>(role)];
}

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

std::string hex(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return {kHexDigits[byte >> 4U], kHexDigits[byte & 15U]};
}

std::string with_percents(std::string_view text) {
    std::string result;
    for (const char c : text) result += is_plain(c) ? std::string(1, c) : "%" + hex(c);
    return result;
}

// None: it is not what with_percents() writes.
std::optional<std::string> without_percents(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            if (!is_plain(text[i])) return std::nullopt;
            result += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const std::size_t high = kHexDigits.find(text[i + 1]);
        const std::size_t low = kHexDigits.find(text[i + 2]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        result += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return result;
}

Error not_permitted(const std::string& message, const std::string& hint = {}) {
    return {.code = ErrorCode::not_permitted, .message = message, .at = {}, .hint = hint};
}

}  // namespace

std::string to_string(const Identity& identity) {
    return std::string(word_of(identity.role)) + " " + in_quotes(identity.name);
}

std::string uri_of(const Identity& identity) {
    return std::string(kScheme) + with_percents(identity.cluster) + "/" +
           std::string(word_of(identity.role)) + "/" + with_percents(identity.name);
}

Result<std::optional<Identity>> identity_in(std::string_view uri) {
    if (!uri.starts_with(kScheme)) return std::optional<Identity>();
    const Error broken =
        not_permitted("the certificate has a broken mark: " + in_quotes(uri.substr(0, 300)),
                      "a mark is baton://CLUSTER/coordinator/NAME or baton://CLUSTER/worker/NAME");
    const std::string_view rest = uri.substr(kScheme.size());
    const std::size_t first = rest.find('/');
    if (first == std::string_view::npos) return broken;
    const std::size_t second = rest.find('/', first + 1);
    if (second == std::string_view::npos) return broken;
    const auto cluster = without_percents(rest.substr(0, first));
    const auto* const role =
        std::find(kRoles.begin(), kRoles.end(), rest.substr(first + 1, second - first - 1));
    const auto name = without_percents(rest.substr(second + 1));
    if (!cluster || role == kRoles.end() || !name || name->empty()) return broken;
    return std::optional(Identity{.role = static_cast<ProcessRole>(role - kRoles.begin()),
                                  .cluster = *cluster,
                                  .name = *name});
}

Result<std::optional<Identity>> identity_among(std::span<const std::string> uris) {
    std::optional<Identity> found;
    for (const std::string& uri : uris) {
        TRY_ASSIGN(identity, identity_in(uri));
        if (!identity) continue;
        if (found) {
            return not_permitted("the certificate has two marks: " + to_string(*found) + " and " +
                                 to_string(*identity));
        }
        found = std::move(identity);
    }
    return found;
}

std::string host_name_of(const Identity& identity) {
    std::string name;
    for (const char c : to_upper(identity.name)) name += hex(c);
    return std::string(word_of(identity.role)) + "-" + name + "." +
           with_percents(identity.cluster) + ".baton";
}

Result<Done> check_commands(const Peer& peer) {
    const auto* identity = std::get_if<Identity>(&peer);
    if (identity == nullptr || identity->role == ProcessRole::coordinator) return Done{};
    return not_permitted("the certificate of " + to_string(*identity) +
                         " gives no right to command: only coordinators command");
}

Result<Done> check_sends_as(const Peer& peer, const std::string& worker) {
    const auto* identity = std::get_if<Identity>(&peer);
    // The worker that a coordinator has in itself has its certificate, and a name of its own.
    if (identity == nullptr || identity->role == ProcessRole::coordinator) return Done{};
    if (equal_ignoring_case(identity->name, worker)) return Done{};
    return not_permitted("the certificate of " + to_string(*identity) +
                         " sends nothing for worker " + in_quotes(worker));
}

Result<Done> check_is_worker(const Peer& peer, const std::string& worker) {
    const auto* identity = std::get_if<Identity>(&peer);
    if (identity == nullptr) return Done{};
    if (identity->role == ProcessRole::worker && equal_ignoring_case(identity->name, worker)) {
        return Done{};
    }
    return not_permitted("the certificate there is that of " + to_string(*identity) +
                         ", not of worker " + in_quotes(worker));
}

bool is_loopback(std::string_view host) {
    constexpr std::string_view kNumber = "127.";
    if (host.starts_with(kNumber)) {
        return host.find_first_not_of("0123456789.") == std::string_view::npos;
    }
    return equal_ignoring_case(host, "localhost") || host == "::1" || host == "[::1]";
}

bool is_fresh(WallTime made, WallTime now, WallTime started) {
    constexpr Duration kLasts = std::chrono::seconds(60);
    const bool in_time = made <= now ? now - made <= kLasts : made - now <= kLasts;
    return in_time && (made >= started || now < started);  // the latter: the clock was set back
}

}  // namespace baton::identity
