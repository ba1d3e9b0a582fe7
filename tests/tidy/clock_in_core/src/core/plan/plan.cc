#include <chrono>

auto now() {
    return std::chrono::steady_clock::now();
}
