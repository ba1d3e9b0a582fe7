#include "coordinator/control/guarded_transport.h"

#include <utility>

namespace baton::coordinator {

void GuardedTransport::listen(Listener listener) {
    if (!listener || !guard_.heard_of) return real_.listen(std::move(listener));
    real_.listen([heard_of = guard_.heard_of, epoch = epoch_,
                  listener = std::move(listener)](transport::Event event) {
        const auto* failed = std::get_if<transport::DialFailed>(&event);
        if (failed != nullptr && failed->highest > epoch) heard_of(failed->highest);
        listener(std::move(event));
    });
}

void GuardedTransport::dial(const std::string& worker, const std::optional<Address>& address,
                            transport::Attempt attempt, const control::Hello& hello) {
    if (!may_act()) return;
    dialled_[worker] = attempt;
    real_.dial(worker, address, attempt, hello);
}

void GuardedTransport::send(const std::string& worker, transport::Attempt attempt,
                            const control::Down& message) {
    if (may_act()) real_.send(worker, attempt, message);
}

void GuardedTransport::hang_up(const std::string& worker, transport::Attempt attempt) {
    const auto found = dialled_.find(worker);
    if (found != dialled_.end() && found->second == attempt) dialled_.erase(found);
    real_.hang_up(worker, attempt);
}

void GuardedTransport::hang_up_all() {
    for (const auto& [worker, attempt] : std::exchange(dialled_, {})) {
        real_.hang_up(worker, attempt);
    }
}

}  // namespace baton::coordinator
