// GrpcTransport dials workers: one gRPC stream, on a connection of its own, for each attempt.
//
// Rules:
//   - gRPC's threads only translate and call the listener; nothing waits on them.
//   - The queue of a stream is bounded: a worker that takes nothing is cut off.
//   - A message that cannot be understood ends its stream. So does a worker that is not the one
//     asked for, or does not prove it.
// There are no HTTP/2 pings: membership finds silent workers by its beats.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "adapters/grpc/trust.h"
#include "base/result.h"
#include "base/time.h"
#include "ports/transport.h"

namespace baton::rpc {

struct GrpcTransportOptions {
    Duration dial_timeout = std::chrono::seconds(5);  // up to the Welcome
    std::size_t waiting_max = 20'000;                 // messages to be sent on one stream
    std::size_t waiting_bytes_max = 64 << 20;
    std::shared_ptr<Trust> trust = user_trust();
};

class GrpcTransport final : public Transport {
public:
    explicit GrpcTransport(const GrpcTransportOptions& options = {});
    // Ends all streams and waits until they have.
    ~GrpcTransport() override;

    void listen(Listener listener) override;
    void dial(const std::string& worker, const std::optional<Address>& address,
              transport::Attempt attempt, const control::Hello& hello) override;
    void send(const std::string& worker, transport::Attempt attempt,
              const control::Down& message) override;
    void hang_up(const std::string& worker, transport::Attempt attempt) override;

private:
    struct Calls;  // what streams and their owner share
    class Call;

    std::unique_ptr<Calls> calls_;
};

}  // namespace baton::rpc
