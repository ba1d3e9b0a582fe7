#include "app/screen.h"

#include <iostream>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace baton::app {

namespace {

constexpr const char* kOther = "\x1b[?1049h\x1b[?25l";  // the other screen, without a cursor
constexpr const char* kBack = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kRestOfLine = "\x1b[K";
constexpr const char* kRestOfScreen = "\x1b[J";

}  // namespace

Screen::Screen() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    std::cout << kOther << std::flush;
}

Screen::~Screen() {
    std::cout << kBack << std::flush;
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::size_t Screen::lines() const {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 3) return 22;
    return size.ws_row - 2U;
}

bool Screen::show(const std::string& text, std::chrono::milliseconds patience) {
    std::cout << kHome;
    for (const char c : text) {
        if (c == '\n') std::cout << kRestOfLine;
        std::cout << c;
    }
    std::cout << kRestOfScreen << "\nq leaves" << std::flush;
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&input, 1, static_cast<int>(patience.count()));
    if (shell::Interrupts::seen()) return false;
    if (ready <= 0) return true;
    char key = 0;
    constexpr char kEndOfText = 4;
    return ::read(STDIN_FILENO, &key, 1) == 1 && key != 'q' && key != kEndOfText;
}

}  // namespace baton::app
