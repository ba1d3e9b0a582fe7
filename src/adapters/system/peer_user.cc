#include "adapters/system/peer_user.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <variant>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/system/open_file.h"

namespace baton::system {

namespace {

struct Name {
    std::array<std::uint8_t, 16> address{};
    std::size_t size = 0;    // of the address
    std::uint16_t port = 0;  // as on the wire
};

// An IPv4 address that is written as one of IPv6 is one of IPv4.
Name name_of(const sockaddr_storage& from) {
    Name name;
    if (from.ss_family == AF_INET) {
        const auto& in = reinterpret_cast<const sockaddr_in&>(from);
        name.size = sizeof in.sin_addr;
        std::memcpy(name.address.data(), &in.sin_addr, name.size);
        name.port = in.sin_port;
        return name;
    }
    const auto& in = reinterpret_cast<const sockaddr_in6&>(from);
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&in.sin6_addr);
    name.size = mapped ? 4 : 16;
    std::memcpy(name.address.data(), in.sin6_addr.s6_addr + (mapped ? 12 : 0), name.size);
    name.port = in.sin6_port;
    return name;
}

bool is_loopback(const Name& name) {
    if (name.size == 4) return name.address[0] == 127;
    return std::memcmp(name.address.data(), in6addr_loopback.s6_addr, name.size) == 0;
}

struct Question {
    nlmsghdr header;
    inet_diag_req_v2 request;
};

// About the socket of this machine that has these two names.
Question question_about(const Name& own, const Name& peer) {
    Question question{};
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    inet_diag_req_v2& request = question.request;
    request.sdiag_family = own.size == 4 ? AF_INET : AF_INET6;
    request.sdiag_protocol = IPPROTO_TCP;
    request.idiag_states = ~0U;
    request.id.idiag_sport = own.port;
    request.id.idiag_dport = peer.port;
    std::memcpy(request.id.idiag_src, own.address.data(), own.size);
    std::memcpy(request.id.idiag_dst, peer.address.data(), peer.size);
    request.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
    request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return question;
}

struct NoSuchSocket {};
struct NoAnswer {};
using Owner = std::variant<uid_t, NoSuchSocket, NoAnswer>;

Owner owner_of(const Question& question) {
    const OpenFile socket(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!socket.is_open()) return NoAnswer{};
    const timeval patience{.tv_sec = 1, .tv_usec = 0};
    (void)::setsockopt(*socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::send(*socket, &question, sizeof question, 0) < 0) return NoAnswer{};
    alignas(nlmsghdr) std::array<char, 4096> bytes{};
    const ssize_t size = ::recv(*socket, bytes.data(), bytes.size(), 0);
    if (size < static_cast<ssize_t>(NLMSG_HDRLEN)) return NoAnswer{};
    nlmsghdr header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    const char* const body = bytes.data() + NLMSG_HDRLEN;
    const std::size_t left = static_cast<std::size_t>(size) - NLMSG_HDRLEN;
    if (header.nlmsg_type == NLMSG_ERROR && left >= sizeof(nlmsgerr)) {
        nlmsgerr error{};
        std::memcpy(&error, body, sizeof error);
        if (error.error == -ENOENT) return NoSuchSocket{};
        return NoAnswer{};
    }
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || left < sizeof(inet_diag_msg)) {
        return NoAnswer{};
    }
    inet_diag_msg found{};
    std::memcpy(&found, body, sizeof found);
    return uid_t{found.idiag_uid};
}

}  // namespace

PeerUser user_of_peer(int socket) {
    sockaddr_storage here{};
    sockaddr_storage there{};
    socklen_t here_size = sizeof here;
    socklen_t there_size = sizeof there;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &here_size) != 0 ||
        ::getpeername(socket, reinterpret_cast<sockaddr*>(&there), &there_size) != 0) {
        return PeerUser::unknown;
    }
    const Name own = name_of(here);
    const Name peer = name_of(there);
    if (!is_loopback(peer)) return PeerUser::unknown;
    const Owner owner = owner_of(question_about(peer, own));
    if (const auto* const user = std::get_if<uid_t>(&owner)) {
        return *user == 0 || *user == ::geteuid() ? PeerUser::same : PeerUser::another;
    }
    if (std::holds_alternative<NoAnswer>(owner)) return PeerUser::unknown;
    // A system that tells nothing does not find this end either.
    const bool tells = std::holds_alternative<uid_t>(owner_of(question_about(own, peer)));
    return tells ? PeerUser::another : PeerUser::unknown;
}

}  // namespace baton::system
