// Server lets clients of PostgreSQL in: psql, drivers, tools. It is a door to the coordinator like
// the others, over the desk.
//
// Threads:  a few of its own for the network, which never wait for the catalog. Each connection
//           runs on a strand; statements run on the desk.
// Bounded:  connections, with and without a login, the time a login may take, the input that a
//           client may send ahead, the memory that it makes us keep, and the output that it may
//           leave unread.
// TCP's keepalive notices a client that is gone at the latest: its statement is cancelled, its
// transaction rolled back, its watches ended. With users in Access they prove their passwords
// (SCRAM-SHA-256); with none every client is an admin, and the caller makes sure that this is
// meant.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "doors/desk/access.h"
#include "doors/desk/desk.h"
#include "doors/desk/logins.h"
#include "doors/desk/metrics.h"
#include "ports/log.h"

namespace baton::pgserver {

struct TlsFiles {             // as adapters/system/server_tls.h has them
    std::string certificate;  // PEM, with the chain to its root
    std::string key;          // PEM
    bool required = false;    // false: clients without TLS are let in, too
};

// Beyond connections_max, for users who have no connection: one user does not keep others out.
constexpr std::size_t kKeptForOthers = 16;

struct ServerOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 5432;  // 0: any
    std::optional<TlsFiles> tls;
    std::size_t threads = 2;
    std::size_t connections_max = 1'000;                // that have logged in
    std::size_t strangers_max = 256;                    // that have not; see doors/desk/strangers.h
    Duration login_timeout = std::chrono::seconds(30);  // in all
    Duration startup_idle_timeout = std::chrono::seconds(10);  // without a byte, until then
    std::size_t output_bytes_max = std::size_t{1} << 20U;      // unsent, before rows are held back
    // Of messages, prepared statements and portals of all, beyond a little for each connection;
    // half of it for one user.
    std::size_t kept_bytes_max = std::size_t{256} << 20U;
    Log* log = nullptr;              // outlives the server; none: nothing is logged
    desk::Logins* logins = nullptr;  // outlives the server; none: no login is delayed
};

class Server {
public:
    // Listens when it returns. Fails with invalid_configuration (the TLS files, the address) and
    // cannot_open (the port is taken). The desk and the metrics outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Server>> open(desk::Desk& desk, desk::Access access,
                                                              desk::Metrics& metrics,
                                                              ServerOptions options = {});
    // stop() without patience.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] std::uint16_t port() const;
    // Replaces the users, and reads the certificate again. A connected client that has lost its
    // access, or has another role now, is disconnected. On failure all stays as it is.
    [[nodiscard]] Result<Done> reload(desk::Access access);
    // No new clients. Clients that run nothing, or something without end, are disconnected (57P01);
    // the others when they are done, at the latest after `patience`.
    void stop(Duration patience);

    struct Load {
        std::size_t connections = 0;
        std::uint64_t accepted = 0;  // since the start
        std::uint64_t refused = 0;   // for want of room
    };
    [[nodiscard]] Load load() const;

private:
    class Inside;
    explicit Server(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace baton::pgserver
