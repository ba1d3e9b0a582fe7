#include "testing/servers/relay.h"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"

namespace baton::testing {

namespace {

sockaddr_in on_this_machine(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

int tcp_socket() {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(made >= 0);
    return made;
}

void send_at_once(int socket) {
    const int yes = 1;
    (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

// What is there, at most a buffer full; empty: it has ended.
std::string_view received(int from, std::array<char, 65'536>& buffer) {
    const ssize_t size = ::recv(from, buffer.data(), buffer.size(), 0);
    return {buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

bool sent(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t size = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (size <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
}

}  // namespace

Relay::Relay(int server_port) : server_port_(server_port), listener_(tcp_socket()) {
    sockaddr_in address = on_this_machine(0);
    socklen_t size = sizeof address;
    CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(::listen(listener_, 64) == 0);
    CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    CHECK(::pipe2(wakes_, O_CLOEXEC | O_NONBLOCK) == 0);
    thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    wake();
    thread_.join();
    for (const Pair& pair : pairs_) close(pair);
    for (const int end : {listener_, wakes_[0], wakes_[1]}) ::close(end);
}

std::string Relay::instead_in(const std::string& url) const {
    std::string changed = url;
    const std::string port = ":" + std::to_string(server_port_) + "/";
    const std::size_t at = changed.find(port);
    CHECK(at != std::string::npos);
    return changed.replace(at, port.size(), ":" + std::to_string(port_) + "/");
}

// ---- what tests want ----------------------------------------------------------------------------

void Relay::wake() const {
    CHECK(::write(wakes_[1], "w", 1) == 1);
}

void Relay::fall_silent(Whom whom) {
    {
        const std::lock_guard lock(mutex_);
        silent_ = whom == Whom::all;
        for (Pair& pair : pairs_) pair.silent = true;
    }
    wake();
}

void Relay::speak_again() {
    {
        const std::lock_guard lock(mutex_);
        silent_ = false;
        for (Pair& pair : pairs_) pair.silent = false;
    }
    wake();
}

void Relay::cut_at(const std::string& text, Loss loss) {
    const std::lock_guard lock(mutex_);
    cut_ = Cut{.text = text, .loss = loss};
}

void Relay::say_instead(const std::string& text, const std::string& other) {
    CHECK(text.size() == other.size());
    const std::lock_guard lock(mutex_);
    text_ = text;
    other_ = other;
}

bool Relay::has_cut() const {
    const std::lock_guard lock(mutex_);
    return !cut_;
}

// ---- what its thread does -----------------------------------------------------------------------

void Relay::run() {
    for (;;) {
        std::vector<pollfd> sockets = {{.fd = wakes_[0], .events = POLLIN, .revents = 0},
                                       {.fd = listener_, .events = POLLIN, .revents = 0}};
        std::vector<std::list<Pair>::iterator> asked;
        {
            const std::lock_guard lock(mutex_);
            if (over_) return;
            for (auto pair = pairs_.begin(); pair != pairs_.end(); ++pair) {
                if (pair->silent) continue;
                asked.push_back(pair);
                sockets.push_back({.fd = pair->client, .events = POLLIN, .revents = 0});
                sockets.push_back({.fd = pair->server, .events = POLLIN, .revents = 0});
            }
        }
        if (::poll(sockets.data(), sockets.size(), -1) < 0) continue;
        const std::lock_guard lock(mutex_);
        std::array<char, 64> ignored{};
        const bool woken = sockets[0].revents != 0;
        if (woken && ::read(wakes_[0], ignored.data(), ignored.size()) < 0) continue;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (asked[i]->silent) continue;
            const bool goes_on = (sockets[2 + 2 * i].revents == 0 || pass_from_client(*asked[i])) &&
                                 (sockets[3 + 2 * i].revents == 0 || pass_from_server(*asked[i]));
            if (goes_on) continue;
            close(*asked[i]);
            pairs_.erase(asked[i]);
        }
        if (sockets[1].revents != 0) accept_one();
    }
}

void Relay::accept_one() {
    Pair pair;
    pair.client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (pair.client < 0) return;
    pair.server = tcp_socket();
    pair.silent = silent_;
    sockaddr_in address = on_this_machine(server_port_);
    if (::connect(pair.server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        close(pair);
        return;
    }
    send_at_once(pair.client);
    send_at_once(pair.server);
    pairs_.push_back(pair);
}

bool Relay::pass_from_client(Pair& pair) {
    std::array<char, 65'536> buffer{};
    const std::string_view bytes = received(pair.client, buffer);
    if (bytes.empty()) return false;
    if (pair.answered) round_trips_ += 1;
    pair.answered = false;
    if (cut_ && bytes.find(cut_->text) != std::string_view::npos) {
        const Loss loss = cut_->loss;
        cut_.reset();
        if (loss == Loss::question) return false;
        pair.doomed = true;
    }
    return sent(pair.server, bytes);
}

bool Relay::pass_from_server(Pair& pair) {
    std::array<char, 65'536> buffer{};
    const std::string_view bytes = received(pair.server, buffer);
    if (bytes.empty()) return false;
    if (pair.doomed) {
        // The server hears nothing of that: it would give up what of the question is still to do.
        if (pair.client >= 0) ::close(std::exchange(pair.client, -1));
        return true;
    }
    pair.answered = true;
    std::string said(bytes);
    if (const std::size_t at = said.find(text_); !text_.empty() && at != std::string::npos) {
        said.replace(at, text_.size(), other_);
    }
    return sent(pair.client, said);
}

void Relay::close(const Pair& pair) {
    ::close(pair.client);
    ::close(pair.server);
}

}  // namespace baton::testing
