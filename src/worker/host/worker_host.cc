#include "worker/host/worker_host.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"

namespace baton::worker {

namespace {

std::string text_of(const fragments::Event& event) {
    const std::string fragment = "fragment " + to_string(key_of(event));
    return std::visit(Overload{
                          [&](const fragments::Prepared&) { return fragment + " is prepared"; },
                          [&](const fragments::PrepareFailed& e) {
                              return fragment + " cannot be prepared: " + e.why;
                          },
                          [&](const fragments::BeganToRun&) { return fragment + " runs"; },
                          [&](const fragments::Ended&) { return fragment + " has ended"; },
                          [&](const fragments::Halted&) { return fragment + " is stopped"; },
                          [&](const fragments::Broke& e) { return fragment + " failed: " + e.why; },
                      },
                      event);
}

}  // namespace

Result<std::unique_ptr<WorkerHost>> WorkerHost::start(const WorkerHostOptions& options,
                                                      const World& world) {
    control::Allegiance kept;
    if (world.epochs != nullptr) {
        TRY_ASSIGN(loaded, world.epochs->load());
        kept = std::move(loaded);
    }
    std::unique_ptr<WorkerHost> host(new WorkerHost(options, world, kept));
    host->listen();
    return host;
}

WorkerHost::WorkerHost(const WorkerHostOptions& options, World world, control::Allegiance kept)
    : options_(options),
      world_(std::move(world)),
      machine_(options.incarnation, std::move(kept),
               world_.partitions == nullptr ? Duration() : world_.partitions->release_time()) {}

void WorkerHost::listen() {
    thread_ = std::thread([this] { run(); });
    world_.engine.listen([this](fragments::Event event) { post(std::move(event)); });
    if (world_.partitions != nullptr) {
        world_.partitions->listen([this](const PartitionKey& released) { post(released); });
    }
    for (std::size_t door = 0; door < world_.doors.size(); ++door) {
        world_.doors[door]->listen([this, door](sessions::Event event) {
            post(FromDoor{.door = door, .event = std::move(event)});
        });
    }
}

WorkerHost::~WorkerHost() {
    for (Sessions* door : world_.doors) door->listen(nullptr);
    world_.engine.listen(nullptr);
    if (world_.partitions != nullptr) world_.partitions->listen(nullptr);
    letters_.drop();
    thread_.join();
    for (const auto& [session, door] : doors_) world_.doors[door.first]->hang_up(door.second);
}

bool WorkerHost::drain(Duration patience) {
    post(station::Leaving{});
    std::unique_lock lock(mutex_);
    return rested_.wait_for(lock, patience, [&] { return left_ && may_leave_; });
}

void WorkerHost::post(Letter letter) {
    if (auto* from = std::get_if<FromDoor>(&letter)) {
        const std::lock_guard lock(mutex_);
        // What is said too fast is not heard; that the session is over is.
        if (from_doors_ >= options_.waiting_max &&
            std::holds_alternative<sessions::MessageArrived>(from->event)) {
            const auto session = std::get<sessions::MessageArrived>(from->event).session;
            from->event = sessions::HungUp{session};
        }
        from_doors_ += 1;
    }
    letters_.post(std::move(letter));
}

// ---- the thread ---------------------------------------------------------------------------------

void WorkerHost::run() {
    while (true) {
        const auto letter = letters_.take_one(patience());
        if (letters_.closed()) return;
        if (!letter) {
            step(station::Tick{});
            continue;
        }
        if (std::holds_alternative<FromDoor>(*letter)) {
            const std::lock_guard lock(mutex_);
            from_doors_ -= 1;
        }
        std::visit([&](const auto& l) { take(l); }, *letter);
        const std::lock_guard lock(mutex_);
        left_ = left_ || std::holds_alternative<station::Leaving>(*letter);
        may_leave_ = machine_.may_leave();
        if (may_leave_) rested_.notify_all();
    }
}

std::optional<Duration> WorkerHost::patience() const {
    const auto due = machine_.wake_at();
    if (!due) return std::nullopt;
    return std::max(*due - world_.clock.now(), Duration::zero());
}

void WorkerHost::take(const FromDoor& letter) {
    const auto number_of = [&](sessions::Session session) -> std::optional<sessions::Session> {
        const auto found = sessions_.find({letter.door, session});
        if (found == sessions_.end()) return std::nullopt;
        return found->second;
    };
    std::visit(Overload{
                   [&](const sessions::Greeted& e) {
                       const DoorSession here{letter.door, e.session};
                       const sessions::Session session = ++last_session_;
                       doors_[session] = here;
                       sessions_[here] = session;
                       step(sessions::Greeted{.session = session, .hello = e.hello});
                   },
                   [&](const sessions::MessageArrived& e) {
                       const auto session = number_of(e.session);
                       if (!session) return;
                       step(sessions::MessageArrived{.session = *session, .message = e.message});
                   },
                   [&](const sessions::HungUp& e) {
                       const auto session = number_of(e.session);
                       if (!session) return;
                       // If it was us who had enough.
                       world_.doors[letter.door]->hang_up(e.session);
                       doors_.erase(*session);
                       sessions_.erase({letter.door, e.session});
                       step(sessions::HungUp{*session});
                   },
               },
               letter.event);
}

void WorkerHost::take(const fragments::Event& event) {
    log(text_of(event));
    step(event);
}

void WorkerHost::take(const PartitionKey& released) {
    step(holdings::Released{{released}});
}

void WorkerHost::release(const PartitionKey& partition) {
    log("partition " + to_string(partition) + " is to be released");
    if (world_.partitions != nullptr) return world_.partitions->release(partition);
    released_.push_back(partition);
}

void WorkerHost::take(const station::Leaving& leaving) {
    if (!leaving_) log("draining: nothing new is taken");
    leaving_ = true;
    step(leaving);
}

void WorkerHost::step(const station::Event& event) {
    for (const station::Effect& effect : machine_.step(world_.clock.now(), event)) perform(effect);
    if (released_.empty()) return;
    step(holdings::Released{std::exchange(released_, {})});
}

void WorkerHost::perform(const station::Effect& effect) {
    std::visit(Overload{
                   [&](const station::AnswerGreeting& e) {
                       const auto found = doors_.find(e.session);
                       if (const auto* no = std::get_if<control::Refusal>(&e.answer)) {
                           log("a coordinator is refused: " + no->why);
                       }
                       if (found == doors_.end()) return;
                       const auto [door, session] = found->second;
                       world_.doors[door]->welcome(session, e.answer);
                       if (std::holds_alternative<control::Welcome>(e.answer)) {
                           hang_up_before(e.session);
                       }
                   },
                   [&](const station::Keep& e) { keep(e.allegiance); },
                   [&](const station::Reply& e) { reply(e); },
                   [&](const engine_calls::Prepare& e) { world_.engine.prepare(e.key, e.plan); },
                   [&](const engine_calls::Start& e) { world_.engine.start(e.key); },
                   [&](const engine_calls::Drain& e) { world_.engine.drain(e.key); },
                   [&](const engine_calls::Abort& e) { world_.engine.abort(e.key); },
                   [&](const holdings::Take& e) {
                       log("partition " + to_string(e.grant.partition) + " is taken, by epoch " +
                           to_string(e.grant.epoch));
                       if (world_.partitions != nullptr) world_.partitions->take(e.grant);
                   },
                   [&](const holdings::Release& e) { release(e.partition); },
               },
               effect);
}

// Nobody is listened to there any more; a peer that vanished would never hang up itself.
void WorkerHost::hang_up_before(sessions::Session newest) {
    const auto end = doors_.lower_bound(newest);
    for (auto older = doors_.begin(); older != end; ++older) {
        const auto [door, session] = older->second;
        world_.doors[door]->hang_up(session);
        sessions_.erase(older->second);
    }
    doors_.erase(doors_.begin(), end);
}

void WorkerHost::keep(const control::Allegiance& allegiance) {
    if (world_.epochs != nullptr) {
        if (const auto kept = world_.epochs->keep(allegiance); !kept) {
            log("epoch " + to_string(allegiance.epoch) +
                " cannot be kept: " + kept.error().message);
            return step(
                station::AllegianceNotKept{.allegiance = allegiance, .why = kept.error().message});
        }
    }
    step(station::AllegianceKept{allegiance});
}

void WorkerHost::reply(const station::Reply& reply) {
    const auto found = doors_.find(reply.session);
    if (found == doors_.end()) return;
    const auto [door, session] = found->second;
    const auto* pulse = std::get_if<control::Pulse>(&reply.message);
    if (pulse == nullptr || pulse->beat == 0) {
        world_.doors[door]->send(session, reply.message);
        return;
    }
    control::Pulse counted = *pulse;
    counted.counts = world_.engine.counts();
    world_.doors[door]->send(session, std::move(counted));
}

void WorkerHost::log(const std::string& line) const {
    if (options_.log) options_.log(line);
}

}  // namespace baton::worker
