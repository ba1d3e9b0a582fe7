// Channels are the connections of this adapter; internal to it.
//
// Every stream has a connection of its own: a gRPC channel that failed once refuses to try again
// for a while, and callers here decide themselves when to try. A channel whose stream ended well
// may serve another stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/grpc/trust.h"
#include "base/result.h"
#include "model/entities.h"

namespace grpc {
class Channel;
class ClientContext;
class Status;
}  // namespace grpc

namespace baton::rpc {

inline constexpr int kLookaheadBytes = 4 << 20;  // HTTP/2's own window; our grants are the bound

// "host:port"; a host with colons gets its brackets.
[[nodiscard]] std::string target_of(const Address& address);

enum class Liveness : std::uint8_t {
    beats,  // the user of the connection finds out by itself
    pings,  // HTTP/2 pings end a connection whose other end is gone without a word
};

// Does not wait for the connection.
[[nodiscard]] std::shared_ptr<grpc::Channel> open_channel(const std::string& target,
                                                          const Dialling& dialling,
                                                          Liveness liveness,
                                                          std::size_t message_max);

// Sends the caller's proof with the call.
void introduce(const Dialling& dialling, grpc::ClientContext& context);

// Connections for streams that come and go: making one costs both ends about a millisecond of
// processor time. It keeps those that were given back and closes those that were not used for a
// while.
class ChannelPool {
public:
    // With pings. Does not wait for the connection.
    [[nodiscard]] std::shared_ptr<grpc::Channel> take(const std::string& target,
                                                      const Dialling& dialling);
    // Only one that worked until the end.
    void give_back(const std::string& target, const Dialling& dialling,
                   std::shared_ptr<grpc::Channel> channel);

private:
    using Key = std::pair<std::string, std::string>;  // the target, and the name that it must have
    std::mutex mutex_;
    std::map<Key, std::vector<std::shared_ptr<grpc::Channel>>> idle_;
};

// Why a call ended, for a message.
[[nodiscard]] std::string text_of(const grpc::Status& status);

}  // namespace baton::rpc
