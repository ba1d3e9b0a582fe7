// ExchangeService lets senders on other workers reach the receivers of this process; internal to
// this adapter.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace grpc {
class Service;
}  // namespace grpc

namespace baton::rpc {

class Receivers;
class Trust;

// `receivers` outlives the service. `worker` is the name of this worker. `log` gets a line for each
// sender that is cut off, from any thread.
[[nodiscard]] std::unique_ptr<grpc::Service> make_exchange_service(
    Receivers& receivers, std::shared_ptr<Trust> trust, std::string worker,
    std::function<void(const std::string&)> log);

}  // namespace baton::rpc
