// PostgreSQL as a peer, and pgbench as the client of whoever speaks its protocol.
#pragma once

#include <cstdint>
#include <string>

#include "bench/measure.h"

namespace baton::bench {

// Whether PostgreSQL 15 with pgbench is on this machine.
[[nodiscard]] bool has_postgres();

// A server of its own in that directory, which it is made in, as it is installed but for the number
// of connections and shared_buffers: every commit is synced. Run as another user if this is root.
// Stopped at the end.
class PostgresPeer {
public:
    explicit PostgresPeer(std::string directory);
    PostgresPeer(const PostgresPeer&) = delete;
    PostgresPeer& operator=(const PostgresPeer&) = delete;
    ~PostgresPeer();

    [[nodiscard]] std::uint16_t port() const { return port_; }
    void run(const std::string& statements) const;
    // Of all its processes, those that have ended as well.
    [[nodiscard]] double cpu_seconds() const;

private:
    const std::string directory_;
    std::uint16_t port_ = 0;
    long postmaster_ = 0;
};

// `clients` connections of pgbench run the script again and again, each one after the other, as a
// simple query. The CPU time is left open. The directory is for its files.
struct PgbenchRun {
    std::uint16_t port = 0;
    std::string script;
    unsigned clients = 1;
    unsigned seconds = 1;
};
[[nodiscard]] Measured pgbench(const std::string& directory, const PgbenchRun& run);

}  // namespace baton::bench
