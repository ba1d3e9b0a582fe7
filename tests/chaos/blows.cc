#include "chaos/blows.h"

#include <algorithm>

namespace baton::chaos {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string node_name(std::size_t node) {
    return node == kCoordinatorNode ? "the coordinator" : Workers::name(node);
}

std::string for_so_long(milliseconds time) {
    return " for " + std::to_string(time.count()) + " ms";
}

}  // namespace

Blows::Blows(Victims victims, Prng& prng, Tell tell)
    : victims_(victims), prng_(prng), tell_(std::move(tell)) {}

void Blows::strike() {
    const std::uint64_t what = prng_.between(0, 99);
    if (what < 25) return kill_worker();
    if (what < 45) return pause_worker();
    if (what < 57) return dismiss_worker();
    if (what < 67) return kill_coordinator();
    if (what < 73) return pause_coordinator();
    if (what < 94) return cut_network();
    draw_full_disk();
}

// Mostly short, now and then so long that it is noticed by those who look for it.
milliseconds Blows::draw_time(std::uint64_t least, std::uint64_t most) {
    constexpr std::uint64_t kShort = 1'000;
    const std::uint64_t most_of_all = most * static_cast<std::uint64_t>(mood_.length);
    return milliseconds(prng_.between(least, prng_.chance(1, 3) ? most_of_all : kShort));
}

// ---- processes ----------------------------------------------------------------------------------

void Blows::kill_worker() {
    const std::size_t worker = prng_.between(0, kWorkers - 1);
    if (!victims_.workers.untroubled(worker)) return;
    const milliseconds away{prng_.chance(1, 2) ? 0 : prng_.between(0, 3'000)};
    tell_("kill " + Workers::name(worker) + for_so_long(away));
    victims_.workers.kill(worker, steady_clock::now() + away);
    struck_.worker_kills += 1;
}

void Blows::pause_worker() {
    const std::size_t worker = prng_.between(0, kWorkers - 1);
    if (!victims_.workers.untroubled(worker)) return;
    const milliseconds away = draw_time(100, 6'000);
    tell_("pause " + Workers::name(worker) + for_so_long(away));
    victims_.workers.pause(worker, steady_clock::now() + away);
    struck_.worker_pauses += 1;
}

void Blows::dismiss_worker() {
    const std::size_t worker = prng_.between(0, kWorkers - 1);
    if (!victims_.workers.untroubled(worker)) return;
    const bool at_once = prng_.chance(1, 4);
    const milliseconds away{prng_.chance(1, 2) ? 0 : prng_.between(0, 2'000)};
    tell_("dismiss " + Workers::name(worker) + (at_once ? " at once" : "") + for_so_long(away));
    victims_.workers.dismiss(worker, at_once, away);
    struck_.dismissals += 1;
}

void Blows::kill_coordinator() {
    if (!victims_.coordinator.lives() || !mood_.kills_coordinators) return;
    victims_.coordinator.kill();
    coordinator_is_gone();
}

void Blows::coordinator_is_gone() {
    tell_("the coordinator is killed");
    struck_.coordinator_kills += 1;
    coordinator_paused_until_.reset();
    coordinator_back_at_ = steady_clock::now() + milliseconds(prng_.between(0, 800));
}

void Blows::pause_coordinator() {
    if (!victims_.coordinator.listens()) return;
    const milliseconds away = draw_time(100, 8'000);
    tell_("pause the coordinator" + for_so_long(away));
    victims_.coordinator.pause();
    coordinator_paused_until_ = steady_clock::now() + away;
    struck_.coordinator_pauses += 1;
}

// ---- disk and network ---------------------------------------------------------------------------

void Blows::draw_full_disk() {
    if (victims_.disk == nullptr || full_until_ || full_after_start_) return;
    const milliseconds time = draw_time(300, 5'000);
    // A log that was long before has room for a while; one that was begun anew has none.
    if (!victims_.coordinator.lives() || prng_.chance(1, 3)) return fill_disk(time);
    victims_.coordinator.kill();
    coordinator_is_gone();
    full_after_start_ = time;
}

void Blows::fill_disk(milliseconds time) {
    tell_("the disk is full" + for_so_long(time));
    victims_.disk->fill();
    full_until_ = steady_clock::now() + time;
    struck_.full_disks += 1;
}

Blows::Cut Blows::draw_cut() {
    Cut cut;
    const std::size_t worker = prng_.between(0, kWorkers - 1);
    switch (prng_.between(0, 2)) {
        case 0:
            for (std::size_t other = 0; other <= kCoordinatorNode; ++other) {
                if (other != worker) cut.ways.emplace_back(worker, other);
            }
            struck_.cuts_from_all += 1;
            break;
        case 1:
            cut.ways.emplace_back(worker, kCoordinatorNode);
            struck_.cuts_from_coordinator += 1;
            break;
        default: {
            const auto links = Workers::links();
            cut.ways.push_back(links[prng_.between(0, links.size() - 1)]);
            struck_.cuts_between_workers += 1;
        }
    }
    const std::uint64_t direction = prng_.between(0, 5);  // 0: there, 1: back, else both ways
    if (direction < 2) struck_.cuts_one_way += 1;
    const std::vector<Way> there = cut.ways;
    if (direction == 1) cut.ways.clear();
    if (direction == 0) return cut;
    for (const auto& [from, to] : there) cut.ways.emplace_back(to, from);
    return cut;
}

void Blows::cut_network() {
    if (victims_.network == nullptr) return;
    Cut cut = draw_cut();
    const milliseconds away = draw_time(100, 8'000);
    std::string told = "cut" + for_so_long(away);
    for (const Way& way : cut.ways) {
        told += ", " + node_name(way.first) + " to " + node_name(way.second);
        if (!is_cut(way)) victims_.network->set_open(way.first, way.second, false);
    }
    tell_(told);
    cut.until = steady_clock::now() + away;
    cuts_.push_back(std::move(cut));
}

bool Blows::is_cut(const Way& way) const {
    return std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& cut) {
        return std::find(cut.ways.begin(), cut.ways.end(), way) != cut.ways.end();
    });
}

void Blows::mend(Time now) {
    const auto over = std::stable_partition(cuts_.begin(), cuts_.end(),
                                            [&](const Cut& cut) { return cut.until > now; });
    const std::vector<Cut> mended(over, cuts_.end());
    cuts_.erase(over, cuts_.end());
    for (const Cut& cut : mended) {
        for (const Way& way : cut.ways) {
            if (!is_cut(way)) victims_.network->set_open(way.first, way.second, true);
        }
        tell_("mended: " + node_name(cut.ways.front().first) + " to " +
              node_name(cut.ways.front().second) + (cut.ways.size() > 1 ? " .." : ""));
    }
}

// ---- what comes after ---------------------------------------------------------------------------

std::string Blows::look(Time now) {
    if (std::string wrong = victims_.workers.look(now); !wrong.empty()) return wrong;
    mend(now);
    if (full_until_ && *full_until_ <= now) {
        victims_.disk->make_room();
        full_until_.reset();
        tell_("the disk has room");
    } else if (full_until_) {
        victims_.disk->fill();
    }
    Coordinator& coordinator = victims_.coordinator;
    if (coordinator.lives() && coordinator.child()->ended_by_itself())
        return "the coordinator has ended by itself";
    if (coordinator_paused_until_ && *coordinator_paused_until_ <= now) {
        tell_("the coordinator goes on");
        coordinator.go_on();
        coordinator_paused_until_.reset();
    }
    return coordinator_back_at_ && *coordinator_back_at_ <= now ? start_coordinator(now) : "";
}

// Without space it may refuse to start, and is then started again like any other.
std::string Blows::start_coordinator(Time now) {
    coordinator_back_at_.reset();
    tell_("the coordinator starts");
    const std::string wrong = victims_.coordinator.start();
    if (wrong.empty() && full_after_start_) fill_disk(*full_after_start_);
    full_after_start_.reset();
    if (wrong.empty() || !disk_is_full() || wrong.find("error 6") == std::string::npos)
        return wrong;
    tell_(wrong);
    struck_.starts_without_space += 1;
    coordinator_back_at_ = now + milliseconds(prng_.between(100, 500));
    return "";
}

std::string Blows::heal() {
    full_after_start_.reset();
    if (full_until_) full_until_ = Time::min();
    if (coordinator_paused_until_) coordinator_paused_until_ = Time::min();
    if (!victims_.coordinator.lives()) coordinator_back_at_ = Time::min();
    for (Cut& cut : cuts_) cut.until = Time::min();
    victims_.workers.heal();
    return look(steady_clock::now());
}

}  // namespace baton::chaos
