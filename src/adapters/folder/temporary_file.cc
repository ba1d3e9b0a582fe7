#include "adapters/folder/temporary_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <random>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/folder/places.h"

namespace baton::folder {

namespace {

constexpr const char* kBegin = "put-";
constexpr const char* kCannotWrite = "cannot write a temporary file";

timespec now_in_nanoseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

timespec one_after(timespec time) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    if (++time.tv_nsec < kSecond) return time;
    return {.tv_sec = time.tv_sec + 1, .tv_nsec = 0};
}

bool set_time(int file, const timespec& time) {
    const std::array<timespec, 2> times = {time, time};
    return ::futimens(file, times.data()) == 0;
}

// Unlike those of all other writers, of this process and others.
std::string random_name() {
    thread_local std::random_device device;
    std::array<char, 40> name{};
    std::snprintf(name.data(), name.size(), "%s%08x%08x%08x", kBegin, device(), device(), device());
    return name.data();
}

}  // namespace

bool is_later(const timespec& a, const timespec& b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

TemporaryFile::TemporaryFile(int hidden, std::string name, system::OpenFile file)
    : hidden_(hidden), name_(std::move(name)), file_(std::move(file)) {}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : hidden_(other.hidden_),
      name_(std::exchange(other.name_, {})),
      file_(std::move(other.file_)),
      time_(other.time_),
      size_(other.size_) {}

TemporaryFile::~TemporaryFile() {
    if (!name_.empty()) ::unlinkat(hidden_, name_.c_str(), 0);
}

std::variant<TemporaryFile, AttemptFailure> TemporaryFile::make(int hidden) {
    constexpr mode_t kMode = 0666;  // less the mask of the process
    std::string name = random_name();
    system::OpenFile file(
        ::openat(hidden, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode));
    if (!file.is_open()) return failure_of(errno, kCannotWrite);
    // Where there are no such locks, leftovers are known by their age alone.
    (void)::flock(*file, LOCK_SH | LOCK_NB);
    return TemporaryFile(hidden, std::move(name), std::move(file));
}

std::optional<AttemptFailure> TemporaryFile::append(std::string_view bytes) {
    size_ += bytes.size();
    while (!bytes.empty()) {
        const auto count = ::write(*file_, bytes.data(), bytes.size());
        if (count < 0 && errno != EINTR) return failure_of(errno, kCannotWrite);
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return std::nullopt;
}

std::optional<AttemptFailure> TemporaryFile::finish(const timespec& least) {
    time_ = now_in_nanoseconds();
    if (!is_later(time_, least)) time_ = one_after(least);
    if (!set_time(*file_, time_)) return failure_of(errno, "cannot set the time of a file");
    if (::fsync(*file_) != 0) return failure_of(errno, "cannot sync a temporary file");
    return std::nullopt;
}

std::variant<bool, AttemptFailure> keeps_nanoseconds(int hidden) {
    auto made = TemporaryFile::make(hidden);
    if (auto* failure = std::get_if<AttemptFailure>(&made)) return std::move(*failure);
    const int file = std::get<TemporaryFile>(made).number();
    const timespec odd{.tv_sec = 1'700'000'001, .tv_nsec = 123'456'789};
    struct stat state {};
    if (!set_time(file, odd) || ::fstat(file, &state) != 0) {
        return failure_of(errno, "cannot set the time of a file");
    }
    return state.st_mtim.tv_sec == odd.tv_sec && state.st_mtim.tv_nsec == odd.tv_nsec;
}

void sweep_leftovers(int hidden, Duration age) {
    system::OpenFile directory = open_beneath(hidden, "", O_RDONLY | O_DIRECTORY);
    if (!directory.is_open()) return;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(*directory), ::closedir);
    if (!stream) return;
    (void)directory.release();  // the stream closes it
    const std::int64_t now = now_in_nanoseconds().tv_sec;
    while (const dirent* entry = ::readdir(stream.get())) {
        const char* const name = static_cast<const char*>(entry->d_name);
        if (!std::string_view(name).starts_with(kBegin)) continue;
        const system::OpenFile file(
            ::openat(hidden, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        struct stat state {};
        if (!file.is_open() || ::fstat(*file, &state) != 0) continue;
        const bool is_old = std::chrono::seconds(now - state.st_mtim.tv_sec) >= age;
        if (!is_old || ::flock(*file, LOCK_EX | LOCK_NB) != 0) continue;
        ::unlinkat(hidden, name, 0);
    }
}

}  // namespace baton::folder
