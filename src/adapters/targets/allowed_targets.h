// AllowedTargets looks up the hosts that a plan names and says which of their addresses its worker
// may connect to. The caller connects to those addresses and looks nothing up again, so a name that
// is answered otherwise a moment later leads nowhere else.
//
// A rule is HOST or HOST:PORT, where HOST is
//   *                every address but link-local ones
//   *.example.com    names below it, and
//   broker.lan       that name: neither leads to addresses of this machine nor to link-local ones,
//                    but for "localhost", which leads to loopback
//   10.0.0.0/8       addresses, also 192.0.2.7, [2001:db8::7]:1883, [fd00::/8]; nothing else leads
//                    to link-local ones, where clouds keep the secrets of a machine
// Without any rule: every address but link-local ones and those of this machine.
//
// No rule leads to a port of this machine that Baton itself listens on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "base/result.h"

namespace baton::targets {

struct TargetRules {
    std::vector<std::string> connect_to;
    std::vector<std::uint16_t> own_ports;
};

struct SocketAddress {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    [[nodiscard]] std::string host() const;  // "127.0.0.1", "::1"
};

enum class AddressFamily : std::uint8_t { any, ipv4, ipv6 };

class AllowedTargets {
public:
    AllowedTargets() = default;  // without any rule

    // Fails with invalid_configuration, naming the rule.
    [[nodiscard]] static Result<AllowedTargets> of(const TargetRules& rules);

    // The addresses of the host that may be connected to, one or more. May wait for a name server.
    // Fails with cannot_connect where the host is not known, and with not_permitted, naming the
    // option that would allow it.
    [[nodiscard]] Result<std::vector<SocketAddress>> look_up(
        const std::string& host, std::uint16_t port,
        AddressFamily family = AddressFamily::any) const;

    // Whether an address may be connected to that this name led to.
    [[nodiscard]] bool allows(const std::string& host, const SocketAddress& address,
                              std::uint16_t port) const;

    // An address as 16 bytes, IPv4 within IPv6.
    using Bits = std::array<std::uint8_t, 16>;

private:
    struct Rule {
        bool everything = false;
        bool below = false;  // the name stands for names below it
        std::string name;    // lower case; empty: it is an address
        Bits bits{};
        unsigned prefix = 0;
        std::optional<std::uint16_t> port;
    };
    [[nodiscard]] static Result<Rule> rule_of(const std::string& text);
    [[nodiscard]] static bool fits(const Rule& rule, const std::string& host, const Bits& bits,
                                   std::uint16_t port);

    std::vector<Rule> rules_;
    std::vector<std::uint16_t> own_ports_;
};

}  // namespace baton::targets
