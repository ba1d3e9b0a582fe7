#include "adapters/grpc/exchange_sender.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <utility>

#include <baton/exchange.grpc.pb.h>
#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>

#include "base/overload.h"
#include "engine/arrow/arrow_ipc.h"

namespace baton {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBackoffFirst{50};
constexpr milliseconds kBackoffMax{2000};
constexpr std::size_t kFrameBytesMax = 4 << 20;  // a batch that is longer goes in parts

class Link;

// What is to be sent and what has arrived. Its streams and its alarm come and go around it.
class Outbox final : public std::enable_shared_from_this<Outbox> {
public:
    explicit Outbox(const RemoteSenderOptions& options) : options_(options) {}

    void dial();
    // Waits for room. The item's number.
    [[nodiscard]] Result<std::uint64_t> push(OutgoingItem item, std::size_t rows);
    [[nodiscard]] Result<Done> await_arrival(std::uint64_t number);
    void interrupt();
    void close();  // waits for the stream to end
    [[nodiscard]] ExchangeCounts counts() const;
    [[nodiscard]] const RemoteSenderOptions& options() const { return options_; }

    // ---- for the stream; ignored unless it is the present one ----
    // Whether it is to be read on.
    [[nodiscard]] bool heard(Link& link, const SaidToSender& said);
    void written(Link& link);
    void ended(Link& link, const std::string& why);
    // Why a stream could not be had, or broke. It is dialled again in any case.
    void failed(const std::string& why);

private:
    struct Kept {
        std::uint64_t number = 0;
        std::shared_ptr<const wire::ToReceiver> message;
    };

    // All under the lock.
    [[nodiscard]] bool may_send() const {
        return last_ < granted_.items_max && bytes_ < granted_.bytes_max;
    }
    [[nodiscard]] std::optional<Error> halted() const;
    [[nodiscard]] bool take(const ExchangeProgress& progress);
    void write_next();
    void dial_later();

    const RemoteSenderOptions options_;

    mutable std::mutex mutex_;
    std::string told_;  // the last reason
    std::condition_variable changed_;
    std::shared_ptr<Link> link_;  // none: between two
    bool opened_ = false;         // the link
    bool writing_ = false;        // on it
    std::uint64_t sent_ = 0;      // the last item that was given to it
    ExchangeProgress granted_;
    std::uint64_t last_ = 0;   // number of the last item that was made
    std::uint64_t bytes_ = 0;  // of all items that were made
    std::deque<Kept> kept_;    // not known to have arrived
    std::optional<Error> error_;
    bool interrupted_ = false;
    bool closed_ = false;
    std::uint64_t times_opened_ = 0;
    milliseconds backoff_ = kBackoffFirst;
    std::unique_ptr<grpc::Alarm> alarm_;
    ExchangeCounts counts_;
};

// One stream. It owns itself until OnDone.
class Link final : public grpc::ClientBidiReactor<wire::ToReceiver, wire::ToSender>,
                   public std::enable_shared_from_this<Link> {
public:
    Link(std::shared_ptr<Outbox> outbox, Dialling dialling)
        : outbox_(std::move(outbox)),
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
            if (said && outbox_->heard(*this, *said)) return StartRead(&in_);
            if (!said) why_ = said.error().message;
            context_.TryCancel();
        }
        outbox_->ended(*this, why_);  // from here on it writes nothing
        RemoveHold();
    }
    void OnWriteDone(bool ok) override {
        if (ok) outbox_->written(*this);
    }
    void OnDone(const grpc::Status& status) override {
        if (!status.ok()) outbox_->failed(status.error_message());
        self_.reset();
    }

private:
    Result<SaidToSender> recognised() {
        if (!std::exchange(known_, true)) TRY(dialling_.recognise(context_));
        return read(in_);
    }

    const std::shared_ptr<Outbox> outbox_;
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

void Outbox::dial() {
    std::shared_ptr<Link> link;
    auto dialling = options_.trust->dial(options_.open.receiver.worker);
    {
        const std::lock_guard lock(mutex_);
        if (closed_ || error_ || link_) return;
        if (!dialling) {
            error_ = dialling.error();
            return changed_.notify_all();
        }
        link = link_ = std::make_shared<Link>(shared_from_this(), *std::move(dialling));
        opened_ = false;
        writing_ = true;  // what it is for
    }
    link->start();
}

void Outbox::dial_later() {
    if (closed_ || error_) return;
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                             gpr_time_from_millis(backoff_.count(), GPR_TIMESPAN)),
                [weak = weak_from_this()](bool rang) {
                    const auto self = weak.lock();
                    if (rang && self) self->dial();
                });
    backoff_ = std::min(backoff_ * 2, kBackoffMax);
}

bool Outbox::heard(Link& link, const SaidToSender& said) {
    const std::lock_guard lock(mutex_);
    if (link_.get() != &link) return false;
    const bool go_on = std::visit(
        Overload{
            [&](const Opened& opened) {
                if (opened_ || !take(opened.progress)) return false;
                opened_ = true;
                told_.clear();
                backoff_ = kBackoffFirst;
                sent_ = opened.progress.arrived;
                if (times_opened_++ > 0) counts_.reconnects += 1;
                return true;
            },
            [&](const OpenRefused& refused) {
                if (refused.for_good) {
                    error_ = Error{.code = ErrorCode::not_supported,
                                   .message = "cannot send to worker \"" +
                                              options_.open.receiver.worker + "\": " + refused.why};
                }
                return false;
            },
            [&](const ExchangeProgress& progress) { return opened_ && take(progress); },
        },
        said);
    if (go_on) write_next();
    changed_.notify_all();
    return go_on;
}

bool Outbox::take(const ExchangeProgress& progress) {
    if (progress.arrived < granted_.arrived || progress.arrived > last_) {
        error_ = Error{.code = ErrorCode::conflict,
                       .message = "cannot go on with " + to_string(options_.open.receiver) +
                                  ": it does not know what it was sent"};
        return false;
    }
    granted_.arrived = progress.arrived;
    granted_.items_max = std::max(granted_.items_max, progress.items_max);
    granted_.bytes_max = std::max(granted_.bytes_max, progress.bytes_max);
    while (!kept_.empty() && kept_.front().number <= granted_.arrived) kept_.pop_front();
    return true;
}

void Outbox::written(Link& link) {
    const std::lock_guard lock(mutex_);
    if (link_.get() != &link) return;
    writing_ = false;
    write_next();
}

void Outbox::write_next() {
    if (!link_ || !opened_ || writing_ || sent_ == last_) return;
    sent_ = std::max(sent_, granted_.arrived);
    if (sent_ == last_) return;
    const auto next = kept_.begin() + static_cast<std::ptrdiff_t>(sent_ + 1 - kept_.front().number);
    CHECK(next->number == sent_ + 1);
    sent_ += 1;
    writing_ = true;
    link_->send(next->message);
}

void Outbox::failed(const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        if (!options_.log || closed_ || why.empty() || why == told_) return;
        told_ = why;  // not the same again and again
    }
    options_.log("cannot send rows to " + options_.target + ": " + why);
}

void Outbox::ended(Link& link, const std::string& why) {
    if (!why.empty()) failed(why);
    const std::lock_guard lock(mutex_);
    if (link_.get() != &link) return;
    if (closed_ && opened_) link.give_back();
    link_.reset();
    dial_later();
    changed_.notify_all();
}

// ---- the sender ---------------------------------------------------------------------------------

std::optional<Error> Outbox::halted() const {
    if (error_) return error_;
    if (!interrupted_) return std::nullopt;
    return Error{
        .code = ErrorCode::cancelled,
        .message = "cannot send to " + to_string(options_.open.receiver) + ": it was interrupted"};
}

Result<std::uint64_t> Outbox::push(OutgoingItem item, std::size_t rows) {
    const std::size_t bytes = bytes_of(item);
    const bool is_frame = std::holds_alternative<OutgoingFrame>(item);
    auto message = std::make_shared<wire::ToReceiver>();
    write(0, std::move(item), *message);
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return error_ || interrupted_ || may_send(); };
    if (!ready()) counts_.stalls += 1;
    changed_.wait(lock, ready);
    if (const auto error = halted()) return *error;
    last_ += 1;
    bytes_ += bytes;
    counts_.bytes += bytes;
    counts_.rows += rows;
    counts_.frames += is_frame ? 1 : 0;
    message->mutable_item()->set_number(last_);
    kept_.push_back({.number = last_, .message = std::move(message)});
    write_next();
    return last_;
}

Result<Done> Outbox::await_arrival(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || interrupted_ || granted_.arrived >= number; });
    if (granted_.arrived >= number) return Done{};
    return *halted();
}

void Outbox::interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_all();
}

void Outbox::close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    alarm_.reset();
    if (link_) link_->cancel();
    changed_.wait(lock, [&] { return !link_; });
}

ExchangeCounts Outbox::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

class RemoteSender final : public ExchangeSender {
public:
    explicit RemoteSender(const RemoteSenderOptions& options)
        : schema_(options.schema), outbox_(std::make_shared<Outbox>(options)) {
        outbox_->dial();
    }
    ~RemoteSender() override { outbox_->close(); }

    Result<Done> announce(const std::vector<std::string>& origins) override {
        TRY(outbox_->push(Announcement{origins}, 0));
        return Done{};
    }
    Result<Done> send(Frame frame) override {
        OutgoingFrame out{
            .origin = frame.origin, .watermark = frame.watermark, .end = frame.end, .batch = {}};
        const std::size_t rows = frame.batch.rows;
        if (rows > 0) {
            TRY_ASSIGN(bytes, write_arrow_batch(schema_, frame.batch));
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
    [[nodiscard]] ExchangeCounts counts() const override { return outbox_->counts(); }

private:
    // Two halves; what holds after all of the rows goes with the second.
    Result<Done> send_parts(Frame frame) {
        std::vector<std::uint32_t> rows(frame.batch.rows);
        std::iota(rows.begin(), rows.end(), 0U);
        const std::span<const std::uint32_t> all(rows);
        const std::size_t half = rows.size() / 2;
        TRY(send(Frame{.origin = frame.origin,
                       .batch = gather(frame.batch, all.first(half)),
                       .watermark = {},
                       .end = false}));
        frame.batch = gather(frame.batch, all.subspan(half));
        return send(std::move(frame));
    }

    const Schema schema_;
    const std::shared_ptr<Outbox> outbox_;
};

}  // namespace

std::unique_ptr<ExchangeSender> open_remote_sender(const RemoteSenderOptions& options) {
    return std::make_unique<RemoteSender>(options);
}

}  // namespace baton
