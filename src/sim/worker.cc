#include "sim/worker.h"

#include <algorithm>
#include <utility>

#include "base/epoch.h"
#include "base/overload.h"

namespace baton::sim {

namespace {

using namespace std::chrono_literals;

constexpr const char* kOtherHistory = "of another history";  // a plan, and its fingerprint

}  // namespace

void SimWorker::start() {
    if (machine_) return;
    life_ += 1;
    machine_.emplace(Incarnation(++incarnations_), kept_);
    world_.tell(1, [&] { return name_ + " starts"; });
}

void SimWorker::kill() {
    if (!machine_) return;
    machine_.reset();
    engine_.clear();
    ghosts_.clear();
    partitions_.clear();
    tick_at_.reset();
    waiting_.clear();
    life_ += 1;
    world_.tell(2, [&] { return name_ + " is killed"; });
}

void SimWorker::pause() {
    paused_ = true;
}

void SimWorker::resume() {
    paused_ = false;
    partition_changes_ += 1;
    for (const worker::station::Event& event : std::exchange(waiting_, {})) take(event);
    if (machine_) say_what_was_released();
}

void SimWorker::take(const worker::station::Event& event) {
    if (!machine_) return;
    if (paused_) {
        waiting_.push_back(event);
    } else {
        step(event);
    }
}

std::set<FragmentKey> SimWorker::alive() const {
    std::set<FragmentKey> keys;
    for (const auto& [key, work] : engine_) {
        if (!ghosts_.contains(key)) keys.insert(key);
    }
    return keys;
}

std::size_t SimWorker::remembered() const {
    return machine_ ? machine_->held().size() : 0;
}

std::optional<Incarnation> SimWorker::incarnation() const {
    if (!machine_) return std::nullopt;
    return machine_->incarnation();
}

void SimWorker::step(const worker::station::Event& event) {
    if (const auto* greeted = std::get_if<sessions::Greeted>(&event)) {
        greeted_ = greeted->hello;
        if (lies_) {
            const Epoch claimed(world_.prng.chance(1, 2) ? ~0ULL : (1ULL << 63U) - 2);
            return said_(greeted->session,
                         control::Refusal{.highest = claimed, .why = "that epoch is over"});
        }
    }
    for (const worker::station::Effect& effect : machine_->step(clock_.now(), event)) {
        tell(effect);
        if (obeyed_) note_obedience(event, effect);
        perform(effect);
    }
    schedule_tick();
}

void SimWorker::schedule_tick() {
    const auto due = machine_->wake_at();
    lease_ends_ = due.value_or(lease_ends_);
    if (!due || due == tick_at_) return;
    tick_at_ = due;
    world_.agenda.after(clock_.until(*due), [this, due, life = life_] {
        if (life != life_ || !machine_ || tick_at_ != due) return;
        tick_at_.reset();
        take(worker::station::Tick{});
    });
}

std::set<PartitionKey> SimWorker::partitions() const {
    std::set<PartitionKey> keys;
    for (const auto& [key, ends] : partitions_) {
        const bool over = ends && *ends <= world_.agenda.now();
        if (!paused_ && !over) keys.insert(key);
    }
    return keys;
}

// It takes some time, but none that is beyond the lease and what it leaves for this.
void SimWorker::release(const PartitionKey& partition) {
    const Duration most = world_.lets_go_within();
    const Duration drawn = world_.up_to(world_.prng.chance(1, 4) ? most : Duration(500ms));
    const Duration wait = std::min(drawn, clock_.until(lease_ends_ + most));
    partitions_[partition] = world_.agenda.now() + wait;
    world_.agenda.after(wait, [this, life = life_] {
        if (life == life_ && machine_ && !paused_) say_what_was_released();
    });
}

void SimWorker::say_what_was_released() {
    std::vector<PartitionKey> over;
    for (const auto& [key, ends] : partitions_) {
        if (ends && *ends <= world_.agenda.now()) over.push_back(key);
    }
    for (const PartitionKey& key : over) partitions_.erase(key);
    if (!over.empty()) take(worker::holdings::Released{.partitions = over});
}

void SimWorker::haunt(Session session, const std::vector<FragmentKey>& keys) {
    if (!machine_ || paused_) return;
    const auto tell = [this, session](const control::WorkerCommand& order) {
        take(sessions::MessageArrived{
            .session = session,
            .message = control::Command{.request = 1, .epoch = kept_.epoch, .what = order}});
    };
    for (const FragmentKey& key : keys) {
        if (machine_->held().contains(key)) continue;
        tell(control::RegisterFragment{
            .key = key, .plan = kOtherHistory, .fingerprint = kOtherHistory});
    }
    world_.agenda.after(500ms, [this, tell, keys, life = life_] {
        if (life != life_ || !machine_ || paused_) return;
        for (const FragmentKey& key : keys) {
            if (ghosts_.contains(key)) tell(control::StartFragment{key});
        }
    });
}

// What the worker itself says of it does not count: what it does is compared with what it was told.
void SimWorker::note_obedience(const worker::station::Event& event,
                               const worker::station::Effect& effect) {
    const auto* greeting = std::get_if<worker::station::AnswerGreeting>(&effect);
    if (greeting != nullptr && std::holds_alternative<control::Welcome>(greeting->answer)) {
        obeyed_(greeted_.epoch);
    }
    const auto* told = std::get_if<sessions::MessageArrived>(&event);
    if (told == nullptr) return;
    const auto* assign = std::get_if<control::Assign>(&told->message);
    if (assign != nullptr) obeyed_(assign->epoch);  // of one that is refused nothing comes
    const auto* command = std::get_if<control::Command>(&told->message);
    const auto* reply = std::get_if<worker::station::Reply>(&effect);
    const auto* answer =
        reply == nullptr ? nullptr : std::get_if<control::CommandAnswer>(&reply->message);
    if (command == nullptr) return;
    const bool refused =
        answer != nullptr && std::holds_alternative<control::Refusal>(answer->outcome);
    if (!refused) obeyed_(command->epoch);
}

// Signs of life that say nothing else would drown the story.
void SimWorker::tell(const worker::station::Effect& effect) {
    const auto* reply = std::get_if<worker::station::Reply>(&effect);
    const auto* pulse = reply == nullptr ? nullptr : std::get_if<control::Pulse>(&reply->message);
    if (pulse != nullptr && pulse->changed.empty()) return;
    world_.tell(3, [&] { return name_ + ": " + to_string(effect); });
}

void SimWorker::perform(const worker::station::Effect& effect) {
    std::visit(
        Overload{
            [&](const worker::station::AnswerGreeting& e) { said_(e.session, e.answer); },
            [&](const worker::station::Keep& keep) {
                if (!kept_.catalog.empty() && keep.allegiance.catalog != kept_.catalog) {
                    world_.violated(name_ + " obeys another catalog than before");
                }
                if (keep.allegiance.epoch > kEpochMax) {
                    world_.violated(name_ + " obeys epoch " + to_string(keep.allegiance.epoch));
                }
                kept_ = keep.allegiance;
                step(worker::station::AllegianceKept{keep.allegiance});
            },
            [&](const worker::station::Reply& reply) { replied_(reply.session, reply.message); },
            [&](const worker::engine_calls::Prepare& order) { prepare(order); },
            [&](const worker::engine_calls::Start& order) { run(order); },
            [&](const worker::engine_calls::Drain& order) { halt(order.key); },
            [&](const worker::engine_calls::Abort& order) { halt(order.key); },
            [&](const worker::holdings::Take& order) {
                partitions_[order.grant.partition].reset();
                partition_changes_ += 1;
            },
            [&](const worker::holdings::Release& order) { release(order.partition); },
        },
        effect);
}

void SimWorker::later(const FragmentKey& key, Duration delay,
                      const std::function<void(Work&)>& action) {
    const std::uint64_t change = ++changes_;
    engine_[key].change = change;
    world_.agenda.after(delay, [this, key, change, action, life = life_] {
        const auto found = engine_.find(key);
        if (life != life_ || found == engine_.end() || found->second.change != change) return;
        if (paused_) {
            later(key, 10ms, action);  // the engine sleeps, too
        } else {
            action(found->second);
        }
    });
}

void SimWorker::report(const FragmentKey& key, const fragments::Event& event) {
    const bool failed = std::holds_alternative<fragments::PrepareFailed>(event) ||
                        std::holds_alternative<fragments::Broke>(event);
    if (failed && !ghosts_.contains(key)) ran_.harm(key.query, key.run);
    engine_.erase(key);
    ghosts_.erase(key);
    take(event);
}

void SimWorker::prepare(const worker::engine_calls::Prepare& order) {
    const FragmentKey key = order.key;
    if (engine_.contains(key)) {
        world_.violated(name_ + " prepares fragment " + to_string(key) + " twice");
    }
    const bool is_ghost = order.plan == kOtherHistory;
    if (is_ghost) ghosts_.insert(key);
    if (!is_ghost && ran_.has(key)) {
        world_.violated(name_ + " prepares fragment " + to_string(key) + ", which has run before");
    }
    if (!is_ghost && ran_.has_ended(key)) {
        world_.violated(name_ + " prepares fragment " + to_string(key) +
                        ", which has ended as the catalog has it");
    }
    later(key, world_.up_to(200ms), [this, key](Work& work) {
        if (world_.happens(world_.unkindness.prepare_terminal)) {
            return report(key, fragments::PrepareFailed{.key = key,
                                                        .fault = control::Fault::terminal,
                                                        .why = "it cannot be compiled"});
        }
        if (world_.happens(world_.unkindness.prepare_transient)) {
            return report(key, fragments::PrepareFailed{.key = key,
                                                        .fault = control::Fault::transient,
                                                        .why = "the port is in use"});
        }
        work.phase = Phase::prepared;
        take(fragments::Prepared{key});
    });
}

void SimWorker::run(const worker::engine_calls::Start& order) {
    const FragmentKey key = order.key;
    later(key, world_.up_to(50ms), [this, key](Work& work) {
        if (!ghosts_.contains(key) && !ran_.add(key, machine_->incarnation())) {
            world_.violated("fragment " + to_string(key) + " runs for a second time, on " + name_);
        }
        work.phase = Phase::running;
        // Sources of a query end together, or not at all.
        const bool ends = (key.query.value() * 2654435761U) % 1000 < world_.unkindness.ends;
        if (world_.happens(world_.unkindness.breaks)) {
            later(key, world_.up_to(60s), [this, key](Work&) {
                report(key, fragments::Broke{.key = key,
                                             .fault = control::Fault::transient,
                                             .why = "the disk of the sink is full"});
            });
        } else if (ends) {
            later(key, world_.up_to(60s),
                  [this, key](Work&) { report(key, fragments::Ended{key}); });
        }
        take(fragments::BeganToRun{key});
    });
}

void SimWorker::halt(const FragmentKey& key) {
    if (!engine_.contains(key)) return;
    later(key, world_.up_to(100ms), [this, key](Work&) { report(key, fragments::Halted{key}); });
}

}  // namespace baton::sim
