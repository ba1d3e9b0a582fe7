// A program at a terminal: what is typed, and what is to be seen.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace baton::cli {

class Terminal {
public:
    // `arguments` begin with the program. The home directory is `home`.
    Terminal(const std::vector<std::string>& arguments, const std::string& home);
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal();  // it is killed if it outlives its owner

    void type(const std::string& keys) const;
    // Reads until the text was shown since the last time that something was waited for; false if it
    // ended, or took too long.
    [[nodiscard]] bool shows(const std::string& text);
    // Reads all the rest and waits for the end; 128 + n for signal n. Hangs up if that takes too
    // long.
    [[nodiscard]] int wait();
    // All that was shown, with what moves the cursor and gives colours.
    [[nodiscard]] const std::string& shown() const { return shown_; }

private:
    [[nodiscard]] bool read_some();

    pid_t pid_ = -1;
    int end_ = -1;
    std::string shown_;
    std::size_t seen_ = 0;
    bool took_too_long_ = false;
};

}  // namespace baton::cli
