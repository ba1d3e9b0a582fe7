#include "core/worker/station.h"

#include <algorithm>

#include "base/epoch.h"
#include "base/overload.h"

namespace baton::worker {

using station::AnswerGreeting;
using station::Reply;

namespace {

control::Allegiance allegiance_of(const control::Hello& hello) {
    return {.catalog = hello.catalog, .epoch = hello.epoch};
}

}  // namespace

std::vector<station::Effect> Station::step(Instant now, const station::Event& event) {
    Effects effects;
    std::visit([&](const auto& e) { on(now, e, effects); }, event);
    const bool answered = std::holds_alternative<sessions::MessageArrived>(event);
    if (!answered) tell_news(effects);
    return effects;
}

std::optional<Instant> Station::wake_at() const {
    std::optional<Instant> earliest;
    for (const Duty* duty : duties_) {
        const auto at = duty->wake_at();
        if (at) earliest = std::min(earliest.value_or(*at), *at);
    }
    return earliest;
}

bool Station::may_leave() const {
    return std::all_of(duties_.begin(), duties_.end(),
                       [this](const Duty* duty) { return duty->may_leave(session_.has_value()); });
}

// ---- whom a worker obeys ------------------------------------------------------------------------

void Station::on(Instant now, const sessions::Greeted& event, Effects& effects) {
    if (event.session <= newest_) return;
    if (auto refusal = objection_to(event.hello)) {
        effects.emplace_back(
            AnswerGreeting{.session = event.session, .answer = *std::move(refusal)});
        return;
    }
    newest_ = event.session;
    greeted_.reset();
    if (allegiance_of(event.hello) == kept_) return welcome(event.session, now, effects);
    greeted_ = event;
    greeted_at_ = now;
    effects.emplace_back(station::Keep{allegiance_of(event.hello)});
}

std::optional<control::Refusal> Station::objection_to(const control::Hello& hello) const {
    const auto refuse = [](std::string why, Epoch highest = {}) {
        return control::Refusal{.highest = highest, .why = std::move(why)};
    };
    const std::string epoch = to_string(hello.epoch);
    const std::string known = to_string(kept_.epoch);
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

void Station::on(Instant /*now*/, const station::AllegianceKept& event, Effects& effects) {
    if (event.allegiance.epoch < kept_.epoch) return;
    kept_ = event.allegiance;
    if (!greeted_ || allegiance_of(greeted_->hello) != kept_) return;
    welcome(greeted_->session, greeted_at_, effects);
    greeted_.reset();
}

void Station::on(Instant /*now*/, const station::AllegianceNotKept& event, Effects& effects) {
    if (!greeted_ || allegiance_of(greeted_->hello) != event.allegiance) return;
    const std::string why =
        "epoch " + to_string(event.allegiance.epoch) + " cannot be kept: " + event.why;
    effects.emplace_back(
        AnswerGreeting{.session = greeted_->session,
                       .answer = control::Refusal{.highest = kept_.epoch, .why = why}});
    greeted_.reset();
}

void Station::welcome(sessions::Session session, Instant at, Effects& effects) {
    session_ = session;
    control::Welcome welcome{.incarnation = incarnation_, .fragments = {}, .held = {}};
    duty::Effects given;
    for (Duty* duty : duties_) duty->welcome(at, welcome, given);
    add(std::move(given), effects);
    effects.emplace_back(AnswerGreeting{.session = session, .answer = std::move(welcome)});
}

void Station::on(Instant /*now*/, const sessions::HungUp& event, Effects& /*effects*/) {
    if (session_ == event.session) session_.reset();
    if (greeted_ && greeted_->session == event.session) greeted_.reset();
}

// ---- what is said -------------------------------------------------------------------------------

void Station::on(Instant now, const sessions::MessageArrived& event, Effects& effects) {
    if (session_ != event.session) return;
    std::visit([&](const auto& message) { hear(now, message, effects); }, event.message);
}

void Station::hear(Instant at, const control::Beat& beat, Effects& effects) {
    control::Pulse pulse{.beat = beat.number, .changed = {}, .counts = {}, .draining = leaving_};
    duty::Effects given;
    for (Duty* duty : duties_) duty->beat(at, beat, pulse, given);
    reply(std::move(pulse), effects);
    add(std::move(given), effects);
}

void Station::hear(Instant /*at*/, const control::Command& command, Effects& effects) {
    if (auto why = objection_to(command.epoch)) {
        control::Refusal refusal{.highest = kept_.epoch, .why = *std::move(why)};
        return reply(
            control::CommandAnswer{.request = command.request, .outcome = std::move(refusal)},
            effects);
    }
    duty::Effects given;
    fragments_.obey(command, given);
    add(std::move(given), effects);
}

void Station::hear(Instant at, const control::Assign& assign, Effects& effects) {
    if (objection_to(assign.epoch)) return;
    duty::Effects given;
    partitions_.obey(at, assign, given);
    add(std::move(given), effects);
}

std::optional<std::string> Station::objection_to(Epoch epoch) const {
    if (epoch < kept_.epoch) return "epoch " + to_string(epoch) + " is over";
    if (epoch > kept_.epoch) return "epoch " + to_string(epoch) + " has not greeted";
    return std::nullopt;
}

void Station::on(Instant /*now*/, const station::Leaving& /*event*/, Effects& effects) {
    if (std::exchange(leaving_, true)) return;
    for (Duty* duty : duties_) duty->leave();
    tell(effects);
}

void Station::tell_news(Effects& effects) {
    const bool any = std::any_of(duties_.begin(), duties_.end(),
                                 [](const Duty* duty) { return duty->has_news(); });
    if (any) tell(effects);
}

void Station::tell(Effects& effects) {
    if (!session_) return;
    control::Pulse pulse{.changed = {}, .counts = {}, .draining = leaving_};
    for (Duty* duty : duties_) duty->tell_news(pulse);
    reply(std::move(pulse), effects);
}

// ---- the duties ---------------------------------------------------------------------------------

void Station::on(Instant now, const station::Tick& /*event*/, Effects& effects) {
    duty::Effects given;
    for (Duty* duty : duties_) duty->tick(now, given);
    add(std::move(given), effects);
}

void Station::on(Instant now, const holdings::Released& event, Effects& effects) {
    duty::Effects given;
    partitions_.released(now, event.partitions, given);
    add(std::move(given), effects);
}

void Station::on(Instant /*now*/, const fragments::Event& event, Effects& /*effects*/) {
    std::visit([this](const auto& e) { fragments_.on(e); }, event);
}

void Station::reply(control::Up message, Effects& effects) const {
    if (session_) effects.emplace_back(Reply{.session = *session_, .message = std::move(message)});
}

void Station::add(duty::Effects given, Effects& effects) const {
    for (duty::Effect& effect : given) {
        std::visit(Overload{
                       [&](duty::Say& say) { reply(std::move(say.message), effects); },
                       [&](auto& other) { effects.emplace_back(std::move(other)); },
                   },
                   effect);
    }
}

}  // namespace baton::worker
