#include "adapters/grpc/exchange_service.h"

#include <mutex>
#include <utility>

#include <baton/exchange.grpc.pb.h>

#include "adapters/grpc/exchange_inbox.h"
#include "adapters/grpc/exchange_wire.h"
#include "adapters/grpc/gate.h"
#include "base/overload.h"
#include "base/text.h"

namespace baton {

namespace {

class Service;

// One sender's stream. It owns itself until OnDone; the inbox knows it weakly.
class Call final : public grpc::ServerBidiReactor<wire::ToReceiver, wire::ToSender>,
                   public std::enable_shared_from_this<Call> {
public:
    Call(Receivers& receivers, const std::function<void(const std::string&)>& log, std::string peer,
         Peer who)
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
        writing_ = false;
        if (!ok) over_ = true;
        write_or_finish();
    }

    void OnDone() override { self_.reset(); }  // perhaps the end of this

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
        const auto refuse = [&](const std::string& why, bool for_good) {
            say(OpenRefused{.why = why, .for_good = for_good});
            return end();
        };
        if (open.protocol != kExchangeProtocol) {
            return refuse("protocol " + std::to_string(open.protocol) + " is not spoken here",
                          true);
        }
        if (const auto may = check_sends_as(who_, open.sender); !may) {
            return refuse(may.error().message, true);
        }
        auto inbox = receivers_.find(open.receiver);
        if (!inbox) {
            if (const auto last = receivers_.finished(open.receiver, open.sender)) {
                // It has sent all and did not hear that it arrived.
                say(Opened{{.arrived = *last, .items_max = *last, .bytes_max = 0}});
                return true;
            }
            return refuse(to_string(open.receiver) + " is not open", false);
        }
        const auto sender = inbox->position_of(open.sender);
        if (!sender) {
            return refuse(
                to_string(open.receiver) + " expects nothing from worker " + in_quotes(open.sender),
                true);
        }
        if (open.schema != fingerprint(inbox->schema())) {
            return refuse(to_string(open.receiver) + " expects rows with another schema", true);
        }
        sender_ = *sender;
        const auto room = std::make_shared<const Inbox::OnRoom>([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->tell_progress();
        });
        const ExchangeProgress progress = inbox->attach(sender_, room);
        inbox_ = std::move(inbox);
        say(Opened{progress});
        return true;
    }

    bool heard(NumberedItem&& item) {
        if (!inbox_) return mistrust({.message = "it does not begin with what it is for"});
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
        progressed_ = true;
        write_or_finish();
    }
    void say(const SaidToSender& said) {
        const std::lock_guard lock(mutex_);
        first_.emplace();
        write(said, *first_);
        write_or_finish();
    }
    bool end() {
        const std::lock_guard lock(mutex_);
        over_ = true;
        write_or_finish();
        return false;
    }

    // Under the lock. The newest progress is all that counts: what was not said is not said later.
    void write_or_finish() {
        if (writing_ || finished_) return;
        if (first_) {
            out_ = *std::exchange(first_, std::nullopt);
        } else if (over_) {
            finished_ = true;
            return Finish(grpc::Status::OK);
        } else if (progressed_ && inbox_) {
            progressed_ = false;
            out_.Clear();
            write(SaidToSender(inbox_->progress(sender_)), out_);
        } else {
            return;
        }
        writing_ = true;
        StartWrite(&out_);
    }

    Receivers& receivers_;
    const std::function<void(const std::string&)>& log_;
    const std::string peer_;
    const Peer who_;
    std::shared_ptr<Call> self_;
    wire::ToReceiver in_;
    std::size_t sender_ = 0;

    std::mutex mutex_;
    std::shared_ptr<Inbox> inbox_;  // set by the reading side before it is used by any other
    wire::ToSender out_;
    std::optional<wire::ToSender> first_;  // Opened or Refused
    bool progressed_ = false;
    bool writing_ = false;
    bool over_ = false;
    bool finished_ = false;
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

}  // namespace baton
