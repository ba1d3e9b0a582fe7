#include "adapters/grpc/exchange_sender.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <baton/exchange.grpc.pb.h>
#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>

#include "base/overload.h"
#include "base/time.h"
#include "core/exchange/outbox.h"
#include "engine/arrow/arrow_ipc.h"

namespace baton::rpc {

namespace {

constexpr std::size_t kFrameBytesMax = 4 << 20;  // a batch that is longer goes in parts

class Link;

// The exchange::Outbox of one sender, shared by its threads. Its streams and its alarm come and go
// around it.
class SharedOutbox final : public std::enable_shared_from_this<SharedOutbox> {
public:
    explicit SharedOutbox(const RemoteSenderOptions& options)
        : options_(options), outbox_(options.open.receiver) {}

    void wake();  // the first time it begins
    // Waits for room. The item's number.
    [[nodiscard]] Result<std::uint64_t> push(OutgoingItem item, std::size_t rows);
    [[nodiscard]] Result<Done> await_arrival(std::uint64_t number);
    void interrupt();
    void close();  // waits for the stream to end
    [[nodiscard]] engine::ExchangeCounts counts() const;
    [[nodiscard]] const RemoteSenderOptions& options() const { return options_; }

    // ---- for a stream ----
    // Whether it is to be read on.
    [[nodiscard]] bool heard(exchange::StreamNumber stream, const exchange::ToSender& said);
    void written(exchange::StreamNumber stream);
    void ended(exchange::StreamNumber stream, const std::string& why);
    // Why a stream could not be had, or broke. It is dialled again in any case.
    void failed(const std::string& why);

private:
    using Message = std::shared_ptr<const wire::ToReceiver>;
    using Outbox = exchange::Outbox<Message>;

    void dial(exchange::StreamNumber stream);
    // Under the lock.
    void step(const exchange::OutboxEvent& event);
    void perform(const Outbox::Effects& effects);
    void set_alarm(Instant due);

    const RemoteSenderOptions options_;

    mutable std::mutex mutex_;
    std::string told_;  // the last reason
    std::condition_variable changed_;
    Outbox outbox_;
    std::shared_ptr<Link> link_;                     // the present stream, once it is dialled
    std::optional<exchange::StreamNumber> to_dial_;  // without the lock
    std::unique_ptr<grpc::Alarm> alarm_;
    engine::ExchangeCounts counts_;
};

// One stream. It owns itself until OnDone.
class Link final : public grpc::ClientBidiReactor<wire::ToReceiver, wire::ToSender>,
                   public std::enable_shared_from_this<Link> {
public:
    Link(std::shared_ptr<SharedOutbox> outbox, exchange::StreamNumber number, Dialling dialling)
        : outbox_(std::move(outbox)),
          number_(number),
          dialling_(std::move(dialling)),
          channel_(outbox_->options().channels->take(outbox_->options().target, dialling_)),
          stub_(wire::Exchange::NewStub(channel_)) {}

    void start() {
        self_ = shared_from_this();
        introduce(dialling_, context_);
        stub_->async()->Carry(&context_, this);
        AddHold();  // until nothing is read any more: items come from outside
        write(outbox_->options().open, open_);
        StartRead(&in_);
        StartWrite(&open_);
        StartCall();
    }
    // By the outbox, one after the other, while there is more to be read.
    void send(std::shared_ptr<const wire::ToReceiver> message) {
        out_ = std::move(message);
        StartWrite(out_.get());
    }
    void cancel() { context_.TryCancel(); }
    // It worked until the end.
    void give_back() const {
        outbox_->options().channels->give_back(outbox_->options().target, dialling_, channel_);
    }

    void OnReadDone(bool ok) override {
        if (ok) {
            const auto said = recognised();
            if (said && outbox_->heard(number_, *said)) return StartRead(&in_);
            if (!said) why_ = said.error().message;
            context_.TryCancel();
        }
        outbox_->ended(number_, why_);  // from here on it writes nothing
        RemoveHold();
    }
    void OnWriteDone(bool ok) override {
        if (ok) outbox_->written(number_);
    }
    void OnDone(const grpc::Status& status) override {
        if (!status.ok()) outbox_->failed(status.error_message());
        self_.reset();
    }

private:
    Result<exchange::ToSender> recognised() {
        if (!std::exchange(known_, true)) TRY(dialling_.recognise(context_));
        return read(in_);
    }

    const std::shared_ptr<SharedOutbox> outbox_;
    const exchange::StreamNumber number_;
    const Dialling dialling_;
    const std::shared_ptr<grpc::Channel> channel_;
    const std::unique_ptr<wire::Exchange::Stub> stub_;
    grpc::ClientContext context_;
    std::shared_ptr<Link> self_;
    wire::ToReceiver open_;
    std::shared_ptr<const wire::ToReceiver> out_;
    wire::ToSender in_;
    bool known_ = false;  // the receiver has proved who it is
    std::string why_;
};

// ---- streams ------------------------------------------------------------------------------------

Instant monotonic_now() {
    return at(
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

void SharedOutbox::wake() {
    std::optional<exchange::StreamNumber> stream;
    {
        const std::lock_guard lock(mutex_);
        step(exchange::Woke{});
        stream = std::exchange(to_dial_, std::nullopt);
    }
    if (stream) dial(*stream);
}

void SharedOutbox::dial(exchange::StreamNumber stream) {
    auto dialling = options_.trust->dial(options_.open.receiver.worker);
    std::shared_ptr<Link> link;
    if (dialling) link = std::make_shared<Link>(shared_from_this(), stream, *std::move(dialling));
    {
        const std::lock_guard lock(mutex_);
        if (!link) return step(exchange::CannotDial{.stream = stream, .error = dialling.error()});
        // It was closed meanwhile.
        if (!outbox_.listens_to(stream)) return step(exchange::Ended{stream});
        link_ = link;
    }
    link->start();
}

bool SharedOutbox::heard(exchange::StreamNumber stream, const exchange::ToSender& said) {
    const std::lock_guard lock(mutex_);
    step(exchange::Heard{.stream = stream, .said = said});
    const bool goes_on = outbox_.listens_to(stream);
    if (goes_on && std::holds_alternative<exchange::Opened>(said)) told_.clear();
    return goes_on;
}

void SharedOutbox::written(exchange::StreamNumber stream) {
    const std::lock_guard lock(mutex_);
    step(exchange::Written{stream});
}

void SharedOutbox::failed(const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        if (!options_.log || outbox_.is_closed() || why.empty() || why == told_) return;
        told_ = why;  // not the same again and again
    }
    options_.log("cannot send rows to " + options_.target + ": " + why);
}

void SharedOutbox::ended(exchange::StreamNumber stream, const std::string& why) {
    if (!why.empty()) failed(why);
    const std::lock_guard lock(mutex_);
    step(exchange::Ended{stream});
}

void SharedOutbox::step(const exchange::OutboxEvent& event) {
    perform(outbox_.step(monotonic_now(), event));
    if (!outbox_.has_stream()) link_.reset();
    if (!std::holds_alternative<exchange::Written>(event)) changed_.notify_all();
}

void SharedOutbox::perform(const Outbox::Effects& effects) {
    for (const Outbox::Effect& effect : effects) {
        std::visit(Overload{
                       [&](const exchange::Dial& dialled) { to_dial_ = dialled.stream; },
                       [&](const exchange::Write<Message>& write) { link_->send(write.item); },
                       [&](const exchange::HangUp&) {
                           if (link_) link_->cancel();  // else it is being dialled
                       },
                       [&](const exchange::GiveBack&) { link_->give_back(); },
                       [&](const exchange::WakeAt& wake_at) { set_alarm(wake_at.at); },
                   },
                   effect);
    }
}

void SharedOutbox::set_alarm(Instant due) {
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(due - monotonic_now());
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                             gpr_time_from_millis(wait.count(), GPR_TIMESPAN)),
                [weak = weak_from_this()](bool rang) {
                    const auto self = weak.lock();
                    if (rang && self) self->wake();
                });
}

// ---- the sender ---------------------------------------------------------------------------------

Result<std::uint64_t> SharedOutbox::push(OutgoingItem item, std::size_t rows) {
    const std::size_t bytes = bytes_of(item);
    const bool is_frame = std::holds_alternative<OutgoingFrame>(item);
    auto message = std::make_shared<wire::ToReceiver>();
    write(0, std::move(item), *message);
    std::unique_lock lock(mutex_);
    if (outbox_.must_wait()) counts_.stalls += 1;
    changed_.wait(lock, [&] { return !outbox_.must_wait(); });
    if (const auto error = outbox_.halted()) return *error;
    counts_.bytes += bytes;
    counts_.rows += rows;
    counts_.frames += is_frame ? 1 : 0;
    message->mutable_item()->set_number(outbox_.next_number());
    const auto pushed = outbox_.push(std::move(message), bytes);
    perform(pushed.effects);
    return pushed.number;
}

Result<Done> SharedOutbox::await_arrival(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return outbox_.outcome_of(number).has_value(); });
    return *outbox_.outcome_of(number);
}

void SharedOutbox::interrupt() {
    const std::lock_guard lock(mutex_);
    outbox_.interrupt();
    changed_.notify_all();
}

void SharedOutbox::close() {
    std::unique_lock lock(mutex_);
    perform(outbox_.close());
    alarm_.reset();
    changed_.wait(lock, [&] { return !outbox_.has_stream(); });
}

engine::ExchangeCounts SharedOutbox::counts() const {
    const std::lock_guard lock(mutex_);
    engine::ExchangeCounts counts = counts_;
    counts.reconnects = outbox_.reconnects();
    return counts;
}

class RemoteSender final : public engine::ExchangeSender {
public:
    explicit RemoteSender(const RemoteSenderOptions& options)
        : schema_(options.schema), outbox_(std::make_shared<SharedOutbox>(options)) {
        outbox_->wake();
    }
    ~RemoteSender() override { outbox_->close(); }

    Result<Done> announce(const std::vector<std::string>& origins) override {
        TRY(outbox_->push(Announcement{origins}, 0));
        return Done{};
    }
    Result<Done> send(engine::Frame frame) override {
        OutgoingFrame out{
            .origin = frame.origin, .watermark = frame.watermark, .end = frame.end, .batch = {}};
        const std::size_t rows = frame.batch.rows;
        if (rows > 0) {
            TRY_ASSIGN(bytes, arrow::write_arrow_batch(schema_, frame.batch));
            if (bytes.size() > kFrameBytesMax && rows > 1) return send_parts(std::move(frame));
            if (bytes.size() > kExchangeBytesMax / 2) {
                return Error{.code = ErrorCode::too_large,
                             .message = "cannot send a row of " + std::to_string(bytes.size()) +
                                        " bytes to another worker",
                             .at = {},
                             .hint = "at most " + std::to_string(kExchangeBytesMax / 2)};
            }
            out.batch = std::move(bytes);
        }
        TRY(outbox_->push(std::move(out), rows));
        return Done{};
    }
    Result<Done> finish() override {
        TRY_ASSIGN(number, outbox_->push(FinishMark{}, 0));
        return outbox_->await_arrival(number);
    }
    void interrupt() override { outbox_->interrupt(); }
    [[nodiscard]] engine::ExchangeCounts counts() const override { return outbox_->counts(); }

private:
    // Two halves; what holds after all of the rows goes with the second.
    Result<Done> send_parts(engine::Frame frame) {
        std::vector<std::uint32_t> rows(frame.batch.rows);
        std::iota(rows.begin(), rows.end(), 0U);
        const std::span<const std::uint32_t> all(rows);
        const std::size_t half = rows.size() / 2;
        TRY(send(engine::Frame{.origin = frame.origin,
                               .batch = engine::gather(frame.batch, all.first(half)),
                               .watermark = {},
                               .end = false}));
        frame.batch = engine::gather(frame.batch, all.subspan(half));
        return send(std::move(frame));
    }

    const Schema schema_;
    const std::shared_ptr<SharedOutbox> outbox_;
};

}  // namespace

std::unique_ptr<engine::ExchangeSender> open_remote_sender(const RemoteSenderOptions& options) {
    return std::make_unique<RemoteSender>(options);
}

}  // namespace baton::rpc
