// The coordinator as a process of its own: the side that is killed, and the side that talks to it.
//
// A statement is a line. Its answer is a line for each row, with the cells ended by a unit
// separator (0x1f), then "ok" or "error TEXT". Before the first one it says in the same way whether
// it has started.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/child.h"

namespace baton::chaos {

// The process: opens the catalog in the directory and answers until its input ends.
[[nodiscard]] int run_coordinator(const std::string& data);

struct Reply {
    std::string error;  // empty: it was done
    std::vector<std::vector<std::string>> rows;
};

class Coordinator {
public:
    // Its network namespace is that of the descriptor `space`; -1: that of the caller.
    Coordinator(std::string program, std::string data, std::string log, int space);

    // Waits until it answers. Empty: it does; else why not, and it is gone again.
    [[nodiscard]] std::string start();
    void kill();
    void pause();
    void go_on();
    [[nodiscard]] bool lives() const { return child_ != nullptr; }
    // It lives and is not paused.
    [[nodiscard]] bool listens() const { return lives() && !paused_; }
    [[nodiscard]] Child* child() { return child_.get(); }

    // None: it is not there, or did not answer in time.
    [[nodiscard]] std::optional<Reply> ask(const std::string& statement);
    // Asks, and kills it before the answer is read.
    void ask_and_kill(const std::string& statement);

private:
    const std::string program_;
    const std::string data_;
    const std::string log_;
    const int space_;
    bool paused_ = false;
    std::unique_ptr<Child> child_;
};

}  // namespace baton::chaos
