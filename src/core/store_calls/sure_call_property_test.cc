// Several writers of a few keys against a model of a store, in simulated time: requests are lost or
// late, also until long after their writers stopped waiting, answers are lost, and 500 and 503 are
// answered to what was done and what was not. The model knows the truth about every put.
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/overload.h"
#include "base/prng.h"
#include "core/store_calls/sure_call.h"

namespace baton::store_calls {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Object {
    std::string stamp;
    std::string etag;
    std::size_t put = 0;  // by its number
};

class World {
public:
    World(std::uint64_t seed, std::size_t writers, std::size_t puts_each)
        : prng_(seed), writers_(writers), puts_left_(writers, puts_each) {
        for (std::size_t i = 0; i < writers; ++i) next_put(i);
    }

    void run() {
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            now_ = event.at;
            event.run();
        }
    }

    // The laws, for all puts that have ended.
    void check() const {
        std::map<std::string, int> winners_of_key;
        std::map<std::string, int> winners_of_version;
        for (const PutState& put : puts_) {
            RC_ASSERT(put.ending.has_value());
            const bool stored = *put.ending == Ending::done || *put.ending == Ending::found_done;
            if (stored) RC_ASSERT(put.applied > 0);
            if (*put.ending == Ending::condition_failed || *put.ending == Ending::failed) {
                RC_ASSERT(put.applied == 0);
            }
            if (put.plan.wanted != Wanted::always) RC_ASSERT(put.applied <= 1);
            if (!stored) continue;
            if (put.plan.wanted == Wanted::if_absent) ++winners_of_key[put.key];
            if (put.plan.wanted == Wanted::if_unchanged) {
                ++winners_of_version[put.key + "@" + put.plan.etag];
            }
        }
        for (const auto& [key, count] : winners_of_key) RC_ASSERT(count == 1);
        for (const auto& [version, count] : winners_of_version) RC_ASSERT(count == 1);
    }

    [[nodiscard]] std::size_t settled() const {
        std::size_t count = 0;
        for (const PutState& put : puts_) count += put.ending == Ending::found_done ? 1 : 0;
        return count;
    }
    [[nodiscard]] std::size_t unknown() const {
        std::size_t count = 0;
        for (const PutState& put : puts_) count += put.ending == Ending::unknown ? 1 : 0;
        return count;
    }

private:
    struct Event {
        Instant at;
        std::uint64_t number;
        std::function<void()> run;
        bool operator<(const Event& other) const {
            return at != other.at ? at > other.at : number > other.number;
        }
    };
    struct PutState {
        std::string key;
        Put plan;
        std::shared_ptr<SureCall> call;
        std::size_t writer = 0;
        std::size_t turn = 0;  // of the request that is waited for
        std::optional<Ending> ending;
        int applied = 0;
    };

    void later(Duration delay, std::function<void()> run) {
        events_.push({.at = now_ + delay, .number = ++numbers_, .run = std::move(run)});
    }
    Duration some(int most_ms) {
        return milliseconds(prng_.between(0, static_cast<std::uint64_t>(most_ms)));
    }

    void next_put(std::size_t writer) {
        if (puts_left_[writer] == 0) return;
        --puts_left_[writer];
        later(some(500), [this, writer] {
            const std::size_t number = puts_.size();
            PutState put{.key = "key-" + std::to_string(prng_.between(0, 2)), .writer = writer};
            const auto found = objects_.find(put.key);
            const bool replaces = found != objects_.end() && prng_.chance(3, 4);
            put.plan.wanted = replaces ? Wanted::if_unchanged : Wanted::if_absent;
            if (replaces) put.plan.etag = found->second.etag;
            put.plan.stamp = stamp_of("n" + std::to_string(number), put.plan.wanted, put.plan.etag);
            put.call = std::make_shared<SureCall>(
                CallPlan{.is_put = true, .patience = seconds(20), .seed = prng_.next()}, now_);
            puts_.push_back(put);
            step(number, CallBegun{});
        });
    }

    void step(std::size_t number, const CallEvent& event) {
        const CallEffect effect = puts_[number].call->step(now_, event, pace_);
        const std::size_t turn = ++puts_[number].turn;
        std::visit(
            Overload{
                [&](const SendAttempt& send) { request(number, turn, send.deadlines, true); },
                [&](const LookAtObject& look) { request(number, turn, look.deadlines, false); },
                [&](const WaitUntil& wait) {
                    later(wait.time - now_, [this, number] { step(number, WaitOver{}); });
                },
                [&](const EndCall& end) {
                    puts_[number].ending = end.ending;
                    next_put(puts_[number].writer);
                },
            },
            effect);
    }

    // The writer goes on at the first thing that it hears, or at its deadline.
    void hear(std::size_t number, std::size_t turn, const CallEvent& event) {
        if (puts_[number].turn == turn) step(number, event);
    }

    void request(std::size_t number, std::size_t turn, const Deadlines& deadlines, bool is_put) {
        later(std::min(deadlines.silence, deadlines.whole),
              [this, number, turn] { hear(number, turn, AttemptEnded{.reply = Reply::unknown}); });
        if (prng_.chance(1, 10)) {
            later(some(50), [this, number, turn] {
                hear(number, turn, AttemptEnded{.reply = Reply::not_sent});
            });
            return;
        }
        if (prng_.chance(1, 10)) return;  // lost on the way
        const bool late = prng_.chance(1, 10);
        later(some(late ? 40'000 : 100), [this, number, turn, is_put] {
            if (is_put) {
                arrive(number, turn);
            } else {
                answer(number, turn, ObjectSeen{.finding = look(number)});
            }
        });
    }

    void arrive(std::size_t number, std::size_t turn) {
        if (prng_.chance(1, 12)) {
            const Reply reply = prng_.chance(1, 2) ? Reply::server : Reply::throttled;
            answer(number, turn, AttemptEnded{.reply = reply});
            return;
        }
        const bool stored = apply(number);
        Reply reply = stored ? Reply::done : Reply::condition_failed;
        if (prng_.chance(1, 12)) reply = Reply::server;  // and it was done all the same
        answer(number, turn, AttemptEnded{.reply = reply});
    }

    void answer(std::size_t number, std::size_t turn, const CallEvent& event) {
        if (prng_.chance(1, 8)) return;  // lost on the way
        later(some(100), [this, number, turn, event] { hear(number, turn, event); });
    }

    bool apply(std::size_t number) {
        PutState& put = puts_[number];
        const auto found = objects_.find(put.key);
        const bool is_there = found != objects_.end();
        const bool holds = put.plan.wanted == Wanted::if_absent
                               ? !is_there
                               : is_there && found->second.etag == put.plan.etag;
        if (!holds) return false;
        ++put.applied;
        objects_[put.key] = {
            .stamp = put.plan.stamp, .etag = "v" + std::to_string(++versions_), .put = number};
        return true;
    }

    Finding look(std::size_t number) const {
        const PutState& put = puts_[number];
        const auto found = objects_.find(put.key);
        if (found == objects_.end()) return judge(put.plan, std::nullopt);
        return judge(put.plan, Sight{.stamp = found->second.stamp, .size = 1});
    }

    Prng prng_;
    std::size_t writers_;
    std::vector<std::size_t> puts_left_;
    Instant now_ = at(seconds(1));
    std::priority_queue<Event> events_;
    std::uint64_t numbers_ = 0;
    std::uint64_t versions_ = 0;
    Pace pace_;
    std::map<std::string, Object> objects_;
    std::vector<PutState> puts_;
};

RC_GTEST_PROP(SureCallProperty, NoAcknowledgedPutIsWrongAndAConditionHasOneWinner, ()) {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto writers = *rc::gen::inRange<std::size_t>(1, 6);
    World world(seed, writers, 20);
    world.run();
    world.check();
}

// A property that settles nothing would hold for a machine that never answers.
TEST(SureCallWorld, MostPutsWhoseAnswersWereLostAreSettled) {
    std::size_t settled = 0;
    std::size_t unknown = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        World world(seed, 4, 20);
        world.run();
        world.check();
        settled += world.settled();
        unknown += world.unknown();
    }
    EXPECT_GT(settled, 500U);
    EXPECT_LT(unknown, 4'000U) << "of 16,000 puts, in a world far worse than any store";
}

}  // namespace
}  // namespace baton::store_calls
