#include "core/topology/topology.h"

#include <algorithm>
#include <charconv>
#include <deque>

#include "base/text.h"

namespace baton {

Topology::Topology(std::span<const NetworkLink> links) {
    for (const NetworkLink& link : links) downstream_of_[link.upstream].insert(link.downstream);
}

std::optional<std::vector<std::string>> Topology::path(const std::string& from,
                                                       const std::string& to) const {
    std::map<std::string, std::string> reached_from = {{from, from}};
    std::deque<std::string> frontier = {from};
    while (!frontier.empty() && !reached_from.contains(to)) {
        const std::string here = frontier.front();
        frontier.pop_front();
        const auto next = downstream_of_.find(here);
        if (next == downstream_of_.end()) continue;
        for (const std::string& there : next->second) {
            if (reached_from.emplace(there, here).second) frontier.push_back(there);
        }
    }
    if (!reached_from.contains(to)) return std::nullopt;
    std::vector<std::string> path = {to};
    while (path.back() != from) path.push_back(reached_from.at(path.back()));
    std::reverse(path.begin(), path.end());
    return path;
}

std::optional<std::vector<std::string>> Topology::cycle() const {
    // Workers are taken away as long as one has no link to another that is left.
    std::map<std::string, std::set<std::string>> left = downstream_of_;
    for (bool taken = true; taken;) {
        taken = false;
        for (auto worker = left.begin(); worker != left.end();) {
            std::erase_if(worker->second, [&](const std::string& w) { return !left.contains(w); });
            const bool free = worker->second.empty();
            worker = free ? left.erase(worker) : std::next(worker);
            taken = taken || free;
        }
    }
    if (left.empty()) return std::nullopt;
    // Everyone left has a link to someone left: walking on must come back.
    std::vector<std::string> walk = {left.begin()->first};
    while (std::find(walk.begin(), walk.end() - 1, walk.back()) == walk.end() - 1) {
        walk.push_back(*left.at(walk.back()).begin());
    }
    walk.erase(walk.begin(), std::find(walk.begin(), walk.end() - 1, walk.back()));
    return walk;
}

std::optional<std::vector<std::string>> Topology::cycle_with(
    const std::string& worker, const std::set<std::string>& upstream,
    const std::set<std::string>& downstream) const {
    if (upstream.contains(worker) || downstream.contains(worker)) return {{worker, worker}};
    for (const std::string& below : downstream) {
        for (const std::string& above : upstream) {
            auto circle = path(below, above);
            if (!circle) continue;
            circle->insert(circle->begin(), worker);
            circle->push_back(worker);
            return circle;
        }
    }
    return std::nullopt;
}

namespace {

bool is_host_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

bool is_ipv6_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' ||
           c == '.';
}

bool is_host(std::string_view host) {
    constexpr std::size_t kHostMax = 253;
    if (host.empty() || host.size() > kHostMax) return false;
    if (host.front() == '[') {
        const std::string_view inner = host.substr(1, host.size() - 2);
        return host.back() == ']' && inner.find(':') != std::string_view::npos &&
               std::all_of(inner.begin(), inner.end(), is_ipv6_character);
    }
    return host.front() != '-' && host.front() != '.' &&
           host.find("..") == std::string_view::npos &&
           std::all_of(host.begin(), host.end(), is_host_character);
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        return Error{.code = ErrorCode::invalid_address,
                     .message = "invalid address " + quoted(text) + ": " + why,
                     .hint = "write it as 'host:port', for example 'localhost:8080'"};
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return refuse("it has no port");
    const std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (!is_host(host)) return refuse(quoted(host) + " is not a host");
    std::uint32_t port = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    const bool whole = problem == std::errc() && end == digits.data() + digits.size();
    if (!whole || port == 0 || port > UINT16_MAX) {
        return refuse(quoted(digits) + " is not a port from 1 to 65535");
    }
    return Address{.host = std::string(host), .port = static_cast<std::uint16_t>(port)};
}

}  // namespace baton
