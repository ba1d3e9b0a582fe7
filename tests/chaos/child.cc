#include "chaos/child.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace baton::chaos {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

int shell_status(int status) {
    constexpr int kSignalled = 128;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments, const std::string& log, int space) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    CHECK(::pipe2(in.data(), O_CLOEXEC) == 0 && ::pipe2(out.data(), O_CLOEXEC) == 0);
    const int errors = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    CHECK(errors >= 0);
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    CHECK(pid_ >= 0);
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing outlives the test
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        ::dup2(errors, STDERR_FILENO);
        if (space < 0 || ::setns(space, CLONE_NEWNET) == 0) ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(errors);
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
}

Child::~Child() {
    end();
    ::close(in_);
    ::close(out_);
}

void Child::signal(int number) const {
    if (!status_) ::kill(pid_, number);
}

void Child::end() {
    if (status_) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    status_ = shell_status(status);
}

std::optional<int> Child::ended_by_itself() {
    if (status_) return std::nullopt;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    status_ = shell_status(status);
    return status_;
}

bool Child::write(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t size = ::write(in_, text.data() + done, text.size() - done);
        if (size < 0 && errno != EINTR) return false;
        if (size > 0) done += static_cast<std::size_t>(size);
    }
    return true;
}

std::optional<std::string> Child::read_line(milliseconds patience) {
    const auto deadline = steady_clock::now() + patience;
    for (;;) {
        if (const auto end = read_.find('\n'); end != std::string::npos) {
            std::string line = read_.substr(0, end);
            read_.erase(0, end + 1);
            return line;
        }
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
        if (left.count() <= 0) return std::nullopt;
        pollfd from{out_, POLLIN, 0};
        if (::poll(&from, 1, static_cast<int>(left.count())) <= 0) continue;
        constexpr std::size_t kPortion = 1 << 16;
        std::array<char, kPortion> bytes{};
        const ssize_t size = ::read(out_, bytes.data(), bytes.size());
        if (size <= 0) return std::nullopt;
        read_.append(bytes.data(), static_cast<std::size_t>(size));
    }
}

}  // namespace baton::chaos
