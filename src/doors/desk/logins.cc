#include "doors/desk/logins.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace baton::desk {

namespace {

std::string key_of_address(std::string_view address) {
    return "a" + std::string(address);
}
std::string key_of_user(std::string_view user) {
    return "u" + std::string(user);
}
// No address has a zero byte.
std::string key_of_both(std::string_view address, std::string_view user) {
    return "b" + std::string(address) + std::string(1, '\0') + std::string(user);
}

std::vector<std::string> groups_of(std::string_view text) {
    std::vector<std::string> groups;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(':'), text.size());
        groups.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return groups;
}

// The first four of the eight groups of an address of IPv6; `::` stands for as many as are missing.
std::string network_of(std::string_view host) {
    constexpr std::size_t kAll = 8;
    const std::size_t gap = host.find("::");
    std::vector<std::string> groups = groups_of(host.substr(0, gap));
    if (gap != std::string_view::npos) {
        const std::vector<std::string> last = groups_of(host.substr(gap + 2));
        const std::size_t told = std::min(groups.size() + last.size(), kAll);
        groups.insert(groups.end(), kAll - told, "0");
        groups.insert(groups.end(), last.begin(), last.end());
    }
    groups.resize(kAll / 2, "0");
    return join(groups, ":") + "::/64";
}

}  // namespace

LoginLimits::Budget* LoginLimits::find(const std::string& key, Instant now) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    Budget& budget = *found->second;
    const double back = static_cast<double>((now - budget.at).count()) /
                        static_cast<double>(options_.comes_back.count());
    budget.spent = std::max(0.0, budget.spent - std::max(0.0, back));
    budget.at = now;
    budgets_.splice(budgets_.begin(), budgets_, found->second);
    return &budget;
}

LoginLimits::Budget& LoginLimits::have(const std::string& key, Instant now) {
    if (Budget* known = find(key, now)) return *known;
    if (budgets_.size() >= options_.kept_max) {
        by_key_.erase(budgets_.back().key);
        budgets_.pop_back();
    }
    budgets_.push_front({.key = key, .at = now});
    by_key_.emplace(budgets_.front().key, budgets_.begin());
    return budgets_.front();
}

Duration LoginLimits::wait_for(const Budget* budget, double most) const {
    if (budget == nullptr || budget->spent + 1 <= most) return Duration::zero();
    const double missing = budget->spent + 1 - most;
    return Duration(static_cast<Duration::rep>(
        std::ceil(missing * static_cast<double>(options_.comes_back.count()))));
}

Duration LoginLimits::refusal(std::string_view address, std::string_view user, Instant now) {
    const Budget* both = user.empty() ? nullptr : find(key_of_both(address, user), now);
    if (both != nullptr && both->trusted) return wait_for(both, options_.of_address);
    const Duration there = wait_for(find(key_of_address(address), now), options_.of_address);
    if (user.empty()) return there;
    return std::max(there, wait_for(find(key_of_user(user), now), options_.of_user));
}

Duration LoginLimits::failed(std::string_view address, std::string_view user, Instant now) {
    Budget* both = user.empty() ? nullptr : find(key_of_both(address, user), now);
    double before = 0;
    if (both != nullptr && both->trusted) {
        before = both->spent;
        both->spent = std::min(both->spent + 1, options_.of_address);
    } else {
        Budget& there = have(key_of_address(address), now);
        before = there.spent;
        there.spent = std::min(there.spent + 1, options_.of_address);
        if (!user.empty()) {
            Budget& whose = have(key_of_user(user), now);
            whose.spent = std::min(whose.spent + 1, options_.of_user);
        }
    }
    const double delay =
        static_cast<double>(options_.first_delay.count()) * std::exp2(std::min(before, 16.0));
    return std::min(Duration(static_cast<Duration::rep>(delay)), options_.longest_delay);
}

void LoginLimits::succeeded(std::string_view address, std::string_view user, Instant now) {
    if (user.empty()) return;
    Budget& both = have(key_of_both(address, user), now);
    both.trusted = true;
    both.spent = 0;
}

std::string address_of_peer(std::string_view peer) {
    std::string_view host = peer.substr(0, peer.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return std::string(host);
    constexpr std::string_view kMapped = "::ffff:";  // what follows is an address of IPv4
    if (host.starts_with(kMapped) && host.find('.') != std::string_view::npos) {
        return std::string(host.substr(kMapped.size()));
    }
    return network_of(host);
}

// ---- for doors ----------------------------------------------------------------------------------

Duration Logins::refusal(std::string_view door, const std::string& peer, std::string_view user) {
    const std::string address = address_of_peer(peer);
    Duration wait;
    {
        const std::lock_guard lock(mutex_);
        wait = limits_.refusal(address, user, clock_.now());
    }
    if (wait > Duration::zero()) {
        metrics_.counter("baton_logins_held_up_total", {{"door", std::string(door)}}).add();
    }
    return wait;
}

Duration Logins::failed(std::string_view door, const std::string& peer, std::string_view user) {
    metrics_.counter("baton_logins_failed_total", {{"door", std::string(door)}}).add();
    const std::string address = address_of_peer(peer);
    const std::lock_guard lock(mutex_);
    return limits_.failed(address, user, clock_.now());
}

void Logins::succeeded(const std::string& peer, std::string_view user) {
    const std::string address = address_of_peer(peer);
    const std::lock_guard lock(mutex_);
    limits_.succeeded(address, user, clock_.now());
}

}  // namespace baton::desk
