// JoinDoor is the port of a coordinator at which workers ask for certificates, over HTTPS:
//
//     POST /join     Authorization: Bearer TOKEN; the body is a request for a certificate (PEM)
//     POST /renew    the same, over a connection that shows the certificate of now
//
// The answer is the certificate (PEM), or a sentence. Strangers reach this port, so all that they
// can make it keep is bounded: connections, bytes, and the time until a request is there. A
// connection has one request. It is not gRPC, whose library lets a stranger take any amount of
// memory with streams that are opened and reset.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "adapters/system/certificate_files.h"
#include "base/result.h"
#include "base/time.h"
#include "model/entities.h"

namespace baton::joining {

struct JoinDoorOptions {
    Address listen;        // port 0: any that is free
    system::TlsTexts tls;  // of the coordinator
    // The certificate for a token, and for a certificate that is still good, each with a request.
    // From any thread, several at once; they may wait.
    using Give =
        std::function<Result<std::string>(const std::string& proof, const std::string& request)>;
    Give join;
    Give renew;
    // Hears of each worker that joined, and of some that were refused; from any thread.
    std::function<void(const std::string&)> log;

    std::size_t connections_max = 64;  // then the oldest without a request gives way
    std::size_t served_max = 16;       // requests at a time; more are refused
    Duration request_timeout = std::chrono::seconds(10);
};

class JoinDoor {
public:
    // Fails with invalid_configuration where the address cannot be had, or the certificate not
    // used.
    [[nodiscard]] static Result<std::unique_ptr<JoinDoor>> open(const JoinDoorOptions& options);
    ~JoinDoor();  // waits for requests under way
    JoinDoor(const JoinDoor&) = delete;
    JoinDoor& operator=(const JoinDoor&) = delete;

    [[nodiscard]] std::uint16_t port() const;

private:
    class Inside;
    explicit JoinDoor(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace baton::joining
