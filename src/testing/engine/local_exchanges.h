// LocalExchanges carry frames between the fragments of one process, through bounded queues.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "engine/streams/exchange.h"

namespace baton::testing {

class LocalExchanges : public engine::Exchanges {
public:
    // So many frames are under way in an exchange at most.
    explicit LocalExchanges(std::size_t frames_most = 4) : frames_most_(frames_most) {}

    Result<std::unique_ptr<engine::ExchangeSender>> open_sender(const ExchangeKey& key,
                                                                const std::string& from,
                                                                const std::string& to,
                                                                const std::string& address,
                                                                const Schema& schema) override;
    Result<std::unique_ptr<engine::ExchangeReceiver>> open_receiver(
        const ExchangeKey& key, const std::string& worker, const std::vector<std::string>& senders,
        const Schema& schema) override;

    struct Channel;

private:
    [[nodiscard]] std::shared_ptr<Channel> channel(const ExchangeKey& key);

    std::size_t frames_most_;
    std::mutex mutex_;
    std::map<ExchangeKey, std::shared_ptr<Channel>> channels_;
};

}  // namespace baton::testing
