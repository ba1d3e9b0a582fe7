// A daemon under attack: the real program with both doors open, and the canaries that tell whether
// it still lives and works after what was done to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/process.h"
#include "testing/temporary_directory.h"

namespace baton::hostile {

class Daemon {
public:
    // `more`: further arguments of `baton serve`; `through`: a command that starts it and becomes
    // it. Returns when it is ready, or has ended.
    explicit Daemon(const std::vector<std::string>& more = {},
                    const std::vector<std::string>& through = {});
    // Ends it in order, and starts it again on the same data and ports; `meanwhile` is done
    // between.
    void restart(const std::function<void()>& meanwhile = {});

    [[nodiscard]] const std::string& pg_port() const { return pg_; }
    [[nodiscard]] const std::string& http_port() const { return http_; }
    [[nodiscard]] std::string data() const { return directory_ / "d"; }
    [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
    [[nodiscard]] cli::Process& process() { return *process_; }

    // Statements by psql, rows without decoration; it stops at the first error.
    [[nodiscard]] cli::Ended psql(const std::string& statement,
                                  const std::string& user = "ann") const;
    // `path` begins with a slash; `more`: further arguments of curl. The last line is the status.
    [[nodiscard]] cli::Ended curl(const std::string& path,
                                  const std::vector<std::string>& more = {}) const;
    // A text of statements in one request, of any length and any bytes. The last line is the
    // status.
    [[nodiscard]] cli::Ended post_sql(const std::string& text) const;

    // The canary: a write by a well-behaved client succeeds, and is read back, within the time.
    [[nodiscard]] bool takes_a_write(std::chrono::milliseconds within = std::chrono::seconds(10));
    // In MB, as /proc has it.
    [[nodiscard]] std::size_t memory_mb() const;
    // The most it had in memory since it began, or since the last forget_peak().
    [[nodiscard]] std::size_t peak_mb() const;
    void forget_peak() const;
    [[nodiscard]] std::size_t threads() const;
    // What it wrote to its log so far; it is read when the process has ended.
    [[nodiscard]] std::string ended_log();

private:
    void start();

    testing::TemporaryDirectory directory_;
    std::vector<std::string> more_;
    std::vector<std::string> through_;
    std::string pg_;
    std::string http_;
    std::unique_ptr<cli::Process> process_;
    int writes_ = 0;
};

// A TCP connection to a door of this machine. It is closed with its owner.
class Socket {
public:
    explicit Socket(const std::string& port);
    ~Socket();
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&&) = delete;

    [[nodiscard]] bool is_open() const { return socket_ >= 0; }
    // False: the other side has closed it.
    [[nodiscard]] bool send(std::string_view bytes) const;
    // Reads until the text came, the other side closed it, or the time is over.
    [[nodiscard]] std::string read_until(std::string_view text,
                                         std::chrono::milliseconds within) const;

private:
    int socket_ = -1;
};

}  // namespace baton::hostile
