// Gate lets callers of a worker in, or refuses them before anything of their call is read; internal
// to this adapter.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include "adapters/grpc/trust.h"
#include "adapters/system/seldom.h"
#include "base/result.h"

namespace baton::rpc {

class Gate {
public:
    // `worker` is the name of this one. `log` is called for refusals, a few times a minute at most.
    Gate(std::shared_ptr<Trust> trust, std::string worker,
         std::function<void(const std::string&)> log)
        : trust_(std::move(trust)), worker_(std::move(worker)), refusals_(std::move(log)) {}

    // One that may command this worker and fetch rows from it.
    [[nodiscard]] Result<identity::Peer> let_coordinator_in(grpc::CallbackServerContext& context);
    // One that may send rows, under names that check_sends_as() allows.
    [[nodiscard]] Result<identity::Peer> let_sender_in(grpc::CallbackServerContext& context);

private:
    Result<identity::Peer> refused(const grpc::CallbackServerContext& context, const Error& error);

    const std::shared_ptr<Trust> trust_;
    const std::string worker_;
    system::Seldom refusals_;
};

// The error as a caller sees it, with the hint.
[[nodiscard]] grpc::Status status_of(const Error& error);

// A call that ends at once. It owns itself.
template <class In, class Out>
class Refusing final : public grpc::ServerBidiReactor<In, Out> {
public:
    explicit Refusing(const Error& error) { this->Finish(status_of(error)); }
    void OnDone() override { delete this; }
};

}  // namespace baton::rpc
