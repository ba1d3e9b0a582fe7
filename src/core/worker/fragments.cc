#include "core/worker/fragments.h"

#include <algorithm>
#include <utility>

#include "base/epoch.h"
#include "base/overload.h"

namespace baton {

using namespace fragments;  // NOLINT: its own events and effects
using control::Fault;
using control::FragmentStatus;

namespace {

control::Allegiance allegiance_of(const control::Hello& hello) {
    return {.catalog = hello.catalog, .epoch = hello.epoch};
}

std::string text_of(const FragmentStatus& status) {
    std::string text = baton::to_string(status.key) + " is ";
    text += status.state ? std::string(baton::to_string(*status.state)) : "gone";
    if (status.stopping) text += " stopping " + std::string(baton::to_string(*status.stopping));
    return status.reason.empty() ? text : text + " (" + status.reason + ")";
}

std::string text_of(const std::vector<FragmentStatus>& list) {
    std::string text;
    for (const FragmentStatus& status : list) text += (text.empty() ? "" : ", ") + text_of(status);
    return text.empty() ? "nothing" : text;
}

std::string text_of(const std::vector<control::Grant>& list) {
    std::string text;
    for (const control::Grant& grant : list) {
        text += (text.empty() ? "" : ", ") + baton::to_string(grant.partition) + " by " +
                baton::to_string(grant.epoch);
    }
    return text.empty() ? "nothing" : text;
}

std::string text_of(const control::Up& message) {
    return std::visit(Overload{
                          [](const control::Pulse& p) {
                              return "pulse " + std::to_string(p.beat) + " through " +
                                     std::to_string(p.through) + ": " + text_of(p.changed) +
                                     (p.draining ? ", draining" : "");
                          },
                          [](const control::CommandAnswer& a) {
                              const std::string to = "answer " + std::to_string(a.request) + ": ";
                              if (const auto* refusal = std::get_if<control::Refusal>(&a.outcome)) {
                                  return to + "refused, " + refusal->why;
                              }
                              return to + text_of(std::get<FragmentStatus>(a.outcome));
                          },
                          [](const control::Holding& h) {
                              return "holding " + std::to_string(h.number) + ": " + text_of(h.held);
                          },
                      },
                      message);
}

}  // namespace

std::string fragments::to_string(const Effect& effect) {
    return std::visit(
        Overload{
            [](const Welcome& e) {
                if (const auto* refusal = std::get_if<control::Refusal>(&e.outcome)) {
                    return "refuse: " + refusal->why;
                }
                const auto& welcome = std::get<control::Welcome>(e.outcome);
                return "welcome as " + baton::to_string(welcome.incarnation) + ": " +
                       text_of(welcome.fragments);
            },
            [](const Keep& e) {
                const std::string& catalog = e.allegiance.catalog;
                return "keep " + baton::to_string(e.allegiance.epoch) +
                       (catalog.empty() ? "" : " of " + catalog);
            },
            [](const Reply& e) { return text_of(e.message); },
            [](const Prepare& e) { return "prepare " + baton::to_string(e.key); },
            [](const Start& e) { return "start " + baton::to_string(e.key); },
            [](const Drain& e) { return "drain " + baton::to_string(e.key); },
            [](const Abort& e) { return "abort " + baton::to_string(e.key); },
            [](const Take& e) {
                return "take " + baton::to_string(e.grant.partition) + " by " +
                       baton::to_string(e.grant.epoch);
            },
            [](const LetGo& e) { return "let go of " + baton::to_string(e.partition); },
        },
        effect);
}

std::vector<Effect> Fragments::step(const Event& event) {
    Effects effects;
    std::visit([&](const auto& e) { on(e, effects); }, event);
    if (!std::holds_alternative<Told>(event)) tell_changes(effects);  // else the answer has told
    return effects;
}

// ---- sessions -----------------------------------------------------------------------------------

void Fragments::on(const Greeted& event, Effects& effects) {
    if (event.session <= newest_) return;
    if (auto refusal = objection_to(event.hello)) {
        effects.emplace_back(Welcome{.session = event.session, .outcome = *std::move(refusal)});
        return;
    }
    newest_ = event.session;
    greeted_.reset();
    if (allegiance_of(event.hello) == kept_) return welcome(event.session, event.at, effects);
    greeted_ = event;
    effects.emplace_back(Keep{allegiance_of(event.hello)});
}

std::optional<control::Refusal> Fragments::objection_to(const control::Hello& hello) const {
    const auto refuse = [](std::string why, Epoch highest = {}) {
        return control::Refusal{.highest = highest, .why = std::move(why)};
    };
    const std::string epoch = baton::to_string(hello.epoch);
    const std::string known = baton::to_string(kept_.epoch);
    if (hello.protocol != control::kProtocol) {
        return refuse("protocol " + std::to_string(hello.protocol) + " is not spoken here");
    }
    if (!kept_.catalog.empty() && hello.catalog != kept_.catalog) {
        return refuse("the worker belongs to catalog " + kept_.catalog + ", not to " +
                      hello.catalog + "; to change that, " + control::kRelease);
    }
    if (hello.epoch < kept_.epoch) {
        return refuse("epoch " + epoch + " is over: " + known + " was seen", kept_.epoch);
    }
    // One that belongs to nobody yet knows nothing to compare with.
    const bool is_new = kept_ == control::Allegiance{};
    if (!is_believable(hello.epoch, is_new ? hello.epoch : kept_.epoch)) {
        return refuse("epoch " + epoch + " is too far above " + known +
                      ", the highest seen here, to be believed; if it is right, " +
                      control::kRelease);
    }
    return std::nullopt;
}

void Fragments::on(const Kept& event, Effects& effects) {
    if (event.allegiance.epoch < kept_.epoch) return;
    kept_ = event.allegiance;
    if (!greeted_ || allegiance_of(greeted_->hello) != kept_) return;
    welcome(greeted_->session, greeted_->at, effects);
    greeted_.reset();
}

void Fragments::on(const NotKept& event, Effects& effects) {
    if (!greeted_ || allegiance_of(greeted_->hello) != event.allegiance) return;
    const std::string why =
        "epoch " + baton::to_string(event.allegiance.epoch) + " cannot be kept: " + event.why;
    effects.emplace_back(Welcome{.session = greeted_->session,
                                 .outcome = control::Refusal{.highest = kept_.epoch, .why = why}});
    greeted_.reset();
}

void Fragments::on(const Leaving& /*event*/, Effects& effects) {
    if (std::exchange(leaving_, true) || !session_) return;
    effects.emplace_back(Reply{.session = *session_, .message = pulse_after(told_, 0)});
    told_ = last_event_;
}

void Fragments::welcome(Session session, Instant at, Effects& effects) {
    session_ = session;
    control::Welcome welcome{
        .incarnation = incarnation_, .last_event = last_event_, .fragments = {}, .held = {}};
    for (const holdings::Effect& change : holdings_.welcomed(at)) {
        std::visit([&](const auto& what) { effects.emplace_back(what); }, change);
    }
    welcome.held = holdings_.held();
    for (const auto& [key, status] : held_) welcome.fragments.push_back(status);
    unseen_.clear();  // the list says it all
    told_ = last_event_;
    effects.emplace_back(Welcome{.session = session, .outcome = std::move(welcome)});
}

void Fragments::on(const HungUp& event, Effects& /*effects*/) {
    if (session_ == event.session) session_.reset();
    if (greeted_ && greeted_->session == event.session) greeted_.reset();
}

void Fragments::on(const Told& event, Effects& effects) {
    if (session_ != event.session) return;
    std::visit(Overload{
                   [&](const control::Beat& b) { beat(b, event.at, effects); },
                   [&](const control::Command& c) { command(c, effects); },
                   [&](const control::Assign& a) { assign(a, event.at, effects); },
               },
               event.message);
}

void Fragments::beat(const control::Beat& beat, Instant at, Effects& effects) {
    unseen_.erase(unseen_.begin(), unseen_.upper_bound(beat.seen));
    effects.emplace_back(
        Reply{.session = *session_, .message = pulse_after(beat.seen, beat.number)});
    told_ = last_event_;
    hold(holdings_.beat(at, beat), effects);
}

control::Pulse Fragments::pulse_after(std::uint64_t from, std::uint64_t beat) const {
    control::Pulse pulse{.beat = beat,
                         .from = from,
                         .through = last_event_,
                         .changed = {},
                         .counts = {},
                         .draining = leaving_};
    for (auto it = unseen_.upper_bound(from); it != unseen_.end(); ++it) {
        pulse.changed.push_back(it->second);
    }
    return pulse;
}

void Fragments::tell_changes(Effects& effects) {
    if (!session_ || told_ == last_event_) return;
    effects.emplace_back(Reply{.session = *session_, .message = pulse_after(told_, 0)});
    told_ = last_event_;
}

void Fragments::assign(const control::Assign& assign, Instant at, Effects& effects) {
    if (assign.epoch != kept_.epoch) return;
    const Holdings::Effects changes = holdings_.assign(at, assign);
    hold(changes, effects);
    if (changes.empty()) effects.emplace_back(Reply{*session_, holdings_.told()});
}

void Fragments::hold(const Holdings::Effects& changes, Effects& effects) {
    for (const holdings::Effect& change : changes) {
        std::visit([&](const auto& what) { effects.emplace_back(what); }, change);
    }
    if (!changes.empty() && session_) effects.emplace_back(Reply{*session_, holdings_.told()});
}

void Fragments::on(const Tick& event, Effects& effects) {
    hold(holdings_.tick(event.at), effects);
}

void Fragments::on(const LetGone& event, Effects& effects) {
    const Holdings::Effects changes = holdings_.let_gone(event.at, event.partitions);
    hold(changes, effects);
    if (changes.empty() && session_) effects.emplace_back(Reply{*session_, holdings_.told()});
}

void Fragments::command(const control::Command& command, Effects& effects) {
    control::CommandAnswer answer{.request = command.request, .outcome = {}};
    if (auto why = objection_to(command)) {
        answer.outcome = control::Refusal{.highest = kept_.epoch, .why = *std::move(why)};
    } else {
        std::visit([&](const auto& order) { obey(order, effects); }, command.order);
        const auto found = held_.find(control::key_of(command.order));
        answer.outcome = found != held_.end()
                             ? found->second
                             : FragmentStatus{.key = control::key_of(command.order)};
    }
    effects.emplace_back(Reply{.session = *session_, .message = std::move(answer)});
}

std::optional<std::string> Fragments::objection_to(const control::Command& command) const {
    const std::string epoch = "epoch " + baton::to_string(command.epoch);
    if (command.epoch < kept_.epoch) return epoch + " is over";
    if (command.epoch > kept_.epoch) return epoch + " has not greeted";
    const bool is_new = std::holds_alternative<control::RegisterFragment>(command.order) &&
                        !held_.contains(control::key_of(command.order));
    if (is_new && leaving_) return "the worker is draining";
    return std::nullopt;
}

// ---- commands -----------------------------------------------------------------------------------

void Fragments::obey(const control::RegisterFragment& order, Effects& effects) {
    const auto [found, added] = held_.try_emplace(order.key);
    if (!added) return;
    found->second.key = order.key;
    found->second.state = FragmentState::pending;
    found->second.fingerprint = order.fingerprint;
    changed(found->second);
    effects.emplace_back(Prepare{.key = order.key, .plan = order.plan});
}

void Fragments::obey(const control::StartFragment& order, Effects& effects) {
    FragmentStatus* status = living(order.key);
    if (status == nullptr || status->stopping || status->state != FragmentState::registered) return;
    status->state = FragmentState::started;
    changed(*status);
    effects.emplace_back(fragments::Start{order.key});
}

void Fragments::obey(const control::StopFragment& order, Effects& effects) {
    FragmentStatus* status = living(order.key);
    if (status == nullptr || status->stopping == StopMode::forceful) return;
    const bool has_data =
        status->state == FragmentState::started || status->state == FragmentState::running;
    // There is nothing to drain in what was not started.
    const StopMode mode = has_data ? order.mode : StopMode::forceful;
    if (status->stopping == mode) return;
    status->stopping = mode;
    changed(*status);
    if (mode == StopMode::graceful) {
        effects.emplace_back(Drain{order.key});
    } else {
        effects.emplace_back(Abort{order.key});
    }
}

void Fragments::obey(const control::ForgetFragment& order, Effects& /*effects*/) {
    const auto found = held_.find(order.key);
    if (found == held_.end() || !has_ended(*found->second.state)) return;
    unseen_.erase(found->second.event);
    held_.erase(found);
}

// ---- the engine ---------------------------------------------------------------------------------

FragmentStatus* Fragments::living(const FragmentKey& key) {
    const auto found = held_.find(key);
    if (found == held_.end() || has_ended(*found->second.state)) return nullptr;
    return &found->second;
}

bool Fragments::may_leave() const {
    if (session_) return held_.empty() && holdings_.may_leave();
    return std::all_of(held_.begin(), held_.end(),
                       [](const auto& held) { return has_ended(*held.second.state); });
}

void Fragments::changed(FragmentStatus& status) {
    unseen_.erase(status.event);
    status.event = ++last_event_;
    unseen_.emplace(status.event, status);
}

void Fragments::end(FragmentStatus& status, FragmentState state, Fault fault, std::string reason) {
    status.state = state;
    status.stopping.reset();
    status.fault = fault;
    status.reason = std::move(reason);
    changed(status);
}

void Fragments::on(const Prepared& event, Effects& /*effects*/) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr || status->stopping || status->state != FragmentState::pending) return;
    status->state = FragmentState::registered;
    changed(*status);
}

void Fragments::on(const PrepareFailed& event, Effects& /*effects*/) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr || status->state != FragmentState::pending) return;
    if (status->stopping) return end(*status, FragmentState::stopped, Fault::transient, "");
    if (event.fault == Fault::terminal) {
        return end(*status, FragmentState::failed, Fault::terminal, event.why);
    }
    status->state.reset();
    status->reason = event.why;
    changed(*status);
    held_.erase(event.key);
}

void Fragments::on(const Ran& event, Effects& /*effects*/) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr || status->state != FragmentState::started) return;
    status->state = FragmentState::running;
    changed(*status);
}

void Fragments::on(const Ended& event, Effects& /*effects*/) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr) return;
    const bool told = status->stopping.has_value();
    status->counts = event.counts;
    end(*status, told ? FragmentState::stopped : FragmentState::terminated, Fault::transient, "");
}

void Fragments::on(const Halted& event, Effects& /*effects*/) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr || !status->stopping) return;
    status->counts = event.counts;
    end(*status, FragmentState::stopped, Fault::transient, "");
}

void Fragments::on(const Broke& event, Effects& /*effects*/) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr) return;
    status->counts = event.counts;
    end(*status, FragmentState::failed, event.fault, event.why);
}

}  // namespace baton
