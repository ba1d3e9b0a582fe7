// The controller in a world where workers and the coordinator come and go, from many seeds: when
// the world is whole again, everything is as the catalog says.
#include <gtest/gtest.h>

#include "base/prng.h"
#include "testing/control/control_world.h"

namespace baton {
namespace {

using namespace std::chrono_literals;
using testing::ControlWorld;
using testing::DoubleEngine;

class Chaos {
public:
    explicit Chaos(std::uint64_t seed) : prng_(seed) {
        // Messages are lost in half of the worlds.
        const std::uint64_t percent = prng_.chance(1, 2) ? prng_.between(1, 20) : 0;
        world_.workers().lose([this, percent] { return prng_.chance(percent, 100); });
    }

    void run(int events) {
        for (int i = 0; i < events; ++i) {
            one_event();
            world_.run_for(std::chrono::milliseconds(prng_.between(0, 3'000)));
            check_catalog();
            if (::testing::Test::HasFatalFailure()) return;
        }
    }

    // Everything works again; there is time enough for every backoff.
    void heal() {
        if (!up_) start();
        world_.hold_catalog(false);
        world_.workers().lose(nullptr);
        for (const std::string worker : {"EDGE", "HUB"}) {
            if (!alive_.contains(worker)) world_.workers().start(worker);
            alive_.insert(worker);
            world_.workers().mend(worker);
            world_.workers().with_engine(worker, [](DoubleEngine& engine) -> DoubleEngine::Reports {
                engine.fail_prepares(std::nullopt);
                engine.set_slow(false);
                return engine.finish();
            });
        }
        world_.run_for(2min);
    }

    // What is wanted is there, nothing else is, and nothing moves.
    void check_settled() {
        std::map<std::string, std::set<FragmentKey>> wanted;
        for (const std::string& name : names_) {
            const auto query = world_.query(name);
            if (!query) continue;
            const std::string state(to_string(query->state));
            if (query->desired == QueryDesire::running && !has_ended(query->state)) {
                EXPECT_EQ(state, "RUNNING") << story_of(*query);
                for (const Fragment& f : world_.fragments(name)) {
                    if (f.state == FragmentState::terminated) continue;
                    wanted[f.worker].insert(
                        {.query = query->id, .run = query->run, .fragment = f.id});
                }
            } else {
                EXPECT_TRUE(has_ended(query->state)) << name << " is " << state;
                EXPECT_NE(query->desired, QueryDesire::dropped) << name << " is " << state;
            }
            EXPECT_TRUE(query->lagging.empty()) << name;
        }
        for (const std::string worker : {"EDGE", "HUB"}) {
            EXPECT_EQ(world_.workers().running(worker), wanted[worker]) << worker;
            EXPECT_EQ(world_.workers().held(worker).size(), wanted[worker].size()) << worker;
        }
        const Revision before = world_.revision();
        const std::size_t told = world_.workers().commands().size();
        world_.run_for(5min);
        EXPECT_EQ(world_.revision(), before);
        EXPECT_EQ(world_.workers().commands().size(), told);
    }

private:
    std::string story_of(const Query& query) {
        std::string text = query.name + " run " + std::to_string(query.run) + ": " + query.reason;
        for (const Fragment& f : world_.fragments(query.name)) {
            text += "\n  fragment " + to_string(f.id) + " on " + f.worker + " " +
                    std::string(to_string(f.state));
        }
        for (const std::string worker : {"EDGE", "HUB"}) {
            for (const auto& [key, held] : world_.workers().held(worker)) {
                if (key.query != query.id) continue;
                text += "\n  " + worker + " holds " + to_string(key) + " " +
                        std::string(to_string(*held.state)) + (held.stopping ? ", stopping" : "");
            }
        }
        for (const std::string& command : world_.workers().commands()) {
            if (command.find(" " + to_string(query.id) + "/") == std::string::npos) continue;
            text += "\n  " + command;
        }
        return text;
    }

    std::string some_worker() { return prng_.chance(1, 2) ? "EDGE" : "HUB"; }
    std::string some_query() { return names_.at(prng_.between(0, names_.size() - 1)); }

    void one_event() {
        const std::uint64_t what = prng_.between(0, 99);
        if (what < 25 || names_.empty()) return create();
        if (what < 35) return end_some();
        if (what < 65) return disturb_worker(some_worker());
        if (what < 80) return disturb_engine(some_worker());
        if (what < 90) return disturb_catalog();
        if (up_) {
            world_.crash();
            up_ = false;
        } else {
            start();
        }
    }

    void start() {
        world_.start();
        up_ = true;
    }

    void create() {
        const std::string name = "Q" + std::to_string(names_.size());
        const std::string settings = prng_.chance(1, 5) ? " SET ('FAIL' AS QUERY.ON_FAILURE)" : "";
        // It may be refused: a worker is UNREACHABLE.
        (void)world_.try_run("CREATE QUERY " + name + settings +
                             " AS SELECT id FROM readings INTO alerts");
        names_.push_back(name);
    }

    void end_some() {
        const std::string mode = prng_.chance(1, 2) ? " MODE FORCEFUL" : "";
        (void)world_.try_run((prng_.chance(1, 2) ? "DROP QUERY " : "STOP QUERY ") + some_query() +
                             mode);
    }

    void disturb_worker(const std::string& worker) {
        switch (prng_.between(0, 3)) {
            case 0:
                world_.workers().kill(worker);
                alive_.erase(worker);
                break;
            case 1:
                world_.workers().start(worker);
                alive_.insert(worker);
                break;
            case 2:
                world_.workers().cut(worker);
                break;
            default:
                world_.workers().mend(worker);
                break;
        }
    }

    void disturb_engine(const std::string& worker) {
        world_.workers().with_engine(worker, [&](DoubleEngine& engine) -> DoubleEngine::Reports {
            const auto& running = engine.running();
            switch (prng_.between(0, 5)) {
                case 0:
                    engine.fail_prepares(
                        DoubleEngine::Trouble{control::Fault::transient, "not now"});
                    return {};
                case 1:
                    engine.fail_prepares(std::nullopt);
                    return {};
                case 2:
                    engine.set_slow(prng_.chance(1, 2));
                    return engine.finish();
                case 3:
                    if (running.empty()) return {};
                    return engine.fail(*running.begin(), {.why = "out of memory"});
                case 4:
                    if (running.empty()) return {};
                    return engine.end(*running.rbegin());
                default:
                    return engine.finish();
            }
        });
    }

    // A commit fails, or nothing becomes durable for a while.
    void disturb_catalog() {
        held_ = !held_;
        world_.hold_catalog(held_);
        const Error full{.code = ErrorCode::catalog_full, .message = "no space left"};
        if (world_.door().waiting()) world_.door().settle_next(full);
    }

    void check_catalog() {
        const auto complaints = world_.problems();
        ASSERT_TRUE(complaints.empty()) << complaints.front();
    }

    Prng prng_;
    ControlWorld world_;
    std::vector<std::string> names_;
    std::set<std::string> alive_ = {"EDGE", "HUB"};
    bool up_ = true;
    bool held_ = false;
};

TEST(ControllerChaos, WhenTheWorldIsWholeAgainEverythingIsAsTheCatalogSays) {
    constexpr std::uint64_t kSeeds = 60;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Chaos chaos(seed);
        chaos.run(40);
        chaos.heal();
        chaos.check_settled();
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace baton
