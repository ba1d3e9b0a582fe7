#include "adapters/grpc/grpc_server.h"

#include <chrono>
#include <utility>

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/exchange_wire.h"
#include "adapters/system/listening.h"
#include "base/check.h"

namespace baton::rpc {

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

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const GrpcServerOptions& options,
                                                      const std::vector<grpc::Service*>& services) {
    TRY_ASSIGN(credentials, options.trust->server());
    grpc::ServerBuilder builder;
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
    for (grpc::Service* service : services) builder.RegisterService(service);
    std::unique_ptr<GrpcServer> made(new GrpcServer);
    std::vector<system::ListeningSockets> listening;
    for (const Address& address : options.listen) {
        TRY_ASSIGN(one, system::listen_at(address));
        made->ports_.push_back(one.port);
        listening.push_back(std::move(one));
    }
    using External = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    made->acceptor_ =
        builder.experimental().AddExternalConnectionAcceptor(External::FROM_FD, credentials);
    made->server_ = builder.BuildAndStart();
    CHECK(made->server_ != nullptr);
    made->porter_ = std::make_unique<Porter>(
        std::move(listening), options.trust->admits(),
        [acceptor = made->acceptor_.get()](int connection) {
            grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
            parameters.fd = connection;
            acceptor->HandleNewConnection(&parameters);
        },
        options.log);
    return made;
}

GrpcServer::~GrpcServer() {
    porter_.reset();
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
}

}  // namespace baton::rpc
