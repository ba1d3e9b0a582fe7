// The whole of the terminal, for something that is shown again and again. The former contents are
// put back at the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <termios.h>

#include "doors/shell/interrupts.h"

namespace baton::app {

class Screen {
public:
    Screen();
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    [[nodiscard]] std::size_t lines() const;  // that there are for text
    // Shows the text and waits as long. False: the user has had enough (q, Ctrl-C, Ctrl-D).
    [[nodiscard]] bool show(const std::string& text, std::chrono::milliseconds patience);

private:
    shell::Interrupts interrupts_;
    termios before_{};
};

}  // namespace baton::app
