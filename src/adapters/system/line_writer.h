// LineWriter writes lines to a file descriptor, each by itself. A writer never waits for a slow
// reader of a pipe: lines are lost then, and the next line follows a note of how many.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace baton::system {

class LineWriter {
public:
    // The descriptor stays the caller's.
    explicit LineWriter(int descriptor) : descriptor_(descriptor) {}

    // Any thread. `of_loss` makes the line that says how many were lost.
    void write(std::string_view line, const std::function<std::string(std::size_t lost)>& of_loss);

private:
    // False: it was lost, or the end of it was.
    [[nodiscard]] bool put(std::string_view line) const;

    const int descriptor_;
    std::mutex mutex_;
    std::size_t lost_ = 0;  // lines, since the last that was written
};

}  // namespace baton::system
