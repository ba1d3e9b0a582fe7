#include "cli/process.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace baton::cli {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A file without a name, so that input of any size cannot block.
int file_with(const std::string& text) {
    std::FILE* file = std::tmpfile();
    CHECK(file != nullptr);
    CHECK(std::fwrite(text.data(), 1, text.size(), file) == text.size());
    CHECK(std::fflush(file) == 0);
    const int descriptor = ::fcntl(::fileno(file), F_DUPFD_CLOEXEC, 0);
    (void)std::fclose(file);
    CHECK(::lseek(descriptor, 0, SEEK_SET) == 0);
    return descriptor;
}

// Appends what there is; closes the end when there is no more.
void drain(int& end, std::string& text) {
    constexpr std::size_t kPortion = 1 << 16;
    std::array<char, kPortion> bytes{};
    const ssize_t size = ::read(end, bytes.data(), bytes.size());
    if (size > 0) {
        text.append(bytes.data(), static_cast<std::size_t>(size));
        return;
    }
    ::close(end);
    end = -1;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::string& input) {
    std::array<int, 2> out{};
    std::array<int, 2> errors{};
    CHECK(::pipe2(out.data(), O_CLOEXEC) == 0 && ::pipe2(errors.data(), O_CLOEXEC) == 0);
    const int in = file_with(input);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    CHECK(::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(in);
    ::close(out[1]);
    ::close(errors[1]);
    out_end_ = out[0];
    errors_end_ = errors[0];
}

Process::~Process() {
    if (!status_) {
        signal(SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    for (const int end : {out_end_, errors_end_}) {
        if (end >= 0) ::close(end);
    }
}

bool Process::read_some(Deadline deadline) {
    if (out_end_ < 0 && errors_end_ < 0) return false;
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> ends{pollfd{out_end_, POLLIN, 0}, pollfd{errors_end_, POLLIN, 0}};
    (void)::poll(ends.data(), ends.size(), static_cast<int>(left.count()));
    if (out_end_ >= 0 && ends[0].revents != 0) drain(out_end_, out_);
    if (errors_end_ >= 0 && ends[1].revents != 0) drain(errors_end_, errors_);
    return true;
}

bool Process::says(const std::string& text) {
    const Deadline deadline = steady_clock::now() + kPatience;
    while (out_.find(text) == std::string::npos) {
        if (!read_some(deadline)) return false;
    }
    return true;
}

char Process::state() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    std::string word;
    file >> word >> word >> word;  // pid, name, state
    return word.empty() ? '?' : word.front();
}

void Process::signal(int number) const {
    ::kill(pid_, number);
}

int Process::threads() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    std::string word;
    while (file >> word && word != "Threads:") continue;
    int count = 0;
    file >> count;
    return count;
}

int Process::wait() {
    const Deadline deadline = steady_clock::now() + kPatience;
    while (read_some(deadline)) {
    }
    if (out_end_ >= 0 || errors_end_ >= 0) return -1;
    int status = 0;
    CHECK(::waitpid(pid_, &status, 0) == pid_);
    constexpr int kSignalled = 128;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
    return *status_;
}

Ended run(const std::vector<std::string>& arguments, const std::string& input) {
    Process process(arguments, input);
    Ended ended;
    ended.status = process.wait();
    ended.out = process.out();
    ended.errors = process.errors();
    return ended;
}

}  // namespace baton::cli
