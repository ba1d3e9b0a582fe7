#include "testing/engine/local_exchanges.h"

#include <algorithm>
#include <condition_variable>
#include <deque>

namespace baton::testing {

struct LocalExchanges::Channel {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t frames_most = 4;
    bool received = false;  // the receiver is open
    std::vector<std::string> senders;
    std::deque<engine::Arrived> queue;
    std::size_t frames = 0;    // in the queue
    std::size_t finished = 0;  // senders
    bool told_end = false;
    engine::ExchangeCounts counts;
};

namespace {

Error interrupted() {
    return Error{.code = ErrorCode::cancelled, .message = "the exchange was interrupted"};
}

class LocalSender : public engine::ExchangeSender {
public:
    LocalSender(std::shared_ptr<LocalExchanges::Channel> channel, std::string from)
        : channel_(std::move(channel)), from_(std::move(from)) {}

    Result<Done> announce(const std::vector<std::string>& origins) override {
        std::unique_lock lock(channel_->mutex);
        channel_->changed.wait(lock, [&] { return channel_->received || interrupted_; });
        if (interrupted_) return interrupted();
        channel_->queue.push_back({.what = engine::Arrival::announced,
                                   .sender = position(),
                                   .origins = origins,
                                   .frame = {}});
        channel_->changed.notify_all();
        return Done{};
    }
    Result<Done> send(engine::Frame frame) override {
        std::unique_lock lock(channel_->mutex);
        if (channel_->frames >= channel_->frames_most) counts_.stalls += 1;
        channel_->changed.wait(
            lock, [&] { return channel_->frames < channel_->frames_most || interrupted_; });
        if (interrupted_) return interrupted();
        counts_.frames += 1;
        counts_.rows += frame.batch.rows;
        channel_->counts.rows += frame.batch.rows;
        channel_->frames += 1;
        channel_->queue.push_back({.what = engine::Arrival::frame,
                                   .sender = position(),
                                   .origins = {},
                                   .frame = std::move(frame)});
        channel_->changed.notify_all();
        return Done{};
    }
    Result<Done> finish() override {
        std::unique_lock lock(channel_->mutex);
        channel_->changed.wait(lock, [&] { return channel_->frames == 0 || interrupted_; });
        if (interrupted_) return interrupted();
        channel_->finished += 1;
        channel_->changed.notify_all();
        return Done{};
    }
    void interrupt() override {
        const std::lock_guard lock(channel_->mutex);
        interrupted_ = true;
        channel_->changed.notify_all();
    }
    [[nodiscard]] engine::ExchangeCounts counts() const override {
        const std::lock_guard lock(channel_->mutex);
        return counts_;
    }

private:
    [[nodiscard]] std::size_t position() const {
        const auto found = std::find(channel_->senders.begin(), channel_->senders.end(), from_);
        CHECK(found != channel_->senders.end());
        return static_cast<std::size_t>(found - channel_->senders.begin());
    }

    std::shared_ptr<LocalExchanges::Channel> channel_;
    std::string from_;
    bool interrupted_ = false;
    engine::ExchangeCounts counts_;
};

class LocalReceiver : public engine::ExchangeReceiver {
public:
    explicit LocalReceiver(std::shared_ptr<LocalExchanges::Channel> channel)
        : channel_(std::move(channel)) {}

    Result<engine::Arrived> next(Duration patience) override {
        std::unique_lock lock(channel_->mutex);
        const auto all_finished = [&] { return channel_->finished == channel_->senders.size(); };
        channel_->changed.wait_for(lock, patience, [&] {
            return !channel_->queue.empty() || all_finished() || interrupted_;
        });
        if (!channel_->queue.empty()) {
            engine::Arrived arrived = std::move(channel_->queue.front());
            channel_->queue.pop_front();
            if (arrived.what == engine::Arrival::frame) channel_->frames -= 1;
            channel_->changed.notify_all();
            return arrived;
        }
        if (all_finished()) return engine::Arrived{.what = engine::Arrival::end};
        return engine::Arrived{};
    }
    void interrupt() override {
        const std::lock_guard lock(channel_->mutex);
        interrupted_ = true;
        channel_->changed.notify_all();
    }
    [[nodiscard]] engine::ExchangeCounts counts() const override {
        const std::lock_guard lock(channel_->mutex);
        return channel_->counts;
    }

private:
    std::shared_ptr<LocalExchanges::Channel> channel_;
    bool interrupted_ = false;
};

}  // namespace

std::shared_ptr<LocalExchanges::Channel> LocalExchanges::channel(const ExchangeKey& key) {
    const std::lock_guard lock(mutex_);
    auto& found = channels_[key];
    if (!found) {
        found = std::make_shared<Channel>();
        found->frames_most = frames_most_;
    }
    return found;
}

Result<std::unique_ptr<engine::ExchangeSender>> LocalExchanges::open_sender(const ExchangeKey& key,
                                                                            const std::string& from,
                                                                            const std::string&,
                                                                            const std::string&,
                                                                            const Schema&) {
    return std::unique_ptr<engine::ExchangeSender>(new LocalSender(channel(key), from));
}

Result<std::unique_ptr<engine::ExchangeReceiver>> LocalExchanges::open_receiver(
    const ExchangeKey& key, const std::string&, const std::vector<std::string>& senders,
    const Schema&) {
    const auto found = channel(key);
    const std::lock_guard lock(found->mutex);
    if (found->received) {
        return Error{.code = ErrorCode::conflict, .message = "the exchange is open already"};
    }
    found->received = true;
    found->senders = senders;
    found->changed.notify_all();
    return std::unique_ptr<engine::ExchangeReceiver>(new LocalReceiver(found));
}

}  // namespace baton::testing
