#include "bench/sockets.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"

namespace baton::bench {

namespace {

constexpr std::size_t kPortion = 256 << 10;

sockaddr_in here(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void send_at_once(int socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

// ---- sockets ------------------------------------------------------------------------------------

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

Listening listen_here() {
    constexpr int kWaitingMost = 4096;
    Listening listening{.socket = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
    sockaddr_in address = here(0);
    socklen_t size = sizeof address;
    auto* const where = reinterpret_cast<sockaddr*>(&address);
    if (::bind(*listening.socket, where, size) != 0 ||
        ::listen(*listening.socket, kWaitingMost) != 0 ||
        ::getsockname(*listening.socket, where, &size) != 0) {
        give_up("cannot listen on this machine");
    }
    listening.port = ntohs(address.sin_port);
    return listening;
}

Descriptor accept_from(const Listening& listening) {
    Descriptor socket(::accept4(*listening.socket, nullptr, nullptr, SOCK_CLOEXEC));
    if (*socket < 0) give_up("nobody can be accepted");
    send_at_once(*socket);
    return socket;
}

Descriptor connect_to(std::uint16_t port) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = here(port);
    if (::connect(*socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        give_up("cannot connect to this machine");
    }
    send_at_once(*socket);
    return socket;
}

bool write_whole(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto count = ::write(to, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

std::uint64_t copy_whole(int from, int to) {
    std::vector<char> portion(kPortion);
    std::uint64_t bytes = 0;
    for (;;) {
        const auto count = ::read(from, portion.data(), portion.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return bytes;
        bytes += static_cast<std::uint64_t>(count);
        if (to >= 0 && !write_whole(to, {portion.data(), static_cast<std::size_t>(count)})) {
            return bytes;
        }
    }
}

std::uint64_t count_lines(int from) {
    std::vector<char> portion(kPortion);
    std::uint64_t lines = 0;
    for (;;) {
        const auto count = ::read(from, portion.data(), portion.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return lines;
        lines +=
            static_cast<std::uint64_t>(std::count(portion.begin(), portion.begin() + count, '\n'));
    }
}

// ---- processes ----------------------------------------------------------------------------------

Forked::Forked(const std::function<void()>& run) : pid_(::fork()) {
    if (pid_ < 0) give_up("cannot fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing outlives the benchmark
    std::signal(SIGPIPE, SIG_IGN);
    run();
    ::_exit(0);
}

Forked::~Forked() {
    if (!gone_) ::kill(pid_, SIGKILL);
    wait();
}

void Forked::wait() {
    if (gone_) return;
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    gone_ = true;
}

double cpu_seconds_of(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
        give_up("there is no process " + std::to_string(process));
    }
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

namespace {

std::uint64_t status_of(pid_t process, const std::string& field) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(field + ":")) return std::stoull(line.substr(field.size() + 1));
    }
    give_up("process " + std::to_string(process) + " has no " + field);
}

}  // namespace

std::uint64_t resident_bytes_of(pid_t process) {
    return status_of(process, "VmRSS") * 1024;
}

std::uint64_t threads_of(pid_t process) {
    return status_of(process, "Threads");
}

std::string load_now() {
    double load = 0;
    (void)::getloadavg(&load, 1);
    return "load average " + text(load, 1);
}

}  // namespace baton::bench
