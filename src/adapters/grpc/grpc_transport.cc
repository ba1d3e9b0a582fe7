#include "adapters/grpc/grpc_transport.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include <baton/control.grpc.pb.h>
#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/translate.h"
#include "base/overload.h"
#include "base/text.h"

namespace baton::rpc {

struct GrpcTransport::Calls {
    using Key = std::pair<std::string, transport::Attempt>;

    void tell(transport::Event event) {
        const std::shared_lock lock(listening);
        if (listener) listener(std::move(event));
    }
    [[nodiscard]] std::shared_ptr<Call> find(const Key& key) {
        const std::lock_guard lock(mutex);
        const auto found = open.find(key);
        return found == open.end() ? nullptr : found->second;
    }
    // The last thing that a call does here.
    void ended(const Key& key) {
        const std::lock_guard lock(mutex);
        open.erase(key);
        if (open.empty()) none_open.notify_all();
    }

    GrpcTransportOptions options;

    std::shared_mutex listening;  // shared while the listener is called
    Listener listener;

    std::mutex mutex;
    std::condition_variable none_open;
    std::map<Key, std::shared_ptr<Call>> open;
};

// One stream. gRPC calls On... one after the other but for OnWriteDone, which may come beside them.
// It lives in Calls::open until OnDone; the alarm, which it owns, must not keep it alive.
class GrpcTransport::Call final
    : public grpc::ClientBidiReactor<wire::ToWorker, wire::ToCoordinator>,
      public std::enable_shared_from_this<Call> {
public:
    Call(Calls& calls, Calls::Key key, const Address& address, Dialling dialling)
        : calls_(calls),
          key_(std::move(key)),
          dialling_(std::move(dialling)),
          stub_(wire::Control::NewStub(
              open_channel(target_of(address), dialling_, Liveness::beats, kControlBytesMax))) {}

    void start(const control::Hello& hello) {
        introduce(dialling_, context_);
        stub_->async()->Talk(&context_, this);
        AddHold();  // until nothing is read any more: sends come from outside
        StartRead(&in_);
        send(hello);
        const auto timeout =
            std::chrono::duration_cast<std::chrono::milliseconds>(calls_.options.dial_timeout);
        alarm_.Set(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                gpr_time_from_millis(timeout.count(), GPR_TIMESPAN)),
                   [weak = weak_from_this(), timeout](bool rang) {
                       const auto self = weak.lock();
                       if (rang && self) self->dial_timed_out(timeout);
                   });
        StartCall();
    }

    void send(const SaidToWorker& said) {
        wire::ToWorker message;
        write(said, message);
        const std::size_t size = message.ByteSizeLong();
        const std::lock_guard lock(mutex_);
        if (over_) return;
        if (size > kControlBytesMax) return cut("a message to it is too long");
        if (waiting_.size() >= calls_.options.waiting_max ||
            waiting_bytes_ + size > calls_.options.waiting_bytes_max) {
            return cut("it takes nothing: too much waits to be sent");
        }
        waiting_bytes_ += size;
        waiting_.push_back({std::move(message), size});
        if (waiting_.size() == 1) StartWrite(&waiting_.front().message);
    }

    // Nobody is told of its end.
    void hang_up() {
        const std::lock_guard lock(mutex_);
        silent_ = true;
        cut("hung up");
    }

    void OnReadDone(bool ok) override {
        if (!ok) return stop_reading();
        auto said = read(in_);
        if (said) {
            const bool go_on =
                std::visit([&](auto&& s) { return heard(std::move(s)); }, *std::move(said));
            if (go_on) return StartRead(&in_);
        } else {
            const std::lock_guard lock(mutex_);
            cut(said.error().message);
        }
        stop_reading();
    }

    void OnWriteDone(bool ok) override {
        const std::lock_guard lock(mutex_);
        waiting_bytes_ -= waiting_.front().size;
        waiting_.pop_front();
        if (!ok || over_) {
            waiting_.clear();
            over_ = true;
        } else if (!waiting_.empty()) {
            StartWrite(&waiting_.front().message);
        }
    }

    void OnDone(const grpc::Status& status) override {
        const auto self = shared_from_this();
        alarm_.Cancel();
        std::string why;
        bool silent = false;
        {
            const std::lock_guard lock(mutex_);
            why = why_.empty() ? text_of(status) : why_;
            silent = silent_;
        }
        if (!silent && welcomed_) {
            calls_.tell(
                transport::Broken{.worker = key_.first, .attempt = key_.second, .why = why});
        } else if (!silent) {
            calls_.tell(transport::DialFailed{.worker = key_.first,
                                              .attempt = key_.second,
                                              .why = why,
                                              .highest = highest_,
                                              .refused = refused_});
        }
        calls_.ended(key_);
    }

private:
    struct Waiting {
        wire::ToWorker message;
        std::size_t size = 0;
    };

    // Each says whether there is more to be read.
    bool heard(Greeting&& greeting) {
        if (welcomed_) return mistrust("it greets twice");
        if (const auto known = dialling_.recognise(context_); !known) {
            return mistrust(known.error().message);
        }
        if (const auto* refusal = std::get_if<control::Refusal>(&greeting.outcome)) {
            highest_ = refusal->highest;
            refused_ = true;
            return mistrust(refusal->why);
        }
        if (!equal_ignoring_case(greeting.worker, key_.first)) {
            return mistrust("it is worker " + in_quotes(greeting.worker));
        }
        {
            const std::lock_guard lock(mutex_);
            if (over_) return false;
            welcomed_ = true;
        }
        alarm_.Cancel();
        calls_.tell(
            transport::Dialled{.worker = key_.first,
                               .attempt = key_.second,
                               .welcome = std::get<control::Welcome>(std::move(greeting.outcome))});
        return true;
    }
    bool heard(control::Up&& message) {
        if (!welcomed_) return mistrust("it does not begin with a greeting");
        calls_.tell(transport::MessageArrived{
            .worker = key_.first, .attempt = key_.second, .message = std::move(message)});
        return true;
    }

    bool mistrust(std::string why) {
        const std::lock_guard lock(mutex_);
        cut(std::move(why));
        return false;
    }

    // Under the lock. What is under way fails, and OnDone comes.
    void cut(std::string why) {
        if (why_.empty()) why_ = std::move(why);
        over_ = true;
        context_.TryCancel();
    }

    void stop_reading() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;  // from here on nobody starts a write
        }
        RemoveHold();
    }

    void dial_timed_out(std::chrono::milliseconds timeout) {
        const std::lock_guard lock(mutex_);
        if (welcomed_) return;
        cut("no answer within " + std::to_string(timeout.count()) + " ms");
    }

    Calls& calls_;
    const Calls::Key key_;
    const Dialling dialling_;
    const std::unique_ptr<wire::Control::Stub> stub_;
    grpc::ClientContext context_;
    grpc::Alarm alarm_;
    wire::ToCoordinator in_;
    Epoch highest_;  // of a refusal
    bool refused_ = false;

    std::mutex mutex_;
    std::deque<Waiting> waiting_;  // the first is being written
    std::size_t waiting_bytes_ = 0;
    bool welcomed_ = false;  // written by the reading side, under the lock
    bool over_ = false;
    bool silent_ = false;
    std::string why_;  // it is over
};

GrpcTransport::GrpcTransport(const GrpcTransportOptions& options)
    : calls_(std::make_unique<Calls>()) {
    calls_->options = options;
}

GrpcTransport::~GrpcTransport() {
    listen(nullptr);
    std::unique_lock lock(calls_->mutex);
    const auto open = calls_->open;
    lock.unlock();
    for (const auto& [key, call] : open) call->hang_up();
    lock.lock();
    calls_->none_open.wait(lock, [&] { return calls_->open.empty(); });
}

void GrpcTransport::listen(Listener listener) {
    const std::unique_lock lock(calls_->listening);
    calls_->listener = std::move(listener);
}

void GrpcTransport::dial(const std::string& worker, const std::optional<Address>& address,
                         transport::Attempt attempt, const control::Hello& hello) {
    const auto fail = [&](std::string why) {
        calls_->tell(transport::DialFailed{
            .worker = worker, .attempt = attempt, .why = std::move(why), .highest = Epoch(0)});
    };
    if (!address) return fail("it has no address, and no worker is embedded in this process");
    const Calls::Key key{worker, attempt};
    auto dialling = calls_->options.trust->dial(worker);
    if (!dialling) return fail(to_string(dialling.error()));
    const auto call = std::make_shared<Call>(*calls_, key, *address, *std::move(dialling));
    {
        const std::lock_guard lock(calls_->mutex);
        CHECK(calls_->open.emplace(key, call).second);  // an attempt is dialled once
    }
    call->start(hello);
}

void GrpcTransport::send(const std::string& worker, transport::Attempt attempt,
                         const control::Down& message) {
    const auto call = calls_->find({worker, attempt});
    if (!call) return;
    std::visit([&](const auto& m) { call->send(m); }, message);
}

void GrpcTransport::hang_up(const std::string& worker, transport::Attempt attempt) {
    if (const auto call = calls_->find({worker, attempt})) call->hang_up();
}

}  // namespace baton::rpc
