#include "adapters/system/line_writer.h"

#include <algorithm>
#include <climits>

#include <poll.h>
#include <unistd.h>

namespace baton::system {

namespace {

constexpr int kPatienceMs = 100;

}  // namespace

void LineWriter::write(std::string_view line,
                       const std::function<std::string(std::size_t)>& of_loss) {
    const std::lock_guard lock(mutex_);
    if (lost_ > 0) {
        if (!put(of_loss(lost_))) {
            lost_ += 1;
            return;
        }
        lost_ = 0;
    }
    if (!put(line)) lost_ += 1;
}

bool LineWriter::put(std::string_view line) const {
    // A pipe that can be written to takes so much without waiting.
    constexpr std::size_t kAtOnce = PIPE_BUF;
    while (!line.empty()) {
        pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
        // A reader gets a moment; one that has let lines be lost gets none.
        const int polled = ::poll(&ready, 1, lost_ > 0 ? 0 : kPatienceMs);
        if (polled <= 0) return false;
        const ssize_t written =
            ::write(descriptor_, line.data(), std::min<std::size_t>(line.size(), kAtOnce));
        if (written <= 0) return true;  // it is closed: there is nobody to tell
        line.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace baton::system
