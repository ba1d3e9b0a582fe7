// Crowds of clients, and those who take their time: the server stays as small as it was.
#include <memory>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "pgwire/abuse_test_base.h"

namespace baton {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMegabyte = std::size_t{1} << 20U;

class Crowd : public Abuse {
protected:
    using Clients = std::vector<std::unique_ptr<RawClient>>;

    void SetUp() override {
        Abuse::SetUp();
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit more = before_;
        more.rlim_cur = before_.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &more);
        descriptors_max_ = more.rlim_cur;
    }
    void TearDown() override {
        Abuse::TearDown();
        ::setrlimit(RLIMIT_NOFILE, &before_);
    }

    // As many as wanted, or as descriptors allow; each needs `ends` of them.
    [[nodiscard]] std::size_t at_most(std::size_t wanted, std::size_t ends) const {
        const std::size_t used = descriptors() + 200;
        return std::min(wanted, descriptors_max_ > used ? (descriptors_max_ - used) / ends : 0);
    }
    Clients come(std::size_t count, const std::string& saying) const {
        Clients clients;
        for (std::size_t i = 0; i < count; ++i) {
            clients.push_back(std::make_unique<RawClient>(server_->port()));
            clients.back()->say(saying);
        }
        return clients;
    }
    void expect_as_before(const Footprint& before, std::size_t more_bytes) {
        expect_nobody();
        Footprint now;
        EXPECT_TRUE(eventually([&] {
            now = Footprint::now();
            return now.descriptors <= before.descriptors + kReaderDescriptors &&
                   now.threads <= before.threads;
        })) << to_string(now)
            << ", and " << to_string(before) << " before";
        if (kMemoryIsWatched) return;
        EXPECT_LE(now.resident_bytes, before.resident_bytes + more_bytes)
            << to_string(now) << ", and " << to_string(before) << " before";
    }

    rlimit before_{};
    std::size_t descriptors_max_ = 0;
};

TEST_F(Crowd, TenThousandAtOnceAreServedOrRefused) {
    serve({.connections_max = 100});
    const std::size_t count = at_most(10'000, 1);
    come(500, said::startup()).clear();  // whatever is made at the first need is there
    expect_nobody();
    const Footprint before = Footprint::now();
    {
        const Clients clients = come(count, said::startup());
        std::size_t served = 0;
        std::size_t told = 0;
        for (const auto& client : clients) {
            const std::string heard = client->hear(kReady);
            if (heard.ends_with(kReady)) served += 1;
            if (heard.find("53300") != std::string::npos) told += 1;
        }
        RecordProperty("clients", static_cast<int>(count));
        // Who is on the way out takes a place for a moment.
        EXPECT_LE(served, 100U);
        EXPECT_GE(served, 50U);
        EXPECT_TRUE(eventually([&] { return server_->load().connections == served; }));
        EXPECT_GE(server_->load().refused, count - served);
        EXPECT_LE(told, count - served);
        // Those who are in are served as ever.
        clients.front()->say(said::query("SHOW LINKS"));
        EXPECT_NE(clients.front()->hear(kReady).find("EDGE"), std::string::npos);
    }
    expect_as_before(before, 16 * kMegabyte);
    expect_served();
}

TEST_F(Crowd, ThousandsThatWereLetInLeaveNothing) {
    const std::size_t count = at_most(4'000, 2);
    serve({.connections_max = count});
    std::optional<Footprint> before;
    for (int wave = 0; wave < 3; ++wave) {
        {
            const Clients clients = come(count, said::startup() + said::query("SHOW LINKS"));
            for (const auto& client : clients) {
                ASSERT_NE(client->hear("EDGE").find("EDGE"), std::string::npos);
            }
            EXPECT_EQ(desk_->load().visitors, count);
            for (std::size_t i = 0; i < count; i += 2) clients[i]->vanish();
        }
        expect_nobody();
        // The first wave makes what is made at the first need.
        if (!before) before = Footprint::now();
        expect_as_before(*before, 8 * kMegabyte);
    }
}

TEST_F(Crowd, WhoLogsInByteByByteIsSentAway) {
    serve({.users = true, .connections_max = 300, .login_timeout = 700ms});
    const Footprint before = Footprint::now();
    {
        const Clients slow = come(100, "");
        // In the middle of the password, too.
        const Clients slow_to_prove = come(100, said::startup());
        const std::string packet = said::startup({{"user", "ann"}, {"database", "baton"}});
        const std::string proof = said::frame('p', std::string(200, 'x'));
        for (std::size_t i = 0; i < 30; ++i) {
            for (const auto& client : slow) client->say(packet.substr(i, 1));
            for (const auto& client : slow_to_prove) client->say(proof.substr(i, 1));
            std::this_thread::sleep_for(30ms);
        }
        for (const auto& client : slow) {
            EXPECT_NE(client->hear().find("the login took too long"), std::string::npos);
        }
        for (const auto& client : slow_to_prove) {
            EXPECT_NE(client->hear().find("the login took too long"), std::string::npos);
        }
    }
    expect_as_before(before, 16 * kMegabyte);
}

TEST_F(Crowd, SilentStrangersDoNotDisplaceALogin) {
    serve({.users = true, .strangers_max = 8});
    RawClient slow(server_->port());
    slow.say(said::startup({{"user", "ann"}, {"database", "baton"}}));
    EXPECT_NE(slow.hear("SCRAM").find("SCRAM"), std::string::npos);
    const std::string first = "n,,n=,r=abcdefgh";
    slow.say(said::frame(
        'p', std::string("SCRAM-SHA-256\0\0\0\0", 17) + static_cast<char>(first.size()) + first));
    EXPECT_NE(slow.hear("s=").find("r=abcdefgh"), std::string::npos);
    const Clients crowd = come(50, "");
    ASSERT_TRUE(eventually([&] { return server_->load().refused >= 43; }));
    slow.say(said::frame('p', "c=biws,r=wrong,p=wrong"));
    EXPECT_FALSE(slow.hear().empty());
}

TEST_F(Crowd, HalfAMessageIsForgottenWithItsSender) {
    const Footprint before = Footprint::now();
    const std::string whole = said::parse("p", "SELECT name FROM baton.workers WHERE name = $1") +
                              said::query("SHOW LINKS");
    for (std::size_t size = 1; size < whole.size(); ++size) {
        RawClient client(server_->port());
        client.say(said::startup());
        ASSERT_NE(client.hear(kReady).find(kReady), std::string::npos);
        client.say(whole.substr(0, size));
        if (size % 2 == 0) client.vanish();
    }
    expect_as_before(before, 16 * kMegabyte);
}

TEST_F(Crowd, AMessageThatClaimsToBeHugeIsNotWaitedFor) {
    const Footprint before = Footprint::now();
    {
        const Clients clients = come(50, said::startup());
        for (const auto& client : clients) {
            client->hear(kReady);
            client->say(std::string("Q\x7f\xff\xff\xff", 5) + "SELECT");
            EXPECT_NE(client->hear().find("54000"), std::string::npos);
        }
    }
    expect_as_before(before, 16 * kMegabyte);
}

}  // namespace
}  // namespace baton
