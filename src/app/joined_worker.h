// A worker that has joined a cluster: the files in its data directory, and the thread that renews
// its certificate in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "adapters/system/certificate_files.h"
#include "base/result.h"

namespace baton::app {

// As the directory has it; files that only their owner can read.
struct Joined {
    std::string directory;
    std::string cluster;
    std::string worker;
    std::string address;  // of the coordinator
    std::string nonce;    // of the token that it joined with

    [[nodiscard]] system::TlsFiles files() const;
};

// None: it has joined none. Fails with unreadable_configuration.
[[nodiscard]] Result<std::optional<Joined>> joined_in(const std::string& directory);

// Asks the coordinator of the token `text` for a certificate, and keeps it. Fails with
// invalid_configuration, cannot_connect, not_authenticated and unreadable_configuration.
[[nodiscard]] Result<Joined> join_with(const std::string& text, const std::string& directory);

class Renewal {
public:
    // `log` is called with the results, from its thread.
    Renewal(Joined joined, std::function<void(const std::string&)> log);
    ~Renewal();
    Renewal(const Renewal&) = delete;
    Renewal& operator=(const Renewal&) = delete;

private:
    void run(const std::stop_token& stop);
    // The time until it is to be tried again.
    [[nodiscard]] std::chrono::milliseconds look();

    const Joined joined_;
    const std::function<void(const std::string&)> log_;
    std::mutex mutex_;
    std::condition_variable_any woken_;
    std::jthread thread_;
};

}  // namespace baton::app
