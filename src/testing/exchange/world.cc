#include "testing/exchange/world.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/overload.h"
#include "testing/exchange/checks.h"
#include "testing/exchange/parts.h"
#include "testing/exchange/receiver_process.h"
#include "testing/exchange/stage.h"

namespace baton::testing {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kWorldSalt = 0x7f4a7c15;

class ExchangeWorld {
public:
    ExchangeWorld(const ExchangeScenario& scenario, bool with_story)
        : scenario_(scenario),
          stage_(scenario.seed ^ kWorldSalt, with_story),
          checks_(scenario_, stage_),
          cut_until_(scenario.senders),
          paused_until_(scenario.senders),
          hub_(scenario_, stage_, checks_, streams_,
               {.write = [this](std::uint64_t id,
                                const exchange::ToSender& said) { server_writes(id, said); },
                .finish = [this](std::uint64_t id) { server_finishes(id); },
                .closed = [this] { complete_if_all_ended(); }}) {}

    ExchangeRun play() {
        start_run();
        for (const ExchangeIncident& incident : scenario_.incidents) {
            stage_.after(incident.at, [this, incident] { befall(incident); });
        }
        run_until(Instant(scenario_.length), [] { return false; });
        heal();
        run_until(stage_.now() + 60s, [this] { return over_; });
        if (!over_) stage_.fail("the run has not ended within a minute after the world healed");
        run_until(stage_.now() + 60s, [] { return false; });
        if (!stage_.is_idle()) stage_.fail("something still happens long after the end");
        if (!senders_.empty()) stage_.fail("a closed sender still has a stream");
        for (const auto& [id, stream] : streams_) {
            if (!stream.server_done) stage_.fail("the receiver's end of a stream is still open");
        }
        return stage_.run;
    }

private:
    // ---- the world ------------------------------------------------------------------------------

    void run_until(Instant end, const std::function<bool()>& stop) {
        stage_.run_until(end, [&] {
            std::erase_if(senders_, [](const auto& one) {
                return one.second.closed && !one.second.outbox.has_stream();
            });
            return stop();
        });
    }
    void heal() {
        healed_ = true;
        stage_.tell(1, [] { return std::string("the world heals"); });
        cut_until_.assign(scenario_.senders, Instant());
        paused_until_.assign(scenario_.senders, Instant());
        hub_.pause_until(Instant());
        receiver_down_until_ = Instant();
    }
    void befall(const ExchangeIncident& incident) {
        const std::size_t who = incident.sender;
        const Instant end = stage_.now() + incident.lasts;
        stage_.tell(2, [&] { return "trouble for " + sender_name(who); });
        switch (incident.trouble) {
            case ExchangeTrouble::stream_breaks:
                return break_streams_of(who);
            case ExchangeTrouble::sender_cut_off:
                cut_until_[who] = std::max(cut_until_[who], end);
                if (stage_.happens(500)) break_streams_of(who);
                return;
            case ExchangeTrouble::sender_pauses:
                paused_until_[who] = std::max(paused_until_[who], end);
                return;
            case ExchangeTrouble::receiver_pauses:
                return hub_.pause_until(end);
            case ExchangeTrouble::sender_killed:
                return kill_sender(who);
            case ExchangeTrouble::receiver_killed:
                return kill_receiver(incident.lasts);
        }
    }
    Duration late() { return stage_.up_to(healed_ ? Duration(50ms) : scenario_.late_max); }

    // ---- runs of the query ----------------------------------------------------------------------

    void start_run() {
        record_ = std::make_shared<ExchangeRecord>();
        record_->run = ++runs_;
        for (std::uint64_t i = 1; i <= scenario_.senders; ++i) {
            record_->rows.push_back({.frames = scenario_.frames * i / scenario_.senders});
        }
        running_ = true;
        stage_.tell(3, [&] { return "run " + std::to_string(runs_) + " begins"; });
        const std::uint64_t run = runs_;
        stage_.after(late(), [this, run] { open_receiver(run); });
        for (std::size_t i = 0; i < scenario_.senders; ++i) {
            stage_.after(late(), [this, run, i] { start_sender(run, i); });
        }
    }
    [[nodiscard]] bool goes_on(std::uint64_t run) const { return running_ && run == runs_; }
    void start_sender(std::uint64_t run, std::size_t index) {
        if (!goes_on(run)) return;
        const std::uint64_t id = ++sender_ids_;
        senders_.emplace(id, SimSender{.record = record_,
                                       .index = index,
                                       .outbox = SimOutbox(receiver_of(run)),
                                       .finish = {},
                                       .stream = {},
                                       .stream_ended = {}});
        step(id, exchange::Woke{});
    }
    void open_receiver(std::uint64_t run) {
        if (!goes_on(run)) return;
        if (stage_.now() < receiver_down_until_) {
            return stage_.after(late(), [this, run] { open_receiver(run); });
        }
        hub_.open(record_);
    }
    void close_sender(std::uint64_t id) {
        const auto found = senders_.find(id);
        if (found == senders_.end() || found->second.closed) return;
        found->second.closed = true;
        perform(id, found->second.outbox.close());
    }
    void complete_if_all_ended() {
        const auto& rows = record_->rows;
        if (!running_ || hub_.is_open() || !record_->all_taken) return;
        if (!std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.finished; })) {
            return;
        }
        running_ = false;
        stage_.run.completed += 1;
        stage_.tell(4, [&] { return "run " + std::to_string(runs_) + " has ended"; });
        if (healed_) {
            over_ = true;
        } else {
            stage_.after(stage_.up_to(200ms), [this] { start_run(); });
        }
    }
    // A process was lost: what is left of the run is interrupted and closed, and the next begins.
    void abort_run() {
        if (!running_) return;
        running_ = false;
        stage_.tell(5, [&] { return "run " + std::to_string(runs_) + " is given up"; });
        for (auto& [id, sender] : senders_) {
            stage_.after(stage_.up_to(300ms), [this, id = id] {
                const auto found = senders_.find(id);
                if (found == senders_.end()) return;
                found->second.outbox.interrupt();
                close_sender(id);
            });
        }
        stage_.after(stage_.up_to(300ms), [this, run = runs_] { hub_.close(run); });
        stage_.after(600ms, [this] { start_run(); });
    }
    void kill_sender(std::size_t who) {
        stage_.tell(6, [&] { return sender_name(who) + " is killed"; });
        for (auto& [id, stream] : streams_) {
            if (stream.index != who) continue;
            stream.client_up = false;
            break_stream(id);
        }
        std::erase_if(senders_, [&](const auto& one) { return one.second.index == who; });
        abort_run();
    }
    void kill_receiver(Duration lasts) {
        stage_.tell(7, [] { return std::string("the receiver is killed"); });
        hub_.kill();
        for (auto& [id, stream] : streams_) break_stream(id);
        receiver_down_until_ = stage_.now() + std::min<Duration>(lasts, 2s);
        abort_run();
    }

    // ---- a sender -------------------------------------------------------------------------------

    void step(std::uint64_t id, const exchange::OutboxEvent& event) {
        const auto found = senders_.find(id);
        if (found == senders_.end()) return;
        perform(id, found->second.outbox.step(stage_.now(), event));
        advance(id);
    }
    void perform(std::uint64_t id, const SimOutbox::Effects& effects) {
        SimSender& sender = senders_.at(id);
        for (const auto& effect : effects) {
            std::visit(
                Overload{
                    [&](const exchange::Dial& dialled) { dial(id, sender, dialled.stream); },
                    [&](const exchange::Write<SimItem>& write) { write_item(sender, write); },
                    [&](const exchange::HangUp&) { hang_up(sender); },
                    [&](const exchange::GiveBack&) {
                        if (!sender.closed) stage_.fail("a connection in use is given back");
                    },
                    [&](const exchange::WakeAt& wake) {
                        const Duration pause = wake.at - stage_.now();
                        checks_.sleeps(pause);
                        stage_.after(pause, [this, id] { step(id, exchange::Woke{}); });
                    },
                },
                effect);
        }
        checks_.keeps(sender);
    }
    void dial(std::uint64_t id, SimSender& sender, exchange::StreamNumber number) {
        checks_.dials(sender);
        stage_.tell(8, [&] { return sender_name(sender.index) + " dials"; });
        const std::uint64_t stream = ++stream_ids_;
        streams_[stream] = {.sender = id, .index = sender.index, .number = number};
        if (stage_.happens(scenario_.slow)) streams_[stream].lag = travel();
        sender.stream = stream;
        if (stage_.now() < receiver_down_until_) {
            streams_[stream].server_reads = false;
            streams_[stream].server_done = true;
            return break_stream(stream);
        }
        client_writes(stream,
                      [this, stream, run = sender.record->run] { hub_.hear_opening(stream, run); });
    }
    void write_item(SimSender& sender, const exchange::Write<SimItem>& write) {
        SimStream& stream = streams_.at(sender.stream.value_or(0));
        checks_.writes(sender, stream, write);
        stream.last_written = write.number;
        client_writes(*sender.stream, [this, id = *sender.stream, number = write.number,
                                       item = write.item] { hub_.hear_item(id, number, item); });
    }
    void hang_up(SimSender& sender) {
        const std::uint64_t id = *sender.stream;
        SimStream& stream = streams_.at(id);
        stage_.tell(9, [&] { return sender_name(sender.index) + " hangs up"; });
        stage_.after(stage_.up_to(1ms), [this, id] { client_ends(id); });
        if (stream.broken) return;
        stream.broken = true;
        stream.loses_up = stage_.happens(500);
        stage_.after(travel(), [this, id] { hub_.ends(id); });
    }
    // The client of the outbox: pushes where there is room, and closes it after the end.
    void advance(std::uint64_t id) {
        SimSender& sender = senders_.at(id);
        if (sender.closed || sender.producing) return;
        if (sender.finish) {
            const auto outcome = sender.outbox.outcome_of(*sender.finish);
            if (outcome) finish(id, sender, *outcome);
        } else if (!sender.outbox.must_wait()) {
            sender.producing = true;
            const Duration think =
                std::max<Duration>(stage_.up_to(5ms), paused_until_[sender.index] - stage_.now());
            stage_.after(think, [this, id] {
                const auto found = senders_.find(id);
                if (found == senders_.end()) return;
                found->second.producing = false;
                if (!found->second.closed) produce(id, found->second);
            });
        }
    }
    void finish(std::uint64_t id, SimSender& sender, const Result<Done>& outcome) {
        auto& row = sender.record->rows[sender.index];
        if (row.finished) return;
        checks_.finishes(row, outcome);
        stage_.run.reconnects += sender.outbox.reconnects();
        stage_.tell(10, [&] { return sender_name(sender.index) + " has finished"; });
        stage_.after(stage_.up_to(100ms), [this, id] { close_sender(id); });
        complete_if_all_ended();
    }
    void produce(std::uint64_t id, SimSender& sender) {
        if (const auto error = sender.outbox.halted()) {
            if (error->code != ErrorCode::cancelled) stage_.fail("it fails: " + error->message);
            return;
        }
        if (sender.outbox.must_wait()) return;
        auto& row = sender.record->rows[sender.index];
        SimItem item{.run = sender.record->run, .sender = sender.index, .place = row.pushed};
        item.bytes = stage_.happens(scenario_.long_frames)
                         ? scenario_.limits.bytes * 2
                         : stage_.between(1, scenario_.limits.bytes / 3 + 1);
        item.content = item.place == 0            ? exchange::Content(exchange::Announces{1})
                       : item.place <= row.frames ? exchange::Content(exchange::Carries{0})
                                                  : exchange::Content(exchange::Finishes{});
        checks_.pushes(row, item);
        auto pushed = sender.outbox.push(item, item.bytes);
        if (item.place > row.frames) sender.finish = pushed.number;
        perform(id, pushed.effects);
        advance(id);
    }

    // ---- the network ----------------------------------------------------------------------------

    Duration travel() {
        if (healed_ || !stage_.happens(scenario_.slow)) return stage_.up_to(5ms);
        Duration limit = scenario_.slow_max;  // most are far faster
        while (limit > 5ms && stage_.happens(700)) limit /= 4;
        return stage_.up_to(limit);
    }
    Duration notice() {
        return stage_.up_to(healed_ || stage_.happens(500) ? Duration(50ms) : Duration(10s));
    }
    void break_streams_of(std::size_t who) {
        for (auto& [id, stream] : streams_) {
            if (stream.index == who) break_stream(id);
        }
    }
    void break_stream(std::uint64_t id) {
        SimStream& stream = streams_.at(id);
        if (stream.broken || (!stream.client_up && stream.server_done)) return;
        stream.broken = true;
        stream.loses_up = stage_.happens(300);
        stream.loses_down = stage_.happens(500);
        stage_.tell(11, [&] { return "a stream of " + sender_name(stream.index) + " breaks"; });
        stage_.after(notice(), [this, id] { client_ends(id); });
        // What is on its way up may come when the sender is long on another stream.
        const Duration stuck = stage_.happens(500) ? notice() : Duration(0);
        stream.stuck_until = stage_.now() + stuck;
        stage_.after(stuck + notice(), [this, id] { hub_.ends(id); });
    }
    // When a message arrives that is sent now; none: it is lost, and its stream breaks.
    std::optional<Duration> journey(std::uint64_t id, Instant& free) {
        SimStream& stream = streams_.at(id);
        if (stream.broken) return std::nullopt;
        if (!healed_ && stage_.happens(scenario_.breaks)) {
            break_stream(id);
            return std::nullopt;
        }
        const Instant leaves = std::max(stage_.now(), cut_until_[stream.index]);
        free = std::max(free, leaves + travel() + (healed_ ? Duration() : stream.lag));
        return free - stage_.now();
    }
    void client_writes(std::uint64_t id, std::function<void()> heard) {
        SimStream& stream = streams_.at(id);
        stream.client_writes = true;
        if (const auto journey_up = journey(id, stream.up_free)) {
            stage_.after(*journey_up, [this, id, heard = std::move(heard)] { arrive(id, heard); });
        }
        // A stream takes what is written until its end is noticed.
        stage_.after(stage_.up_to(1ms), [this, id] {
            SimStream& it = streams_.at(id);
            if (!it.client_up) return;
            it.client_writes = false;
            step(it.sender, exchange::Written{it.number});
        });
    }
    void arrive(std::uint64_t id, const std::function<void()>& heard) {
        SimStream& stream = streams_.at(id);
        if (!stream.server_reads || stream.loses_up) return;
        if (stream.stuck_until <= stage_.now()) return heard();
        stage_.after(stream.stuck_until - stage_.now(), [this, id, heard] { arrive(id, heard); });
    }
    void server_writes(std::uint64_t id, const exchange::ToSender& said) {
        SimStream& stream = streams_.at(id);
        if (stream.server_writes) stage_.fail("two answers at a time");
        stream.server_writes = true;
        if (const auto journey_down = journey(id, stream.down_free)) {
            stage_.after(*journey_down, [this, id, said] {
                const SimStream& it = streams_.at(id);
                if (!it.client_up || it.loses_down) return;
                step(it.sender, exchange::Heard{.stream = it.number, .said = said});
            });
        }
        stage_.after(stage_.up_to(2ms), [this, id] { hub_.written(id); });
    }
    void client_ends(std::uint64_t id) {
        SimStream& stream = streams_.at(id);
        if (!std::exchange(stream.client_up, false)) return;
        const auto found = senders_.find(stream.sender);
        if (found == senders_.end()) return;
        found->second.stream.reset();
        found->second.stream_ended = stage_.now();
        step(stream.sender, exchange::Ended{stream.number});
    }
    void server_finishes(std::uint64_t id) {
        SimStream& stream = streams_.at(id);
        if (stream.broken) return;
        if (const auto last = journey(id, stream.down_free)) {
            stage_.after(*last, [this, id] { client_ends(id); });
        }
    }

    const ExchangeScenario scenario_;
    ExchangeStage stage_;
    ExchangeChecks checks_;
    bool healed_ = false;
    bool over_ = false;
    std::vector<Instant> cut_until_;     // of each sender
    std::vector<Instant> paused_until_;  // of each sender
    Instant receiver_down_until_;

    std::uint64_t runs_ = 0;
    bool running_ = false;
    std::shared_ptr<ExchangeRecord> record_;  // of the present run
    std::map<std::uint64_t, SimSender> senders_;
    std::map<std::uint64_t, SimStream> streams_;
    ReceiverProcess hub_;
    std::uint64_t sender_ids_ = 0;
    std::uint64_t stream_ids_ = 0;
};

}  // namespace

ExchangeRun run_exchange(const ExchangeScenario& scenario, bool with_story) {
    return ExchangeWorld(scenario, with_story).play();
}

}  // namespace baton::testing
