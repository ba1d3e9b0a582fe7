#include "doors/shell/interrupts.h"

#include <atomic>

namespace baton::shell {

namespace {

std::atomic<bool> g_seen = false;  // NOLINT: a signal handler reaches nothing else
int g_depth = 0;                   // NOLINT: there is one terminal

}  // namespace

Interrupts::Interrupts() {
    if (g_depth++ == 0) g_seen = false;
    struct sigaction action {};
    action.sa_handler = [](int) { g_seen = true; };
    ::sigaction(SIGINT, &action, &before_);
}

Interrupts::~Interrupts() {
    ::sigaction(SIGINT, &before_, nullptr);
    --g_depth;
}

bool Interrupts::seen() {
    return g_seen;
}

void Interrupts::forget() {
    g_seen = false;
}

}  // namespace baton::shell
