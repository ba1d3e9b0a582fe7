#include "adapters/leader_line/leader_line.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace baton::leader_line {

namespace {

using std::chrono::steady_clock;

struct HostPort {
    std::string host;
    std::string port;
};

// "[::1]:5433"
HostPort host_port_of(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos) return {.host = address, .port = "5433"};
    std::string host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return {.host = std::move(host), .port = address.substr(colon + 1)};
}

LineAnswer answer_of(Refusal refusal, const std::function<bool()>& given_up) {
    if (!refusal.said && given_up()) {
        return AnswerLost{{.code = ErrorCode::cancelled, .message = "it was cancelled"}};
    }
    if (!refusal.said) {
        return AnswerLost{{.code = ErrorCode::unknown_outcome,
                           .message = "the connection was lost: " + refusal.error.message}};
    }
    // Too much waits there, or it does not understand orders: nothing has happened.
    const ErrorCode code = refusal.error.code;
    const bool undone = code == ErrorCode::slow_down || code == ErrorCode::syntax ||
                        code == ErrorCode::not_supported;
    if (undone) return NotSent{std::move(refusal.error)};
    return AnswerLost{std::move(refusal.error)};
}

}  // namespace

LineAnswer PgLeaderLine::ask(const std::string& address, const std::string& order,
                             Duration patience, const std::function<bool()>& given_up) {
    const auto until = steady_clock::now() + patience;
    std::unique_ptr<Talk> talk = kept(address);
    if (!talk) {
        const HostPort at = host_port_of(address);
        const auto connected = std::min(until, steady_clock::now() + options_.connect_timeout);
        auto begun = Talk::begin(at.host, at.port,
                                 {.user = options_.user,
                                  .password = options_.password(address),
                                  .tls = options_.tls,
                                  .ca = options_.ca},
                                 {.until = connected, .given_up = given_up});
        if (!begun) return NotSent{begun.error()};
        talk = *std::move(begun);
    }
    const Patience waiting{.until = until, .given_up = given_up};
    if (!talk->send(order, waiting)) {
        return NotSent{{.code = ErrorCode::cannot_connect,
                        .message = "the connection was lost while the order was sent"}};
    }
    auto answer = talk->receive(waiting);
    if (talk->is_well()) keep(address, std::move(talk));
    if (auto* refusal = std::get_if<Refusal>(&answer)) {
        return answer_of(std::move(*refusal), given_up);
    }
    return std::get<std::string>(std::move(answer));
}

std::unique_ptr<Talk> PgLeaderLine::kept(const std::string& address) {
    for (;;) {
        std::unique_ptr<Talk> talk;
        {
            const std::lock_guard lock(mutex_);
            if (address != address_ || idle_.empty()) return nullptr;
            talk = std::move(idle_.back());
            idle_.pop_back();
        }
        if (talk->is_well()) return talk;
    }
}

void PgLeaderLine::keep(const std::string& address, std::unique_ptr<Talk> talk) {
    std::vector<std::unique_ptr<Talk>> closed;  // without the lock
    const std::lock_guard lock(mutex_);
    if (address != address_) {
        closed.swap(idle_);
        address_ = address;
    }
    if (idle_.size() < options_.idle_max) idle_.push_back(std::move(talk));
}

}  // namespace baton::leader_line
