#include "coordinator/term/leadership.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/overload.h"

namespace baton::coordinator {

using namespace election;  // NOLINT: its events and effects

namespace {

// A wait does not go on while the machine is suspended; the clock does.
constexpr Duration kWaitMax = std::chrono::milliseconds(500);
constexpr Duration kTroubleEvery = std::chrono::minutes(1);

}  // namespace

Leadership::Leadership(const LeadershipOptions& options, SqlDatabase& database, const Clock& clock,
                       LeadershipListener& listener)
    : clock_(clock),
      listener_(listener),
      prng_(options.seed),
      machine_(options.timers, options.owner, clock.now()),
      callers_(database, {.key = options.lock, .owner = options.owner, .ttl = options.timers.ttl},
               [this](Event event) { post(std::move(event)); }) {}

void Leadership::start() {
    CHECK(!thread_.joinable());
    thread_ = std::thread([this] { run(); });
}

Leadership::~Leadership() {
    events_.drop();
    if (thread_.joinable()) thread_.join();
}

std::optional<Epoch> Leadership::acting() const {
    const std::lock_guard lock(machine_mutex_);
    if (!machine_.may_act(clock_.now())) return std::nullopt;
    return machine_.epoch();
}

election::ElectionStatus Leadership::status() const {
    const std::lock_guard lock(machine_mutex_);
    return machine_.status(clock_.now());
}

void Leadership::drained(Epoch epoch) {
    post(Drained{epoch});
}

void Leadership::heard_of(Epoch epoch) {
    post(EpochHeard{epoch});
}

void Leadership::hint() {
    post(Hinted{});
}

void Leadership::unable(const std::string& why) {
    post(Unable{why});
}

void Leadership::leave() {
    post(LeaveAsked{});
}

Duration Leadership::patience() const {
    const std::lock_guard lock(machine_mutex_);
    const auto at = machine_.wake_at();
    if (!at) return kWaitMax;
    return std::clamp(*at - clock_.now(), Duration::zero(), kWaitMax);
}

void Leadership::run() {
    while (true) {
        const auto events = events_.take_all(patience());
        if (events_.closed()) return;
        for (const Event& event : events) step(event);
        step(Tick{});
    }
}

void Leadership::step(const Event& event) {
    std::vector<Effect> effects;
    bool other = false;
    std::string trouble;
    {
        const std::lock_guard lock(machine_mutex_);
        effects = machine_.step(clock_.now(), event, prng_.next());
        const election::ElectionStatus status = machine_.status(clock_.now());
        const auto& leader = status.leader;
        trouble = status.trouble;
        other = leader && leader->epoch != heard_leader_;
        if (leader) heard_leader_ = leader->epoch;
    }
    for (const Effect& effect : effects) perform(effect);
    if (other) listener_.leader_changed();
    if (!trouble.empty()) tell_trouble(trouble);
}

// It comes and goes with every attempt, and is news only now and then.
void Leadership::tell_trouble(const std::string& trouble) {
    const Instant now = clock_.now();
    if (trouble == told_trouble_ && now < told_trouble_at_ + kTroubleEvery) return;
    told_trouble_ = trouble;
    told_trouble_at_ = now;
    listener_.troubled(trouble);
}

void Leadership::perform(const Effect& effect) {
    std::visit(Overload{
                   [&](const Watch& e) { callers_.call(e); },
                   [&](const Acquire& e) { callers_.call(e); },
                   [&](const Renew& e) { callers_.call(e); },
                   [&](const Release& e) { callers_.call(e); },
                   [&](const Abandon& e) { callers_.abandon(e.call); },
                   [&](const Lead& e) { listener_.lead(e.epoch); },
                   [&](const StepDown& e) { listener_.step_down(e.epoch, e.reason, e.why); },
                   [&](const Left&) { listener_.left(); },
               },
               effect);
}

}  // namespace baton::coordinator
