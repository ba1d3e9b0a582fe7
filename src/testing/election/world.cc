#include "testing/election/world.h"

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/overload.h"
#include "base/prng.h"
#include "core/election/election.h"
#include "testing/election/store.h"

namespace baton::testing {

namespace {

using namespace std::chrono_literals;
using namespace election;  // NOLINT: its events and effects

struct Node {
    std::string name;
    std::uint64_t life = 0;
    std::optional<election::Election> machine;
    std::string owner;
    Duration offset{};
    std::int64_t drift_ppm = 0;
    Duration paused_until{};
    std::deque<Event> deferred;
    std::optional<Epoch> term;  // told to lead, and not to step down
    std::map<Call, Instant> asked;
    Instant held_from;  // when the last call was asked for that took or renewed the lease
    std::map<Epoch, int> working;
    bool left = false;

    [[nodiscard]] Instant clock(Duration now) const {
        return Instant(offset + now + now * drift_ppm / 1'000'000);
    }
};

class World {
public:
    World(std::uint64_t seed, bool restores) : prng_(seed), restores_(restores) {
        const std::vector<Duration> ttls = {1s, 2s, 3s, 10s};
        timers_ = *election::ElectionTimers::of(ttls[prng_.between(0, ttls.size() - 1)]);
        store_.epoch = Epoch(prng_.between(0, 1) * prng_.between(1, 1'000));
        taken_.insert(store_.epoch);
        nodes_.resize(prng_.between(2, 5));
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            nodes_[i].name = "n" + std::to_string(i + 1);
            nodes_[i].offset = Duration(prng_.between(0, 1'000'000'000));
            nodes_[i].drift_ppm = static_cast<std::int64_t>(prng_.between(0, 80'000)) - 40'000;
        }
    }

    ElectionRun run() {
        for (Node& node : nodes_) start(node);
        const Duration chaos_ends = timers_.ttl * 20;
        plan_chaos(chaos_ends);
        until(chaos_ends);
        heal();
        if (!failed()) check_that_all_is_well();
        return run_;
    }

private:
    // ---- the agenda -----------------------------------------------------------------------------

    void at(Duration when, std::function<void()> what) {
        agenda_.emplace(std::pair{when, sequence_++}, std::move(what));
    }
    [[nodiscard]] bool failed() const { return run_.problem.has_value(); }
    void fail(const std::string& what) {
        if (!failed()) run_.problem = "at " + std::to_string(now_.count()) + " us: " + what;
    }
    void until(Duration end, const std::function<bool()>& stop = nullptr) {
        while (!failed() && !agenda_.empty() && agenda_.begin()->first.first <= end) {
            auto next = agenda_.extract(agenda_.begin());
            now_ = next.key().first;
            next.mapped()();
            look();
            if (++events_ > 2'000'000) fail("it spins");
            if (stop && stop()) return;
        }
        now_ = end;
    }
    bool chance(std::uint64_t percent) { return prng_.chance(percent, 100); }
    Duration up_to(Duration most) {
        return Duration(prng_.between(0, static_cast<std::uint64_t>(most.count())));
    }
    Duration delay() {
        if (healed_) return up_to(15ms);
        if (chance(80)) return up_to(timers_.ttl / 50);
        if (chance(80)) return up_to(timers_.ttl / 2);
        return up_to(timers_.ttl * 2);
    }
    bool goes_wrong(std::uint64_t percent) { return !healed_ && chance(percent); }

    // ---- processes ------------------------------------------------------------------------------

    void start(Node& node) {
        node.life += 1;
        node.owner = node.name + ":" + std::to_string(node.life);
        node.machine.emplace(timers_, node.owner, node.clock(now_));
        node.left = false;
        node.held_from = Instant();
        wake(node);
        work(node, node.life);
    }
    void kill(Node& node) {
        node.life += 1;
        node.machine.reset();
        node.deferred.clear();
        node.asked.clear();
        node.working.clear();
        node.term.reset();
        node.paused_until = Duration::zero();
    }
    void pause(Node& node, Duration how_long) {
        if (!node.machine || node.paused_until > now_) return;
        if (how_long > timers_.ttl) run_.pauses += 1;
        node.paused_until = now_ + how_long;
        at(node.paused_until, [this, &node, life = node.life] {
            if (node.life != life) return;
            std::deque<Event> late = std::exchange(node.deferred, {});
            // A process that wakes up does whatever it was about to do.
            if (chance(50)) act(node);
            for (const Event& event : late) deliver(node, life, event);
            deliver(node, life, Tick{});
        });
    }
    void wake(Node& node) {
        if (!node.machine) return;
        const auto due = node.machine->wake_at();
        if (!due) return;
        // Its clock says when; the world's is another.
        const Duration local = std::max(*due - node.clock(now_), Duration::zero());
        const Duration wait = local * 1'000'000 / (1'000'000 + node.drift_ppm) + 1us;
        at(now_ + wait, [this, &node, life = node.life, due] {
            if (node.life != life || !node.machine || node.machine->wake_at() != due) return;
            deliver(node, life, Tick{});
        });
    }

    void deliver(Node& node, std::uint64_t life, const Event& event) {
        if (node.life != life || !node.machine) return;
        if (node.paused_until > now_) {
            if (!std::holds_alternative<Tick>(event)) node.deferred.push_back(event);
            return;
        }
        note_success(node, event);
        const Instant local = node.clock(now_);
        for (const Effect& effect : node.machine->step(local, event, prng_.next())) {
            std::visit([&](const auto& e) { perform(node, e); }, effect);
        }
        check_term(node, event, local);
        wake(node);
    }

    void note_success(Node& node, const Event& event) {
        const auto took = [&](Call call) {
            node.held_from = std::max(node.held_from, node.asked[call]);
        };
        if (const auto* acquired = std::get_if<Acquired>(&event)) took(acquired->call);
        if (const auto* renewed = std::get_if<Renewed>(&event)) took(renewed->call);
    }

    void check_term(Node& node, const Event& event, Instant local) {
        if (node.term.has_value() != node.machine->may_act(local)) {
            fail(node.owner +
                 (node.term ? " has to lead but may not act" : " may act but does not lead"));
        }
        if (node.term && local >= node.held_from + timers_.give_up) {
            fail(node.owner + " leads although no renewal has succeeded for " +
                 std::to_string((local - node.held_from).count()) + " us");
        }
        const auto* lost = std::get_if<Lost>(&event);
        if (lost != nullptr && node.term == lost->epoch) fail(node.owner + " ignores a loss");
    }

    // ---- effects --------------------------------------------------------------------------------

    void perform(Node& node, const election::Watch& effect) {
        call(node, effect.call, [this](const std::string&, Call number) -> Event {
            return Watched{.call = number, .held = store_.held(now_)};
        });
    }
    void perform(Node& node, const Acquire& effect) {
        call(node, effect.call, [this, effect](const std::string& owner, Call number) -> Event {
            const auto epoch = store_.next_epoch(effect.least_epoch, now_);
            if (!epoch) return election::Refused{.call = number, .held = store_.held(now_)};
            const bool uncertain = goes_wrong(15);
            if (uncertain) uncertain_.insert(*epoch);
            if (!uncertain || chance(50)) take(owner, *epoch);
            if (!uncertain) return Acquired{.call = number, .epoch = *epoch};
            return Uncertain{.call = number, .epoch = *epoch, .why = "the commit was not answered"};
        });
    }
    void perform(Node& node, const Renew& effect) {
        call(node, effect.call, [this, effect](const std::string& owner, Call number) -> Event {
            if (!store_.renew(owner, effect.epoch, now_, timers_.ttl)) return Lost{effect.epoch};
            if (goes_wrong(5)) return Uncertain{.call = number, .epoch = {}, .why = "unanswered"};
            return Renewed{number};
        });
    }
    void perform(Node& node, const Release& effect) {
        if (node.working[effect.epoch] > 0) fail(node.owner + " releases before it has drained");
        call(node, effect.call, [this, effect](const std::string& owner, Call number) -> Event {
            store_.release(owner, effect.epoch);
            return Released{number};
        });
    }
    void perform(Node& /*node*/, const Abandon& /*effect*/) {}
    void perform(Node& node, const Lead& effect) {
        if (node.term) fail(node.owner + " leads twice");
        if (!begun_.insert(effect.epoch).second && !restored_) {
            fail("epoch " + baton::to_string(effect.epoch) + " begins twice");
        }
        node.term = effect.epoch;
        run_.terms += 1;
    }
    void perform(Node& node, const StepDown& effect) {
        if (node.term != effect.epoch) fail(node.owner + " steps down without leading");
        node.term.reset();
        drain(node, effect.epoch);
    }
    void perform(Node& node, const Left& /*effect*/) { node.left = true; }

    void drain(Node& node, Epoch epoch) {
        if (node.working[epoch] > 0) return;  // the last of its writes will say so
        at(now_ + up_to(5ms),
           [this, &node, life = node.life, epoch] { deliver(node, life, Drained{epoch}); });
    }

    // ---- the store ------------------------------------------------------------------------------

    using Answer = std::function<Event(const std::string& owner, Call number)>;

    void call(Node& node, Call number, Answer answer) {
        node.asked[number] = node.clock(now_);
        if (goes_wrong(4)) return;  // lost
        const std::uint64_t life = node.life;
        const auto back = [this, &node, life](const Event& event) {
            at(now_ + delay(), [this, &node, life, event] { deliver(node, life, event); });
        };
        if (goes_wrong(4)) {
            back(Failed{.call = number, .why = "the connection is refused"});
            return;
        }
        at(now_ + delay(), [this, number, back, owner = node.owner, answer = std::move(answer)] {
            if (now_ < away_until_) {
                if (chance(50)) back(Failed{.call = number, .why = "the store is away"});
                return;
            }
            const Event event = answer(owner, number);
            if (!goes_wrong(6)) back(event);
        });
    }

    void take(const std::string& owner, Epoch epoch) {
        const Epoch highest = *taken_.rbegin();
        if (!restored_) {
            if (epoch <= highest) fail("an epoch is taken again");
            Epoch next = highest.next();
            while (uncertain_.contains(next) && next < epoch) next = next.next();
            if (epoch > next) fail("epochs are left out");
        }
        taken_.insert(epoch);
        current_.emplace(owner, epoch);
        store_.acquire(owner, epoch, now_ + timers_.ttl);
    }

    void restore() {
        const Epoch old(prng_.between(0, store_.epoch.value()));
        store_ = LeaseModel{.owner = "", .epoch = old, .fence = old, .expires = {}};
        restored_ = true;
        current_.clear();
    }

    // ---- work -----------------------------------------------------------------------------------

    void work(Node& node, std::uint64_t life) {
        at(now_ + up_to(timers_.ttl / 10), [this, &node, life] {
            if (node.life != life) return;
            if (node.paused_until <= now_) act(node);
            work(node, life);
        });
    }

    // One guarded action: a fenced write, and a command to a worker.
    void act(Node& node) {
        if (!node.machine || !node.machine->may_act(node.clock(now_))) return;
        const Epoch epoch = *node.machine->epoch();
        node.working[epoch] += 1;
        const std::uint64_t life = node.life;
        at(now_ + delay(), [this, &node, life, epoch] {
            write(epoch);
            command(node, life, epoch);
            if (node.life != life) return;
            node.working[epoch] -= 1;
            if (node.machine && node.term != epoch) drain(node, epoch);
        });
    }
    void write(Epoch epoch) {
        if (store_.fence != epoch) {
            run_.fenced += 1;
            return;
        }
        run_.writes += 1;
        if (epoch < store_.epoch) fail("a write of a deposed leader was taken");
    }
    void command(Node& node, std::uint64_t life, Epoch epoch) {
        if (epoch < worker_epoch_) {
            at(now_ + delay(), [this, &node, life, heard = worker_epoch_] {
                deliver(node, life, EpochHeard{heard});
            });
            return;
        }
        worker_epoch_ = epoch;
        obeyed_at_ = now_;
    }

    // ---- what is looked at ----------------------------------------------------------------------

    void look() {
        const Node* acting = nullptr;
        for (const Node& node : nodes_) {
            if (!node.machine || !node.machine->may_act(node.clock(now_))) continue;
            // What a restored store has forgotten, it cannot keep apart; the fence does.
            if (!current_.contains({node.owner, *node.machine->epoch()})) continue;
            if (acting != nullptr) fail(acting->owner + " and " + node.owner + " may act at once");
            acting = &node;
            if (!store_.is_held_by(node.owner, *node.machine->epoch(), now_)) {
                fail(node.owner + " may act, but the store would let another in");
            }
        }
    }
    [[nodiscard]] Node* leader() {
        for (Node& node : nodes_) {
            if (node.machine && node.machine->may_act(node.clock(now_))) return &node;
        }
        return nullptr;
    }

    // ---- the course of it -----------------------------------------------------------------------

    void plan_chaos(Duration end) {
        for (Duration when = up_to(timers_.ttl); when < end; when += up_to(timers_.ttl)) {
            at(when, [this] { disturb(); });
        }
    }
    void disturb() {
        Node* led = leader();
        Node& node =
            led != nullptr && chance(60) ? *led : nodes_[prng_.between(0, nodes_.size() - 1)];
        switch (prng_.between(0, 6)) {
            case 0:
                kill(node);
                at(now_ + up_to(timers_.ttl), [this, &node, life = node.life] {
                    if (node.life == life) start(node);
                });
                return;
            case 1:
            case 2:
                pause(node, up_to(timers_.ttl * 3));
                return;
            case 3:
                away_until_ = now_ + up_to(timers_.ttl * 3 / 2);
                return;
            case 4:
                if (restores_) restore();
                return;
            case 5:
                deliver(node, node.life, Unable{"its disk is full"});
                return;
            default:
                deliver(node, node.life, Hinted{});
                return;
        }
    }
    void heal() {
        healed_ = true;
        away_until_ = Duration::zero();
        for (Node& node : nodes_) {
            if (!node.machine) start(node);
        }
    }

    void check_that_all_is_well() {
        // Pauses and calls under way come to an end, and what they left in the store.
        until(now_ + timers_.ttl * 8 + 2s);
        if (leader() == nullptr) return fail("no coordinator leads although all is well");
        check_workers();
        const Epoch epoch = *leader()->machine->epoch();
        until(now_ + timers_.ttl * 4);
        if (failed()) return;
        if (leader() == nullptr || leader()->machine->epoch() != epoch) {
            return fail("a leader did not stay although all is well");
        }
        until(now_ + up_to(timers_.ttl));
        run_.failover_us = change_of_leader(timers_.ttl + 500ms, [this] {
            Node& dead = *leader();
            kill(dead);
            at(now_ + timers_.ttl * 3, [this, &dead] { start(dead); });
        });
        until(now_ + timers_.ttl * 4);
        if (failed() || leader() == nullptr) return fail("no coordinator leads after a failover");
        run_.handover_us = change_of_leader(2500ms, [this] {
            Node& leaving = *leader();
            deliver(leaving, leaving.life, LeaveAsked{});
            at(now_ + 1s, [this, &leaving] {
                if (!leaving.left) fail("a coordinator that was asked to leave has not left");
            });
        });
    }
    void check_workers() {
        if (failed() || obeyed_at_ + timers_.ttl >= now_) return;
        fail("workers obey no coordinator although all is well");
    }
    std::int64_t change_of_leader(Duration at_most, const std::function<void()>& remove) {
        if (failed()) return 0;
        const Duration began = now_;
        const Epoch before = *leader()->machine->epoch();
        remove();
        until(now_ + at_most, [&] {
            Node* next = leader();
            return next != nullptr && next->machine->epoch() != before;
        });
        const Duration took = now_ - began;
        if (!failed() && leader() == nullptr) {
            fail("no coordinator leads " + std::to_string(took.count()) +
                 " us after the leader is gone");
        }
        until(now_ + 1s);
        return took.count();
    }

    Prng prng_;
    bool restores_ = false;
    bool restored_ = false;
    bool healed_ = false;
    election::ElectionTimers timers_;
    std::vector<Node> nodes_;  // never grows: others point into it
    LeaseModel store_;
    Duration away_until_{};
    std::set<Epoch> taken_;
    std::set<std::pair<std::string, Epoch>> current_;  // taken since the last restore
    std::set<Epoch> uncertain_;
    std::set<Epoch> begun_;
    Epoch worker_epoch_;
    Duration obeyed_at_{};
    std::map<std::pair<Duration, std::uint64_t>, std::function<void()>> agenda_;
    std::uint64_t sequence_ = 0;
    std::uint64_t events_ = 0;
    Duration now_{1s};
    ElectionRun run_;
};

}  // namespace

ElectionRun run_election(std::uint64_t seed, bool restores) {
    return World(seed, restores).run();
}

}  // namespace baton::testing
