// ControlServer is the worker's end of control connections over gRPC: a service for a GrpcServer.
//
// Rules:
//   - gRPC's threads only translate and call the listener; nothing waits on them.
//   - The queue of a session is bounded: a coordinator that takes nothing is cut off.
//   - A call is refused before anything of it is read unless a coordinator makes it.
//   - A message that cannot be understood ends its session, and so does a call for another worker.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "adapters/grpc/trust.h"
#include "ports/sessions.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace baton::rpc {

struct ControlServerOptions {
    std::string worker;                // whose name calls must have, in any case
    std::size_t waiting_max = 20'000;  // messages to be sent on one session
    std::size_t waiting_bytes_max = 64 << 20;
    std::shared_ptr<Trust> trust = user_trust();
    // Called with events for people, from any thread: calls, and callers that were cut off, with
    // the reason.
    std::function<void(const std::string&)> log;
};

class ControlServer final : public Sessions {
public:
    explicit ControlServer(const ControlServerOptions& options);
    ~ControlServer() override;  // after the server that has its service

    [[nodiscard]] grpc::Service& service();

    void listen(Listener listener) override;
    void welcome(sessions::Session session, const sessions::GreetingAnswer& outcome) override;
    void send(sessions::Session session, const control::Up& message) override;
    void hang_up(sessions::Session session) override;

private:
    class Service;
    class Call;

    std::unique_ptr<Service> service_;
};

}  // namespace baton::rpc
