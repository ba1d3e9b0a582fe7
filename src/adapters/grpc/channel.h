// How connections are made and accepted; internal to this adapter.
//
// Every stream has a connection of its own: a gRPC channel that failed once refuses to try again
// for a while, and callers here decide themselves when to. One whose stream ended well may serve
// another.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/grpc/tls.h"
#include "base/result.h"
#include "model/entities.h"

namespace grpc {
class Channel;
class ChannelCredentials;
class ServerCredentials;
class Status;
}  // namespace grpc

namespace baton {

inline constexpr int kLookaheadBytes = 4 << 20;  // HTTP/2's own window; our grants are the bound

// "host:port"; a host with colons gets its brackets.
[[nodiscard]] std::string target_of(const Address& address);

// Without files: no encryption. Fail with unreadable_configuration.
[[nodiscard]] Result<std::shared_ptr<grpc::ChannelCredentials>> client_credentials(
    const std::optional<TlsFiles>& files);
[[nodiscard]] Result<std::shared_ptr<grpc::ServerCredentials>> server_credentials(
    const std::optional<TlsFiles>& files);

enum class Liveness : std::uint8_t {
    beats,  // whoever uses the connection finds out by itself
    pings,  // HTTP/2 pings end a connection whose other end is gone without a word
};

// Does not wait for the connection.
[[nodiscard]] std::shared_ptr<grpc::Channel> open_channel(
    const std::string& target, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    Liveness liveness, std::size_t message_max);

// Connections for streams that come and go: making one costs both ends about a millisecond of
// processor time. It keeps those that were given back and closes what nobody has used for a while.
class ChannelPool {
public:
    explicit ChannelPool(std::shared_ptr<grpc::ChannelCredentials> credentials)
        : credentials_(std::move(credentials)) {}

    // With pings. Does not wait for the connection.
    [[nodiscard]] std::shared_ptr<grpc::Channel> take(const std::string& target);
    // Only one that worked until the end.
    void give_back(const std::string& target, std::shared_ptr<grpc::Channel> channel);

private:
    const std::shared_ptr<grpc::ChannelCredentials> credentials_;
    std::mutex mutex_;
    std::map<std::string, std::vector<std::shared_ptr<grpc::Channel>>> idle_;  // by target
};

// Why a call ended, for a message.
[[nodiscard]] std::string text_of(const grpc::Status& status);

}  // namespace baton
