#include "adapters/programs/partition_programs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/overload.h"

namespace baton::processes {

namespace {

constexpr int kCannotStart = 127;

// A command as exec wants it, made before fork: afterwards nothing may be allocated.
class CommandLine {
public:
    CommandLine(const std::string& command, const control::Grant& grant) : command_(command) {
        for (char** entry = environ; *entry != nullptr; ++entry) {
            if (!std::string_view(*entry).starts_with("BATON_")) variables_.emplace_back(*entry);
        }
        variables_.push_back("BATON_LIST=" + grant.partition.list);
        variables_.push_back("BATON_PARTITION=" + std::to_string(grant.partition.number));
        variables_.push_back("BATON_EPOCH=" + to_string(grant.epoch));
        for (std::string& variable : variables_) environment_.push_back(variable.data());
        environment_.push_back(nullptr);
        arguments_ = {shell_.data(), option_.data(), command_.data(), nullptr};
    }
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    // In the child of that parent; only what is allowed between fork and exec.
    [[noreturn]] void run(pid_t parent) const {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(kCannotStart);  // it died meanwhile
        (void)setpgid(0, 0);
        const int nothing = open("/dev/null", O_RDONLY);
        if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) _exit(kCannotStart);
        (void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);
        (void)std::signal(SIGPIPE, SIG_DFL);
        sigset_t none{};
        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, nullptr);
        (void)execve(shell_.c_str(), arguments_.data(), environment_.data());
        _exit(kCannotStart);
    }

private:
    std::string shell_ = "/bin/sh";
    std::string option_ = "-c";
    std::string command_;
    std::vector<std::string> variables_;
    std::vector<char*> environment_;
    std::array<char*, 4> arguments_{};
};

// The header of glibc 2.36 has no way to this from C++.
int descriptor_of(pid_t pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
    return "ended with status " + std::to_string(WEXITSTATUS(status));
}

int milliseconds_until(Instant due, Instant now) {
    constexpr Duration kMost = std::chrono::hours(1);
    const Duration left = std::clamp(due - now, Duration::zero(), kMost);
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

}  // namespace

PartitionPrograms::PartitionPrograms(PartitionProgramsOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      woken_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      machine_(options_.grace) {
    CHECK(woken_ >= 0);
    thread_ = std::thread([this] { run(); });
}

PartitionPrograms::~PartitionPrograms() {
    requests_.drop();
    wake();
    thread_.join();
    (void)close(woken_);
}

// What is killed is gone within a moment.
Duration PartitionPrograms::release_time() const {
    constexpr Duration kMoment = std::chrono::seconds(1);
    return options_.grace + kMoment;
}

void PartitionPrograms::listen(Listener listener) {
    const std::lock_guard lock(listener_mutex_);
    listener_ = std::move(listener);
}

void PartitionPrograms::take(const control::Grant& grant) {
    post(grant);
}

void PartitionPrograms::release(const PartitionKey& partition) {
    post(partition);
}

void PartitionPrograms::post(TakeOrRelease request) {
    requests_.post(std::move(request));
    wake();
}

void PartitionPrograms::wake() const {
    (void)eventfd_write(woken_, 1);
}

// ---- the thread ---------------------------------------------------------------------------------

void PartitionPrograms::run() {
    while (wait()) {
        obey_requests();
        reap();
        perform(machine_.tick(clock_.now()));
    }
    end_all();
}

bool PartitionPrograms::wait() {
    std::vector<pollfd> watched = {{.fd = woken_, .events = POLLIN, .revents = 0}};
    for (const auto& [partition, process] : processes_) {
        watched.push_back({.fd = process.descriptor, .events = POLLIN, .revents = 0});
    }
    const auto due = machine_.wake_at();
    (void)poll(watched.data(), watched.size(), due ? milliseconds_until(*due, clock_.now()) : -1);
    eventfd_t times = 0;
    (void)eventfd_read(woken_, &times);
    return !requests_.closed();
}

void PartitionPrograms::obey_requests() {
    for (const TakeOrRelease& request : requests_.take_all(Duration::zero())) {
        const Instant now = clock_.now();
        perform(std::visit(
            Overload{
                [&](const control::Grant& grant) { return machine_.take(now, grant); },
                [&](const PartitionKey& partition) { return machine_.release(now, partition); },
            },
            request));
    }
}

void PartitionPrograms::reap() {
    for (auto next = processes_.begin(); next != processes_.end();) {
        const auto [partition, process] = *next;
        pollfd one{.fd = process.descriptor, .events = POLLIN, .revents = 0};
        if (poll(&one, 1, 0) <= 0) {
            ++next;
            continue;
        }
        next = processes_.erase(next);
        (void)kill(-process.pid, SIGKILL);  // what it left; its number is taken until waitpid
        int status = 0;
        (void)waitpid(process.pid, &status, 0);
        (void)close(process.descriptor);
        const Instant now = clock_.now();
        const auto effects = machine_.ended(now, partition);
        const auto again = machine_.starts_at(partition);
        log(partition, how_it_ended(status) +
                           (again ? ", and is started again in " +
                                        std::to_string(milliseconds_until(*again, now)) + " ms"
                                  : ""));
        perform(effects);
    }
}

void PartitionPrograms::perform(const programs::Programs::Effects& effects) {
    for (const programs::Effect& effect : effects) {
        std::visit(Overload{
                       [&](const programs::Start& e) { start(e.grant); },
                       [&](const programs::AskToEnd& e) { signal(e.partition, SIGTERM); },
                       [&](const programs::MakeEnd& e) {
                           log(e.partition, "did not end in its time, and is killed");
                           signal(e.partition, SIGKILL);
                       },
                       [&](const programs::SayReleased& e) { tell(e.partition); },
                   },
                   effect);
    }
}

void PartitionPrograms::start(const control::Grant& grant) {
    const CommandLine command(options_.command, grant);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) command.run(parent);
    if (pid < 0) {
        log(grant.partition, std::string("cannot be started: ") + std::strerror(errno));
        return perform(machine_.ended(clock_.now(), grant.partition));
    }
    (void)setpgid(pid, pid);  // here as well, so that a signal at once finds the group
    const int descriptor = descriptor_of(pid);
    if (descriptor < 0) {
        log(grant.partition, std::string("cannot be watched: ") + std::strerror(errno));
        (void)kill(-pid, SIGKILL);
        (void)waitpid(pid, nullptr, 0);
        return perform(machine_.ended(clock_.now(), grant.partition));
    }
    processes_[grant.partition] = {.pid = pid, .descriptor = descriptor};
    log(grant.partition, "runs as process " + std::to_string(pid));
}

void PartitionPrograms::signal(const PartitionKey& partition, int number) const {
    const auto found = processes_.find(partition);
    if (found != processes_.end()) (void)kill(-found->second.pid, number);
}

void PartitionPrograms::tell(const PartitionKey& released) {
    const std::lock_guard lock(listener_mutex_);
    if (listener_) listener_(released);
}

void PartitionPrograms::end_all() {
    for (const auto& [partition, process] : processes_) (void)kill(-process.pid, SIGKILL);
    for (const auto& [partition, process] : processes_) {
        (void)waitpid(process.pid, nullptr, 0);
        (void)close(process.descriptor);
    }
}

void PartitionPrograms::log(const PartitionKey& partition, const std::string& what) const {
    if (options_.log) {
        options_.log("the program of partition " + to_string(partition) + " " + what);
    }
}

}  // namespace baton::processes
