#include "shell/interrupts.h"

#include <atomic>

namespace baton::shell {

namespace {

std::atomic<bool> g_seen = false;  // NOLINT: a signal handler reaches nothing else

}  // namespace

Interrupts::Interrupts() {
    g_seen = false;
    struct sigaction action {};
    action.sa_handler = [](int) { g_seen = true; };
    ::sigaction(SIGINT, &action, &before_);
}

Interrupts::~Interrupts() {
    ::sigaction(SIGINT, &before_, nullptr);
}

bool Interrupts::seen() {
    return g_seen;
}

}  // namespace baton::shell
