#include "adapters/grpc/gate.h"

#include <utility>

#include <grpcpp/server_context.h>

namespace baton {

Result<Peer> Gate::let_coordinator_in(grpc::CallbackServerContext& context) {
    auto peer = trust_->judge(context, worker_);
    if (!peer) return refused(context, peer.error());
    if (const auto may = check_commands(*peer); !may) return refused(context, may.error());
    return peer;
}

Result<Peer> Gate::let_sender_in(grpc::CallbackServerContext& context) {
    auto peer = trust_->judge(context, worker_);
    if (!peer) return refused(context, peer.error());
    return peer;
}

Result<Peer> Gate::refused(const grpc::CallbackServerContext& context, const Error& error) {
    constexpr auto kQuiet = std::chrono::seconds(10);
    const auto now = std::chrono::steady_clock::now();
    std::uint64_t unsaid = 0;
    {
        const std::lock_guard lock(mutex_);
        if (now < quiet_until_) {
            unsaid_ += 1;
            return error;
        }
        quiet_until_ = now + kQuiet;
        unsaid = std::exchange(unsaid_, 0);
    }
    if (log_) {
        log_("a call from " + context.peer() + " is refused: " + error.message +
             (unsaid == 0 ? "" : ", and " + std::to_string(unsaid) + " more before it"));
    }
    return error;
}

grpc::Status status_of(const Error& error) {
    grpc::StatusCode code = grpc::StatusCode::UNAVAILABLE;
    if (error.code == ErrorCode::not_authenticated) code = grpc::StatusCode::UNAUTHENTICATED;
    if (error.code == ErrorCode::not_permitted) code = grpc::StatusCode::PERMISSION_DENIED;
    if (error.code == ErrorCode::unknown_worker) code = grpc::StatusCode::NOT_FOUND;
    return {code, error.hint.empty() ? error.message : error.message + "; " + error.hint};
}

}  // namespace baton
