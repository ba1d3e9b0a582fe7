// Clients that do not behave: what they did is gone with them.
#include <thread>

#include <sys/resource.h>

#include "base/prng.h"
#include "pgwire/abuse_test_base.h"

namespace baton {
namespace {

using namespace std::chrono_literals;

TEST_F(Abuse, RandomBytesEndOnlyTheirConnection) {
    Prng dice(7);
    const std::size_t before = descriptors();
    for (int i = 0; i < 200; ++i) {
        RawClient client(server_->port());
        std::string bytes = i % 3 == 0 ? "" : said::startup();
        for (std::uint64_t n = dice.next() % 300; n > 0; --n) {
            bytes += static_cast<char>(dice.next() % 256);
        }
        client.say(bytes);
        if (i % 2 == 0) client.vanish();
    }
    expect_nobody();
    expect_served();
    expect_nobody();
    EXPECT_LE(descriptors(), before + 4);
}

TEST_F(Abuse, HalfAMessageAndSilenceAreBounded) {
    serve({.login_timeout = 300ms});
    const RawClient half(server_->port());
    half.say(said::startup().substr(0, 10));
    const RawClient silent(server_->port());
    EXPECT_NE(half.hear().find("the login took too long"), std::string::npos);
    silent.hear();
    expect_nobody();
}

TEST_F(Abuse, WhoVanishesInMidStreamLeavesNothing) {
    const std::size_t before = descriptors();
    for (int i = 0; i < 50; ++i) {
        RawClient client(server_->port());
        client.say(said::startup() + said::query("BEGIN; SHOW WORKERS"));
        client.hear("EDGE");
        if (i % 2 == 0) client.say(said::query("ROLLBACK; WATCH SHOW WORKERS"));
        if (i % 4 == 0) client.hear("snapshot");
        client.vanish();
    }
    expect_nobody();
    EXPECT_LE(descriptors(), before + 4);
    run("CREATE LOGICAL SOURCE after (a INT8)");  // whatever watched is not in the way
}

TEST_F(Abuse, WhoDoesNotReadIsNotWaitedFor) {
    serve({.output_bytes_max = 10'000});
    std::string names;
    for (int i = 0; i < 300; ++i) {
        names += "CREATE LOGICAL SOURCE s" + std::to_string(i) + " (a INT8);";
    }
    run("BEGIN;" + names + "COMMIT");
    RawClient client(server_->port());
    client.say(said::startup());
    client.hear(kReady);
    std::string many;
    for (int i = 0; i < 2000; ++i) many += said::query("SELECT * FROM baton.changes");
    std::thread talks([&] { client.say(many); });
    std::this_thread::sleep_for(500ms);
    expect_served();
    run("CREATE LOGICAL SOURCE other (a INT8)");
    client.vanish();
    talks.join();
    expect_nobody();
}

TEST_F(Abuse, TooManyAreToldSo) {
    serve({.connections_max = 2});
    const RawClient first(server_->port());
    const RawClient second(server_->port());
    first.say(said::startup());
    second.say(said::startup());
    first.hear(kReady);
    second.hear(kReady);
    const RawClient third(server_->port());
    third.say(said::startup());
    EXPECT_NE(third.hear().find("53300"), std::string::npos);
    EXPECT_GE(server_->load().refused, 1U);
}

TEST_F(Abuse, UnfinishedMessagesTogetherHaveALimit) {
    serve({.kept_bytes_max = 1'000'000});
    const std::string unfinished = said::query(std::string(800'000, ' ')).substr(0, 700'000);
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 2; ++i) {
        clients.push_back(std::make_unique<RawClient>(server_->port()));
        clients.back()->say(said::startup());
        clients.back()->hear(kReady);
    }
    std::thread first([&] { clients[0]->say(unfinished); });
    clients[1]->say(unfinished);
    first.join();
    // One of them at least; both if they meet at the limit.
    EXPECT_TRUE(eventually([&] { return server_->load().connections < 2; }));
    expect_served();
}

TEST_F(Abuse, AMessageIsNotLargerThanABody) {
    const RawClient client(server_->port());
    client.say(said::startup());
    client.hear(kReady);
    client.say(std::string("Q\x01\x10\0\0", 5));  // 17 MB
    EXPECT_NE(client.hear().find("54000"), std::string::npos);
}

TEST_F(Abuse, ACancelWithTheWrongKeyDoesNothing) {
    const RawClient watches(server_->port());
    watches.say(said::startup());
    const std::string start = watches.hear(kReady);
    const std::size_t at = start.find(said::frame('K', "12345678").substr(0, 5));
    ASSERT_NE(at, std::string::npos);
    std::string key = start.substr(at + 5, 8);
    watches.say(said::query("WATCH SHOW LINKS"));
    watches.hear("snapshot");
    const std::string request = "\x04\xd2\x16\x2e";
    std::string wrong = key;
    wrong[7] = static_cast<char>(wrong[7] + 1);
    {
        const RawClient guesses(server_->port());
        guesses.say(said::startup_packet(request + wrong));
        EXPECT_EQ(guesses.hear(), "");
    }
    run("CREATE WORKER 'c:1' SET ('C' AS NAME, 'HUB' AS DOWNSTREAM)");
    watches.hear("create");
    const RawClient knows(server_->port());
    knows.say(said::startup_packet(request + key));
    EXPECT_EQ(knows.hear(), "");
    EXPECT_NE(watches.hear(kReady).find("57014"), std::string::npos);
}

TEST_F(Abuse, TheServerOutlivesAWantOfDescriptors) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = descriptors() + 20;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    {
        std::vector<std::unique_ptr<RawClient>> crowd;
        while (crowd.empty() || (crowd.back()->connected() && crowd.size() < 100)) {
            crowd.push_back(std::make_unique<RawClient>(server_->port()));
        }
        EXPECT_TRUE(eventually([&] { return log_.count("warn: cannot accept a connection") > 0; }));
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    expect_served();
    expect_nobody();
}

}  // namespace
}  // namespace baton
