#include "worker/host/worker_host.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"

namespace baton {

namespace {

station::Event event_of(const engine::Report& report) {
    return std::visit(
        Overload{
            [&](const engine::Prepared&) -> station::Event {
                return fragments::Prepared{report.key};
            },
            [&](const engine::PrepareFailed& what) -> station::Event {
                return fragments::PrepareFailed{
                    .key = report.key, .fault = what.fault, .why = what.why, .error = what.error};
            },
            [&](const engine::Ran&) -> station::Event { return fragments::Ran{report.key}; },
            [&](const engine::Ended&) -> station::Event {
                return fragments::Ended{.key = report.key, .counts = report.counts};
            },
            [&](const engine::Halted&) -> station::Event {
                return fragments::Halted{.key = report.key, .counts = report.counts};
            },
            [&](const engine::Broke& what) -> station::Event {
                return fragments::Broke{.key = report.key,
                                        .fault = what.fault,
                                        .why = what.why,
                                        .error = what.error,
                                        .counts = report.counts};
            },
        },
        report.what);
}

std::string text_of(const engine::Report& report) {
    const std::string fragment = "fragment " + to_string(report.key);
    return std::visit(
        Overload{
            [&](const engine::Prepared&) { return fragment + " is prepared"; },
            [&](const engine::PrepareFailed& what) {
                return fragment + " cannot be prepared: " + what.why;
            },
            [&](const engine::Ran&) { return fragment + " runs"; },
            [&](const engine::Ended&) { return fragment + " has ended"; },
            [&](const engine::Halted&) { return fragment + " is stopped"; },
            [&](const engine::Broke& what) { return fragment + " failed: " + what.why; },
        },
        report.what);
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
               world_.partitions == nullptr ? Duration() : world_.partitions->letting_go()) {}

void WorkerHost::listen() {
    thread_ = std::thread([this] { run(); });
    world_.engine.listen([this](engine::Report report) { post(std::move(report)); });
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
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    filled_.notify_all();
    thread_.join();
    for (const auto& [session, door] : doors_) world_.doors[door.first]->hang_up(door.second);
}

bool WorkerHost::drain(Duration patience) {
    post(station::Leaving{});
    std::unique_lock lock(mutex_);
    return rested_.wait_for(lock, patience, [&] { return left_ && may_leave_; });
}

void WorkerHost::post(Letter letter) {
    {
        const std::lock_guard lock(mutex_);
        if (auto* from = std::get_if<FromDoor>(&letter)) {
            // What is said too fast is not heard; that the session is over is.
            if (from_doors_ >= options_.waiting_max &&
                std::holds_alternative<sessions::Told>(from->event)) {
                const auto session = std::get<sessions::Told>(from->event).session;
                from->event = sessions::HungUp{session};
            }
            from_doors_ += 1;
        }
        letters_.push_back(std::move(letter));
    }
    filled_.notify_one();
}

// ---- the thread ---------------------------------------------------------------------------------

void WorkerHost::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        wait_for_letter(lock);
        if (closed_) return;
        if (letters_.empty()) {
            lock.unlock();
            step(station::Tick{world_.clock.now()});
            lock.lock();
            continue;
        }
        const Letter letter = std::move(letters_.front());
        letters_.pop_front();
        if (std::holds_alternative<FromDoor>(letter)) from_doors_ -= 1;
        lock.unlock();
        std::visit([&](const auto& l) { take(l); }, letter);
        const bool may_leave = machine_.may_leave();
        lock.lock();
        left_ = left_ || std::holds_alternative<station::Leaving>(letter);
        may_leave_ = may_leave;
        if (may_leave_) rested_.notify_all();
    }
}

// Until there is one, or time has come for what the machine waits for.
void WorkerHost::wait_for_letter(std::unique_lock<std::mutex>& lock) {
    const auto ready = [&] { return closed_ || !letters_.empty(); };
    const auto due = machine_.wake_at();
    if (!due) return filled_.wait(lock, ready);
    const Duration left = *due - world_.clock.now();
    (void)filled_.wait_for(lock, std::max(left, Duration::zero()), ready);
}

void WorkerHost::take(const FromDoor& letter) {
    const auto number_of = [&](sessions::Session session) -> std::optional<station::Session> {
        const auto found = sessions_.find({letter.door, session});
        if (found == sessions_.end()) return std::nullopt;
        return found->second;
    };
    std::visit(
        Overload{
            [&](const sessions::Greeted& e) {
                const DoorSession here{letter.door, e.session};
                const station::Session session = ++last_session_;
                doors_[session] = here;
                sessions_[here] = session;
                step(station::Greeted{
                    .session = session, .hello = e.hello, .at = world_.clock.now()});
            },
            [&](const sessions::Told& e) {
                const auto session = number_of(e.session);
                if (!session) return;
                step(station::Told{
                    .session = *session, .message = e.message, .at = world_.clock.now()});
            },
            [&](const sessions::HungUp& e) {
                const auto session = number_of(e.session);
                if (!session) return;
                world_.doors[letter.door]->hang_up(e.session);  // if it was us who had enough
                doors_.erase(*session);
                sessions_.erase({letter.door, e.session});
                step(station::HungUp{*session});
            },
        },
        letter.event);
}

void WorkerHost::take(const engine::Report& report) {
    log(text_of(report));
    step(event_of(report));
}

void WorkerHost::take(const PartitionKey& released) {
    step(holdings::Released{.partitions = {released}, .at = world_.clock.now()});
}

void WorkerHost::let_go(const PartitionKey& partition) {
    log("partition " + to_string(partition) + " is to be released");
    if (world_.partitions != nullptr) return world_.partitions->let_go(partition);
    released_.push_back(partition);
}

void WorkerHost::take(const station::Leaving& leaving) {
    if (!leaving_) log("draining: nothing new is taken");
    leaving_ = true;
    step(leaving);
}

void WorkerHost::step(const station::Event& event) {
    for (const station::Effect& effect : machine_.step(event)) perform(effect);
    if (released_.empty()) return;
    step(holdings::Released{.partitions = std::exchange(released_, {}), .at = world_.clock.now()});
}

void WorkerHost::perform(const station::Effect& effect) {
    std::visit(Overload{
                   [&](const station::Welcome& e) {
                       const auto found = doors_.find(e.session);
                       if (const auto* no = std::get_if<control::Refusal>(&e.outcome)) {
                           log("a coordinator is refused: " + no->why);
                       }
                       if (found == doors_.end()) return;
                       const auto [door, session] = found->second;
                       world_.doors[door]->welcome(session, e.outcome);
                       if (std::holds_alternative<control::Welcome>(e.outcome)) {
                           hang_up_before(e.session);
                       }
                   },
                   [&](const station::Keep& e) { keep(e.allegiance); },
                   [&](const station::Reply& e) { reply(e); },
                   [&](const fragments::Prepare& e) { world_.engine.prepare(e.key, e.plan); },
                   [&](const fragments::Start& e) { world_.engine.start(e.key); },
                   [&](const fragments::Drain& e) { world_.engine.drain(e.key); },
                   [&](const fragments::Abort& e) { world_.engine.abort(e.key); },
                   [&](const holdings::Take& e) {
                       log("partition " + to_string(e.grant.partition) + " is taken, by epoch " +
                           to_string(e.grant.epoch));
                       if (world_.partitions != nullptr) world_.partitions->take(e.grant);
                   },
                   [&](const holdings::LetGo& e) { let_go(e.partition); },
               },
               effect);
}

// Nobody is listened to there any more; a peer that vanished would never hang up itself.
void WorkerHost::hang_up_before(station::Session newest) {
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
            return step(station::NotKept{.allegiance = allegiance, .why = kept.error().message});
        }
    }
    step(station::Kept{allegiance});
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

}  // namespace baton
