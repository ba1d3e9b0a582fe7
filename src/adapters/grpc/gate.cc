#include "adapters/grpc/gate.h"

#include <utility>

#include <grpcpp/server_context.h>

namespace baton::rpc {

Result<identity::Peer> Gate::let_coordinator_in(grpc::CallbackServerContext& context) {
    auto peer = trust_->judge(context, worker_);
    if (!peer) return refused(context, peer.error());
    if (const auto may = identity::check_commands(*peer); !may)
        return refused(context, may.error());
    return peer;
}

Result<identity::Peer> Gate::let_sender_in(grpc::CallbackServerContext& context) {
    auto peer = trust_->judge(context, worker_);
    if (!peer) return refused(context, peer.error());
    return peer;
}

Result<identity::Peer> Gate::refused(const grpc::CallbackServerContext& context,
                                     const Error& error) {
    refusals_.say("a call from " + context.peer() + " is refused: " + error.message);
    return error;
}

grpc::Status status_of(const Error& error) {
    grpc::StatusCode code = grpc::StatusCode::UNAVAILABLE;
    if (error.code == ErrorCode::not_authenticated) code = grpc::StatusCode::UNAUTHENTICATED;
    if (error.code == ErrorCode::not_permitted) code = grpc::StatusCode::PERMISSION_DENIED;
    if (error.code == ErrorCode::unknown_worker) code = grpc::StatusCode::NOT_FOUND;
    return {code, error.hint.empty() ? error.message : error.message + "; " + error.hint};
}

}  // namespace baton::rpc
