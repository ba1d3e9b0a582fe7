// GuardedTransport sends nothing to workers once the term that it belongs to is over: whoever asks
// looks at the clock just before. A worker that has not heard of the next leader yet would obey.
// What was dialled is hung up with it, so that the transport is as it was for the next term.
// Used by one thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "ports/transport.h"

namespace baton {

class GuardedTransport final : public Transport {
public:
    // `may_act` is empty: always.
    GuardedTransport(Transport& real, std::function<bool()> may_act)
        : real_(real), may_act_(std::move(may_act)) {}
    ~GuardedTransport() override {
        for (const auto& [worker, attempt] : dialled_) real_.hang_up(worker, attempt);
    }
    GuardedTransport(const GuardedTransport&) = delete;
    GuardedTransport& operator=(const GuardedTransport&) = delete;

    void listen(Listener listener) override { real_.listen(std::move(listener)); }
    void dial(const std::string& worker, const std::optional<Address>& address,
              transport::Attempt attempt, const control::Hello& hello) override {
        if (!may()) return;
        dialled_[worker] = attempt;
        real_.dial(worker, address, attempt, hello);
    }
    void send(const std::string& worker, transport::Attempt attempt,
              const control::Down& message) override {
        if (may()) real_.send(worker, attempt, message);
    }
    void hang_up(const std::string& worker, transport::Attempt attempt) override {
        const auto found = dialled_.find(worker);
        if (found != dialled_.end() && found->second == attempt) dialled_.erase(found);
        real_.hang_up(worker, attempt);
    }

private:
    [[nodiscard]] bool may() const { return !may_act_ || may_act_(); }

    Transport& real_;
    const std::function<bool()> may_act_;
    std::map<std::string, transport::Attempt> dialled_;  // the last of each worker
};

}  // namespace baton
