// Processes as a user starts them: what goes in, what comes out, and how they end.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace baton::cli {

inline constexpr std::chrono::seconds kPatience{60};

// A process of which the output is read as it comes. It is killed if it outlives its owner.
class Process {
public:
    // `arguments` begin with the program. Its input is empty unless given.
    explicit Process(const std::vector<std::string>& arguments, const std::string& input = "");
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process();

    // Reads until the text occurs in the standard output; false if it ended, or took too long.
    [[nodiscard]] bool says(const std::string& text);
    void signal(int number) const;
    [[nodiscard]] int threads() const;
    // Reads all the rest and waits for the end. 128 + n for signal n, as shells have it; -1 if it
    // took too long.
    [[nodiscard]] int wait();

    // As /proc has it: T, it was stopped; Z, it has ended and was not waited for.
    [[nodiscard]] char state() const;
    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] const std::string& out() const { return out_; }
    [[nodiscard]] const std::string& errors() const { return errors_; }

private:
    using Deadline = std::chrono::steady_clock::time_point;
    // False when both outputs are closed, or it took too long.
    [[nodiscard]] bool read_some(Deadline deadline);

    pid_t pid_ = -1;
    std::optional<int> status_;
    int out_end_ = -1;
    int errors_end_ = -1;
    std::string out_;
    std::string errors_;
};

struct Ended {
    int status = 0;
    std::string out;
    std::string errors;
};
[[nodiscard]] Ended run(const std::vector<std::string>& arguments, const std::string& input = "");

}  // namespace baton::cli
