// Joining over gRPC: the door of a coordinator, and the worker that knocks.
//
// The coordinator shows a certificate of its cluster. The worker knows the issuer, from its token
// or from when it joined, and says nothing to a process that shows no such certificate.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapters/grpc/tls.h"
#include "base/result.h"
#include "model/entities.h"

namespace grpc {
class Server;
}  // namespace grpc

namespace baton {

struct JoinDoorOptions {
    Address listen;  // port 0: any that is free
    TlsTexts tls;    // of the coordinator
    // The certificate for a token, and for a certificate that is still good, each with a request.
    // From any thread, several at once.
    using Give =
        std::function<Result<std::string>(const std::string& proof, const std::string& request)>;
    Give join;
    Give renew;
    // Told of each worker that joined or was refused, from any thread.
    std::function<void(const std::string&)> log;
};

class JoinDoor {
public:
    // Fails with invalid_configuration where the address cannot be had.
    [[nodiscard]] static Result<std::unique_ptr<JoinDoor>> open(const JoinDoorOptions& options);
    ~JoinDoor();
    JoinDoor(const JoinDoor&) = delete;
    JoinDoor& operator=(const JoinDoor&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    class Service;
    JoinDoor();

    std::unique_ptr<Service> service_;
    std::unique_ptr<grpc::Server> server_;
    int port_bound_ = 0;
    std::uint16_t port_ = 0;
};

struct JoinCall {
    std::string address;      // of the coordinator, host:port
    std::string server_name;  // that its certificate must have
    std::string ca;           // PEM
    // The worker's own, to renew it; none: it joins.
    std::optional<TlsTexts> shown;
    std::string token;    // to join
    std::string request;  // for a certificate
};

// The certificate. Waits for some seconds. Fails with cannot_connect, and with not_authenticated
// and not_permitted if it is refused.
[[nodiscard]] Result<std::string> ask_for_certificate(const JoinCall& call);

}  // namespace baton
