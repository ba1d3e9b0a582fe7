// GrpcServer accepts connections for the services that it is given, all of them on every address.
//
// Where callers prove themselves by the secret of their user, connections of other users of this
// machine are shut out (porter.h). A connection that does not get to a call in time is closed; the
// calls of a connection and what all of them hold in memory are bounded. The services ask each call
// for its proof (gate.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/grpc/porter.h"
#include "adapters/grpc/trust.h"
#include "base/result.h"
#include "model/entities.h"

namespace grpc {
class Server;
class Service;
namespace experimental {
class ExternalConnectionAcceptor;
}  // namespace experimental
}  // namespace grpc

namespace baton::rpc {

struct GrpcServerOptions {
    std::vector<Address> listen;  // port 0: any that is free
    std::shared_ptr<Trust> trust = user_trust();
    // Hears of connections that are shut out, a few times a minute at most; from any thread.
    std::function<void(const std::string&)> log;
};

class GrpcServer {
public:
    // The services outlive it. Fails with invalid_configuration where an address cannot be had, and
    // unreadable_configuration for its own certificate or secret.
    [[nodiscard]] static Result<std::unique_ptr<GrpcServer>> start(
        const GrpcServerOptions& options, const std::vector<grpc::Service*>& services);
    // Ends every stream and waits until it has.
    ~GrpcServer();
    GrpcServer(const GrpcServer&) = delete;
    GrpcServer& operator=(const GrpcServer&) = delete;

    // In the order of the addresses.
    [[nodiscard]] const std::vector<std::uint16_t>& ports() const { return ports_; }

private:
    GrpcServer() = default;

    std::unique_ptr<grpc::Server> server_;
    std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
    std::unique_ptr<Porter> porter_;
    std::vector<std::uint16_t> ports_;
};

}  // namespace baton::rpc
