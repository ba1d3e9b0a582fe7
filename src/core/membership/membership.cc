#include "core/membership/membership.h"

#include <algorithm>

#include "base/check.h"
#include "base/overload.h"

namespace baton::membership {

using namespace membership;  // NOLINT: its own events and effects
using transport::Broken;
using transport::DialFailed;
using transport::Dialled;

namespace {

std::string in_ms(Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) +
           " ms";
}

}  // namespace

std::string to_string(const Effect& effect) {
    return std::visit(
        Overload{
            [](const Dial& e) { return "dial " + e.worker; },
            [](const Beat& e) { return "beat " + e.worker + " " + std::to_string(e.beat); },
            [](const HangUp& e) { return "hang up " + e.worker; },
            [](const Judge& e) {
                return e.worker + " is " + std::string(baton::to_string(e.state)) +
                       (e.incarnation ? " as " + baton::to_string(*e.incarnation) : "") +
                       (e.reason.text.empty() ? "" : ": " + e.reason.text);
            },
        },
        effect);
}

Membership::Membership(const MembershipConfig& config, Instant start)
    : config_(config), next_attempt_(config.first_attempt) {
    CHECK(config.misses_max > 0 && config.timeout_min <= config.timeout_max);
    CHECK(Duration::zero() < config.probe_first && config.probe_first <= config.probe_max);
    CHECK(config.probe_max < config.steady_after);
    judges_from_ = start + detection_period();
}

Duration Membership::timeout_for(Duration rtt) const {
    return std::clamp(rtt * config_.rtt_factor + config_.timeout_base, config_.timeout_min,
                      config_.timeout_max);
}

Duration Membership::detection_period() const {
    return config_.beat_every + config_.timeout_min * config_.misses_max;
}

std::vector<Effect> Membership::step(Instant now, const Event& event) {
    if (expected_ && now > *expected_ + config_.stall_after) forgive(now);
    Effects effects;
    std::visit([&](const auto& e) { on(now, e, effects); }, event);
    expected_ = wake_at();
    return effects;
}

std::optional<Instant> Membership::wake_at() const {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
}

std::optional<WorkerState> Membership::state_of(const std::string& worker) const {
    const auto found = workers_.find(worker);
    if (found == workers_.end()) return std::nullopt;
    return found->second.judged;
}

bool Membership::awaits(const std::string& worker, Attempt attempt) const {
    const auto found = workers_.find(worker);
    return found != workers_.end() && found->second.attempt == attempt &&
           std::holds_alternative<Dialling>(found->second.link);
}

// Silence during our own pause says nothing about anyone: every wait begins anew.
void Membership::forgive(Instant now) {
    judges_from_ = now + detection_period();
    for (auto& [name, worker] : workers_) {
        if (auto* connected = std::get_if<Connected>(&worker.link)) {
            connected->misses = 0;
            if (connected->deadline) connected->deadline = now + worker.timeout;
        } else if (auto* dialling = std::get_if<Dialling>(&worker.link)) {
            dialling->deadline = now + config_.dial_timeout;
        }
        schedule(name, worker);
    }
}

void Membership::schedule(const std::string& name, Worker& worker) {
    due_.erase({worker.due, name});
    worker.due =
        std::visit(Overload{
                       [](const Dialling& d) { return d.deadline; },
                       [](const Connected& c) { return c.deadline ? *c.deadline : c.next_beat; },
                       [](const Resting& r) { return r.dial_at; },
                   },
                   worker.link);
    due_.insert({worker.due, name});
}

Membership::Worker* Membership::present(const std::string& name, Attempt attempt) {
    const auto found = workers_.find(name);
    if (found == workers_.end() || found->second.attempt != attempt) return nullptr;
    return &found->second;
}

void Membership::dial(Instant now, const std::string& name, Worker& worker, Effects& effects) {
    worker.attempt = next_attempt_++;
    worker.link = Dialling{.deadline = now + config_.dial_timeout};
    effects.emplace_back(Dial{.worker = name, .attempt = worker.attempt});
    schedule(name, worker);
}

void Membership::rest(Instant now, const std::string& name, Worker& worker, Duration pause) {
    worker.attempt = next_attempt_++;  // whatever is still heard of the old one is too late
    worker.link = Resting{.dial_at = now + pause};
    schedule(name, worker);
}

void Membership::probe_later(Instant now, const std::string& name, Worker& worker) {
    rest(now, name, worker, worker.probe);
    worker.probe = std::min(worker.probe * 2, config_.probe_max);
}

void Membership::beat(Instant now, const std::string& name, Worker& worker, Effects& effects) {
    auto& connected = std::get<Connected>(worker.link);
    const std::uint64_t number = next_beat_++;
    connected.unanswered.emplace(number, now);
    connected.deadline = now + worker.timeout;
    connected.next_beat = now + config_.beat_every;
    effects.emplace_back(Beat{.worker = name, .attempt = worker.attempt, .beat = number});
    schedule(name, worker);
}

void Membership::judge_unreachable(Instant now, const std::string& name, Worker& worker,
                                   ReasonCode code, const std::string& why, Effects& effects,
                                   bool anew) {
    const Reason reason{.code = code, .who = name, .text = why};
    const bool so_already =
        worker.judged == WorkerState::unreachable && !(anew && worker.reason != reason);
    if (so_already || now < judges_from_) return;
    worker.judged = WorkerState::unreachable;
    worker.told.reset();
    worker.reason = reason;
    effects.emplace_back(Judge{
        .worker = name, .state = WorkerState::unreachable, .incarnation = {}, .reason = reason});
}

void Membership::missed(Instant now, const std::string& name, Worker& worker, Effects& effects) {
    auto& connected = std::get<Connected>(worker.link);
    if (now >= judges_from_) connected.misses += 1;
    if (connected.misses < config_.misses_max) {
        beat(now, name, worker, effects);
        return;
    }
    judge_unreachable(now, name, worker, ReasonCode::silent,
                      "no answer to " + std::to_string(config_.misses_max) + " beats within " +
                          in_ms(worker.timeout) + " each",
                      effects);
    effects.emplace_back(HangUp{.worker = name, .attempt = worker.attempt});
    probe_later(now, name, worker);
}

// Does what is due for one worker.
void Membership::attend(Instant now, const std::string& name, Worker& worker, Effects& effects) {
    if (std::holds_alternative<Resting>(worker.link)) {
        dial(now, name, worker, effects);
    } else if (std::holds_alternative<Dialling>(worker.link)) {
        judge_unreachable(now, name, worker, ReasonCode::silent,
                          "no answer to a dial within " + in_ms(config_.dial_timeout), effects);
        effects.emplace_back(HangUp{.worker = name, .attempt = worker.attempt});
        probe_later(now, name, worker);
    } else if (std::get<Connected>(worker.link).deadline) {
        missed(now, name, worker, effects);
    } else {
        beat(now, name, worker, effects);
    }
}

void Membership::on(Instant now, const Tick& /*tick*/, Effects& effects) {
    while (!due_.empty() && due_.begin()->first <= now) {
        const std::string name = due_.begin()->second;
        attend(now, name, workers_.at(name), effects);
    }
}

void Membership::on(Instant now, const Joined& event, Effects& effects) {
    auto [found, added] = workers_.try_emplace(event.worker);
    if (!added) return;
    Worker& worker = found->second;
    worker.judged = event.known;
    worker.timeout = timeout_for(Duration::zero());
    worker.probe = config_.probe_first;
    dial(now, event.worker, worker, effects);
}

void Membership::on(Instant /*now*/, const Left& event, Effects& effects) {
    const auto found = workers_.find(event.worker);
    if (found == workers_.end()) return;
    if (!std::holds_alternative<Resting>(found->second.link)) {
        effects.emplace_back(HangUp{.worker = event.worker, .attempt = found->second.attempt});
    }
    due_.erase({found->second.due, event.worker});
    workers_.erase(found);
}

void Membership::on(Instant now, const Dialled& event, Effects& effects) {
    Worker* worker = present(event.worker, event.attempt);
    if (worker == nullptr || !std::holds_alternative<Dialling>(worker->link)) return;
    worker->link =
        Connected{.incarnation = event.welcome.incarnation, .since = now, .next_beat = now};
    worker->probe = config_.probe_first;
    const bool news =
        worker->judged != WorkerState::active || worker->told != event.welcome.incarnation;
    worker->judged = WorkerState::active;
    worker->told = event.welcome.incarnation;
    if (news) {
        effects.emplace_back(Judge{.worker = event.worker,
                                   .state = WorkerState::active,
                                   .incarnation = event.welcome.incarnation,
                                   .reason = {}});
    }
    beat(now, event.worker, *worker, effects);
}

void Membership::on(Instant now, const DialFailed& event, Effects& effects) {
    Worker* worker = present(event.worker, event.attempt);
    if (worker == nullptr || !std::holds_alternative<Dialling>(worker->link)) return;
    const std::string why =
        event.refused ? "it refuses: " + event.why : "cannot be dialled: " + event.why;
    judge_unreachable(now, event.worker, *worker,
                      event.refused ? ReasonCode::refusing : ReasonCode::out_of_reach, why, effects,
                      true);
    probe_later(now, event.worker, *worker);
}

void Membership::on(Instant now, const Answered& event, Effects& /*effects*/) {
    Worker* worker = present(event.worker, event.attempt);
    if (worker == nullptr) return;
    auto* connected = std::get_if<Connected>(&worker->link);
    if (connected == nullptr) return;
    const auto sent = connected->unanswered.find(event.beat);
    if (sent == connected->unanswered.end()) return;
    worker->timeout = timeout_for(now - sent->second);
    connected->unanswered.erase(connected->unanswered.begin(), std::next(sent));
    connected->misses = 0;
    if (connected->unanswered.empty()) {
        connected->deadline.reset();
    } else {
        connected->deadline = connected->unanswered.rbegin()->second + worker->timeout;
    }
    schedule(event.worker, *worker);
}

void Membership::on(Instant now, const Broken& event, Effects& effects) {
    Worker* worker = present(event.worker, event.attempt);
    if (worker == nullptr || !std::holds_alternative<Connected>(worker->link)) return;
    const bool soon = now - std::get<Connected>(worker->link).since < config_.steady_after;
    worker->breaks = soon ? worker->breaks + 1 : 1;
    if (worker->breaks <= config_.breaks_max) {
        dial(now, event.worker, *worker, effects);  // at once; if that fails it is judged
        return;
    }
    judge_unreachable(
        now, event.worker, *worker, ReasonCode::unsteady,
        "its streams break again and again, as if another coordinator dialled it: " + event.why,
        effects);
    Duration pause = config_.probe_first;
    for (unsigned i = config_.breaks_max + 1; i < worker->breaks && pause < config_.probe_max;
         ++i) {
        pause *= 2;
    }
    rest(now, event.worker, *worker, std::min(pause, config_.probe_max));
}

}  // namespace baton::membership
