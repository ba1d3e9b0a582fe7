#include "testing/s3/http_peer.h"

#include <array>
#include <cstdlib>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"

namespace baton::testing {

namespace {

bool send_all(int socket, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
        const ssize_t got = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (got <= 0) return false;
        sent += static_cast<std::size_t>(got);
    }
    return true;
}

}  // namespace

PeerAnswer answer_of(int status, const PeerHeaders& headers, const std::string& body) {
    std::string bytes = "HTTP/1.1 " + std::to_string(status) + " Said\r\n";
    for (const auto& [name, value] : headers) bytes += name + ": " + value + "\r\n";
    bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    return {.bytes = std::move(bytes), .then = PeerAnswer::Then::next};
}

PeerAnswer error_of(int status, const std::string& code, const std::string& message) {
    return answer_of(status, {{"Content-Type", "application/xml"}},
                     "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>" + message +
                         "</Message></Error>");
}

HttpPeer::HttpPeer(Script script) : script_(std::move(script)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    CHECK(::listen(listener_, 64) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { run(); });
}

HttpPeer::~HttpPeer() {
    over_ = true;
    acceptor_.join();
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
}

std::vector<PeerRequest> HttpPeer::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

bool HttpPeer::wait_for(int socket) const {
    while (!over_) {
        pollfd wish{.fd = socket, .events = POLLIN, .revents = 0};
        if (::poll(&wish, 1, 20) > 0) return true;
    }
    return false;
}

void HttpPeer::run() {
    while (wait_for(listener_)) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) continue;
        ++connections_;
        threads_.emplace_back([this, socket] {
            serve(socket);
            ::close(socket);
        });
    }
}

bool HttpPeer::read_request(int socket, std::string& unread, PeerRequest& request) const {
    std::array<char, 65'536> part{};
    const auto more = [&] {
        if (!wait_for(socket)) return false;
        const ssize_t got = ::recv(socket, part.data(), part.size(), 0);
        if (got <= 0) return false;
        unread.append(part.data(), static_cast<std::size_t>(got));
        return true;
    };
    std::size_t end = unread.find("\r\n\r\n");
    for (; end == std::string::npos; end = unread.find("\r\n\r\n")) {
        if (!more()) return false;
    }
    std::size_t line_end = unread.find("\r\n");
    const std::string first = unread.substr(0, line_end);
    const std::size_t space = first.find(' ');
    request.method = first.substr(0, space);
    request.target = first.substr(space + 1, first.rfind(' ') - space - 1);
    while (line_end < end) {
        const std::size_t begin = line_end + 2;
        line_end = unread.find("\r\n", begin);
        const std::string line = unread.substr(begin, line_end - begin);
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) {
            request.headers[to_lower(line.substr(0, colon))] = line.substr(colon + 2);
        }
    }
    unread.erase(0, end + 4);
    if (request.headers.contains("expect")) {
        if (!send_all(socket, "HTTP/1.1 100 Continue\r\n\r\n")) return false;
    }
    const auto length = request.headers.find("content-length");
    const std::size_t size =
        length == request.headers.end() ? 0 : std::strtoul(length->second.c_str(), nullptr, 10);
    while (unread.size() < size) {
        if (!more()) return false;
    }
    request.body = unread.substr(0, size);
    unread.erase(0, size);
    return true;
}

void HttpPeer::serve(int socket) {
    std::string unread;
    while (!over_) {
        PeerRequest request;
        if (!read_request(socket, unread, request)) return;
        PeerAnswer answer;
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
            answer = script_(request);
        }
        if (!send_all(socket, answer.bytes)) return;
        if (answer.then == PeerAnswer::Then::close) return;
        while (answer.then == PeerAnswer::Then::forever) {
            if (over_ || !send_all(socket, answer.bytes)) return;
        }
        if (answer.then == PeerAnswer::Then::silence) {
            std::array<char, 1> byte{};
            while (wait_for(socket) && ::recv(socket, byte.data(), 1, 0) > 0) continue;
            return;
        }
    }
}

}  // namespace baton::testing
