// GrpcServer accepts connections for the services that it is given, all of them on every address.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "adapters/grpc/tls.h"
#include "base/result.h"
#include "model/entities.h"

namespace grpc {
class Server;
class Service;
}  // namespace grpc

namespace baton {

struct GrpcServerOptions {
    std::vector<Address> listen;  // port 0: any that is free
    std::optional<TlsFiles> tls;
};

class GrpcServer {
public:
    // The services outlive it. Fails with invalid_configuration where an address cannot be had, and
    // unreadable_configuration for files of TLS.
    [[nodiscard]] static Result<std::unique_ptr<GrpcServer>> start(
        const GrpcServerOptions& options, const std::vector<grpc::Service*>& services);
    // Ends every stream and waits until it has.
    ~GrpcServer();
    GrpcServer(const GrpcServer&) = delete;
    GrpcServer& operator=(const GrpcServer&) = delete;

    // In the order of the addresses.
    [[nodiscard]] const std::vector<std::uint16_t>& ports() const { return ports_; }

private:
    GrpcServer(std::unique_ptr<grpc::Server> server, std::vector<std::uint16_t> ports);

    std::unique_ptr<grpc::Server> server_;
    std::vector<std::uint16_t> ports_;
};

}  // namespace baton
