#include "adapters/grpc/channel.h"

#include <climits>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/status.h>

#include "adapters/grpc/exchange_wire.h"
#include "base/text.h"

namespace baton::rpc {

namespace {

constexpr int kPingEveryMs = 20'000;
constexpr int kPingTimeoutMs = 10'000;
// A connection that is not used is not pinged either, so it is not trusted for long.
constexpr int kIdleMostMs = 10'000;
constexpr std::size_t kIdleMost = 8;  // of one target

// gRPC's threads end with the last channel that used them, and wait for each other then: they wait
// for ever, or abort, if one of them is where that channel ended, and ours do end there. So one
// channel that leads nowhere is there for the life of the process.
class NoCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
public:
    explicit NoCall(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {
        stub_.PrepareBidiStreamingCall(&context_, "/none/none", {}, this);
        StartCall();
    }
    void OnDone(const grpc::Status& /*status*/) override { delete this; }

private:
    grpc::GenericStub stub_;
    grpc::ClientContext context_;
};

class KeptThreads {
public:
    KeptThreads()
        : channel_(grpc::CreateChannel("unix:/nowhere", grpc::InsecureChannelCredentials())) {
        new NoCall(channel_);
    }
    [[nodiscard]] bool are_there() const { return channel_ != nullptr; }

private:
    std::shared_ptr<grpc::Channel> channel_;
};

void keep_threads() {
    // Never ends: what it needs of other libraries may end before it would.
    static const KeptThreads* const kThreads = new KeptThreads;
    CHECK(kThreads->are_there());
}

}  // namespace

std::string target_of(const Address& address) {
    const bool bare = address.host.find(':') != std::string::npos && address.host[0] != '[';
    const std::string host = bare ? "[" + address.host + "]" : address.host;
    return host + ":" + std::to_string(address.port);
}

std::shared_ptr<grpc::Channel> open_channel(const std::string& target, const Dialling& dialling,
                                            Liveness liveness, std::size_t message_max) {
    keep_threads();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetMaxReceiveMessageSize(static_cast<int>(message_max));
    arguments.SetMaxSendMessageSize(static_cast<int>(message_max));
    if (liveness == Liveness::beats) {
        arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, INT_MAX);
    } else {
        arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
        arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
        arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
        arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kLookaheadBytes);
        arguments.SetInt(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, kIdleMostMs);
    }
    if (!dialling.server_name.empty()) arguments.SetSslTargetNameOverride(dialling.server_name);
    return grpc::CreateCustomChannel(target, dialling.credentials, arguments);
}

std::shared_ptr<grpc::Channel> ChannelPool::take(const std::string& target,
                                                 const Dialling& dialling) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = idle_.find({target, dialling.server_name});
        if (found != idle_.end()) {
            auto channel = std::move(found->second.back());
            found->second.pop_back();
            if (found->second.empty()) idle_.erase(found);
            return channel;
        }
    }
    return open_channel(target, dialling, Liveness::pings, kExchangeBytesMax);
}

void ChannelPool::give_back(const std::string& target, const Dialling& dialling,
                            std::shared_ptr<grpc::Channel> channel) {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[{target, dialling.server_name}];
    if (idle.size() < kIdleMost) idle.push_back(std::move(channel));
}

void introduce(const Dialling& dialling, grpc::ClientContext& context) {
    for (const auto& [key, value] : dialling.metadata) context.AddMetadata(key, value);
}

std::string text_of(const grpc::Status& status) {
    if (status.ok()) return "the other end closed the stream";
    const std::string text = status.error_message();
    const std::string_view mark = "last error: ";
    const std::size_t at = text.find(mark);
    if (at != std::string::npos) return text.substr(at + mark.size());
    return text.empty() ? "gRPC status " + std::to_string(status.error_code()) : text;
}

}  // namespace baton::rpc
