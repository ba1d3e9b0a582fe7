#include "adapters/grpc/exchange_service.h"

#include <mutex>
#include <utility>

#include <baton/exchange.grpc.pb.h>

#include "adapters/grpc/exchange_inbox.h"
#include "adapters/grpc/exchange_wire.h"
#include "adapters/grpc/gate.h"
#include "base/overload.h"
#include "core/exchange/answers.h"

namespace baton::rpc {

namespace {

class Service;

// One sender's stream. It owns itself until OnDone; the inbox knows it weakly.
class Call final : public grpc::ServerBidiReactor<wire::ToReceiver, wire::ToSender>,
                   public std::enable_shared_from_this<Call> {
public:
    Call(Receivers& receivers, const std::function<void(const std::string&)>& log, std::string peer,
         identity::Peer who)
        : receivers_(receivers), log_(log), peer_(std::move(peer)), who_(std::move(who)) {}

    void start() {
        self_ = shared_from_this();
        StartRead(&in_);
    }

    void OnReadDone(bool ok) override {
        if (ok ? understood() : end()) StartRead(&in_);
    }

    void OnWriteDone(bool ok) override {
        const std::lock_guard lock(mutex_);
        perform(answers_.written(ok));
    }

    void OnDone() override {
        if (inbox_) inbox_->detach(sender_, attached_);
        self_.reset();  // perhaps the end of this
    }

private:
    // Each of these says whether there is more to be read.
    bool understood() {
        auto said = read(in_);
        if (!said) return mistrust(said.error());
        return std::visit(Overload{
                              [&](OpenExchange&& open) { return heard(open); },
                              [&](NumberedItem&& item) { return heard(std::move(item)); },
                          },
                          *std::move(said));
    }

    bool heard(const OpenExchange& open) {
        if (inbox_) return mistrust({.message = "it opens twice"});
        if (open.protocol != kExchangeProtocol) {
            return answer(exchange::Refused{
                .why = "protocol " + std::to_string(open.protocol) + " is not spoken here",
                .for_good = true});
        }
        if (const auto may = identity::check_sends_as(who_, open.sender); !may) {
            return answer(exchange::Refused{.why = may.error().message, .for_good = true});
        }
        return std::visit(
            Overload{
                [&](Receivers::Directory::Admitted&& admitted) { return answer(admitted); },
                [&](exchange::Opened&& all) {
                    say(all);
                    return true;
                },
                [&](exchange::Refused&& refused) { return answer(refused); },
            },
            receivers_.admit(open.receiver, open.sender, open.schema));
    }

    bool answer(const Receivers::Directory::Admitted& admitted) {
        inbox_ = admitted.receiver;
        sender_ = admitted.sender;
        const auto room = std::make_shared<const SharedInbox::OnRoom>([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->tell_progress();
        });
        const auto [stream, progress] = inbox_->attach(sender_, room);
        attached_ = stream;
        say(exchange::Opened{progress});
        return true;
    }
    bool answer(const exchange::Refused& refused) {
        say(refused);
        return end();
    }

    bool heard(NumberedItem&& item) {
        if (!inbox_) return mistrust({.message = "it does not begin with its opening"});
        if (auto put = inbox_->put(sender_, item.number, std::move(item.item)); !put) {
            return mistrust(put.error());
        }
        tell_progress();
        return true;
    }

    bool mistrust(const Error& error) {
        if (log_) log_("the stream of data from " + peer_ + " is cut: " + error.message);
        return end();
    }

    void tell_progress() {
        const std::lock_guard lock(mutex_);
        perform(answers_.progressed());
    }
    void say(const exchange::ToSender& first) {
        const std::lock_guard lock(mutex_);
        perform(answers_.answer(first));
    }
    bool end() {
        const std::lock_guard lock(mutex_);
        perform(answers_.end());
        return false;
    }

    // Under the lock.
    void perform(const std::optional<exchange::AnswersEffect>& effect) {
        if (!effect) return;
        std::visit(
            Overload{
                [&](const exchange::WriteAnswer& first) { write_out(first.answer); },
                [&](const exchange::WriteProgress&) { write_out(inbox_->progress(sender_)); },
                [&](const exchange::FinishStream&) { Finish(grpc::Status::OK); },
            },
            *effect);
    }
    void write_out(const exchange::ToSender& said) {
        out_.Clear();
        write(said, out_);
        StartWrite(&out_);
    }

    Receivers& receivers_;
    const std::function<void(const std::string&)>& log_;
    const std::string peer_;
    const identity::Peer who_;
    std::shared_ptr<Call> self_;
    wire::ToReceiver in_;
    std::size_t sender_ = 0;

    std::shared_ptr<SharedInbox> inbox_;  // set by the reading side before the first answer
    std::uint64_t attached_ = 0;          // under which number it hears of room; set with it

    std::mutex mutex_;
    exchange::Answers answers_;
    wire::ToSender out_;
};

class Service final : public wire::Exchange::CallbackService {
public:
    Service(Receivers& receivers, std::shared_ptr<Trust> trust, std::string worker,
            std::function<void(const std::string&)> log)
        : receivers_(receivers),
          log_(std::move(log)),
          gate_(std::move(trust), std::move(worker), log_) {}

    grpc::ServerBidiReactor<wire::ToReceiver, wire::ToSender>* Carry(
        grpc::CallbackServerContext* context) override {
        auto who = gate_.let_sender_in(*context);
        if (!who) return new Refusing<wire::ToReceiver, wire::ToSender>(who.error());
        const auto call =
            std::make_shared<Call>(receivers_, log_, context->peer(), *std::move(who));
        call->start();
        return call.get();
    }

private:
    Receivers& receivers_;
    const std::function<void(const std::string&)> log_;
    Gate gate_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_exchange_service(Receivers& receivers,
                                                     std::shared_ptr<Trust> trust,
                                                     std::string worker,
                                                     std::function<void(const std::string&)> log) {
    return std::make_unique<Service>(receivers, std::move(trust), std::move(worker),
                                     std::move(log));
}

}  // namespace baton::rpc
