// The sender of an exchange whose receiver is another process; internal to this adapter.
//
// What is sent when, and when it dials again, is decided by core/exchange/outbox.h. Here are the
// streams, the alarm and the locks.
//
// Rule: it sends nothing but what it is for before the receiver has proved that it is the worker.
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
