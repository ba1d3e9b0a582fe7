// GuardedTransport is the transport of one term: once the term is over it dials no worker and sends
// nothing, and a worker that refuses it for a higher epoch is heard. Used by one thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/id.h"
#include "coordinator/commit/term_guard.h"
#include "ports/transport.h"

namespace baton::coordinator {

class GuardedTransport final : public Transport {
public:
    // `real` outlives it.
    GuardedTransport(Transport& real, TermGuard guard, Epoch epoch)
        : real_(real), guard_(std::move(guard)), epoch_(epoch) {}

    void listen(Listener listener) override;
    void dial(const std::string& worker, const std::optional<Address>& address,
              transport::Attempt attempt, const control::Hello& hello) override;
    void send(const std::string& worker, transport::Attempt attempt,
              const control::Down& message) override;
    // Works also after the term is over: ending a stream is no action of the term.
    void hang_up(const std::string& worker, transport::Attempt attempt) override;
    // Hangs up every stream that was dialled, so that the next term finds the transport as this one
    // did. To be called when the term has ended.
    void hang_up_all();

private:
    [[nodiscard]] bool may_act() const { return !guard_.may_act || guard_.may_act(); }

    Transport& real_;
    const TermGuard guard_;
    const Epoch epoch_;
    std::map<std::string, transport::Attempt> dialled_;  // the last of each worker
};

}  // namespace baton::coordinator
