#include "sim/network.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"

namespace baton::sim {

void Network::add(SimWorker& worker) {
    hosts_[worker.name()].process = &worker;
    worker.listen([this](Session session,
                         const sessions::GreetingAnswer& outcome) { greeted(session, outcome); },
                  [this](Session session, control::Up message) {
                      const auto found = streams_.find(session);
                      if (found == streams_.end()) return;
                      to_coordinator(session,
                                     transport::MessageArrived{.worker = found->second.worker,
                                                               .attempt = found->second.attempt,
                                                               .message = std::move(message)},
                                     false);
                  });
}

std::unique_ptr<Network::Line> Network::connect_coordinator(std::size_t number) {
    return std::make_unique<Line>(*this, number);
}

void Network::cut_off(std::size_t coordinator, bool is_cut) {
    cut_off_[coordinator] += is_cut ? 1 : -1;
}

void Network::cut(const std::string& worker, bool to, bool from, bool is_cut) {
    Host& host = hosts_.at(worker);
    const int by = is_cut ? 1 : -1;
    if (to) host.cut_to += by;
    if (from) host.cut_from += by;
}

void Network::worker_died(const std::string& worker) {
    for (auto& [session, stream] : streams_) {
        if (stream.worker != worker || !stream.worker_end) continue;
        stream.worker_end = false;
        to_coordinator(
            session,
            transport::Broken{
                .worker = worker, .attempt = stream.attempt, .why = "the connection was reset"},
            true);
    }
}

sessions::Session Network::greet_as_stranger(const std::string& worker,
                                             const control::Hello& hello) {
    const Session session = next_session_++;
    streams_[session] = {
        .worker = worker, .process = {}, .line = nullptr, .down_free = {}, .up_free = {}};
    hosts_.at(worker).process->take(sessions::Greeted{.session = session, .hello = hello});
    return session;
}

// How long a message is on its way; none: it does not arrive. What belongs to the stream itself is
// lost only where the network is cut.
std::optional<Duration> Network::journey(bool is_cut, Instant& free, bool reliable) {
    if (is_cut || (!reliable && world_.happens(world_.unkindness.lost))) return std::nullopt;
    const Instant arrival = std::max(free, world_.agenda.now() + world_.travel());
    free = arrival;
    return arrival - world_.agenda.now();
}

void Network::to_worker(Session session, const worker::station::Event& event, bool reliable) {
    Stream& stream = streams_.at(session);
    const Host& host = hosts_.at(stream.worker);
    const int copies = !reliable && world_.happens(world_.unkindness.doubled) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
        const bool is_cut = host.cut_to > 0 || cut_off_[stream.coordinator] > 0;
        const auto delay = journey(is_cut, stream.down_free, reliable);
        if (!delay) continue;
        world_.agenda.after(*delay, [this, session, event] {
            const auto found = streams_.find(session);
            if (found == streams_.end() || !found->second.worker_end) return;
            hosts_.at(found->second.worker).process->take(event);
        });
    }
}

void Network::to_coordinator(Session session, transport::Event event, bool reliable) {
    Stream& stream = streams_.at(session);
    const Host& host = hosts_.at(stream.worker);
    const int copies = !reliable && world_.happens(world_.unkindness.doubled) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
        const bool is_cut = host.cut_from > 0 || cut_off_[stream.coordinator] > 0;
        const auto delay = journey(is_cut, stream.up_free, reliable);
        if (!delay) continue;
        world_.agenda.after(*delay, [this, session, event] {
            const auto found = streams_.find(session);
            if (found == streams_.end() || found->second.line == nullptr) return;
            if (found->second.line->listener_) found->second.line->listener_(event);
        });
    }
}

void Network::greeted(Session session, const sessions::GreetingAnswer& outcome) {
    const auto found = streams_.find(session);
    if (found == streams_.end()) return;
    Stream& stream = found->second;
    if (const auto* welcome = std::get_if<control::Welcome>(&outcome)) {
        stream.process = welcome->incarnation;
        return to_coordinator(
            session,
            transport::Dialled{
                .worker = stream.worker, .attempt = stream.attempt, .welcome = *welcome},
            true);
    }
    const auto& refusal = std::get<control::Refusal>(outcome);
    to_coordinator(session,
                   transport::DialFailed{.worker = stream.worker,
                                         .attempt = stream.attempt,
                                         .why = refusal.why,
                                         .highest = refusal.highest,
                                         .refused = true},
                   true);
}

void Network::close_line(Line& line) {
    for (auto& [session, stream] : streams_) {
        if (stream.line != &line) continue;
        stream.line = nullptr;
        to_worker(session, sessions::HungUp{session}, true);
    }
}

// ---- a coordinator's end ------------------------------------------------------------------------

std::optional<sessions::Session> Network::Line::session(const std::string& worker,
                                                        transport::Attempt attempt) const {
    const auto found = sessions_.find({worker, attempt});
    if (found == sessions_.end()) return std::nullopt;
    return found->second;
}

void Network::Line::dial(const std::string& worker, const std::optional<Address>&,
                         transport::Attempt attempt, const control::Hello& hello) {
    const Session session = network_.next_session_++;
    sessions_[{worker, attempt}] = session;
    if (watcher_) watcher_->greeted(hello);
    network_.streams_[session] = {.worker = worker,
                                  .coordinator = coordinator_,
                                  .attempt = attempt,
                                  .process = {},
                                  .line = this,
                                  .down_free = {},
                                  .up_free = {}};
    const auto host = network_.hosts_.find(worker);
    const bool there = host != network_.hosts_.end() && host->second.process != nullptr &&
                       host->second.process->is_up();
    if (!there) {
        network_.streams_[session].worker_end = false;
        network_.hosts_.try_emplace(worker);
        return network_.to_coordinator(session,
                                       transport::DialFailed{.worker = worker,
                                                             .attempt = attempt,
                                                             .why = "the connection was refused",
                                                             .highest = {}},
                                       true);
    }
    network_.to_worker(session, sessions::Greeted{.session = session, .hello = hello}, true);
}

void Network::Line::send(const std::string& worker, transport::Attempt attempt,
                         const control::Down& message) {
    if (watcher_) {
        std::visit(Overload{
                       [&](const control::Command& command) {
                           const auto on = session(worker, attempt);
                           watcher_->commanded(
                               worker, on ? network_.streams_.at(*on).process : std::nullopt,
                               command);
                       },
                       [&](const control::Beat& beat) { watcher_->beaten(worker, attempt, beat); },
                       [&](const control::Assign& assign) { watcher_->assigned(assign); },
                   },
                   message);
    }
    const auto to = session(worker, attempt);
    if (!to) return;
    network_.to_worker(*to, sessions::MessageArrived{.session = *to, .message = message}, false);
}

void Network::Line::hang_up(const std::string& worker, transport::Attempt attempt) {
    const auto to = session(worker, attempt);
    if (!to) return;
    if (watcher_) watcher_->hung_up(worker, attempt);
    network_.streams_.at(*to).line = nullptr;
    network_.to_worker(*to, sessions::HungUp{*to}, true);
    sessions_.erase({worker, attempt});
}

}  // namespace baton::sim
