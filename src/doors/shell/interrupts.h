// While an Interrupts lives, Ctrl-C does not end the process but is noticed here. They may be
// nested; a Ctrl-C holds until it is forgotten, or until the outermost one ends.
#pragma once

#include <csignal>

namespace baton::shell {

class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    [[nodiscard]] static bool seen();  // any thread
    static void forget();

private:
    struct sigaction before_ {};
};

}  // namespace baton::shell
