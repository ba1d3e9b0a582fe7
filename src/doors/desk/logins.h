// Logins delays clients that fail to prove their identity, so that passwords cannot be guessed.
//
// LoginLimits decides; it is handed the time. Failures are counted by the address they come from
// and by the user they claim to be, each as a budget that comes back with time:
//   - A failure is answered later the more there were before it from that address.
//   - A client that has used up the budget of its address, or of its user, is refused before
//     anything is checked, with the time to come back.
//   - An address from which a user has logged in has a budget of its own for that user: failures
//     elsewhere, or as another user, do not count there.
// Of IPv6 the first half counts, which one customer has. Bounded: so many budgets are kept, and the
// one that was used longest ago is forgotten first.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.h"
#include "doors/desk/metrics.h"
#include "ports/clock.h"

namespace baton::desk {

struct LoginLimitsOptions {
    double of_address = 10;                         // failures at once
    double of_user = 50;                            // from all addresses together
    Duration comes_back = std::chrono::seconds(2);  // one of them
    Duration first_delay = std::chrono::milliseconds(250);
    Duration longest_delay = std::chrono::seconds(4);
    std::size_t kept_max = 20'000;
};

// Pure; not thread-safe.
class LoginLimits {
public:
    explicit LoginLimits(const LoginLimitsOptions& options = {}) : options_(options) {}

    // Zero: it may try. Otherwise it is refused, and may come back after as long.
    [[nodiscard]] Duration refusal(std::string_view address, std::string_view user, Instant now);
    // How long its answer is to wait.
    [[nodiscard]] Duration failed(std::string_view address, std::string_view user, Instant now);
    void succeeded(std::string_view address, std::string_view user, Instant now);

    [[nodiscard]] std::size_t kept() const { return budgets_.size(); }

private:
    struct Budget {
        std::string key;
        double spent = 0;  // of it, when it was last looked at
        Instant at;
        bool trusted = false;  // of an address and a user that logged in there
    };
    using Budgets = std::list<Budget>;

    [[nodiscard]] Budget* find(const std::string& key, Instant now);
    Budget& have(const std::string& key, Instant now);
    [[nodiscard]] Duration wait_for(const Budget* budget, double most) const;

    LoginLimitsOptions options_;
    Budgets budgets_;  // the latest first
    std::unordered_map<std::string_view, Budgets::iterator> by_key_;
};

// "127.0.0.1" of "127.0.0.1:5433", "2001:db8:1:2::/64" of "[2001:db8:1:2:3::4]:5433".
[[nodiscard]] std::string address_of_peer(std::string_view peer);

// The same for all doors, with a clock and counters. Any thread.
class Logins {
public:
    // Both outlive it.
    Logins(const Clock& clock, Metrics& metrics, const LoginLimitsOptions& options = {})
        : clock_(clock), metrics_(metrics), limits_(options) {}

    // `peer` is "127.0.0.1:54321"; the rest as above.
    [[nodiscard]] Duration refusal(std::string_view door, const std::string& peer,
                                   std::string_view user);
    [[nodiscard]] Duration failed(std::string_view door, const std::string& peer,
                                  std::string_view user);
    void succeeded(const std::string& peer, std::string_view user);

private:
    const Clock& clock_;
    Metrics& metrics_;
    std::mutex mutex_;
    LoginLimits limits_;
};

}  // namespace baton::desk
