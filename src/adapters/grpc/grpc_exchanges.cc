#include "adapters/grpc/grpc_exchanges.h"

#include <atomic>
#include <utility>

#include <grpcpp/impl/codegen/service_type.h>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/exchange_sender.h"
#include "adapters/grpc/exchange_service.h"
#include "adapters/grpc/exchange_wire.h"

namespace baton::rpc {

namespace {

std::size_t bytes_in(const engine::Batch& batch) {
    std::size_t bytes = kItemBytes;
    for (const engine::ColumnVector& column : batch.columns) bytes += column.memory();
    return bytes;
}

// Puts frames as they are into an inbox of this process.
class LocalSender final : public engine::ExchangeSender {
public:
    LocalSender(const Receivers& receivers, exchange::ReceiverId to, std::string from,
                const Schema& schema)
        : receivers_(receivers),
          to_(std::move(to)),
          from_(std::move(from)),
          fingerprint_(fingerprint(schema)) {}

    Result<Done> announce(const std::vector<std::string>& origins) override {
        return put({.what = Announcement{origins}, .bytes = kItemBytes});
    }
    Result<Done> send(engine::Frame frame) override {
        const std::size_t bytes = bytes_in(frame.batch);
        const std::size_t rows = frame.batch.rows;
        TRY(put({.what = std::move(frame), .bytes = bytes}));
        const std::lock_guard lock(mutex_);
        counts_.frames += 1;
        counts_.rows += rows;
        counts_.bytes += bytes;
        return Done{};
    }
    Result<Done> finish() override { return put({.what = FinishMark{}, .bytes = kItemBytes}); }

    void interrupt() override {
        interrupted_ = true;
        interrupted_.notify_all();
        receivers_.wake();
        std::shared_ptr<SharedInbox> inbox;
        {
            const std::lock_guard lock(mutex_);
            inbox = inbox_;
        }
        if (inbox) inbox->wake();
    }
    [[nodiscard]] engine::ExchangeCounts counts() const override {
        const std::lock_guard lock(mutex_);
        return counts_;
    }

private:
    // The receiver's, when it is there.
    Result<std::shared_ptr<SharedInbox>> open() {
        const auto admission = receivers_.await(to_, from_, fingerprint_, interrupted_);
        if (!admission) return cancelled();
        if (const auto* refused = std::get_if<exchange::Refused>(&*admission)) {
            return Error{.code = ErrorCode::not_supported,
                         .message = "cannot send: " + refused->why};
        }
        const auto& admitted = std::get<Receivers::Directory::Admitted>(*admission);
        position_ = admitted.sender;
        const std::lock_guard lock(mutex_);
        inbox_ = admitted.receiver;
        return inbox_;
    }
    Result<Done> put(ExchangeItem item) {
        if (!inbox_) TRY(open());
        bool waited = false;
        const bool has_room = inbox_->wait_for_room(position_, interrupted_, waited);
        if (waited) {
            const std::lock_guard lock(mutex_);
            counts_.stalls += 1;
        }
        if (!has_room) {
            // A receiver that is gone does not come back for this run: wait to be told so.
            while (!interrupted_) interrupted_.wait(false);
            return cancelled();
        }
        return inbox_->put(position_, ++last_, std::move(item));
    }
    [[nodiscard]] Error cancelled() const {
        return {.code = ErrorCode::cancelled,
                .message = "cannot send to " + to_string(to_) + ": it was interrupted"};
    }

    const Receivers& receivers_;
    const exchange::ReceiverId to_;
    const std::string from_;
    const std::uint64_t fingerprint_;
    std::atomic<bool> interrupted_ = false;
    std::size_t position_ = 0;
    std::uint64_t last_ = 0;

    mutable std::mutex mutex_;
    std::shared_ptr<SharedInbox> inbox_;  // written by the sending thread, under the lock
    engine::ExchangeCounts counts_;
};

class Receiver final : public engine::ExchangeReceiver {
public:
    Receiver(Receivers& receivers, std::shared_ptr<SharedInbox> inbox)
        : receivers_(receivers), inbox_(std::move(inbox)) {}
    ~Receiver() override {
        receivers_.close(*inbox_);
        inbox_->close();
    }

    Result<engine::Arrived> next(Duration patience) override { return inbox_->next(patience); }
    void interrupt() override { inbox_->interrupt(); }
    [[nodiscard]] engine::ExchangeCounts counts() const override { return inbox_->counts(); }

private:
    Receivers& receivers_;
    const std::shared_ptr<SharedInbox> inbox_;
};

}  // namespace

GrpcExchanges::GrpcExchanges(const GrpcExchangesOptions& options)
    : options_(options),
      channels_(std::make_shared<ChannelPool>()),
      service_(make_exchange_service(receivers_, options.trust, options.worker, options.log)) {}

GrpcExchanges::~GrpcExchanges() = default;

Result<std::unique_ptr<engine::ExchangeSender>> GrpcExchanges::open_sender(
    const ExchangeKey& key, const std::string& from, const std::string& to,
    const std::string& address, const Schema& schema) {
    const exchange::ReceiverId receiver{.key = key, .worker = to};
    if (address.empty()) {
        return std::unique_ptr<engine::ExchangeSender>(
            std::make_unique<LocalSender>(receivers_, receiver, from, schema));
    }
    return open_remote_sender({.open = {.receiver = receiver,
                                        .sender = from,
                                        .schema = fingerprint(schema),
                                        .protocol = kExchangeProtocol},
                               .target = address,
                               .schema = schema,
                               .channels = channels_,
                               .trust = options_.trust,
                               .log = options_.log});
}

Result<std::unique_ptr<engine::ExchangeReceiver>> GrpcExchanges::open_receiver(
    const ExchangeKey& key, const std::string& worker, const std::vector<std::string>& senders,
    const Schema& schema) {
    TRY_ASSIGN(inbox,
               receivers_.open({.key = key, .worker = worker}, senders, schema, options_.limits));
    return std::unique_ptr<engine::ExchangeReceiver>(
        std::make_unique<Receiver>(receivers_, std::move(inbox)));
}

}  // namespace baton::rpc
