// A port of this machine that is the caller's until its process ends.
//
// A port that was free a moment ago can be taken at any time: by another test, or by the system for
// an outgoing connection. So ports come from below the range that the system chooses from, and each
// is locked by a file while its process lives.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

namespace baton::testing {

namespace ports {

inline constexpr int kLeast = 20'000;
inline constexpr int kMost = 32'000;  // the system's own begin at 32768

// The descriptor stays open, and so the lock is held, until the process ends.
[[nodiscard]] inline bool lock(int port) {
    const std::string directory = "/tmp/baton-test-ports-" + std::to_string(::getuid());
    CHECK(::mkdir(directory.c_str(), S_IRWXU) == 0 || errno == EEXIST);
    const std::string file = directory + "/" + std::to_string(port);
    const int descriptor = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    CHECK(descriptor >= 0);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    ::close(descriptor);
    return false;
}

[[nodiscard]] inline bool is_free(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(socket >= 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    return bound;
}

}  // namespace ports

// Not for several threads at once.
[[nodiscard]] inline std::uint16_t free_port() {
    constexpr int kRange = ports::kMost - ports::kLeast;
    static int next = ::getpid() * 7 % kRange;
    for (int tried = 0; tried < kRange; ++tried) {
        const int port = ports::kLeast + next;
        next = (next + 1) % kRange;
        if (ports::lock(port) && ports::is_free(port)) return static_cast<std::uint16_t>(port);
    }
    CHECK(false && "no port is free");
}

}  // namespace baton::testing
