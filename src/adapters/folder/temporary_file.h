// TemporaryFile is a file in the private directory of a folder, on its way to become an object.
//
// It holds a lock (flock) as long as its writer lives, so that a file without one is a leftover.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "adapters/system/open_file.h"
#include "base/time.h"
#include "ports/store_attempts.h"

namespace baton::folder {

class TemporaryFile {
public:
    // `hidden` is the private directory, which has to outlive this.
    static std::variant<TemporaryFile, AttemptFailure> make(int hidden);
    TemporaryFile(TemporaryFile&& other) noexcept;
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();  // removes it, unless it has moved

    std::optional<AttemptFailure> append(std::string_view bytes);
    // The time is that of the clock, and later than `least`; then nothing is appended.
    std::optional<AttemptFailure> finish(const timespec& least = {});

    // The object has its place now, and this name is no longer one of it.
    void has_moved() { name_.clear(); }

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] int number() const { return *file_; }
    [[nodiscard]] const timespec& time() const { return time_; }
    [[nodiscard]] std::uint64_t size() const { return size_; }

private:
    TemporaryFile(int hidden, std::string name, system::OpenFile file);

    int hidden_;
    std::string name_;
    system::OpenFile file_;
    timespec time_{};
    std::uint64_t size_ = 0;
};

[[nodiscard]] bool is_later(const timespec& a, const timespec& b);

// Whether the file system keeps the time of a file to the nanosecond, or the error.
[[nodiscard]] std::variant<bool, AttemptFailure> keeps_nanoseconds(int hidden);

// Removes the files of writers that are gone, if they are as old as this.
void sweep_leftovers(int hidden, Duration age);

}  // namespace baton::folder
