// OpenFile owns the number of an open file.
#pragma once

#include <utility>

#include <unistd.h>

namespace baton::system {

class OpenFile {
public:
    OpenFile() = default;
    explicit OpenFile(int number) : number_(number) {}
    OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    OpenFile& operator=(OpenFile&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (number_ >= 0) ::close(number_);
    }

    [[nodiscard]] int operator*() const { return number_; }
    // It is the caller's from now on.
    [[nodiscard]] int release() { return std::exchange(number_, -1); }
    [[nodiscard]] bool is_open() const { return number_ >= 0; }

private:
    int number_ = -1;
};

}  // namespace baton::system
