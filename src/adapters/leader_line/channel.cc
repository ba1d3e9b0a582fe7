#include "adapters/leader_line/channel.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace baton::leader_line {

namespace {

using std::chrono::steady_clock;

// How soon it is noticed that nobody wants the answer any more.
constexpr std::chrono::milliseconds kSlice{50};

Error broken(std::string why) {
    return {.code = ErrorCode::cannot_connect, .message = std::move(why)};
}
Error broken_by_errno(int number) {
    return broken(std::generic_category().message(number));
}

void set(int socket, int level, int option, int value) {
    (void)::setsockopt(socket, level, option, &value, sizeof(value));
}

// One whose machine is gone is given up after about ten seconds.
void keep_alive(int socket) {
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 5);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string why_tls(const SSL* stream) {
    const long verdict = stream == nullptr ? X509_V_OK : SSL_get_verify_result(stream);
    const unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    if (verdict != X509_V_OK) return X509_verify_cert_error_string(verdict);
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "the connection was closed" : reason;
}

}  // namespace

void Channel::FreeContext::operator()(SSL_CTX* context) const {
    SSL_CTX_free(context);
}
void Channel::FreeStream::operator()(SSL* stream) const {
    SSL_free(stream);
}

Channel::~Channel() {
    tls_.reset();
    ::close(socket_);
}

Result<Done> Channel::wait(short wanted, const Patience& patience) const {
    for (;;) {
        const auto left = patience.until - steady_clock::now();
        if (patience.given_up()) return broken("the request was given up");
        if (left <= left.zero()) return broken("it took too long");
        pollfd socket{.fd = socket_, .events = wanted, .revents = 0};
        const auto slice = std::chrono::ceil<std::chrono::milliseconds>(
            std::min<steady_clock::duration>(left, kSlice));
        if (::poll(&socket, 1, static_cast<int>(slice.count())) > 0) return Done{};
    }
}

Result<std::unique_ptr<Channel>> Channel::connect(const std::string& host, const std::string& port,
                                                  const Patience& patience) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
        failed != 0) {
        return broken(::gai_strerror(failed));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
    Error last = broken("it has no address");
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        const int socket = ::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                    one->ai_protocol);
        if (socket < 0) return broken_by_errno(errno);
        std::unique_ptr<Channel> channel(new Channel(socket));
        keep_alive(socket);
        if (::connect(socket, one->ai_addr, one->ai_addrlen) != 0 && errno != EINPROGRESS) {
            last = broken_by_errno(errno);
            continue;
        }
        TRY(channel->wait(POLLOUT, patience));
        int failed = 0;
        socklen_t size = sizeof(failed);
        (void)::getsockopt(socket, SOL_SOCKET, SO_ERROR, &failed, &size);
        if (failed == 0) return channel;
        last = broken_by_errno(failed);
    }
    return last;
}

Result<Done> Channel::wait_for_tls(int result, const Patience& patience) const {
    switch (SSL_get_error(tls_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return wait(POLLIN, patience);
        case SSL_ERROR_WANT_WRITE:
            return wait(POLLOUT, patience);
        default:
            return broken("TLS: " + why_tls(tls_.get()));
    }
}

Result<Done> Channel::start_tls(const std::string& ca, const std::string& host,
                                const Patience& patience) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (!context_ || SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION) != 1) {
        return broken("TLS: " + why_tls(nullptr));
    }
    if (!ca.empty()) {
        if (SSL_CTX_load_verify_file(context_.get(), ca.c_str()) != 1) {
            return broken("TLS: cannot use " + ca + ": " + why_tls(nullptr));
        }
        SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    }
    tls_.reset(SSL_new(context_.get()));
    bool set = tls_ && SSL_set_fd(tls_.get(), socket_) == 1;
    in6_addr literal{};
    const bool is_name = ::inet_pton(AF_INET, host.c_str(), &literal) != 1 &&
                         ::inet_pton(AF_INET6, host.c_str(), &literal) != 1;
    if (set && is_name)
        set = SSL_ctrl(tls_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                       const_cast<char*>(host.c_str())) == 1;
    if (set && !ca.empty()) {
        set = is_name
                  ? SSL_set1_host(tls_.get(), host.c_str()) == 1
                  : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), host.c_str()) == 1;
    }
    if (!set) return broken("TLS: " + why_tls(nullptr));
    for (;;) {
        ERR_clear_error();
        const int done = SSL_connect(tls_.get());
        if (done == 1) return Done{};
        TRY(wait_for_tls(done, patience));
    }
}

Result<Done> Channel::write(std::string_view bytes, const Patience& patience) {
    constexpr std::size_t kMost = std::size_t{1} << 20U;
    while (!bytes.empty()) {
        const std::string_view part = bytes.substr(0, kMost);
        std::size_t written = 0;
        if (tls_) {
            ERR_clear_error();
            const int done = SSL_write_ex(tls_.get(), part.data(), part.size(), &written);
            if (done != 1) {
                TRY(wait_for_tls(done, patience));
                continue;
            }
        } else {
            const ssize_t sent = ::send(socket_, part.data(), part.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno != EAGAIN && errno != EINTR) return broken_by_errno(errno);
            if (sent < 0) {
                TRY(wait(POLLOUT, patience));
                continue;
            }
            written = static_cast<std::size_t>(sent);
        }
        bytes.remove_prefix(written);
    }
    return Done{};
}

Result<std::string> Channel::read(std::size_t most, const Patience& patience) {
    std::string bytes(std::min<std::size_t>(most, 65'536), '\0');
    for (;;) {
        std::size_t got = 0;
        if (tls_) {
            ERR_clear_error();
            const int done = SSL_read_ex(tls_.get(), bytes.data(), bytes.size(), &got);
            if (done != 1) {
                TRY(wait_for_tls(done, patience));
                continue;
            }
        } else {
            const ssize_t heard = ::recv(socket_, bytes.data(), bytes.size(), 0);
            if (heard == 0) return broken("the connection was closed");
            if (heard < 0 && errno != EAGAIN && errno != EINTR) return broken_by_errno(errno);
            if (heard < 0) {
                TRY(wait(POLLIN, patience));
                continue;
            }
            got = static_cast<std::size_t>(heard);
        }
        bytes.resize(got);
        return bytes;
    }
}

bool Channel::has_news() const {
    pollfd socket{.fd = socket_, .events = POLLIN, .revents = 0};
    return ::poll(&socket, 1, 0) != 0;
}

}  // namespace baton::leader_line
