#include "adapters/grpc/grpc_server.h"

#include <chrono>
#include <utility>

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/exchange_wire.h"
#include "base/text.h"

namespace baton {

namespace {

constexpr int kPingsAtLeastEveryMs = 5'000;
// Who lives is told by beats. These are for what a peer that vanished without a word left behind.
constexpr int kForgottenAfterMs = 60'000;
constexpr int kForgottenAnswerMs = 20'000;
// Each of our own streams has a connection of its own.
constexpr int kStreamsOfAConnectionMax = 16;
constexpr int kHandshakeMaxMs = 10'000;
constexpr int kIdleMaxMs = 60'000;  // without any call
constexpr std::size_t kMemoryMax = std::size_t{1} << 30U;

}  // namespace

GrpcServer::GrpcServer(std::unique_ptr<grpc::Server> server, std::vector<std::uint16_t> ports)
    : server_(std::move(server)), ports_(std::move(ports)) {}

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const GrpcServerOptions& options,
                                                      const std::vector<grpc::Service*>& services) {
    TRY_ASSIGN(credentials, options.trust->server());
    grpc::ServerBuilder builder;
    // Without this, two workers could have the same port and share its callers.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                               kPingsAtLeastEveryMs);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kForgottenAfterMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kForgottenAnswerMs);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kLookaheadBytes);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfAConnectionMax);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMaxMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMaxMs);
    builder.SetResourceQuota(grpc::ResourceQuota("worker").Resize(kMemoryMax));
    builder.SetMaxReceiveMessageSize(static_cast<int>(kExchangeBytesMax));
    builder.SetMaxSendMessageSize(static_cast<int>(kExchangeBytesMax));
    std::vector<int> bound(options.listen.size(), 0);
    for (std::size_t i = 0; i < bound.size(); ++i) {
        builder.AddListeningPort(target_of(options.listen[i]), credentials, &bound[i]);
    }
    for (grpc::Service* service : services) builder.RegisterService(service);
    auto server = builder.BuildAndStart();
    std::vector<std::uint16_t> ports;
    for (std::size_t i = 0; i < bound.size(); ++i) {
        if (server == nullptr || bound[i] == 0) {
            return Error{.code = ErrorCode::invalid_configuration,
                         .message = "cannot listen on " + in_quotes(target_of(options.listen[i])),
                         .at = {},
                         .hint = "is another process there? is it an address of this machine?"};
        }
        ports.push_back(static_cast<std::uint16_t>(bound[i]));
    }
    return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(server), std::move(ports)));
}

GrpcServer::~GrpcServer() {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
}

}  // namespace baton
