#include "sim/request_checks.h"

#include "base/check.h"
#include "coordinator/routing/forwarded_bundle.h"

namespace baton::sim {

using namespace std::chrono_literals;

namespace {

// As long as a leader is waited for, then as long as its answer is, by a clock that is slow; and
// what it takes to commit.
constexpr Duration kAnsweredWithin = 30s + 30s / 20 + 2s;
// Almost as long as a leader is waited for, since a clock may be fast.
constexpr Duration kWaitsFor = 14s;

coordinator::Bundle bundle_of(const std::string& order) {
    auto bundle = coordinator::bundle_in(order, {});
    CHECK(std::holds_alternative<coordinator::Bundle>(bundle));
    return std::get<coordinator::Bundle>(std::move(bundle));
}

}  // namespace

std::string RequestChecks::asked(std::size_t coordinator, const std::string& address) {
    std::string user = "user " + std::to_string(requests_.size() + 1);
    requests_[user] = {.coordinator = coordinator,
                       .address = address,
                       .commits_lost = commits_lost_,
                       .arrived = {}};
    return user;
}

void RequestChecks::arrived(const std::string& user) {
    requests_.at(user).arrived = world_.agenda.now();
    world_.agenda.after(kAnsweredWithin,
                        [this, user, at = world_.agenda.now()] { check_time(user, at); });
}

void RequestChecks::check_time(const std::string& user, Instant arrived) {
    const Request& request = requests_.at(user);
    if (request.outcome || !undisturbed_(request.coordinator, arrived)) return;
    world_.violated("the request of " + user + " to " + request.address +
                    " is not answered in time");
}

std::uint64_t RequestChecks::times(const std::string& user) {
    const auto rows = *sql_->query(
        "SELECT COUNT(*) FROM statement_log WHERE principal = ? AND outcome = 'OK'", {user});
    return static_cast<std::uint64_t>(std::get<std::int64_t>(rows.at(0).at(0)));
}

void RequestChecks::answered(const std::string& user, const coordinator::Outcome& outcome) {
    Request& request = requests_.at(user);
    if (request.outcome) world_.violated("the request of " + user + " is answered twice");
    request.outcome = outcome;
    const auto* refused = std::get_if<coordinator::Refused>(&outcome);
    if (refused != nullptr && refused->error.code == ErrorCode::unknown_outcome) {
        unknown_ += 1;
        if (!request.lost && request.commits_lost == commits_lost_) {
            world_.violated(
                user + " gets an unknown outcome, but nothing was lost: " + refused->error.message);
        }
    }
    const bool leaderless = refused != nullptr && refused->error.code == ErrorCode::fenced;
    if (forwards_ && leaderless && world_.agenda.now() < request.arrived + kWaitsFor) {
        world_.violated("the request of " + user + " does not wait for a leader: it is refused, " +
                        refused->error.message);
    }
    check(user, request);
}

void RequestChecks::check(const std::string& user, const Request& request) {
    const std::uint64_t happened = times(user);
    const std::string but = ", but it happened " + std::to_string(happened) + " times";
    if (happened > 1) return world_.violated("the request of " + user + " was made once" + but);
    if (!request.outcome) return;
    const auto* refused = std::get_if<coordinator::Refused>(&*request.outcome);
    if (refused == nullptr && happened != 1) {
        world_.violated("the request of " + user + " was acknowledged" + but);
    }
    const bool unknown = refused != nullptr && refused->error.code == ErrorCode::unknown_outcome;
    if (refused != nullptr && !unknown && happened != 0) {
        world_.violated("the request of " + user + " was refused" + but + ": " +
                        refused->error.message);
    }
}

void RequestChecks::check_all() {
    for (const auto& [user, request] : requests_) check(user, request);
}

// ---- on the lines -------------------------------------------------------------------------------

void RequestChecks::sent(const std::string& from, const std::string& order) {
    const std::string user = bundle_of(order).principal;
    Request& request = requests_.at(user);
    world_.tell(60, [&] { return from + " forwards the request of " + user; });
    forwarded_ += 1;
    if (request.address != from) {
        world_.violated(from + " forwards the request of " + user + ", which was forwarded to it");
    }
    if (!request.may_be_sent) {
        world_.violated("the request of " + user + " is sent again, though it may have been read");
    }
    request.may_be_sent = false;
}

void RequestChecks::came_back(const std::string& order, const std::optional<std::string>& answer) {
    const coordinator::Bundle bundle = bundle_of(order);
    Request& request = requests_.at(bundle.principal);
    if (!answer) {
        request.may_be_sent = true;
        return;
    }
    const auto outcome = coordinator::outcome_of(*answer, bundle);
    request.lost = !outcome;
    const auto* refused = outcome ? std::get_if<coordinator::Refused>(&*outcome) : nullptr;
    request.may_be_sent = refused != nullptr && refused->error.code == ErrorCode::fenced;
    world_.tell(61, [&] {
        return "the answer to the request of " + bundle.principal +
               (request.lost ? " is lost" : " comes back");
    });
}

}  // namespace baton::sim
