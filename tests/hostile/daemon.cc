#include "hostile/daemon.h"

#include <array>
#include <csignal>
#include <fstream>
#include <utility>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testing/free_port.h"

namespace baton::hostile {

namespace {

using Clock = std::chrono::steady_clock;

std::size_t status_field(pid_t pid, const std::string& name) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.starts_with(name + ":")) return std::stoul(line.substr(name.size() + 1));
    }
    return 0;
}

}  // namespace

Daemon::Daemon(const std::vector<std::string>& more, const std::vector<std::string>& through)
    : more_(more),
      through_(through),
      pg_(std::to_string(testing::free_port())),
      http_(std::to_string(testing::free_port())) {
    start();
}

void Daemon::start() {
    std::vector<std::string> arguments = through_;
    for (const std::string& argument :
         {std::string(BATON_PROGRAMS "/baton"), std::string("serve"), std::string("--data"), data(),
          std::string("--pg"), "127.0.0.1:" + pg_, std::string("--http"), "127.0.0.1:" + http_}) {
        arguments.push_back(argument);
    }
    arguments.insert(arguments.end(), more_.begin(), more_.end());
    process_ = std::make_unique<cli::Process>(arguments);
    const auto deadline = Clock::now() + cli::kPatience;
    while (Clock::now() < deadline && process_->state() != 'Z') {
        if (cli::run({"/usr/bin/curl", "-sfk", "http://127.0.0.1:" + http_ + "/readyz"}).status ==
            0) {
            return;
        }
        ::usleep(20'000);
    }
    ADD_FAILURE() << "the daemon is not ready: " << ended_log();
}

void Daemon::restart(const std::function<void()>& meanwhile) {
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait(), 0) << process_->errors();
    if (meanwhile) meanwhile();
    start();
}

cli::Ended Daemon::psql(const std::string& statement, const std::string& user) const {
    return cli::run({"/usr/bin/psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", pg_, "-U", user,
                     "-d", "baton", "-v", "ON_ERROR_STOP=1"},
                    statement + ";\n");
}

cli::Ended Daemon::curl(const std::string& path, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"/usr/bin/curl", "-s", "-w", "\n%{http_code}\n"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back("http://127.0.0.1:" + http_ + path);
    return cli::run(arguments);
}

cli::Ended Daemon::post_sql(const std::string& text) const {
    std::ofstream(path("statements"), std::ios::binary) << text;
    return curl("/v1/sql",
                {"-H", "Content-Type: text/plain", "--data-binary", "@" + path("statements")});
}

bool Daemon::takes_a_write(std::chrono::milliseconds within) {
    const auto begun = Clock::now();
    const std::string name = "CANARY" + std::to_string(++writes_);
    const cli::Ended made = psql("CREATE LOGICAL SOURCE " + name + " (a INT8)");
    EXPECT_EQ(made.status, 0) << made.errors;
    const cli::Ended seen = curl("/v1/logical-sources/" + name);
    EXPECT_TRUE(seen.out.ends_with("\n200\n")) << seen.out;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    EXPECT_LE(took, within);
    return made.status == 0 && seen.out.ends_with("\n200\n") && took <= within;
}

std::size_t Daemon::memory_mb() const {
    return status_field(process_->pid(), "VmRSS") / 1024;
}

std::size_t Daemon::peak_mb() const {
    return status_field(process_->pid(), "VmHWM") / 1024;
}

void Daemon::forget_peak() const {
    std::ofstream("/proc/" + std::to_string(process_->pid()) + "/clear_refs") << "5";
}

std::size_t Daemon::threads() const {
    return status_field(process_->pid(), "Threads");
}

std::string Daemon::ended_log() {
    process_->signal(SIGTERM);
    (void)process_->wait();
    return process_->errors();
}

Socket::Socket(const std::string& port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoul(port)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
        ::close(std::exchange(socket_, -1));
    }
}

Socket::~Socket() {
    if (socket_ >= 0) ::close(socket_);
}

Socket::Socket(Socket&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

bool Socket::send(std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::string Socket::read_until(std::string_view text, std::chrono::milliseconds within) const {
    const auto deadline = Clock::now() + within;
    std::string heard;
    while (heard.find(text) == std::string::npos) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
        if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
        std::array<char, 65'536> buffer{};
        const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
        if (got <= 0) break;
        heard.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return heard;
}

}  // namespace baton::hostile
