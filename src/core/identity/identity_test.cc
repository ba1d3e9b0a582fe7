#include "core/identity/identity.h"

#include <vector>

#include <gtest/gtest.h>

namespace baton::identity {
namespace {

using std::chrono::seconds;

const Identity kEdge{.role = ProcessRole::worker, .cluster = "c1", .name = "edge 1/ü"};
const Identity kLeader{.role = ProcessRole::coordinator, .cluster = "c1", .name = "host"};

TEST(Identity, AMarkIsReadBackAsItWasWritten) {
    EXPECT_EQ(uri_of(kEdge), "baton://c1/worker/edge%201%2F%C3%BC");
    EXPECT_EQ(uri_of(kLeader), "baton://c1/coordinator/host");
    for (const Identity& identity : {kEdge, kLeader}) {
        EXPECT_EQ(**identity_in(uri_of(identity)), identity);
    }
}

TEST(Identity, ABrokenMarkIsNoMarkOfAnybody) {
    for (const char* uri : {"baton://", "baton://c1", "baton://c1/worker", "baton://c1/worker/",
                            "baton://c1/admin/x", "baton://c1/worker/a%2", "baton://c1/worker/a/b",
                            "baton://c1/worker/a%zz", "baton://c1/worker/a b"}) {
        EXPECT_FALSE(identity_in(uri)) << uri;
    }
    EXPECT_FALSE(*identity_in("https://c1/worker/edge"));
}

TEST(Identity, TwoMarksAreRefused) {
    const std::vector<std::string> both = {uri_of(kEdge), "https://x", uri_of(kLeader)};
    EXPECT_FALSE(identity_among(both));
    EXPECT_EQ(**identity_among(std::span(both).first(2)), kEdge);
    EXPECT_FALSE(*identity_among({}));
}

TEST(Identity, OnlyCoordinatorsCommand) {
    EXPECT_TRUE(check_commands(kLeader));
    EXPECT_TRUE(check_commands(SameUser{}));
    EXPECT_EQ(check_commands(kEdge).error().code, ErrorCode::not_permitted);
}

TEST(Identity, AWorkerSendsUnderItsOwnNameAlone) {
    EXPECT_TRUE(check_sends_as(kEdge, "EDGE 1/ü"));
    EXPECT_FALSE(check_sends_as(kEdge, "hub"));
    EXPECT_TRUE(check_sends_as(kLeader, "embedded"));
}

TEST(Identity, AWorkerIsReachedUnderItsOwnNameAlone) {
    EXPECT_TRUE(check_is_worker(kEdge, "EDGE 1/ü"));
    EXPECT_FALSE(check_is_worker(kEdge, "hub"));
    EXPECT_FALSE(check_is_worker(kLeader, "host"));
}

TEST(Identity, TheHostNameIgnoresTheCaseOfTheName) {
    Identity upper = kEdge;
    upper.name = "EDGE 1/ü";
    EXPECT_EQ(host_name_of(upper), host_name_of(kEdge));
    upper.name = "EDGE 2";
    EXPECT_NE(host_name_of(upper), host_name_of(kEdge));
}

TEST(Identity, OnlyLoopbackIsThisMachineAlone) {
    for (const char* host : {"localhost", "LocalHost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"}) {
        EXPECT_TRUE(is_loopback(host)) << host;
    }
    for (const char* host : {"", "0.0.0.0", "::", "[::]", "10.0.0.7", "127.example.com",
                             "localhost.example.com", "1127.0.0.1", "[::1]x"}) {
        EXPECT_FALSE(is_loopback(host)) << host;
    }
}

TEST(Identity, AProofLastsAMinuteAndIsNotOlderThanTheProcess) {
    const WallTime now = WallTime(seconds(10'000));
    const WallTime started = now - seconds(30);
    EXPECT_TRUE(is_fresh(now, now, started));
    EXPECT_TRUE(is_fresh(now - seconds(20), now, started));
    EXPECT_FALSE(is_fresh(now - seconds(31), now, started));
    EXPECT_FALSE(is_fresh(now - seconds(61), now, now - seconds(1000)));
    EXPECT_FALSE(is_fresh(now + seconds(61), now, started));
    EXPECT_TRUE(is_fresh(now, now, now + seconds(3600)));  // the clock was set back
}

}  // namespace
}  // namespace baton::identity
