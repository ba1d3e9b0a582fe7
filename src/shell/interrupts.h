// While an Interrupts lives, Ctrl-C does not end the process but is noticed here. One at a time.
#pragma once

#include <csignal>

namespace baton::shell {

class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    // Since the last one was made. Any thread.
    [[nodiscard]] static bool seen();

private:
    struct sigaction before_ {};
};

}  // namespace baton::shell
