// The doors of the daemon, as its settings define them.
#pragma once

#include <memory>

#include "app/serve_command.h"
#include "base/result.h"
#include "base/time.h"
#include "doors/desk/desk.h"
#include "doors/desk/logins.h"
#include "doors/desk/metrics.h"
#include "doors/http/server.h"
#include "doors/pg/server/server.h"
#include "ports/log.h"

namespace baton::app {

class ClientServers {
public:
    // All of them outlive it. Fails with 1xxx, and with cannot_open if a port is taken.
    [[nodiscard]] static Result<std::unique_ptr<ClientServers>> open(
        const Configuration& configuration, desk::Desk& desk, desk::Metrics& metrics,
        desk::Logins& logins, Log& log);

    // The users and tokens of this configuration, and the files of the certificate as they are
    // now. On failure all stays as it is.
    [[nodiscard]] Result<Done> reload(const Configuration& configuration);

    // No new clients; those that are connected may finish for so long.
    void stop(Duration patience);

private:
    ClientServers() = default;

    std::unique_ptr<pgserver::Server> postgres_;  // none: closed
    std::unique_ptr<http::Server> http_;
};

}  // namespace baton::app
