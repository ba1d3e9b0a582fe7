#include "core/queries/ledger.h"

#include <gtest/gtest.h>

namespace baton::queries {
namespace {

using namespace std::chrono_literals;

Query query(std::uint64_t id, QueryState state) {
    Query q;
    q.id = QueryId(id);
    q.state = state;
    return q;
}

Fragment fragment(std::uint64_t id, std::uint64_t of, const std::string& worker) {
    Fragment f;
    f.id = FragmentId(id);
    f.query = QueryId(of);
    f.worker = worker;
    f.state = FragmentState::running;
    return f;
}

Worker worker(const std::string& name) {
    Worker w;
    w.name = name;
    w.incarnation = Incarnation(1);
    return w;
}

control::FragmentStatus running(std::uint64_t of, std::uint64_t id, std::uint64_t run = 1) {
    return {.key = {.query = QueryId(of), .run = run, .fragment = FragmentId(id)},
            .state = FragmentState::running,
            .event = id};
}

TEST(Ledger, KnowsWhichQueriesConcernAWorkerAndAFragment) {
    Ledger ledger{Pace{}};
    ledger.record(query(1, QueryState::running), {fragment(10, 1, "A"), fragment(11, 1, "B")},
                  at(0s));
    ledger.record(query(2, QueryState::stopped), {fragment(12, 2, "A")}, at(0s));
    EXPECT_EQ(ledger.on_worker("A"), (std::set{QueryId(1), QueryId(2)}));
    EXPECT_EQ(ledger.query_of(FragmentId(11)), QueryId(1));
    EXPECT_EQ(ledger.unfinished(), std::vector{QueryId(1)});
    ledger.remove(QueryId(1));
    EXPECT_EQ(ledger.on_worker("A"), std::set{QueryId(2)});
    EXPECT_EQ(ledger.query_of(FragmentId(11)), std::nullopt);
}

TEST(Ledger, HowLongAStateLastsIsMeasuredFromItsFirstSight) {
    Ledger ledger{Pace{}};
    const Roster roster{Pace{}};
    ledger.record(query(1, QueryState::deploying), {}, at(5s));
    ledger.record(query(1, QueryState::deploying), {}, at(9s));
    EXPECT_EQ(ledger.view(QueryId(1), roster).since, at(5s));
    ledger.record(query(1, QueryState::running), {}, at(9s));
    EXPECT_EQ(ledger.view(QueryId(1), roster).since, at(9s));
}

TEST(Ledger, RestartsSlowDownUntilARunIsSteady) {
    Ledger ledger{Pace{}};
    std::uint64_t run = 1;
    const Roster roster{Pace{}};
    const auto not_before = [&] { return ledger.view(QueryId(1), roster).restart_at; };
    const auto restarted = [&](Duration when, std::uint64_t count) {
        Query q = query(1, QueryState::deploying);
        q.run = ++run;
        q.restarts = count;
        ledger.record(q, {}, at(0s), at(when));
        ledger.record(q, {}, at(0s), at(when + 5s));  // when it was is asked once
        EXPECT_EQ(ledger.view(QueryId(1), roster).restarts, count);
        EXPECT_EQ(ledger.view(QueryId(1), roster).restarted, at(when));
    };
    ledger.record(query(1, QueryState::deploying), {}, at(0s));
    EXPECT_LE(not_before(), at(0s));
    restarted(0s, 1);
    EXPECT_GE(not_before(), at(100ms));
    EXPECT_LE(not_before(), at(150ms));
    restarted(1s, 2);
    EXPECT_GE(not_before(), at(1200ms));
    restarted(2s, 60);
    EXPECT_EQ(not_before(), at(12s));
    restarted(61s, 1);
    EXPECT_LE(not_before(), at(61150ms));
    ledger.restart_refused(QueryId(1), at(70s), {.why = "no slot left"}, 0);
    EXPECT_EQ(not_before(), at(70100ms));
    EXPECT_EQ(ledger.view(QueryId(1), roster).restart_trouble.why, "no slot left");
}

TEST(Ledger, WhatIsHeldOfAnotherRunOrOfNoQueryIsAStray) {
    Ledger ledger{Pace{}};
    Roster roster{Pace{}};
    roster.record(at(0s), worker("A"));
    roster.connected(at(0s), "A", 1,
                     {.incarnation = Incarnation(1),
                      .last_event = 11,
                      .fragments = {running(1, 10), running(1, 10, 2), running(7, 11)}});
    Query wanted = query(1, QueryState::running);
    wanted.run = 2;
    ledger.record(wanted, {fragment(10, 1, "A")}, at(0s));
    const QueryView view = ledger.view(QueryId(1), roster);
    EXPECT_EQ(view.fragments.at(0).held, running(1, 10, 2));
    ASSERT_EQ(view.strays.size(), 1U);
    EXPECT_EQ(view.strays[0].held, running(1, 10));
    EXPECT_EQ(ledger.view(QueryId(7), roster).strays.size(), 1U);
    EXPECT_FALSE(ledger.view(QueryId(7), roster).recorded);
}

// After a restore numbers come again: what has one and another plan is not what is wanted.
TEST(Ledger, WhatHasTheNumberOfAFragmentAndAnotherPlanIsAStray) {
    Ledger ledger{Pace{}};
    Roster roster{Pace{}};
    roster.record(at(0s), worker("A"));
    control::FragmentStatus other = running(1, 10);
    other.fingerprint = "theirs";
    roster.connected(
        at(0s), "A", 1,
        {.incarnation = Incarnation(1), .last_event = 10, .fragments = {other}, .held = {}});
    Fragment wanted = fragment(10, 1, "A");
    wanted.fingerprint = "ours";
    wanted.state = FragmentState::pending;
    ledger.record(query(1, QueryState::deploying), {wanted}, at(0s));
    const QueryView view = ledger.view(QueryId(1), roster);
    EXPECT_TRUE(view.fragments.at(0).usurped);
    EXPECT_FALSE(view.fragments.at(0).held);
    ASSERT_EQ(view.strays.size(), 1U);
    const auto told = [&](Duration now) {
        std::string text;
        const Plan made = plan(ledger.view(QueryId(1), roster), at(now), Pace{});
        for (const Write& write : made.writes) text += to_string(write) + "; ";
        std::uint64_t request = 100 + static_cast<std::uint64_t>(now.count());
        for (const Send& send : made.sends) {
            text += to_string(send) + "; ";
            roster.asked(at(now), send, request++);
        }
        return text;
    };
    EXPECT_EQ(told(1s), "stop 1/1/10 on A FORCEFUL; ");
    EXPECT_EQ(told(2s), "") << "nothing is asked of the wanted one meanwhile";
    other.state = FragmentState::stopped;
    other.event = 11;
    roster.heard(at(3s), "A", 1, {.beat = 0, .from = 10, .through = 11, .changed = {other}}, 0);
    EXPECT_EQ(told(3s), "forget 1/1/10 on A; ");
    (void)roster.heard(
        at(4s), "A", 1,
        {.request = 100 + 3'000'000, .outcome = control::FragmentStatus{.key = other.key}}, 0);
    EXPECT_EQ(told(4s), "register 1/1/10 on A; ");
}

TEST(Ledger, WhatAWorkerHoldsOfTheFragmentOfAnotherIsAStray) {
    Ledger ledger{Pace{}};
    Roster roster{Pace{}};
    for (const std::string name : {"A", "B"}) {
        roster.record(at(0s), worker(name));
        roster.connected(at(0s), name, 1,
                         {.incarnation = Incarnation(1),
                          .last_event = 10,
                          .fragments = {running(1, 10)},
                          .held = {}});
    }
    ledger.record(query(1, QueryState::running), {fragment(10, 1, "A")}, at(0s));
    const QueryView view = ledger.view(QueryId(1), roster);
    EXPECT_TRUE(view.fragments.at(0).held);
    ASSERT_EQ(view.strays.size(), 1U);
    EXPECT_EQ(view.strays[0].worker, "B");
}

TEST(Ledger, AHundredThousandRunningQueriesAreComparedWithTheirWorkersAndLeftAlone) {
    constexpr std::uint64_t kQueries = 100'000;
    Ledger ledger{Pace{}};
    Roster roster{Pace{}};
    control::Welcome a{.incarnation = Incarnation(1)};
    control::Welcome b{.incarnation = Incarnation(1)};
    for (std::uint64_t i = 1; i <= kQueries; ++i) {
        ledger.record(query(i, QueryState::running),
                      {fragment(2 * i, i, "A"), fragment(2 * i + 1, i, "B")}, at(0s));
        a.fragments.push_back(running(i, 2 * i));
        b.fragments.push_back(running(i, 2 * i + 1));
    }
    roster.record(at(0s), worker("A"));
    roster.record(at(0s), worker("B"));
    roster.connected(at(1s), "A", 1, a);
    roster.connected(at(1s), "B", 1, b);
    for (const QueryId id : ledger.on_worker("A")) {
        const Plan made = plan(ledger.view(id, roster), at(1s), Pace{});
        ASSERT_TRUE(made.empty());
        ASSERT_EQ(made.wake_at, std::nullopt);
    }
}

}  // namespace
}  // namespace baton::queries
