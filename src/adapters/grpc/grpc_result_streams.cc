#include "adapters/grpc/grpc_result_streams.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include <baton/results.grpc.pb.h>
#include <grpcpp/channel.h>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/exchange_wire.h"
#include "base/text.h"
#include "engine/results/result_rows.h"

namespace baton::rpc {

struct GrpcResultStreams::Open {
    std::mutex mutex;
    std::condition_variable none;
    std::size_t calls = 0;
};

// It owns itself until OnDone. A hold is in place while somebody may start a read from outside.
class GrpcResultStreams::Call final
    : public grpc::ClientBidiReactor<wire::FetchRequest, wire::ResultBatch>,
      public std::enable_shared_from_this<Call> {
public:
    Call(std::shared_ptr<Open> open, Dialling dialling, const std::string& target, Wake wake)
        : open_(std::move(open)),
          dialling_(std::move(dialling)),
          stub_(wire::Results::NewStub(
              open_channel(target, dialling_, Liveness::pings, kExchangeBytesMax))),
          wake_(std::move(wake)) {}

    void start(const std::string& worker, const std::string& token) {
        {
            const std::lock_guard lock(open_->mutex);
            open_->calls += 1;
        }
        self_ = shared_from_this();
        request_.set_worker(worker);
        request_.set_token(token);
        introduce(dialling_, context_);
        stub_->async()->Fetch(&context_, this);
        AddHold();
        StartRead(&in_);
        StartWriteLast(&request_, {});
        StartCall();
    }

    // Nobody polls any more.
    void cancel() {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
        wake_ = nullptr;
        context_.TryCancel();
        if (batch_) release();
    }

    // The next batch, or how it ended; neither: nothing yet.
    struct Taken {
        arrow::ArrowBytes batch;
        std::optional<grpc::Status> status;
    };
    [[nodiscard]] Taken take() {
        const std::lock_guard lock(mutex_);
        if (!batch_) return {.batch = nullptr, .status = status_};
        Taken taken{.batch = std::exchange(batch_, nullptr), .status = {}};
        StartRead(&in_);
        return taken;
    }

    void OnReadDone(bool ok) override {
        Wake wake;
        {
            const std::lock_guard lock(mutex_);
            if (!ok || cancelled_) return release();
            if (!known_) {
                if (const auto known = dialling_.recognise(context_); !known) {
                    false_ = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, known.error().message);
                    context_.TryCancel();
                    return release();
                }
                known_ = true;
            }
            batch_ = std::make_shared<const std::string>(std::move(*in_.mutable_batch()));
            wake = wake_;
        }
        if (wake) wake();
    }
    void OnDone(const grpc::Status& status) override {
        Wake wake;
        {
            const std::lock_guard lock(mutex_);
            status_ = false_ ? *false_ : status;
            wake = wake_;
        }
        if (wake) wake();
        const auto open = open_;
        self_.reset();  // perhaps the end of this
        const std::lock_guard lock(open->mutex);
        open->calls -= 1;
        open->none.notify_all();
    }

private:
    // Under the lock; once, since no read follows it.
    void release() { RemoveHold(); }

    const std::shared_ptr<Open> open_;
    const Dialling dialling_;
    const std::unique_ptr<wire::Results::Stub> stub_;
    grpc::ClientContext context_;
    wire::FetchRequest request_;
    wire::ResultBatch in_;
    std::shared_ptr<Call> self_;

    std::mutex mutex_;
    arrow::ArrowBytes batch_;  // none: it is being read, or was the last
    std::optional<grpc::Status> status_;
    bool cancelled_ = false;
    bool known_ = false;                 // the worker has proved who it is
    std::optional<grpc::Status> false_;  // it did not
    Wake wake_;
};

class GrpcResultStreams::Stream final : public ResultStream {
public:
    Stream(std::shared_ptr<Call> call, std::string worker, Schema schema)
        : call_(std::move(call)), worker_(std::move(worker)), schema_(std::move(schema)) {}
    ~Stream() override { call_->cancel(); }

    Result<ResultPortion> poll() override {
        const Call::Taken taken = call_->take();
        if (taken.batch) {
            TRY_ASSIGN(rows, engine::rows_in(schema_, taken.batch));
            return ResultPortion{.rows = std::move(rows)};
        }
        if (!taken.status) return ResultPortion{};
        if (taken.status->ok()) return ResultPortion{.rows = {}, .ended = true};
        return failure(*taken.status);
    }

private:
    [[nodiscard]] Error failure(const grpc::Status& status) const {
        const std::string from = "worker " + in_quotes(worker_);
        const grpc::StatusCode code = status.error_code();
        if (code == grpc::StatusCode::ABORTED) {
            return {.code = ErrorCode::cancelled, .message = status.error_message()};
        }
        if (code == grpc::StatusCode::NOT_FOUND || code == grpc::StatusCode::ALREADY_EXISTS ||
            code == grpc::StatusCode::UNIMPLEMENTED || code == grpc::StatusCode::UNAUTHENTICATED ||
            code == grpc::StatusCode::PERMISSION_DENIED) {
            return {.code = ErrorCode::not_supported,
                    .message = from + " does not give the rows: " + text_of(status)};
        }
        return {.code = ErrorCode::worker_unreachable,
                .message = "the rows from " + from + " broke off: " + text_of(status)};
    }

    const std::shared_ptr<Call> call_;
    const std::string worker_;
    const Schema schema_;
};

namespace {

class NoStream final : public ResultStream {
public:
    explicit NoStream(Error why) : why_(std::move(why)) {}
    Result<ResultPortion> poll() override { return why_; }

private:
    const Error why_;
};

}  // namespace

GrpcResultStreams::GrpcResultStreams(std::shared_ptr<Trust> trust)
    : trust_(std::move(trust)), open_(std::make_shared<Open>()) {}

GrpcResultStreams::~GrpcResultStreams() {
    std::unique_lock lock(open_->mutex);
    open_->none.wait(lock, [&] { return open_->calls == 0; });
}

std::unique_ptr<ResultStream> GrpcResultStreams::open(const std::string& worker,
                                                      const std::optional<Address>& address,
                                                      const std::string& token,
                                                      const Schema& schema, Wake wake) {
    if (!address) {
        return std::make_unique<NoStream>(
            Error{.code = ErrorCode::worker_unreachable,
                  .message = "the worker has no address, and none is embedded in this process"});
    }
    auto dialling = trust_->dial(worker);
    if (!dialling) return std::make_unique<NoStream>(dialling.error());
    auto call =
        std::make_shared<Call>(open_, *std::move(dialling), target_of(*address), std::move(wake));
    call->start(worker, token);
    return std::make_unique<Stream>(std::move(call), worker, schema);
}

}  // namespace baton::rpc
