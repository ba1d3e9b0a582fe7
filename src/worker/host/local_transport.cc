#include "worker/host/local_transport.h"

#include <utility>
#include <vector>

namespace baton::worker {

using sessions::Session;
using transport::Attempt;

LocalTransport::LocalTransport(Transport* remote) : remote_(remote), near_(*this), far_(*this) {}

LocalTransport::~LocalTransport() {
    if (remote_ != nullptr) remote_->listen(nullptr);
}

void LocalTransport::tell(transport::Event event) const {
    if (coordinator_) coordinator_(std::move(event));
}

std::optional<Session> LocalTransport::find(const std::string& worker, Attempt attempt) const {
    for (const auto& [session, stream] : streams_) {
        if (stream.attempt == attempt && stream.worker == worker) return session;
    }
    return std::nullopt;
}

void LocalTransport::end(Session session, const std::string& why, Epoch highest, bool refused) {
    const auto found = streams_.find(session);
    if (found == streams_.end()) return;
    const Stream stream = std::move(found->second);
    streams_.erase(found);
    if (stream.welcomed) {
        tell(transport::Broken{.worker = stream.worker, .attempt = stream.attempt, .why = why});
    } else {
        tell(transport::DialFailed{.worker = stream.worker,
                                   .attempt = stream.attempt,
                                   .why = why,
                                   .highest = highest,
                                   .refused = refused});
    }
    if (worker_) worker_(sessions::HungUp{session});
}

// ---- the coordinator's end ----------------------------------------------------------------------

void LocalTransport::Near::listen(Listener listener) {
    {
        const std::lock_guard lock(owner_.mutex_);
        owner_.coordinator_ = listener;
    }
    if (owner_.remote_ != nullptr) owner_.remote_->listen(std::move(listener));
}

void LocalTransport::Near::dial(const std::string& worker, const std::optional<Address>& address,
                                Attempt attempt, const control::Hello& hello) {
    if (address && owner_.remote_ != nullptr) {
        return owner_.remote_->dial(worker, address, attempt, hello);
    }
    const std::lock_guard lock(owner_.mutex_);
    if (address || !owner_.worker_) {
        return owner_.tell(transport::DialFailed{
            .worker = worker,
            .attempt = attempt,
            .why = address ? "this process reaches no other" : "no worker is embedded here",
            .highest = Epoch(0)});
    }
    const Session session = ++owner_.last_;
    owner_.streams_[session] = {.worker = worker, .attempt = attempt};
    owner_.worker_(sessions::Greeted{.session = session, .hello = hello});
}

void LocalTransport::Near::send(const std::string& worker, Attempt attempt,
                                const control::Down& message) {
    {
        const std::lock_guard lock(owner_.mutex_);
        if (const auto session = owner_.find(worker, attempt)) {
            if (!owner_.worker_) return;
            return owner_.worker_(
                sessions::MessageArrived{.session = *session, .message = message});
        }
    }
    if (owner_.remote_ != nullptr) owner_.remote_->send(worker, attempt, message);
}

void LocalTransport::Near::hang_up(const std::string& worker, Attempt attempt) {
    {
        const std::lock_guard lock(owner_.mutex_);
        if (const auto session = owner_.find(worker, attempt)) {
            owner_.streams_.erase(*session);
            if (owner_.worker_) owner_.worker_(sessions::HungUp{*session});
            return;
        }
    }
    if (owner_.remote_ != nullptr) owner_.remote_->hang_up(worker, attempt);
}

// ---- the worker's end ---------------------------------------------------------------------------

void LocalTransport::Far::listen(Listener listener) {
    const std::lock_guard lock(owner_.mutex_);
    owner_.worker_ = std::move(listener);
    if (owner_.worker_) return;
    std::vector<Session> open;
    for (const auto& [session, stream] : owner_.streams_) open.push_back(session);
    for (const Session session : open) owner_.end(session, "the worker has left", Epoch(0));
}

void LocalTransport::Far::welcome(Session session, const sessions::GreetingAnswer& outcome) {
    const std::lock_guard lock(owner_.mutex_);
    const auto found = owner_.streams_.find(session);
    if (found == owner_.streams_.end()) return;
    if (const auto* refusal = std::get_if<control::Refusal>(&outcome)) {
        return owner_.end(session, refusal->why, refusal->highest, true);
    }
    found->second.welcomed = true;
    owner_.tell(transport::Dialled{.worker = found->second.worker,
                                   .attempt = found->second.attempt,
                                   .welcome = std::get<control::Welcome>(outcome)});
}

void LocalTransport::Far::send(Session session, const control::Up& message) {
    const std::lock_guard lock(owner_.mutex_);
    const auto found = owner_.streams_.find(session);
    if (found == owner_.streams_.end()) return;
    owner_.tell(transport::MessageArrived{
        .worker = found->second.worker, .attempt = found->second.attempt, .message = message});
}

void LocalTransport::Far::hang_up(Session session) {
    const std::lock_guard lock(owner_.mutex_);
    owner_.end(session, "the worker hung up", Epoch(0));
}

}  // namespace baton::worker
