// No two workers ever have the same partition, whatever becomes of messages, processes and clocks:
// allocators of one term after another and the holdings of workers, in a hostile world.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <variant>

#include <gtest/gtest.h>

#include "base/prng.h"
#include "core/allocation/allocator.h"
#include "core/worker/holdings.h"

namespace baton::allocation {
namespace {

using namespace std::chrono_literals;

constexpr Duration kStep = 100ms;
constexpr Duration kLease = 20s;
constexpr std::array kNames = {"a", "b", "c"};

class HostileWorld {
public:
    explicit HostileWorld(std::uint64_t seed) : prng_(seed) {
        for (const char* name : kNames) {
            Node& node = nodes_[name];
            // Its clock is off by up to three of a hundred.
            node.rate = 970 + static_cast<std::int64_t>(prng_.between(0, 60));
        }
        lists_ = {{.name = "L", .partitions = 7, .revision = Revision(1)}};
        for (std::uint32_t i = 0; i < 7; ++i) present_.try_emplace({"L", i});
        begin_term();
    }

    // What must not happen; empty: it did not.
    std::string run(Duration length) {
        while (now_ < at(length)) {
            now_ += kStep;
            disturb(now_ < at(length * 2 / 3));
            for (auto& [name, node] : nodes_) live(name, node);
            deliver();
            lead();
            if (std::string problem = overlap(); !problem.empty()) return problem;
        }
        return at_rest();
    }
    [[nodiscard]] std::uint64_t handovers() const { return handovers_; }

private:
    struct Node {
        std::int64_t rate = 1000;  // of its clock, of 1,000
        worker::Holdings holdings;
        std::set<PartitionKey> in_use;
        std::uint64_t stream = 0;  // that it listens to
        bool paused = false;
        bool cut = false;
        WorkerState judged = WorkerState::active;
        std::uint64_t dialled = 0;  // the stream that the leader knows; 0: none
        Instant last_answer{};
        std::map<PartitionKey, Instant> releasing;
        Instant expiry{};  // by its clock
    };
    struct Letter {
        std::string worker;
        std::uint64_t stream = 0;
        std::variant<control::Beat, control::Assign> down;
    };
    struct Answer {
        std::string worker;
        std::uint64_t stream = 0;
        std::variant<std::uint64_t, control::Holding> up;  // the beat that it answers
    };

    void begin_term() {
        epoch_ = epoch_.next();
        allocator_.emplace(AllocatorOptions{.lease = kLease}, epoch_, now_);
        for (auto& [name, node] : nodes_) node.dialled = 0;
        answers_.clear();
    }
    [[nodiscard]] Instant clock_of(const Node& node) const {
        return Instant(now_.time_since_epoch() * node.rate / 1000);
    }
    bool chance(std::uint64_t of_1000) { return prng_.chance(of_1000, 1000); }

    void disturb(bool unkind) {
        for (auto& [name, node] : nodes_) {
            if (!unkind) {
                node.paused = node.cut = false;
                continue;
            }
            if (chance(node.paused ? 8 : 2)) node.paused = !node.paused;
            if (chance(node.cut ? 8 : 3)) node.cut = !node.cut;
            if (chance(1)) restart(node);
        }
        // The leader is replaced; words of the old one stay on their way.
        if (unkind && chance(2)) begin_term();
    }
    static void restart(Node& node) {
        node.holdings = worker::Holdings();
        node.in_use.clear();
        node.releasing.clear();
        node.stream = 0;
    }

    // Letters to a worker that is paused, or cut off, wait: they may arrive much later.
    void deliver() {
        std::vector<Letter> waiting;
        for (Letter& letter : std::exchange(letters_, {})) {
            Node& node = nodes_[letter.worker];
            if (node.paused || (node.cut && chance(950)) || chance(300)) {
                waiting.push_back(std::move(letter));
            } else {
                hear(letter.worker, node, letter);
            }
        }
        letters_.insert(letters_.begin(), waiting.begin(), waiting.end());
    }
    void hear(const std::string& name, Node& node, const Letter& letter) {
        if (letter.stream != node.stream) return;
        const Instant local = clock_of(node);
        if (const auto* beat = std::get_if<control::Beat>(&letter.down)) {
            answers_.push_back({name, letter.stream, beat->number});
            obey(node, node.holdings.beat(local, *beat));
        } else {
            obey(node, node.holdings.assign(local, std::get<control::Assign>(letter.down)));
        }
        answers_.push_back({name, letter.stream, node.holdings.told()});
    }
    void obey(Node& node, const worker::Holdings::Effects& effects) {
        for (const worker::holdings::Effect& effect : effects) {
            if (const auto* take = std::get_if<worker::holdings::Take>(&effect)) {
                node.in_use.insert(take->grant.partition);
            } else {
                const PartitionKey& key = std::get<worker::holdings::Release>(effect).partition;
                // Whoever uses it knows until when it may, however long it was stopped.
                const Duration left = node.expiry + kLease / 4 - clock_of(node);
                const Duration takes = static_cast<int>(prng_.between(0, 40)) * kStep;
                node.releasing[key] =
                    now_ + std::clamp(takes, Duration::zero(), std::max(left, Duration::zero()));
            }
        }
    }
    void live(const std::string& name, Node& node) {
        if (node.paused) return;
        node.expiry = node.holdings.wake_at().value_or(node.expiry);
        obey(node, node.holdings.tick(clock_of(node)));
        for (const PartitionKey& key : finish(node)) {
            obey(node, node.holdings.released(clock_of(node), {key}));
            answers_.push_back({name, node.stream, node.holdings.told()});
        }
    }
    std::vector<PartitionKey> finish(Node& node) {
        std::vector<PartitionKey> done;
        for (auto it = node.releasing.begin(); it != node.releasing.end();) {
            if (it->second > now_) {
                ++it;
                continue;
            }
            node.in_use.erase(it->first);
            done.push_back(it->first);
            it = node.releasing.erase(it);
        }
        return done;
    }

    void lead() {
        for (auto& [name, node] : nodes_) {
            if (node.dialled == 0) {
                dial(name, node);
            } else if (now_ > node.last_answer + 3s) {
                allocator_->disconnected(name);
                node.dialled = 0;
                node.judged = WorkerState::unreachable;
            }
            Worker worker;
            worker.name = name;
            worker.state = node.judged;
            allocator_->record(name, worker);
        }
        hear_answers();
        write();
        for (auto& [name, node] : nodes_) {
            if (node.dialled == 0 || ++beat_ % 4 != 0) continue;
            letters_.push_back(
                {name, node.dialled,
                 control::Beat{
                     .number = beat_, .seen = 0, .answered = allocator_->last_answered(name)}});
        }
    }
    void dial(const std::string& name, Node& node) {
        if (node.paused || node.cut || !chance(200)) return;
        node.stream = node.dialled = ++streams_;
        node.last_answer = now_;
        node.judged = WorkerState::active;
        obey(node, node.holdings.welcomed(clock_of(node)));
        allocator_->connected(now_, name, {.held = node.holdings.held()});
    }
    void hear_answers() {
        std::vector<Answer> waiting;
        for (Answer& answer : std::exchange(answers_, {})) {
            Node& node = nodes_[answer.worker];
            if (answer.stream != node.dialled) continue;
            if (node.cut || chance(200)) {
                waiting.push_back(std::move(answer));
                continue;
            }
            if (const auto* beat = std::get_if<std::uint64_t>(&answer.up)) {
                node.last_answer = now_;
                allocator_->answered(now_, answer.worker, *beat);
            } else {
                allocator_->heard(answer.worker, std::get<control::Holding>(answer.up));
            }
        }
        answers_.insert(answers_.begin(), waiting.begin(), waiting.end());
    }
    void write() {
        std::vector<Partition> partitions;
        for (const auto& [key, ownership] : present_) {
            partitions.push_back({.key = key, .ownership = ownership});
        }
        allocator_->record(lists_, partitions);
        Allocator::Plan plan = allocator_->plan(now_);
        for (auto& [name, assign] : plan.sends) {
            letters_.push_back({name, nodes_[name].dialled, assign});
        }
        for (const PartitionMove& move : plan.moves) {
            const std::string* before = owner_of(*move.before);
            const std::string* after = owner_of(*move.after);
            if (before != nullptr && after != nullptr && *before != *after) handovers_ += 1;
            present_[move.partition] = *move.after;
        }
    }

    [[nodiscard]] std::string overlap() const {
        std::map<PartitionKey, std::string> users;
        for (const auto& [name, node] : nodes_) {
            if (node.paused) continue;  // it does nothing
            for (const PartitionKey& key : node.in_use) {
                const auto [other, first] = users.try_emplace(key, name);
                if (!first) {
                    return to_string(key) + " is used by " + other->second + " and " + name +
                           " at " + std::to_string(now_.time_since_epoch().count());
                }
            }
        }
        return "";
    }
    [[nodiscard]] std::string at_rest() const {
        std::map<std::string, int> counts;
        for (const auto& [key, ownership] : present_) {
            const auto* owned = std::get_if<ownership::Owned>(&ownership);
            if (owned == nullptr) return to_string(key) + " has no owner in the end";
            counts[owned->owner] += 1;
            if (!nodes_.at(owned->owner).in_use.contains(key)) {
                return to_string(key) + " is not used by its owner in the end";
            }
        }
        for (const auto& [name, count] : counts) {
            if (count < 2 || count > 3) return "it is not balanced in the end";
        }
        return "";
    }

    Prng prng_;
    Instant now_ = at(0s);
    Epoch epoch_;
    std::optional<Allocator> allocator_;
    std::vector<TaskList> lists_;
    std::map<PartitionKey, Ownership> present_;
    std::map<std::string, Node> nodes_;
    std::vector<Letter> letters_;
    std::vector<Answer> answers_;
    std::uint64_t streams_ = 0;
    std::uint64_t beat_ = 0;
    std::uint64_t handovers_ = 0;
};

TEST(Exclusion, NoTwoWorkersEverUseTheSamePartition) {
    std::uint64_t handovers = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        HostileWorld world(seed);
        const std::string problem = world.run(10min);
        ASSERT_EQ(problem, "") << "seed " << seed;
        handovers += world.handovers();
    }
    EXPECT_GT(handovers, 500U) << "the world is not hostile enough to show anything";
}

}  // namespace
}  // namespace baton::allocation
