// GrpcExchanges carry frames between workers over gRPC, in Arrow's format, and within a process
// directly: both through the same bounded inboxes.
//
// Its service goes into a GrpcServer of the worker; senders dial the data addresses of others.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/grpc/exchange_inbox.h"
#include "adapters/grpc/trust.h"
#include "engine/streams/exchange.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace baton::rpc {

class ChannelPool;

struct GrpcExchangesOptions {
    exchange::Limits limits;  // of what is on its way from one sender
    std::shared_ptr<Trust> trust = user_trust();
    std::string worker;  // whose service it is; empty: it has none
    // Told who was cut off and why, from any thread.
    std::function<void(const std::string&)> log;
};

class GrpcExchanges final : public engine::Exchanges {
public:
    explicit GrpcExchanges(const GrpcExchangesOptions& options = {});
    // After the server that has its service, and after every sender and receiver.
    ~GrpcExchanges() override;

    [[nodiscard]] grpc::Service& service() { return *service_; }

    // No address: the receiver is in this process.
    Result<std::unique_ptr<engine::ExchangeSender>> open_sender(const ExchangeKey& key,
                                                                const std::string& from,
                                                                const std::string& to,
                                                                const std::string& address,
                                                                const Schema& schema) override;
    Result<std::unique_ptr<engine::ExchangeReceiver>> open_receiver(
        const ExchangeKey& key, const std::string& worker, const std::vector<std::string>& senders,
        const Schema& schema) override;

private:
    const GrpcExchangesOptions options_;
    const std::shared_ptr<ChannelPool> channels_;
    Receivers receivers_;
    std::unique_ptr<grpc::Service> service_;
};

}  // namespace baton::rpc
