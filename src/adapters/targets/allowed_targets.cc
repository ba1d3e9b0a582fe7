#include "adapters/targets/allowed_targets.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include "base/text.h"

namespace baton::targets {

namespace {

using Bits = AllowedTargets::Bits;

constexpr unsigned kAllBits = 128;
constexpr unsigned kMappedBits = 96;  // before an IPv4 address

Bits bits_of(const in_addr& address) {
    Bits bits{};
    bits[10] = bits[11] = 0xff;
    std::memcpy(bits.data() + 12, &address, sizeof address);
    return bits;
}

// An IPv4 address that is written or carried as an IPv6 one is what it leads to.
Bits bits_of(const in6_addr& address) {
    constexpr std::array<std::uint8_t, 12> kTranslated = {0x00, 0x64, 0xff, 0x9b};
    Bits bits{};
    std::memcpy(bits.data(), &address, sizeof address);
    const bool none = std::all_of(bits.begin(), bits.begin() + 12, [](auto b) { return b == 0; });
    const bool old = none && (bits[12] != 0 || bits[13] != 0);  // ::1.2.3.4, not :: and ::1
    if (old || std::equal(kTranslated.begin(), kTranslated.end(), bits.begin())) {
        std::fill(bits.begin(), bits.begin() + 10, std::uint8_t{0});
        bits[10] = bits[11] = 0xff;
    }
    return bits;
}

Bits bits_of(const SocketAddress& address) {
    if (address.bytes.ss_family == AF_INET6) {
        return bits_of(reinterpret_cast<const sockaddr_in6*>(&address.bytes)->sin6_addr);
    }
    return bits_of(reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_addr);
}

bool begins_with(const Bits& bits, const Bits& other, unsigned prefix) {
    for (unsigned i = 0; i < prefix; ++i) {
        const unsigned mask = 0x80U >> (i % 8);
        if (((bits[i / 8] ^ other[i / 8]) & mask) != 0) return false;
    }
    return true;
}

bool is_ipv4(const Bits& bits) {
    Bits mapped{};
    mapped[10] = mapped[11] = 0xff;
    return begins_with(bits, mapped, kMappedBits);
}

// 169.254.0.0/16, fe80::/10, and where a cloud keeps its secrets by IPv6.
bool is_link_local(const Bits& bits) {
    if (is_ipv4(bits)) return bits[12] == 169 && bits[13] == 254;
    constexpr Bits kCloud = {0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54};
    return (bits[0] == 0xfe && (bits[1] & 0xc0U) == 0x80U) || bits == kCloud;
}

bool is_loopback(const Bits& bits) {
    if (is_ipv4(bits)) return bits[12] == 127 || bits[12] == 0;  // 0.0.0.0 leads there
    Bits one{};
    const bool unspecified = bits == one;
    one[15] = 1;
    return unspecified || bits == one;
}

SocketAddress address_of(const Bits& bits) {
    SocketAddress address;
    if (is_ipv4(bits)) {
        auto* const in = reinterpret_cast<sockaddr_in*>(&address.bytes);
        in->sin_family = AF_INET;
        std::memcpy(&in->sin_addr, bits.data() + 12, sizeof in->sin_addr);
        address.size = sizeof *in;
    } else {
        auto* const in = reinterpret_cast<sockaddr_in6*>(&address.bytes);
        in->sin6_family = AF_INET6;
        std::memcpy(&in->sin6_addr, bits.data(), sizeof in->sin6_addr);
        address.size = sizeof *in;
    }
    return address;
}

// An address to which a socket can be bound is one of this machine.
bool is_of_this_machine(const Bits& bits) {
    if (is_loopback(bits)) return true;
    const SocketAddress address = address_of(bits);
    const int probe = ::socket(address.bytes.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return errno != EAFNOSUPPORT;  // nobody knows, where there are no descriptors
    const bool bound =
        ::bind(probe, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0;
    ::close(probe);
    return bound;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    while (text.ends_with('.')) text.pop_back();
    return text;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
        return std::nullopt;
    }
    return number;
}

Error bad_rule(const std::string& text, const std::string& why) {
    return {.code = ErrorCode::invalid_configuration,
            .message = "cannot allow connections to " + in_quotes(text) + ": " + why,
            .hint =
                "write HOST or HOST:PORT, such as *.example.com, 10.0.0.0/8 or "
                "[2001:db8::7]:1883"};
}

}  // namespace

std::string SocketAddress::host() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* const from =
        bytes.ss_family == AF_INET6
            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&bytes)->sin6_addr)
            : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&bytes)->sin_addr);
    if (::inet_ntop(bytes.ss_family, from, text.data(), text.size()) == nullptr) return "?";
    return text.data();
}

Result<AllowedTargets::Rule> AllowedTargets::rule_of(const std::string& text) {
    Rule rule;
    std::string host = text;
    const bool bracketed = host.starts_with('[');
    const std::size_t colon = host.rfind(':');
    const bool with_port =
        colon != std::string::npos &&
        (bracketed ? colon > 0 && host[colon - 1] == ']' : host.find(':') == colon);
    if (with_port) {
        rule.port = number_of<std::uint16_t>(std::string_view(host).substr(colon + 1));
        if (!rule.port || *rule.port == 0) return bad_rule(text, "it has no port after the colon");
        host.resize(colon);
    }
    if (bracketed) {
        if (!host.ends_with(']')) return bad_rule(text, "a bracket is not closed");
        host = host.substr(1, host.size() - 2);
    }
    if (host == "*") {
        rule.everything = true;
        return rule;
    }
    const std::size_t slash = host.find('/');
    const std::string address = host.substr(0, slash);
    in_addr four{};
    in6_addr six{};
    const bool is_four = ::inet_pton(AF_INET, address.c_str(), &four) == 1;
    if (is_four || ::inet_pton(AF_INET6, address.c_str(), &six) == 1) {
        rule.bits = is_four ? bits_of(four) : bits_of(six);
        rule.prefix = kAllBits;
        if (slash == std::string::npos) return rule;
        const auto prefix = number_of<unsigned>(std::string_view(host).substr(slash + 1));
        const unsigned before = is_four ? kMappedBits : 0;
        if (!prefix || *prefix + before > kAllBits) return bad_rule(text, "its prefix is too long");
        rule.prefix = before + *prefix;
        return rule;
    }
    rule.below = host.starts_with("*.");
    rule.name = lower(rule.below ? host.substr(2) : host);
    const bool plain =
        !rule.name.empty() && std::all_of(rule.name.begin(), rule.name.end(), [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
        });
    if (!plain) return bad_rule(text, "that is no name and no address");
    return rule;
}

Result<AllowedTargets> AllowedTargets::of(const TargetRules& rules) {
    AllowedTargets targets;
    targets.own_ports_ = rules.own_ports;
    for (const std::string& text : rules.connect_to) {
        TRY_ASSIGN(rule, rule_of(text));
        targets.rules_.push_back(std::move(rule));
    }
    return targets;
}

bool AllowedTargets::fits(const Rule& rule, const std::string& host, const Bits& bits,
                          std::uint16_t port) {
    if (rule.port && *rule.port != port) return false;
    if (rule.everything) return !is_link_local(bits);
    if (rule.name.empty()) return begins_with(bits, rule.bits, rule.prefix);
    const bool named = rule.below ? host.ends_with("." + rule.name) : host == rule.name;
    if (!named || is_link_local(bits)) return false;
    if (rule.name == "localhost" && !rule.below) return is_loopback(bits);
    return !is_of_this_machine(bits);
}

bool AllowedTargets::allows(const std::string& host, const SocketAddress& address,
                            std::uint16_t port) const {
    const Bits bits = bits_of(address);
    if (rules_.empty() && (is_link_local(bits) || is_of_this_machine(bits))) return false;
    const std::string name = lower(host);
    const bool fitting = std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
        return fits(rule, name, bits, port);
    });
    const bool own = std::find(own_ports_.begin(), own_ports_.end(), port) != own_ports_.end() &&
                     is_of_this_machine(bits);
    return (rules_.empty() || fitting) && !own;
}

Result<std::vector<SocketAddress>> AllowedTargets::look_up(const std::string& host,
                                                           std::uint16_t port,
                                                           AddressFamily family) const {
    const std::string name = in_quotes(host + ":" + std::to_string(port));
    if (host.find('\0') != std::string::npos) {
        return Error{.code = ErrorCode::cannot_connect,
                     .message = "cannot connect to " + name + ": that is no name of a host"};
    }
    addrinfo wanted{};
    wanted.ai_family = family == AddressFamily::ipv4   ? AF_INET
                       : family == AddressFamily::ipv6 ? AF_INET6
                                                       : AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
    if (failure != 0) {
        return Error{.code = ErrorCode::cannot_connect,
                     .message = "cannot connect to " + name + ": " + ::gai_strerror(failure),
                     .hint = "see whether the server is up and can be reached from the worker"};
    }
    std::vector<SocketAddress> allowed;
    std::string refused;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        SocketAddress address;
        address.size = one->ai_addrlen;
        std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
        if (allows(host, address, port)) {
            allowed.push_back(address);
        } else {
            refused = address.host();
        }
    }
    ::freeaddrinfo(found);
    if (!allowed.empty()) return allowed;
    return Error{
        .code = ErrorCode::not_permitted,
        .message = "cannot connect to " + name + ": its worker may not connect to " + refused,
        .hint =
            "start the worker with --connect-to HOST[:PORT], or set connect_to of "
            "the daemon; a port of Baton's own is never allowed"};
}

}  // namespace baton::targets
