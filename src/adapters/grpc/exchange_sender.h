// The sender of an exchange whose receiver is another process; internal to this adapter.
//
// Rules:
//   - An item is made only when the receiver has granted room for it, and kept until the receiver
//     says that it has arrived: what is held is bounded by the grant.
//   - While it is open it dials again whenever a stream ends, at longer and longer intervals, and
//     goes on after the last item that arrived.
//   - It sends nothing but what it is for before the receiver has proved that it is the worker.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/exchange_wire.h"
#include "engine/streams/exchange.h"
#include "model/schema.h"

namespace baton {

struct RemoteSenderOptions {
    OpenExchange open;
    std::string target;  // "host:port"
    Schema schema;
    std::shared_ptr<ChannelPool> channels;
    std::shared_ptr<Trust> trust;
    std::function<void(const std::string&)> log;  // any thread; none: nobody is told
};

[[nodiscard]] std::unique_ptr<ExchangeSender> open_remote_sender(
    const RemoteSenderOptions& options);

}  // namespace baton
