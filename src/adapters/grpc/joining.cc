#include "adapters/grpc/joining.h"

#include <chrono>
#include <utility>

#include <baton/joining.grpc.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/gate.h"
#include "base/text.h"

namespace baton {

namespace {

constexpr int kJoinBytesMax = 64 << 10;
constexpr int kJoinThreadsMax = 8;
constexpr int kJoinStreamsMax = 4;  // of a connection
constexpr int kJoinHandshakeMaxMs = 10'000;
constexpr int kJoinIdleMaxMs = 30'000;
constexpr std::size_t kJoinMemoryMax = std::size_t{64} << 20U;

}  // namespace

class JoinDoor::Service final : public wire::Joining::Service {
public:
    explicit Service(const JoinDoorOptions& options) : options_(options) {}

    grpc::Status Join(grpc::ServerContext* context, const wire::JoinRequest* asked,
                      wire::Certificate* answer) override {
        return answered(*context, "join", options_.join(asked->token(), asked->request()), *answer);
    }
    grpc::Status Renew(grpc::ServerContext* context, const wire::RenewRequest* asked,
                       wire::Certificate* answer) override {
        const auto shown = context->auth_context();
        const auto certificates = shown
                                      ? shown->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME)
                                      : std::vector<grpc::string_ref>();
        if (certificates.size() != 1) {
            return {grpc::StatusCode::UNAUTHENTICATED, "the caller shows no certificate"};
        }
        const std::string certificate(certificates[0].data(), certificates[0].size());
        return answered(*context, "renew its certificate",
                        options_.renew(certificate, asked->request()), *answer);
    }

private:
    grpc::Status answered(const grpc::ServerContext& context, const std::string& what,
                          const Result<std::string>& certificate, wire::Certificate& answer) const {
        if (!certificate) {
            log("a worker at " + context.peer() + " may not " + what + ": " +
                certificate.error().message);
            return status_of(certificate.error());
        }
        log("a worker at " + context.peer() + " could " + what);
        answer.set_certificate(*certificate);
        return grpc::Status::OK;
    }
    void log(const std::string& line) const {
        if (options_.log) options_.log(line);
    }

    const JoinDoorOptions options_;
};

JoinDoor::JoinDoor() = default;

Result<std::unique_ptr<JoinDoor>> JoinDoor::open(const JoinDoorOptions& options) {
    std::unique_ptr<JoinDoor> door(new JoinDoor);
    door->service_ = std::make_unique<Service>(options);
    grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_root_certs = options.tls.ca;
    tls.pem_key_cert_pairs.push_back({options.tls.key, options.tls.cert});
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kJoinStreamsMax);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kJoinHandshakeMaxMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kJoinIdleMaxMs);
    builder.SetResourceQuota(
        grpc::ResourceQuota("joining").SetMaxThreads(kJoinThreadsMax).Resize(kJoinMemoryMax));
    builder.SetMaxReceiveMessageSize(kJoinBytesMax);
    builder.AddListeningPort(target_of(options.listen), grpc::SslServerCredentials(tls),
                             &door->port_bound_);
    builder.RegisterService(door->service_.get());
    door->server_ = builder.BuildAndStart();
    if (!door->server_ || door->port_bound_ == 0) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "cannot listen on " + in_quotes(target_of(options.listen)) +
                                " for workers that join",
                     .at = {},
                     .hint = "is another process there? is it an address of this machine?"};
    }
    door->port_ = static_cast<std::uint16_t>(door->port_bound_);
    return door;
}

JoinDoor::~JoinDoor() {
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
}

Result<std::string> ask_for_certificate(const JoinCall& call) {
    constexpr auto kPatience = std::chrono::seconds(10);
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = call.ca;
    if (call.shown) {
        tls.pem_private_key = call.shown->key;
        tls.pem_cert_chain = call.shown->cert;
    }
    const Dialling dialling{.credentials = grpc::SslCredentials(tls),
                            .server_name = call.server_name,
                            .metadata = {},
                            .recognise = {}};
    const auto stub = wire::Joining::NewStub(
        open_channel(call.address, dialling, Liveness::beats, kJoinBytesMax));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    wire::Certificate answer;
    grpc::Status status;
    if (call.shown) {
        wire::RenewRequest request;
        request.set_request(call.request);
        status = stub->Renew(&context, request, &answer);
    } else {
        wire::JoinRequest request;
        request.set_token(call.token);
        request.set_request(call.request);
        status = stub->Join(&context, request, &answer);
    }
    if (status.ok()) return std::move(*answer.mutable_certificate());
    ErrorCode code = ErrorCode::cannot_connect;
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) {
        code = ErrorCode::not_authenticated;
    }
    if (status.error_code() == grpc::StatusCode::PERMISSION_DENIED) {
        code = ErrorCode::not_permitted;
    }
    return Error{.code = code,
                 .message = "cannot get a certificate from the coordinator at " + call.address +
                            ": " + text_of(status)};
}

}  // namespace baton
