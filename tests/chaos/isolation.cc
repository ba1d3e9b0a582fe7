#include "chaos/isolation.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "chaos/disk.h"
#include "chaos/network.h"
#include "testing/temporary_directory.h"

namespace baton::chaos {

namespace {

std::string because(const std::string& what) {
    return what + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
}

// Who is not root is root in a namespace of users.
std::string enter() {
    const bool is_root = ::geteuid() == 0;
    const std::string user = "0 " + std::to_string(::geteuid()) + " 1\n";
    const std::string group = "0 " + std::to_string(::getegid()) + " 1\n";
    if (::unshare((is_root ? 0 : CLONE_NEWUSER) | CLONE_NEWNET | CLONE_NEWNS) != 0)
        return because("no namespaces");
    if (!is_root) {
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << user;
        std::ofstream("/proc/self/gid_map") << group;
    }
    // Mounts made here are not to be seen outside.
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return because("no mounts of its own");
    return "";
}

std::string try_everything() {
    if (std::string why = enter(); !why.empty()) return why;
    const testing::TemporaryDirectory directory;
    if (!Disk::make(directory / "disk")) return because("no tmpfs");
    if (!Network::make(1)) return "no bridge or no veth";
    return "";
}

}  // namespace

std::string isolate() {
    // What cannot be undone is first tried by somebody else.
    std::array<int, 2> pipe{};
    CHECK(::pipe2(pipe.data(), O_CLOEXEC) == 0);
    const pid_t pid = ::fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        const std::string why = try_everything();
        const ssize_t size = ::write(pipe[1], why.data(), why.size());
        ::_exit(size == static_cast<ssize_t>(why.size()) && why.empty() ? 0 : 1);
    }
    ::close(pipe[1]);
    std::array<char, 256> bytes{};
    const ssize_t size = ::read(pipe[0], bytes.data(), bytes.size());
    ::close(pipe[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (size > 0) return {bytes.data(), static_cast<std::size_t>(size)};
    return status == 0 ? enter() : "the attempt to make namespaces died";
}

bool run(const std::string& command, int space) {
    std::vector<std::string> words;
    std::istringstream text(command);
    for (std::string word; text >> word;) words.push_back(word);
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t pid = ::fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        if (space < 0 || ::setns(space, CLONE_NEWNET) == 0) ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return status == 0;
}

}  // namespace baton::chaos
