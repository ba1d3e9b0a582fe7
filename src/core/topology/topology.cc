#include "core/topology/topology.h"

#include <algorithm>
#include <charconv>
#include <deque>

#include "base/text.h"

namespace baton::topology {

Topology::Topology(std::span<const NetworkLink> links) {
    for (const NetworkLink& link : links) {
        downstream_of_[link.upstream].insert(link.downstream);
        upstream_of_[link.downstream].insert(link.upstream);
    }
}

namespace {

using Links = std::map<std::string, std::set<std::string>>;

const std::set<std::string>& peers_of(const Links& links, const std::string& worker) {
    static const std::set<std::string> kNone;
    const auto found = links.find(worker);
    return found == links.end() ? kNone : found->second;
}

// All that can be reached from these, themselves included.
std::set<std::string> closure(const Links& links, const std::set<std::string>& workers) {
    std::set<std::string> reached = workers;
    std::vector<std::string> open(workers.begin(), workers.end());
    while (!open.empty()) {
        const std::string here = std::move(open.back());
        open.pop_back();
        for (const std::string& there : peers_of(links, here)) {
            if (reached.insert(there).second) open.push_back(there);
        }
    }
    return reached;
}

}  // namespace

const std::set<std::string>& Topology::downstream_of(const std::string& worker) const {
    return peers_of(downstream_of_, worker);
}

const std::set<std::string>& Topology::upstream_of(const std::string& worker) const {
    return peers_of(upstream_of_, worker);
}

std::set<std::string> Topology::between(const std::set<std::string>& workers) const {
    const std::set<std::string> below = closure(downstream_of_, workers);
    // Upwards only among those: what is above a worker may be the whole cluster.
    std::set<std::string> found = workers;
    std::vector<std::string> open(workers.begin(), workers.end());
    while (!open.empty()) {
        const std::string here = std::move(open.back());
        open.pop_back();
        for (const std::string& there : upstream_of(here)) {
            if (below.contains(there) && found.insert(there).second) open.push_back(there);
        }
    }
    return found;
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

bool is_ipv4(std::string_view text) {
    constexpr int kParts = 4;
    for (int part = 1; part <= kParts; ++part) {
        const std::size_t dot = std::min(text.find('.'), text.size());
        std::uint8_t value = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + dot, value);
        if (problem != std::errc() || end != text.data() + dot || dot > 3) return false;
        if ((dot == text.size()) != (part == kParts)) return false;
        text.remove_prefix(std::min(dot + 1, text.size()));
    }
    return true;
}

bool is_group(std::string_view text) {
    std::uint16_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return problem == std::errc() && end == text.data() + text.size() && text.size() <= 4;
}

// How many groups of hexadecimal digits these are; an IPv4 address at the end counts for two.
std::optional<int> groups_in(std::string_view text) {
    int groups = 0;
    while (!text.empty()) {
        const std::size_t colon = text.find(':');
        const std::string_view group = text.substr(0, colon);
        const bool last = colon == std::string_view::npos;
        if (last && is_ipv4(group)) return groups + 2;
        if (!is_group(group)) return std::nullopt;
        groups += 1;
        if (last) return groups;
        text.remove_prefix(colon + 1);
        if (text.empty()) return std::nullopt;
    }
    return groups;
}

// Eight groups; `::` stands for one or more that are zero, at most once.
bool is_ipv6(std::string_view text) {
    constexpr int kGroups = 8;
    const std::size_t gap = text.find("::");
    if (gap == std::string_view::npos) return groups_in(text) == kGroups;
    const std::string_view before = text.substr(0, gap);
    const auto left = groups_in(before);
    const auto right = groups_in(text.substr(gap + 2));
    return left && right && *left + *right < kGroups && before.find('.') == std::string_view::npos;
}

bool is_host(std::string_view host) {
    constexpr std::size_t kHostMax = 253;
    if (host.empty() || host.size() > kHostMax) return false;
    if (host.front() == '[') {
        return host.size() > 2 && host.back() == ']' && is_ipv6(host.substr(1, host.size() - 2));
    }
    return host.front() != '-' && host.front() != '.' &&
           host.find("..") == std::string_view::npos &&
           std::all_of(host.begin(), host.end(), is_host_character);
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        return Error{.code = ErrorCode::invalid_address,
                     .message = "invalid address " + in_quotes(text) + ": " + why,
                     .hint = "write it as 'host:port', for example 'localhost:8080'"};
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return refuse("it has no port");
    const std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (!is_host(host)) return refuse(in_quotes(host) + " is not a host");
    std::uint32_t port = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    const bool whole = problem == std::errc() && end == digits.data() + digits.size();
    if (!whole || port == 0 || port > UINT16_MAX) {
        return refuse(in_quotes(digits) + " is not a port from 1 to 65535");
    }
    return Address{.host = std::string(host), .port = static_cast<std::uint16_t>(port)};
}

}  // namespace baton::topology
