#include "adapters/grpc/control_server.h"

#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include <baton/control.grpc.pb.h>

#include "adapters/grpc/gate.h"
#include "adapters/grpc/translate.h"
#include "base/overload.h"
#include "base/text.h"

namespace baton::rpc {

using sessions::Session;

class ControlServer::Service final : public wire::Control::CallbackService {
public:
    explicit Service(const ControlServerOptions& options)
        : options_(options), gate_(options.trust, options.worker, options.log) {}

    grpc::ServerBidiReactor<wire::ToWorker, wire::ToCoordinator>* Talk(
        grpc::CallbackServerContext* context) override;

    // False if nobody listens.
    bool tell(sessions::Event event) {
        const std::shared_lock lock(listening_);
        if (listener_) listener_(std::move(event));
        return static_cast<bool>(listener_);
    }
    void listen(Listener listener) {
        const std::unique_lock lock(listening_);
        listener_ = std::move(listener);
    }
    void log(const std::string& line) const {
        if (options_.log) options_.log(line);
    }
    [[nodiscard]] std::shared_ptr<Call> find(Session session) {
        const std::lock_guard lock(mutex_);
        const auto found = open_.find(session);
        return found == open_.end() ? nullptr : found->second;
    }
    void ended(Session session) {
        const std::lock_guard lock(mutex_);
        open_.erase(session);
    }
    [[nodiscard]] const ControlServerOptions& options() const { return options_; }

private:
    const ControlServerOptions options_;
    Gate gate_;
    std::shared_mutex listening_;  // shared while the listener is called
    Listener listener_;
    std::mutex mutex_;
    Session last_ = 0;
    std::map<Session, std::shared_ptr<Call>> open_;
};

// One session. It lives in Service::open_ until OnDone, which comes after Finish and everything
// that was under way.
class ControlServer::Call final
    : public grpc::ServerBidiReactor<wire::ToWorker, wire::ToCoordinator> {
public:
    Call(Service& service, Session session, grpc::CallbackServerContext& context)
        : service_(service), session_(session), context_(context), peer_(context.peer()) {
        StartRead(&in_);
    }

    void say(const SaidToCoordinator& said) {
        wire::ToCoordinator message;
        write(said, message);
        const std::size_t size = message.ByteSizeLong();
        const std::lock_guard lock(mutex_);
        if (over_) return;
        if (waiting_.size() >= service_.options().waiting_max ||
            waiting_bytes_ + size > service_.options().waiting_bytes_max) {
            return cut("it takes nothing: too much waits to be sent");
        }
        waiting_bytes_ += size;
        waiting_.push_back({std::move(message), size});
        if (waiting_.size() == 1) StartWrite(&waiting_.front().message);
    }

    // Nothing more is sent, but what is waiting.
    void finish() {
        const std::lock_guard lock(mutex_);
        over_ = true;
        finish_when_written();
    }
    void hang_up(const std::string& why) {
        const std::lock_guard lock(mutex_);
        cut(why);
    }

    void OnReadDone(bool ok) override {
        if (ok ? understood() : end("it closed the stream")) StartRead(&in_);
    }

    void OnWriteDone(bool ok) override {
        const std::lock_guard lock(mutex_);
        waiting_bytes_ -= waiting_.front().size;
        waiting_.pop_front();
        if (!ok) {
            over_ = true;
            waiting_.clear();
        }
        if (!waiting_.empty()) return StartWrite(&waiting_.front().message);
        finish_when_written();
    }

    void OnDone() override {
        if (greeted_) {
            service_.log("the coordinator at " + peer_ + " is gone: " + why_);
            service_.tell(sessions::HungUp{session_});
        }
        service_.ended(session_);  // perhaps the end of this
    }

private:
    struct Waiting {
        wire::ToCoordinator message;
        std::size_t size = 0;
    };

    // Each of these says whether there is more to be read.
    bool understood() {
        auto said = read(in_);
        if (!said) return end(said.error().message);
        return std::visit([&](auto&& s) { return heard(std::move(s)); }, *std::move(said));
    }
    bool heard(control::Hello&& hello) {
        if (greeted_) return end("it greets twice");
        const std::string& here = service_.options().worker;
        if (!equal_ignoring_case(hello.worker, here)) {
            return refuse("this is worker " + in_quotes(here) + ", not " + in_quotes(hello.worker));
        }
        service_.log("the coordinator at " + peer_ + " calls, epoch " + to_string(hello.epoch));
        greeted_ = true;
        if (service_.tell(sessions::Greeted{.session = session_, .hello = std::move(hello)})) {
            return true;
        }
        greeted_ = false;
        return refuse("the worker is leaving");
    }
    bool heard(control::Down&& message) {
        if (!greeted_) return end("it does not begin with a greeting");
        service_.tell(sessions::MessageArrived{.session = session_, .message = std::move(message)});
        return true;
    }
    bool refuse(const std::string& why) {
        service_.log("a call from " + peer_ + " is refused: " + why);
        say(Greeting{.worker = service_.options().worker,
                     .outcome = control::Refusal{.highest = Epoch(0), .why = why}});
        finish();
        return false;
    }

    bool end(const std::string& why) {
        const std::lock_guard lock(mutex_);
        cut(why);
        return false;
    }

    // Under the lock. A write that is under way fails.
    void cut(const std::string& why) {
        if (why_.empty()) why_ = why;
        if (!over_ && !waiting_.empty()) context_.TryCancel();
        over_ = true;
        finish_when_written();
    }
    // Under the lock.
    void finish_when_written() {
        if (!over_ || finished_ || !waiting_.empty()) return;
        finished_ = true;
        Finish(grpc::Status::OK);
    }

    Service& service_;
    const Session session_;
    grpc::CallbackServerContext& context_;  // lives until OnDone
    const std::string peer_;
    wire::ToWorker in_;
    bool greeted_ = false;  // of the reading side and OnDone

    std::mutex mutex_;
    std::deque<Waiting> waiting_;  // the first is being written
    std::size_t waiting_bytes_ = 0;
    bool over_ = false;
    bool finished_ = false;
    std::string why_;
};

grpc::ServerBidiReactor<wire::ToWorker, wire::ToCoordinator>* ControlServer::Service::Talk(
    grpc::CallbackServerContext* context) {
    if (const auto caller = gate_.let_coordinator_in(*context); !caller) {
        return new Refusing<wire::ToWorker, wire::ToCoordinator>(caller.error());
    }
    const std::lock_guard lock(mutex_);
    const Session session = ++last_;
    const auto call = std::make_shared<Call>(*this, session, *context);
    open_.emplace(session, call);
    return call.get();
}

ControlServer::ControlServer(const ControlServerOptions& options)
    : service_(std::make_unique<Service>(options)) {}

ControlServer::~ControlServer() = default;

grpc::Service& ControlServer::service() {
    return *service_;
}

void ControlServer::listen(Listener listener) {
    service_->listen(std::move(listener));
}

void ControlServer::welcome(Session session, const sessions::GreetingAnswer& outcome) {
    const auto call = service_->find(session);
    if (!call) return;
    call->say(Greeting{.worker = service_->options().worker, .outcome = outcome});
    if (std::holds_alternative<control::Refusal>(outcome)) call->finish();
}

void ControlServer::send(Session session, const control::Up& message) {
    const auto call = service_->find(session);
    if (!call) return;
    std::visit([&](const auto& m) { call->say(m); }, message);
}

void ControlServer::hang_up(Session session) {
    if (const auto call = service_->find(session)) call->hang_up("hung up");
}

}  // namespace baton::rpc
