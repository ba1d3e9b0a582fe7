// A server at a free port of this machine, and clients of it that do not use its libraries.
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doors/http/server.h"
#include "doors/http/service_test.h"

namespace baton::http {

// A plain socket.
class RawClient {
public:
    explicit RawClient(std::uint16_t port, int receive_buffer = 0)
        : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        if (receive_buffer > 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    ~RawClient() { end(); }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    [[nodiscard]] bool connected() const { return connected_; }
    [[nodiscard]] int socket() const { return socket_; }
    bool send(std::string_view text) const {
        while (!text.empty()) {
            const auto sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    // Until the text is there, the other side ends, or the time is over.
    std::string read_until(std::string_view wanted, int milliseconds = 5'000) {
        const auto deadline =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
        while (read_.find(wanted) == std::string::npos || wanted.empty()) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                deadline - std::chrono::steady_clock::now());
            pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
            if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
            char bytes[65'536];
            const auto size = ::recv(socket_, bytes, sizeof bytes, 0);
            if (size <= 0) {
                ended_ = true;
                break;
            }
            read_.append(bytes, static_cast<std::size_t>(size));
        }
        return std::exchange(read_, {});
    }
    std::string read_all(int milliseconds = 5'000) { return read_until("", milliseconds); }
    [[nodiscard]] bool ended() const { return ended_; }
    void end() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }

private:
    int socket_;
    bool connected_ = false;
    bool ended_ = false;
    std::string read_;
};

class ServerTest : public ServiceTest {
protected:
    void SetUp() override {
        ServiceTest::SetUp();
        service_.reset();
    }
    void TearDown() override {
        server_.reset();
        ServiceTest::TearDown();
    }
    void listen(const ServerOptions& options = {}) {
        auto opened = Server::open(*desk_, access_, metrics_, options);
        ASSERT_TRUE(opened) << to_string(opened.error());
        server_ = *std::move(opened);
        scheme_ = options.tls ? "https" : "http";
    }
    [[nodiscard]] std::string url(const std::string& path) const {
        return scheme_ + "://localhost:" + std::to_string(server_->port()) + path;
    }
    // What curl prints.
    static std::string shell(const std::string& command) {
        std::string text;
        FILE* const pipe = ::popen(command.c_str(), "r");
        if (pipe == nullptr) return text;
        char bytes[4096];
        while (const auto size = std::fread(bytes, 1, sizeof bytes, pipe)) text.append(bytes, size);
        ::pclose(pipe);
        return text;
    }
    [[nodiscard]] std::string curl(const std::string& arguments, const std::string& path) const {
        return shell("curl -sk --max-time 20 " + arguments + " '" + url(path) + "' 2>&1");
    }
    static std::size_t descriptors() {
        const std::filesystem::directory_iterator all("/proc/self/fd");
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
    // Waits until it is so, for a while.
    template <class F>
    static bool soon(F is_so) {
        for (int i = 0; i < 1'000; ++i) {
            if (is_so()) return true;
            ::usleep(5'000);  // NOLINT
        }
        return false;
    }
    std::int64_t open_connections() {
        return metrics_.gauge("baton_connections", {{"door", "http"}}).value();
    }
    std::int64_t streams() { return metrics_.gauge("baton_streams", {{"door", "http"}}).value(); }

    std::unique_ptr<Server> server_;
    std::string scheme_ = "http";
};

}  // namespace baton::http
