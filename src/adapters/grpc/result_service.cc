#include "adapters/grpc/result_service.h"

#include <mutex>
#include <utility>

#include <baton/results.grpc.pb.h>

#include "adapters/grpc/gate.h"
#include "base/text.h"
#include "engine/results/result_hub.h"

namespace baton::rpc {

namespace {

// One reader's call. It owns itself until OnDone; the hub knows it weakly.
class Fetching final : public grpc::ServerBidiReactor<wire::FetchRequest, wire::ResultBatch>,
                       public std::enable_shared_from_this<Fetching> {
public:
    Fetching(engine::ResultHub& hub, const std::string& worker) : hub_(hub), worker_(worker) {}

    void start() {
        self_ = shared_from_this();
        StartRead(&request_);
    }

    void OnReadDone(bool ok) override {
        if (!ok) return refuse(grpc::StatusCode::CANCELLED, "nothing was asked for");
        if (!equal_ignoring_case(request_.worker(), worker_)) {
            return refuse(grpc::StatusCode::NOT_FOUND, "this is worker " + in_quotes(worker_) +
                                                           ", not " + in_quotes(request_.worker()));
        }
        auto outlet = hub_.read(request_.token(), [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->go_on();
        });
        if (!outlet) return refuse(grpc::StatusCode::ALREADY_EXISTS, outlet.error().message);
        {
            const std::lock_guard lock(mutex_);
            outlet_ = *std::move(outlet);
        }
        go_on();
    }
    void OnWriteDone(bool ok) override {
        {
            const std::lock_guard lock(mutex_);
            writing_ = false;
            if (!ok) finish(grpc::Status::CANCELLED);
        }
        go_on();
    }
    void OnCancel() override {
        std::unique_ptr<engine::ResultOutlet> left;  // its end calls nobody, but may wake the sink
        const std::lock_guard lock(mutex_);
        left = std::move(outlet_);
        if (!writing_) finish(grpc::Status::CANCELLED);
    }
    void OnDone() override {
        std::unique_ptr<engine::ResultOutlet> left;
        {
            const std::lock_guard lock(mutex_);
            left = std::move(outlet_);
        }
        self_.reset();  // perhaps the end of this
    }

private:
    void refuse(grpc::StatusCode code, const std::string& why) {
        const std::lock_guard lock(mutex_);
        finish(grpc::Status(code, why));
    }

    void go_on() {
        const std::lock_guard lock(mutex_);
        if (writing_ || finished_) return;
        if (!outlet_) {
            if (started_) finish(grpc::Status::CANCELLED);
            return;
        }
        started_ = true;
        engine::TakenResult taken = outlet_->take();
        switch (taken.what) {
            case engine::TakenResult::What::nothing:
                return;
            case engine::TakenResult::What::end:
                return finish(grpc::Status::OK);
            case engine::TakenResult::What::broken:
                return finish(grpc::Status(grpc::StatusCode::ABORTED, taken.why));
            case engine::TakenResult::What::batch:
                break;
        }
        out_.set_batch(*taken.batch);
        writing_ = true;
        StartWrite(&out_);
    }

    // Under the lock.
    void finish(const grpc::Status& status) {
        if (std::exchange(finished_, true)) return;
        Finish(status);
    }

    engine::ResultHub& hub_;
    const std::string& worker_;
    wire::FetchRequest request_;
    std::shared_ptr<Fetching> self_;
    std::mutex mutex_;
    std::unique_ptr<engine::ResultOutlet> outlet_;
    wire::ResultBatch out_;
    bool started_ = false;  // something was taken, or looked for
    bool writing_ = false;
    bool finished_ = false;
};

}  // namespace

class ResultService::Service final : public wire::Results::CallbackService {
public:
    Service(engine::ResultHub& hub, const std::string& worker, std::shared_ptr<Trust> trust,
            std::function<void(const std::string&)> log)
        : hub_(hub), worker_(worker), gate_(std::move(trust), worker, std::move(log)) {}

    grpc::ServerBidiReactor<wire::FetchRequest, wire::ResultBatch>* Fetch(
        grpc::CallbackServerContext* context) override {
        if (const auto caller = gate_.let_coordinator_in(*context); !caller) {
            return new Refusing<wire::FetchRequest, wire::ResultBatch>(caller.error());
        }
        const auto call = std::make_shared<Fetching>(hub_, worker_);
        call->start();
        return call.get();
    }

private:
    engine::ResultHub& hub_;
    const std::string worker_;
    Gate gate_;
};

ResultService::ResultService(engine::ResultHub& hub, const std::string& worker,
                             std::shared_ptr<Trust> trust,
                             std::function<void(const std::string&)> log)
    : service_(std::make_unique<Service>(hub, worker, std::move(trust), std::move(log))) {}

ResultService::~ResultService() = default;

grpc::Service& ResultService::service() {
    return *service_;
}

}  // namespace baton::rpc
