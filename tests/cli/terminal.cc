#include "cli/terminal.h"

#include <array>
#include <csignal>
#include <cstdlib>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/process.h"

namespace baton::cli {

namespace {

using std::chrono::milliseconds;

}  // namespace

Terminal::Terminal(const std::vector<std::string>& arguments, const std::string& home) {
    winsize size{.ws_row = 40, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    std::vector<char*> values;
    for (const std::string& one : arguments) values.push_back(const_cast<char*>(one.c_str()));
    values.push_back(nullptr);
    pid_ = ::forkpty(&end_, nullptr, nullptr, &size);
    CHECK(pid_ >= 0);
    if (pid_ != 0) return;
    ::setenv("HOME", home.c_str(), 1);
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    ::execvp(values[0], values.data());
    ::_exit(127);
}

Terminal::~Terminal() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        int status = 0;
        ::waitpid(pid_, &status, 0);
    }
    ::close(end_);
}

void Terminal::type(const std::string& keys) const {
    CHECK(::write(end_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

bool Terminal::read_some() {
    pollfd ready{.fd = end_, .events = POLLIN, .revents = 0};
    const auto patience = std::chrono::duration_cast<milliseconds>(kPatience);
    if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) {
        took_too_long_ = true;
        return false;
    }
    std::array<char, 4'096> bytes{};
    const ssize_t size = ::read(end_, bytes.data(), bytes.size());
    if (size <= 0) return false;
    shown_.append(bytes.data(), static_cast<std::size_t>(size));
    return true;
}

bool Terminal::shows(const std::string& text) {
    for (;;) {
        const std::size_t at = shown_.find(text, seen_);
        if (at != std::string::npos) {
            seen_ = at + text.size();
            return true;
        }
        if (!read_some()) return false;
    }
}

int Terminal::wait() {
    while (read_some()) continue;
    // A line editor changes how the terminal treats keys such as Ctrl-D: one that was typed too
    // early is lost, and must not be waited for for ever.
    if (took_too_long_) ::kill(pid_, SIGHUP);
    int status = 0;
    CHECK(::waitpid(pid_, &status, 0) == pid_);
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace baton::cli
