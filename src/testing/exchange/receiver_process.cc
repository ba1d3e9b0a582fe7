#include "testing/exchange/receiver_process.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/overload.h"

namespace baton::testing {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSchema = 17;

}  // namespace

exchange::ReceiverId receiver_of(std::uint64_t run) {
    return {.key = {.query = QueryId(1), .run = run, .exchange = 0}, .worker = "HUB"};
}

std::string sender_name(std::size_t sender) {
    return "S" + std::to_string(sender);
}

void ReceiverProcess::open(const std::shared_ptr<ExchangeRecord>& record) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < scenario_.senders; ++i) names.push_back(sender_name(i));
    receiver_ = std::make_shared<SimReceiver>(
        SimReceiver{.record = record,
                    .inbox = SimInbox(scenario_.senders, scenario_.limits),
                    .streams = {},
                    .newest = std::vector<std::uint64_t>(scenario_.senders)});
    if (!directory_->open(receiver_of(record->run), {.senders = names, .schema = kSchema},
                          receiver_)) {
        stage_.fail("a receiver is open already");
    }
}

void ReceiverProcess::close(std::uint64_t run) {
    if (receiver_ == nullptr || receiver_->record->run != run) return;
    directory_->close(receiver_of(run), receiver_->inbox.finished());
    receiver_->inbox.interrupt();
    receiver_->inbox.close();
    receiver_.reset();
    wires_.closed();
}

void ReceiverProcess::kill() {
    for (auto& [id, stream] : streams_) {
        stream.server_reads = false;
        stream.server_done = true;
    }
    directory_.emplace();
    receiver_.reset();
}

// ---- streams ------------------------------------------------------------------------------------

void ReceiverProcess::hear_opening(std::uint64_t id, std::uint64_t run) {
    SimStream& stream = streams_.at(id);
    stage_.tell(13, [&] { return "a stream of " + sender_name(stream.index) + " asks to open"; });
    std::visit(Overload{
                   [&](SimDirectory::Admitted&& admitted) {
                       SimReceiver& receiver = *admitted.receiver;
                       stream.receiver = admitted.receiver;
                       stream.position = admitted.sender;
                       stream.attached = receiver.inbox.attach(admitted.sender);
                       receiver.streams[{admitted.sender, stream.attached}] = id;
                       receiver.newest[admitted.sender] =
                           std::max(receiver.newest[admitted.sender], id);
                       perform(id, stream.answers.answer(
                                       exchange::Opened{receiver.inbox.progress(admitted.sender)}));
                   },
                   [&](exchange::Opened&& all) {
                       stage_.run.told_late += 1;
                       perform(id, stream.answers.answer(all));
                   },
                   [&](exchange::Refused&& refused) {
                       if (refused.for_good) stage_.fail("it is refused: " + refused.why);
                       perform(id, stream.answers.answer(refused));
                       ends(id);
                   },
               },
               directory_->admit(receiver_of(run), sender_name(stream.index), kSchema));
}

void ReceiverProcess::hear_item(std::uint64_t id, std::uint64_t number, const SimItem& item) {
    SimStream& stream = streams_.at(id);
    if (stream.receiver == nullptr) return ends(id);
    const std::shared_ptr<SimReceiver> receiver = stream.receiver;
    stage_.tell(12, [&] {
        return "item " + std::to_string(number) + " of " + sender_name(stream.index) + " arrives";
    });
    switch (receiver->inbox.put(
        stream.position,
        {.number = number, .bytes = item.bytes, .content = item.content, .item = item})) {
        case exchange::Put::closed:
            return ends(id);
        case exchange::Put::faulty:
            return stage_.fail("an honest sender is at fault: " + receiver->inbox.fault()->why);
        case exchange::Put::known:
            stage_.run.doubled += 1;
            break;
        case exchange::Put::kept:
            checks_.arrives(*receiver, stream, number, receiver->newest[stream.position] == id);
            take_soon(receiver);
            break;
    }
    perform(id, stream.answers.progressed());
}

void ReceiverProcess::written(std::uint64_t id) {
    SimStream& stream = streams_.at(id);
    if (stream.server_done) return;
    stream.server_writes = false;
    perform(id, stream.answers.written(stream.server_reads));
}

void ReceiverProcess::ends(std::uint64_t id) {
    SimStream& stream = streams_.at(id);
    if (std::exchange(stream.server_reads, false)) perform(id, stream.answers.end());
}

void ReceiverProcess::perform(std::uint64_t id,
                              const std::optional<exchange::AnswersEffect>& effect) {
    if (!effect) return;
    SimStream& stream = streams_.at(id);
    std::visit(Overload{
                   [&](const exchange::WriteAnswer& first) { wires_.write(id, first.answer); },
                   [&](const exchange::WriteProgress&) {
                       wires_.write(id, stream.receiver->inbox.progress(stream.position));
                   },
                   [&](const exchange::FinishStream&) { finish(id, stream); },
               },
               *effect);
}

void ReceiverProcess::finish(std::uint64_t id, SimStream& stream) {
    if (stream.receiver) stream.receiver->inbox.detach(stream.position, stream.attached);
    stream.receiver.reset();
    stream.server_done = true;
    wires_.finish(id);
}

// ---- the receiver -------------------------------------------------------------------------------

void ReceiverProcess::take_soon(const std::shared_ptr<SimReceiver>& receiver) {
    if (receiver->taking || receiver->inbox.must_wait() || receiver->inbox.is_closed()) return;
    receiver->taking = true;
    const Duration think = std::max<Duration>(stage_.up_to(3ms), paused_until_ - stage_.now());
    stage_.after(think, [this, receiver] {
        receiver->taking = false;
        if (receiver != receiver_) return;
        take(*receiver);
        if (!receiver->record->all_taken) take_soon(receiver);
    });
}

void ReceiverProcess::take(SimReceiver& receiver) {
    std::visit(Overload{
                   [&](SimInbox::Taken&& taken) {
                       checks_.takes(*receiver.record, taken);
                       make_room(receiver, taken.sender);
                   },
                   [&](SimInbox::SenderEnded&& ended) {
                       checks_.takes_end(*receiver.record, ended);
                       make_room(receiver, ended.sender);
                       if (!ended.all) return;
                       stage_.after(stage_.up_to(300ms),
                                    [this, run = receiver.record->run] { close(run); });
                   },
                   [&](SimInbox::AllEnded&&) {},
                   [&](SimInbox::Nothing&&) { stage_.fail("it is woken for nothing"); },
                   [&](exchange::Fault&& fault) { stage_.fail("a fault: " + fault.why); },
               },
               receiver.inbox.take());
}

void ReceiverProcess::make_room(const SimReceiver& receiver, std::size_t sender) {
    const std::vector<std::uint64_t> attached = receiver.inbox.streams(sender);
    for (const std::uint64_t one : attached) {
        const std::uint64_t id = receiver.streams.at({sender, one});
        perform(id, streams_.at(id).answers.progressed());
    }
}

}  // namespace baton::testing
