#include "failover/blows.h"

#include <algorithm>
#include <csignal>
#include <thread>

namespace baton::failover {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Beyond the lease: a machine with too much to do, and a database that has to start.
constexpr std::chrono::seconds kPatience{30};

}  // namespace

Blows::Blows(Cluster& cluster, const Witness& witness, const Load& load, std::chrono::seconds ttl,
             std::uint64_t seed)
    : cluster_(cluster), witness_(witness), load_(load), ttl_(ttl), prng_(seed) {}

std::optional<std::size_t> Blows::leader() const {
    const auto owner = witness_.leader();
    if (!owner) return std::nullopt;
    for (std::size_t i = 0; i < cluster_.coordinators(); ++i) {
        if (owner->ends_with(" " + cluster_.address(i))) return i;
    }
    return std::nullopt;
}

std::optional<std::size_t> Blows::draw(bool leads) {
    const auto leading = leader();
    if (!leading || leads) return leading;
    const std::size_t all = cluster_.coordinators();
    return (*leading + prng_.between(1, all - 1)) % all;
}

std::string Blows::last_line(std::size_t coordinator) const {
    std::string log = cluster_.log(coordinator);
    if (log.ends_with('\n')) log.pop_back();
    const std::size_t before = log.rfind('\n');
    return before == std::string::npos ? log : log.substr(before + 1);
}

bool Blows::gave_up(std::size_t coordinator, int status) const {
    return status == 1 && last_line(coordinator).find("cannot serve") != std::string::npos;
}

void Blows::start_who_gave_up() {
    for (std::size_t i = 0; i < cluster_.coordinators(); ++i) {
        if (!cluster_.is_over(i)) continue;
        const int status = cluster_.wait(i);
        if (gave_up(i, status)) {
            struck_["start one again that gave up: " + last_line(i)] += 1;
        } else {
            problems_.push_back("coordinator " + std::to_string(i) + " ended by itself with " +
                                std::to_string(status));
        }
        cluster_.start(i);
    }
}

void Blows::kill(std::size_t coordinator) {
    cluster_.signal(coordinator, SIGKILL);
    (void)cluster_.wait(coordinator);
    std::this_thread::sleep_for(milliseconds(prng_.between(0, 1'000)));
    cluster_.start(coordinator);
}

void Blows::stop_for_a_while(std::size_t coordinator) {
    cluster_.signal(coordinator, SIGSTOP);
    const auto most = static_cast<std::uint64_t>(milliseconds(ttl_).count()) * 3;
    std::this_thread::sleep_for(milliseconds(prng_.between(100, most)));
    cluster_.signal(coordinator, SIGCONT);
}

void Blows::tell_to_leave(std::size_t coordinator) {
    cluster_.wait_until_it_can_be_told(coordinator);
    cluster_.signal(coordinator, SIGTERM);
    const int status = cluster_.wait(coordinator);
    if (status != 0 && !gave_up(coordinator, status)) {
        problems_.push_back("coordinator " + std::to_string(coordinator) +
                            " was asked to leave and ended with " + std::to_string(status));
    }
    cluster_.start(coordinator);
}

void Blows::restart_database() {
    cluster_.server().kill();
    cluster_.server().start();
}

void Blows::wait_for_a_change(const std::string& after) {
    const auto since = steady_clock::now();
    while (load_.last_done() <= since) {
        if (steady_clock::now() > since + ttl_ + kPatience) {
            problems_.push_back("nothing was accepted any more after: " + after);
            return;
        }
        std::this_thread::sleep_for(milliseconds(10));
    }
}

void Blows::strike() {
    start_who_gave_up();
    const bool leads = prng_.chance(3, 4);
    const auto coordinator = draw(leads);
    const std::uint64_t kind = prng_.between(0, 9);
    const std::string whom = leads ? " the leader" : " a follower";
    std::string what = "restart the database";
    const auto before = steady_clock::now();
    if (kind <= 1 || !coordinator) {
        restart_database();
    } else if (kind <= 4) {
        what = "kill" + whom;
        kill(*coordinator);
    } else if (kind <= 7) {
        what = "stop" + whom + " for a while";
        stop_for_a_while(*coordinator);
    } else {
        what = "tell" + whom + " to leave";
        tell_to_leave(*coordinator);
    }
    struck_[what] += 1;
    wait_for_a_change(what);
    const std::chrono::duration<double> took = steady_clock::now() - before;
    longest_s_ = std::max(longest_s_, took.count());
    std::this_thread::sleep_for(milliseconds(prng_.between(0, 1'500)));
}

}  // namespace baton::failover
