// The sender of an exchange whose receiver is another process; internal to this adapter.
//
// core/exchange/outbox.h decides when each item is sent and when the sender dials again. This file
// adds the streams, the alarm and the locks.
//
// Rule: until the receiver has proved that it is the worker, the sender sends only the opening,
// which says which exchange it is for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/exchange_wire.h"
#include "engine/streams/exchange.h"
#include "model/schema.h"

namespace baton::rpc {

struct RemoteSenderOptions {
    OpenExchange open;
    std::string target;  // "host:port"
    Schema schema;
    std::shared_ptr<ChannelPool> channels;
    std::shared_ptr<Trust> trust;
    std::function<void(const std::string&)> log;  // called from any thread; none: no log
};

[[nodiscard]] std::unique_ptr<engine::ExchangeSender> open_remote_sender(
    const RemoteSenderOptions& options);

}  // namespace baton::rpc
