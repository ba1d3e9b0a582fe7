#include "adapters/file/system_files.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <ctime>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/system/open_file.h"
#include "adapters/system/wake_up.h"
#include "base/text.h"

namespace baton::files {

namespace {

constexpr Duration kForever = std::chrono::hours(24 * 365);

std::string why(int number) {
    return std::generic_category().message(number);
}

Error failed(ErrorCode code, std::string_view what, const std::string& path, int number,
             std::string hint = {}) {
    return {.code = code,
            .message =
                "cannot " + std::string(what) + " " + baton::in_quotes(path) + ": " + why(number),
            .hint = std::move(hint)};
}

Error cancelled(std::string_view what, const std::string& path) {
    return {.code = ErrorCode::cancelled,
            .message = "cannot " + std::string(what) + " " + baton::in_quotes(path) +
                       ": it was interrupted"};
}

class FileSource final : public ByteSource {
public:
    FileSource(std::string path, system::OpenFile descriptor, bool is_pipe)
        : path_(std::move(path)), descriptor_(std::move(descriptor)), is_expected_(is_pipe) {}

    Result<BytesRead> read(std::span<char> into, Duration patience) override {
        bool waited = false;
        while (true) {
            const auto count = ::read(*descriptor_, into.data(), into.size());
            if (count > 0) {
                return BytesRead{.what = BytesRead::What::bytes,
                                 .count = static_cast<std::size_t>(count)};
            }
            if (count == 0 && !is_expected_) return BytesRead{.what = BytesRead::What::end};
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && errno != EAGAIN)
                return failed(ErrorCode::cannot_read, "read", path_, errno);
            if (waited) return BytesRead{};
            waited = true;
            if (wake_up_.wait(*descriptor_, POLLIN, patience) != system::Woke::ready)
                return BytesRead{};
            is_expected_ = false;
        }
    }

    void interrupt() override { wake_up_.ring(); }

private:
    std::string path_;
    system::OpenFile descriptor_;
    bool is_expected_;  // a pipe to which nobody has come to write yet
    system::WakeUp wake_up_;
};

// A pipe that nobody reads any more is an error, not a signal that ends the process: the signal is
// held back on this thread, and taken off if it came.
class WithoutPipeSignal {
public:
    WithoutPipeSignal() {
        sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    WithoutPipeSignal(const WithoutPipeSignal&) = delete;
    WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;
    ~WithoutPipeSignal() {
        const timespec at_once{};
        if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &at_once);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t pipe_{};
    sigset_t before_{};
    bool was_pending_ = false;
};

// A descriptor that blocks is waited for before each piece: one that is ready has room for a piece
// of PIPE_BUF bytes, so that the write, which nobody can interrupt, does not wait.
enum class Writes : std::uint8_t { whole, in_pieces };

Result<Done> write_all(int descriptor, std::string_view bytes, const std::string& path,
                       const system::WakeUp& wake_up, Writes writes = Writes::whole) {
    const WithoutPipeSignal without_signal;
    while (!bytes.empty()) {
        const bool whole = writes == Writes::whole;
        if (!whole && wake_up.wait(descriptor, POLLOUT, kForever) == system::Woke::rung) {
            return cancelled("write", path);
        }
        const std::size_t most =
            whole ? bytes.size() : std::min<std::size_t>(bytes.size(), PIPE_BUF);
        const auto count = ::write(descriptor, bytes.data(), most);
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
            continue;
        }
        if (errno == EINTR) continue;
        if (errno == ENOSPC || errno == EDQUOT) {
            return failed(ErrorCode::cannot_write, "write", path, errno,
                          "make room there, then start the query again");
        }
        if (errno != EAGAIN) return failed(ErrorCode::cannot_write, "write", path, errno);
        if (wake_up.wait(descriptor, POLLOUT, kForever) == system::Woke::rung) {
            return cancelled("write", path);
        }
    }
    return Done{};
}

class FileSink final : public ByteSink {
public:
    FileSink(std::string path, system::OpenFile descriptor, system::OpenFile directory)
        : path_(std::move(path)),
          descriptor_(std::move(descriptor)),
          directory_(std::move(directory)) {}

    Result<Done> write(std::string_view bytes) override {
        return write_all(*descriptor_, bytes, path_, wake_up_);
    }
    Result<Done> flush() override { return Done{}; }  // it is in the file: others can see it
    Result<Done> finish() override {
        TRY(sync(*descriptor_));
        const system::OpenFile directory(
            ::openat(*directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!directory.is_open()) return failed(ErrorCode::cannot_write, "sync", path_, errno);
        return sync(*directory);
    }
    void interrupt() override { wake_up_.ring(); }

private:
    // What cannot be synced, such as a pipe, need not be.
    Result<Done> sync(int descriptor) const {
        if (::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS) return Done{};
        return failed(ErrorCode::cannot_write, "sync", path_, errno);
    }

    std::string path_;
    system::OpenFile descriptor_;
    system::OpenFile directory_;
    system::WakeUp wake_up_;
};

// One for the process, as standard output is.
std::timed_mutex& print_mutex() {
    static std::timed_mutex mutex;
    return mutex;
}

class PrintSink final : public ByteSink {
public:
    PrintSink() {
        struct stat state {};
        const bool is_file = ::fstat(STDOUT_FILENO, &state) == 0 && S_ISREG(state.st_mode);
        writes_ = is_file ? Writes::whole : Writes::in_pieces;
    }

    // Lines of several sinks stay whole. Whoever waits, for the others or for a reader of standard
    // output, can be interrupted.
    Result<Done> write(std::string_view bytes) override {
        constexpr auto kLook = std::chrono::milliseconds(50);
        std::unique_lock lock(print_mutex(), std::defer_lock);
        do {
            if (wake_up_.rung()) return cancelled("write", kName);
        } while (!lock.try_lock_for(kLook));
        return write_all(STDOUT_FILENO, bytes, kName, wake_up_, writes_);
    }
    Result<Done> flush() override { return Done{}; }
    Result<Done> finish() override { return Done{}; }
    void interrupt() override { wake_up_.ring(); }

private:
    static constexpr const char* kName = "standard output";

    Writes writes_ = Writes::whole;
    system::WakeUp wake_up_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> SystemFiles::read(const std::string& path) {
    TRY_ASSIGN(opened, files_.read(path));
    if (S_ISREG(opened.state.st_mode)) {
        ::posix_fadvise(*opened.file, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return std::unique_ptr<ByteSource>(
        std::make_unique<FileSource>(path, std::move(opened.file), S_ISFIFO(opened.state.st_mode)));
}

// What is there is looked at before it is emptied.
Result<OpenedFile> SystemFiles::write(const std::string& path, bool append) {
    TRY_ASSIGN(place, files_.place(path));
    TRY_ASSIGN(opened, files_.write(path));
    const bool regular = S_ISREG(opened.state.st_mode);
    if (regular && !append && ::ftruncate(*opened.file, 0) != 0) {
        return failed(ErrorCode::cannot_open, "write", path, errno);
    }
    if (append && ::fcntl(*opened.file, F_SETFL, O_APPEND | O_NONBLOCK) != 0) {
        return failed(ErrorCode::cannot_open, "write", path, errno);
    }
    return OpenedFile{.sink = std::make_unique<FileSink>(path, std::move(opened.file),
                                                         std::move(place.directory)),
                      .is_empty = !append || opened.state.st_size == 0};
}

Result<std::unique_ptr<ByteSink>> SystemFiles::print() {
    return std::unique_ptr<ByteSink>(std::make_unique<PrintSink>());
}

}  // namespace baton::files
