// Sockets and processes that benchmarks feed Baton with, and compare it with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace baton::bench {

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    [[nodiscard]] int operator*() const { return number_; }

private:
    int number_;
};

// On a free port of this machine. Whoever connects waits until he is accepted.
struct Listening {
    Descriptor socket;
    std::uint16_t port = 0;
};
[[nodiscard]] Listening listen_here();
[[nodiscard]] Descriptor accept_from(const Listening& listening);
[[nodiscard]] Descriptor connect_to(std::uint16_t port);

// Until all of it is gone; false if nobody reads any more.
[[nodiscard]] bool write_whole(int to, std::string_view bytes);
// Reads and writes until the end; the bytes.
std::uint64_t copy_whole(int from, int to);
// Reads to the end and counts the newlines.
[[nodiscard]] std::uint64_t count_lines(int from);

// A process that runs a function and ends; killed if it has not ended by then. What it does may not
// depend on threads of this process.
class Forked {
public:
    explicit Forked(const std::function<void()>& run);
    Forked(const Forked&) = delete;
    Forked& operator=(const Forked&) = delete;
    ~Forked();
    [[nodiscard]] pid_t pid() const { return pid_; }
    void wait();

private:
    pid_t pid_ = -1;
    bool gone_ = false;
};

// Of a process that has not been waited for, all threads.
[[nodiscard]] double cpu_seconds_of(pid_t process);
[[nodiscard]] std::uint64_t resident_bytes_of(pid_t process);
[[nodiscard]] std::uint64_t threads_of(pid_t process);

// "load average 1.2 at the start": how much else went on is part of every figure.
[[nodiscard]] std::string load_now();

}  // namespace baton::bench
