#include "adapters/system/listening.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/text.h"

namespace baton::system {

namespace {

constexpr int kBacklog = 512;

Error cannot_listen(const Address& address, const std::string& why) {
    return {.code = ErrorCode::invalid_configuration,
            .message = "cannot listen on " + in_quotes(to_string(address)) + ": " + why,
            .at = {},
            .hint = "does another process listen there? is it an address of this machine?"};
}

void set_port(addrinfo& at, std::uint16_t port) {
    if (at.ai_family == AF_INET6) {
        reinterpret_cast<sockaddr_in6*>(at.ai_addr)->sin6_port = htons(port);
    } else {
        reinterpret_cast<sockaddr_in*>(at.ai_addr)->sin_port = htons(port);
    }
}

std::uint16_t port_of(int socket) {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
    return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                            : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

// The number of the error, or 0.
int listen_on(int socket, const addrinfo& at) {
    constexpr int kYes = 1;
    (void)::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof kYes);
    if (::bind(socket, at.ai_addr, at.ai_addrlen) != 0) return errno;
    return ::listen(socket, kBacklog) == 0 ? 0 : errno;
}

// A name may have an address that this machine does not have, as where there is no IPv6.
bool is_not_here(int error) {
    return error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

}  // namespace

Result<ListeningSockets> listen_at(const Address& address) {
    std::string host = address.host;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    addrinfo hints{};
    hints.ai_flags = AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failure = ::getaddrinfo(host.c_str(), "0", &hints, &found); failure != 0) {
        return cannot_listen(address, ::gai_strerror(failure));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
    ListeningSockets listening{.sockets = {}, .port = address.port};
    int not_here = EADDRNOTAVAIL;
    for (addrinfo* at = found; at != nullptr; at = at->ai_next) {
        OpenFile socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        int error = socket.is_open() ? 0 : errno;
        set_port(*at, listening.port);
        if (error == 0) error = listen_on(*socket, *at);
        if (is_not_here(error)) {
            not_here = error;
            continue;
        }
        if (error != 0) return cannot_listen(address, std::strerror(error));
        listening.port = port_of(*socket);
        listening.sockets.push_back(std::move(socket));
    }
    if (listening.sockets.empty()) return cannot_listen(address, std::strerror(not_here));
    return listening;
}

}  // namespace baton::system
