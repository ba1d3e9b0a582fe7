// Server is the HTTP door: it listens, reads requests, has them served, writes answers and events.
//
// One thread of its own does all of the network and never waits for the catalog. Everything a
// client can make it keep is bounded: header, body, connections, and the time for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "doors/desk/access.h"
#include "doors/desk/desk.h"
#include "doors/desk/metrics.h"
#include "doors/http/service.h"

namespace baton::http {

struct TlsFiles {             // as adapters/system/server_tls.h has them
    std::string certificate;  // a chain, PEM
    std::string key;
};

struct ServerOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any that is free
    std::optional<TlsFiles> tls;

    std::size_t header_bytes_max = std::size_t{16} * 1024;
    std::size_t body_bytes_max = std::size_t{16} * 1024 * 1024;
    // Of all requests that are read or served at a time, half of it for one user; beyond that those
    // of more than 64 KB are refused with 503.
    std::size_t bodies_bytes_max = std::size_t{256} * 1024 * 1024;
    std::size_t connections_max = 4'096;
    std::size_t requests_per_connection_max = 10'000;
    Duration header_timeout = std::chrono::seconds(10);
    Duration body_timeout = std::chrono::seconds(60);
    Duration idle_timeout = std::chrono::seconds(75);
    Duration write_timeout = std::chrono::seconds(120);  // that a client takes nothing
    Duration keep_alive = std::chrono::seconds(15);      // a comment in a stream without events

    ServiceOptions service;
};

class Server {
public:
    // The desk and the metrics outlive it. If Access has no users or tokens, every client may come
    // in; the caller makes sure that this is meant. Fails with invalid_configuration: the address
    // cannot be listened at, or the certificate cannot be used.
    [[nodiscard]] static Result<std::unique_ptr<Server>> open(desk::Desk& desk,
                                                              const desk::Access& access,
                                                              desk::Metrics& metrics,
                                                              const ServerOptions& options = {});
    ~Server();  // stops at once
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] std::uint16_t port() const;
    // Replaces users and tokens, and reads the certificate again; streams of clients that lost
    // their access end. On failure all stays as it is.
    [[nodiscard]] Result<Done> reload(desk::Access access);
    // No new clients; streams end, and requests under way may finish for so long, and are then
    // cancelled. Idempotent.
    void stop(Duration patience);

private:
    class Inside;
    explicit Server(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace baton::http
