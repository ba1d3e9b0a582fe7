// A process that is talked to over pipes and killed, stopped and continued at will.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace baton::chaos {

class Child {
public:
    // `arguments` begin with the path of the program. Its standard error is added to the file
    // `log`. It runs in the network namespace of the descriptor `space`; -1: in that of the caller.
    Child(const std::vector<std::string>& arguments, const std::string& log, int space = -1);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    // Killed if it still lives.
    ~Child();

    [[nodiscard]] pid_t pid() const { return pid_; }
    void signal(int number) const;
    // With SIGKILL; gone when this returns.
    void end();
    // Gone without having been asked to be: how, as shells have it.
    [[nodiscard]] std::optional<int> ended_by_itself();

    // False if it does not listen any more.
    [[nodiscard]] bool write(const std::string& text) const;
    // A line that it has said, without its end. None: it is gone, or it took too long.
    [[nodiscard]] std::optional<std::string> read_line(std::chrono::milliseconds patience);

private:
    pid_t pid_ = -1;
    std::optional<int> status_;
    int in_ = -1;   // its standard input, to be written
    int out_ = -1;  // its standard output, to be read
    std::string read_;
};

}  // namespace baton::chaos
