#include "http/server_test.h"

#include <fstream>
#include <thread>

#include <sys/resource.h>

#include "adapters/system/digest.h"
#include "adapters/system/memory.h"
#include "base/prng.h"
#include "testing/log_lines.h"
#include "testing/temporary_directory.h"

namespace baton::http {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const char* const kWatchWorkers = "GET /v1/workers/watch HTTP/1.1\r\nHost: localhost\r\n";

// ---- curl ---------------------------------------------------------------------------------------

TEST_F(ServerTest, CurlIsServed) {
    listen();
    EXPECT_EQ(curl("", "/healthz"), "ok\n");
    EXPECT_EQ(curl("", "/readyz"), "ready\n");
    const json made = json::parse(curl(
        "-H 'Content-Type: text/plain' --data-binary \"CREATE WORKER 'a:1' SET ('W' AS NAME)\"",
        "/v1/sql"));
    EXPECT_EQ(made["results"][0]["name"], "W");
    EXPECT_EQ(json::parse(curl("", "/v1/workers/W"))["name"], "W");
    EXPECT_EQ(curl("-o /dev/null -w '%{http_code}'", "/v1/workers/X"), "404");
    EXPECT_EQ(curl("-I -o /dev/null -w '%{http_code}'", "/v1/workers/W"), "200");
    EXPECT_EQ(curl("-X DELETE -o /dev/null -w '%{http_code}'", "/v1/workers/W"), "200");
}

TEST_F(ServerTest, AConnectionCarriesManyRequests) {
    listen({.requests_per_connection_max = 3});
    RawClient client(server_->port());
    for (int i = 0; i < 3; ++i) {
        client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        EXPECT_NE(client.read_until("ok\n").find("200 OK"), std::string::npos);
    }
    client.read_all();
    EXPECT_TRUE(client.ended());
}

TEST_F(ServerTest, RequestsMayBeSentAhead) {
    listen();
    RawClient client(server_->port());
    std::string many;
    for (int i = 0; i < 10; ++i) many += "GET /v1/workers HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.send(many + "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const std::string told = client.read_all();
    EXPECT_NE(told.find("ok\n"), std::string::npos) << told;
    std::size_t count = 0;
    for (std::size_t at = 0; (at = told.find("{\"items\":[]}", at)) != std::string::npos; ++at) {
        count += 1;
    }
    EXPECT_EQ(count, 10U);
}

TEST_F(ServerTest, TlsIsServed) {
    const testing::TemporaryDirectory directory;
    const std::string base = directory.path();
    shell("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout " + base +
          "/key.pem -out " + base + "/cert.pem 2>&1");
    listen({.tls = TlsFiles{.certificate = base + "/cert.pem", .key = base + "/key.pem"}});
    EXPECT_EQ(curl("", "/healthz"), "ok\n");
    EXPECT_EQ(shell("curl -s --max-time 5 --cacert " + base + "/cert.pem " + url("/healthz")),
              "ok\n");
    const std::string seen = curl("-N --max-time 1", "/v1/workers/watch");
    EXPECT_NE(seen.find("event: snapshot"), std::string::npos) << seen;
    RawClient plain(server_->port());
    plain.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(plain.read_all().find("ok"), std::string::npos);
}

TEST_F(ServerTest, APortThatIsTakenIsSaid) {
    listen();
    const auto opened = Server::open(*desk_, access_, metrics_, {.port = server_->port()});
    // Linux lets nobody else listen at a port that somebody listens at.
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("cannot listen"), std::string::npos);
}

// ---- who, and what it is called
// ------------------------------------------------------------------

TEST_F(ServerTest, EveryAnswerSaysWhatItsRequestIsCalled) {
    listen();
    const std::string named = curl("-D - -o /dev/null -H 'X-Request-Id: mine-1'", "/v1/workers");
    EXPECT_NE(named.find("X-Request-Id: mine-1\r\n"), std::string::npos) << named;
    for (const char* path : {"/healthz", "/v1/none", "/v1/workers/watch"}) {
        const std::string made =
            curl("-N --max-time 1 -D - -o /dev/null -H 'X-Request-Id: a b'", path);
        EXPECT_NE(made.find("X-Request-Id: "), std::string::npos) << made;
        EXPECT_EQ(made.find("a b"), std::string::npos) << made;
    }
}

TEST_F(ServerTest, TheLogTellsOfEveryRequestByItsName) {
    testing::LogLines log;
    listen({.service = {.log = &log}});
    (void)curl("-H 'X-Request-Id: mine-1'", "/v1/workers/W?secret=1");
    EXPECT_EQ(log.count("debug: a request was answered door=http request=mine-1 user=http "
                        "method=GET path=/v1/workers/W status=404 took_us="),
              1U)
        << log.text();
    EXPECT_EQ(log.count("secret"), 0U);
    server_.reset();
}

class LoginTest : public ServerTest {
protected:
    void SetUp() override {
        access_ = desk::Access(
            {}, {{.name = "ann", .role = desk::Role::reader, .sha256 = system::sha256_hex("Wv8x")}},
            system::sha256_hex);
        ServerTest::SetUp();
        listen({.service = {.log = &log_}});
    }
    void TearDown() override {
        EXPECT_EQ(log_.count("Wv8"), 0U) << log_.text();
        ServerTest::TearDown();
    }
    testing::LogLines log_;
};

TEST_F(LoginTest, WhoIsRefusedIsLoggedWithoutWhatItShowed) {
    const std::string status = "-o /dev/null -w '%{http_code}' -H 'X-Request-Id: r1' ";
    EXPECT_EQ(curl(status + "-H 'Authorization: Bearer Wv8y'", "/v1/workers?x=Wv8x"), "401");
    EXPECT_EQ(log_.count("warn: a request was refused: its client is unknown door=http "
                         "reason=no such token path=/v1/workers peer=127.0.0.1:"),
              1U)
        << log_.text();
    EXPECT_EQ(log_.count(" request=r1\n"), 1U) << log_.text();
    EXPECT_EQ(curl(status, "/metrics"), "401");
    EXPECT_EQ(log_.count("reason=no token was shown path=/metrics"), 1U) << log_.text();
    EXPECT_EQ(curl(status, "/healthz"), "200");
    EXPECT_EQ(log_.count("warn"), 2U) << log_.text();
}

TEST_F(LoginTest, WhoIsLetInIsLoggedOncePerConnection) {
    RawClient client(server_->port());
    for (int i = 0; i < 3; ++i) {
        client.send(
            "GET /v1/openapi.yaml HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
            "Wv8x\r\n\r\n");
        EXPECT_NE(client.read_until("results: {type: array").find("200 OK"), std::string::npos);
    }
    EXPECT_EQ(log_.count("info: a client showed its token door=http user=ann role=reader "
                         "peer=127.0.0.1:"),
              1U)
        << log_.text();
}

// ---- abuse --------------------------------------------------------------------------------------

TEST_F(ServerTest, WhoIsSlowWithItsHeaderIsCutOff) {
    listen({.header_timeout = 200ms});
    RawClient silent(server_->port());
    RawClient slow(server_->port());
    slow.send("GET /healthz HTTP/1.1\r\nHo");
    slow.read_all(3'000);
    EXPECT_TRUE(slow.ended());
    silent.read_all(3'000);
    EXPECT_TRUE(silent.ended());
    EXPECT_TRUE(soon([&] { return open_connections() == 0; }));
}

TEST_F(ServerTest, WhoIsSlowWithItsBodyIsCutOff) {
    listen({.body_timeout = 200ms});
    RawClient slow(server_->port());
    slow.send("POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc");
    slow.read_all(3'000);
    EXPECT_TRUE(slow.ended());
    EXPECT_TRUE(soon([&] { return open_connections() == 0; }));
}

TEST_F(ServerTest, WhoSaysNothingMoreIsCutOff) {
    listen({.idle_timeout = 200ms});
    RawClient idle(server_->port());
    idle.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    idle.read_all(3'000);
    EXPECT_TRUE(idle.ended());
}

TEST_F(ServerTest, AHeaderHasALimit) {
    listen({.header_bytes_max = 4'096});
    RawClient client(server_->port());
    client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(10'000, 'x') +
                "\r\n\r\n");
    EXPECT_NE(client.read_all().find(" 431 "), std::string::npos);
}

TEST_F(ServerTest, ABodyHasALimitAndIsNotReadBeyondIt) {
    listen();
    const testing::TemporaryDirectory directory;
    const std::string file = directory.path() + "/large";
    std::ofstream(file) << std::string(100'000'000, ' ');
    const std::string type = "-H 'Content-Type: text/plain' -o /dev/null -w '%{http_code}' ";
    EXPECT_EQ(curl(type + "--data-binary @" + file, "/v1/sql"), "413");
    // Without saying beforehand how long it is.
    EXPECT_EQ(curl(type + "-H 'Transfer-Encoding: chunked' -H 'Expect:' --data-binary @" + file,
                   "/v1/sql")
                  .substr(0, 3),
              "413");
    EXPECT_EQ(curl("", "/healthz"), "ok\n");
}

TEST_F(ServerTest, ALargeBodyWithinTheLimitIsRead) {
    listen();
    RawClient client(server_->port());
    const std::string body =
        R"({"sql": "SHOW VERSION", "parameters": [")" + std::string(8'000'000, 'x') + "\"]}";
    client.send(
        "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_NE(client.read_until("baton 0").find("200 OK"), std::string::npos);
}

TEST_F(ServerTest, ConnectionsHaveALimit) {
    listen({.connections_max = 2});
    const std::string begun =
        "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        "Content-Type: text/plain\r\nContent-Length: 10\r\n\r\n";
    RawClient one(server_->port());
    RawClient two(server_->port());
    one.send(begun);
    two.send(begun);
    EXPECT_NE(one.read_until("100 Continue").find("100"), std::string::npos);
    EXPECT_NE(two.read_until("100 Continue").find("100"), std::string::npos);
    RawClient three(server_->port());
    EXPECT_NE(three.read_all().find(" 503 "), std::string::npos);
    one.end();
    ASSERT_TRUE(soon([&] { return open_connections() == 1; }));
    EXPECT_EQ(curl("", "/healthz"), "ok\n");
}

TEST_F(ServerTest, BodiesTogetherHaveALimit) {
    listen({.bodies_bytes_max = 1'000'000});
    const std::string head =
        "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
        "Content-Length: 800000\r\n\r\n";
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<RawClient>(server_->port()));
        clients.back()->send(head + std::string(600'000, ' '));
    }
    std::size_t refused = 0;  // two do not fit, and one may be told so
    for (auto& client : clients) {
        client->send(std::string(100'000, ' '));
        refused += client->read_until("503", 1'000).find("503") != std::string::npos ? 1U : 0U;
    }
    EXPECT_GE(refused, 1U);
    EXPECT_LE(refused, 2U);
    EXPECT_EQ(curl("-d 'SHOW VERSION' -H 'Content-Type: text/plain'", "/v1/sql").find("\"code\""),
              std::string::npos);
    clients.clear();
    EXPECT_TRUE(soon([&] { return open_connections() == 0; }));
    RawClient again(server_->port());
    again.send(head + "SHOW VERSION" + std::string(800'000 - 12, ' '));
    EXPECT_NE(again.read_until("baton 0").find("200 OK"), std::string::npos);
}

TEST_F(ServerTest, ABodyCountsUntilItsRequestHasEnded) {
    make_small_cluster();
    listen({.bodies_bytes_max = 1'000'000});
    const auto head = [](const std::string& more, std::size_t size) {
        return "POST /v1/sql" + more + "Content-Length: " + std::to_string(size) + "\r\n\r\n";
    };
    const std::string text = " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n";
    const std::string statement = "CREATE QUERY q AS SELECT id FROM readings INTO alerts;";
    const std::string large = statement + std::string(700'000, ' ');
    {
        RawClient leaves(server_->port());
        leaves.send(head("?wait=running" + text + "Idempotency-Key: k\r\n", large.size()) + large);
        ASSERT_TRUE(soon([&] { return curl("", "/v1/queries/Q").find("\"id\"") != -1UL; }));
    }
    ASSERT_TRUE(soon([&] { return open_connections() == 0; }));
    RawClient next(server_->port());
    next.send(head(text, large.size()) + large);
    EXPECT_NE(next.read_until("too much memory").find(" 503 "), std::string::npos);
    // It waits for the query, which goes.
    EXPECT_EQ(curl("-X DELETE -o /dev/null -w '%{http_code}'", "/v1/queries/Q"), "200");
    EXPECT_TRUE(soon([&] {
        RawClient again(server_->port());
        again.send(head(text, large.size()) + "SHOW VERSION" + std::string(large.size() - 12, ' '));
        return again.read_until("baton 0").find("200 OK") != std::string::npos;
    }));
}

TEST_F(ServerTest, ConnectionsThatSayNothingGiveWay) {
    listen({.connections_max = 2});
    RawClient silent(server_->port());
    ASSERT_TRUE(soon([&] { return open_connections() == 1; }));
    RawClient slow(server_->port());
    slow.send("GET /heal");
    ASSERT_TRUE(soon([&] { return open_connections() == 2; }));
    EXPECT_EQ(curl("", "/healthz"), "ok\n");
    EXPECT_EQ(silent.read_all(), "");
    slow.send("thz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_NE(slow.read_until("ok\n").find("200 OK"), std::string::npos);
}

TEST_F(LoginTest, StrangersDoNotFillTheLog) {
    for (int i = 0; i < 100; ++i) {
        RawClient client(server_->port());
        client.send("GET /" + std::string(12'000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        EXPECT_NE(client.read_until("\r\n\r\n").find(" 401 "), std::string::npos);
    }
    EXPECT_GT(log_.count("a request was refused"), 0U);
    EXPECT_LE(log_.count("a request was refused"), 40U);
    EXPECT_LT(log_.text().size(), 20'000U);
}

TEST_F(LoginTest, AnOpenPathTakesNoBody) {
    RawClient client(server_->port());
    client.send("POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n");
    EXPECT_NE(client.read_until("cannot have a body").find(" 413 "), std::string::npos);
    client.read_all();
    EXPECT_TRUE(client.ended());
}

TEST_F(LoginTest, StrangersCannotKeepOthersOut) {
    listen({.connections_max = 2});
    std::vector<std::unique_ptr<RawClient>> strangers;
    for (int i = 0; i < 4; ++i) {  // unfinished, and answered without reading the answers
        strangers.push_back(std::make_unique<RawClient>(server_->port(), 1));
        std::string ahead = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
        if (i % 2 == 0) ahead += "Content-Length: 100\r\n";
        for (int n = 0; n < 10; ++n) ahead += ahead;
        strangers.back()->send(ahead + "\r\n");
    }
    EXPECT_EQ(curl("", "/readyz"), "ready\n");
    EXPECT_EQ(curl("-o /dev/null -w '%{http_code}' -H 'Authorization: Bearer Wv8x'", "/metrics"),
              "200");
}

TEST_F(LoginTest, OneUserCannotTakeAllConnections) {
    access_ = desk::Access(
        {},
        {{.name = "ann", .role = desk::Role::reader, .sha256 = system::sha256_hex("Wv8x")},
         {.name = "bob", .role = desk::Role::reader, .sha256 = system::sha256_hex("Wv8z")}},
        system::sha256_hex);
    listen({.connections_max = 4});
    const std::string watch = std::string(kWatchWorkers) + "Authorization: Bearer Wv8x\r\n\r\n";
    std::vector<std::unique_ptr<RawClient>> watches;
    for (int i = 0; i < 2; ++i) {
        watches.push_back(std::make_unique<RawClient>(server_->port()));
        watches.back()->send(watch);
        EXPECT_NE(watches.back()->read_until("snapshot").find("200 OK"), std::string::npos);
    }
    RawClient one_more(server_->port());
    one_more.send(watch);
    EXPECT_NE(one_more.read_until("of this user").find(" 503 "), std::string::npos);
    EXPECT_EQ(curl("-o /dev/null -w '%{http_code}' -H 'Authorization: Bearer Wv8z'", "/metrics"),
              "200");
    EXPECT_EQ(curl("", "/readyz"), "ready\n");
    watches.clear();
    ASSERT_TRUE(soon([&] { return streams() == 0; }));
    RawClient again(server_->port());
    again.send(watch);
    EXPECT_NE(again.read_until("snapshot").find("200 OK"), std::string::npos);
}

TEST_F(LoginTest, BodiesOfOneUserLeaveRoomForOthers) {
    access_ = desk::Access(
        {},
        {{.name = "ann", .role = desk::Role::reader, .sha256 = system::sha256_hex("Wv8x")},
         {.name = "bob", .role = desk::Role::reader, .sha256 = system::sha256_hex("Wv8z")}},
        system::sha256_hex);
    listen({.bodies_bytes_max = 1'000'000});
    const auto head = [](const std::string& token) {
        return "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
               "Authorization: Bearer " +
               token + "\r\nContent-Length: 400000\r\n\r\n";
    };
    RawClient unfinished(server_->port());
    unfinished.send(head("Wv8x") + std::string(399'000, ' '));
    RawClient one_more(server_->port());
    one_more.send(head("Wv8x") + std::string(399'000, ' '));
    unfinished.send(std::string(900, ' '));
    const bool refused = one_more.read_until("503", 1'000).find("503") != std::string::npos ||
                         unfinished.read_until("503", 1'000).find("503") != std::string::npos;
    EXPECT_TRUE(refused);
    RawClient other(server_->port());
    other.send(head("Wv8z") + "SHOW VERSION" + std::string(400'000 - 12, ' '));
    EXPECT_NE(other.read_until("baton 0").find("200 OK"), std::string::npos);
}

TEST_F(ServerTest, RandomBytesHarmNobody) {
    listen();
    const std::size_t before = descriptors();
    Prng dice(7);
    for (int i = 0; i < 200; ++i) {
        RawClient client(server_->port());
        std::string bytes = i % 2 == 0 ? "POST /v1/sql HTTP/1.1\r\n" : "";
        for (std::uint64_t left = dice.between(1, 300); left > 0; --left) {
            bytes += static_cast<char>(dice.between(0, 255));
        }
        client.send(bytes);
        if (i % 4 == 0) client.send("\r\n\r\n");
    }
    EXPECT_EQ(curl("", "/healthz"), "ok\n");
    EXPECT_TRUE(soon([&] { return open_connections() == 0 && descriptors() <= before; }));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeepsWhatWasFreed = true;
#else
constexpr bool kKeepsWhatWasFreed = false;
#endif

// As many as there are descriptors for, with theirs: some thousands. 10,000 are in bench/http.cc.
TEST_F(ServerTest, ACrowdLeavesNothingBehind) {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit before = limit;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 20'000);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    const auto most = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur / 2 - 100, 2'000));
    listen();
    EXPECT_EQ(curl("", "/healthz"), "ok\n");
    const std::size_t descriptors_before = descriptors();
    std::size_t bytes_after_one = 0;
    for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<RawClient>> crowd;
        for (std::int64_t i = 0; i < most; ++i) {
            crowd.push_back(std::make_unique<RawClient>(server_->port()));
            if (i % 2 == 0) crowd.back()->send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
            if (i % 8 == 1) crowd.back()->send(std::string(kWatchWorkers) + "\r\n");
        }
        EXPECT_TRUE(soon([&] { return open_connections() == most; })) << open_connections();
        EXPECT_EQ(curl("", "/healthz"), "ok\n");
        crowd.clear();
        EXPECT_TRUE(soon([&] { return open_connections() == 0 && streams() == 0; }));
        if (round == 0) bytes_after_one = system::resident_bytes();
    }
    EXPECT_TRUE(soon([&] { return descriptors() <= descriptors_before + 60; })) << descriptors();
    if (!kKeepsWhatWasFreed) {
        EXPECT_LT(system::resident_bytes(), bytes_after_one + 10'000'000);
    }
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(ServerTest, WhoGoesAwayWhileItWaitsIsForgotten) {
    make_small_cluster();
    listen();
    const std::string body = R"({"sql": "CREATE QUERY q AS SELECT id FROM readings INTO alerts",
                                 "wait": "running"})";
    RawClient client(server_->port());
    client.send(
        "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    ASSERT_TRUE(soon([&] { return !rows("SELECT name FROM baton.queries").empty(); }));
    ASSERT_TRUE(soon([&] { return desk_->load().standing == 1; }));
    client.end();
    EXPECT_TRUE(soon([&] { return desk_->load().standing == 0 && desk_->load().visitors == 0; }));
}

// ---- events -------------------------------------------------------------------------------------

TEST_F(ServerTest, ChangesAreShownAsTheyHappen) {
    listen();
    RawClient client(server_->port());
    client.send(std::string(kWatchWorkers) + "\r\n");
    EXPECT_NE(client.read_until("\"rows\":[]}\n\n").find("text/event-stream"), std::string::npos);
    run("CREATE WORKER 'a:1' SET ('W' AS NAME)");
    const std::string made = client.read_until("\n\n");
    EXPECT_NE(made.find("event: create\nid: 1\ndata: {\"revision\":1,\"key\":\"W\""),
              std::string::npos)
        << made;
    run("DRAIN WORKER w");
    EXPECT_NE(client.read_until("\n\n").find("event: update\nid: 2\n"), std::string::npos);
    run("DROP WORKER w");
    EXPECT_NE(client.read_until("\n\n").find("event: drop\nid: 3\n"), std::string::npos);
}

TEST_F(ServerTest, WhoComesBackGoesOnWhereItWas) {
    listen();
    for (int i = 1; i <= 5; ++i) {
        run("CREATE WORKER 'h:" + std::to_string(i) + "' SET ('W" + std::to_string(i) +
            "' AS NAME)");
    }
    RawClient client(server_->port());
    client.send(std::string(kWatchWorkers) + "Last-Event-ID: 3\r\n\r\n");
    const std::string seen = client.read_until("id: 5\n");
    EXPECT_EQ(seen.find("snapshot"), std::string::npos);
    EXPECT_EQ(seen.find("id: 3\n"), std::string::npos);
    EXPECT_NE(seen.find("id: 4\n"), std::string::npos);
    RawClient wrong(server_->port());
    wrong.send(std::string(kWatchWorkers) + "Last-Event-ID: x\r\n\r\n");
    EXPECT_NE(wrong.read_until("\r\n").find(" 400 "), std::string::npos);
}

TEST_F(ServerTest, AStreamWithoutEventsIsKeptAlive) {
    listen({.keep_alive = 50ms});
    RawClient client(server_->port());
    client.send(std::string(kWatchWorkers) + "\r\n");
    client.read_until("\"rows\":[]}\n\n");
    EXPECT_EQ(client.read_until(":\n\n:\n\n"), ":\n\n:\n\n");
}

TEST_F(ServerTest, ClientsThatVanishLeaveNothingBehind) {
    listen();
    const std::size_t before = descriptors();
    for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<RawClient>> clients;
        for (int i = 0; i < 50; ++i) {
            clients.push_back(std::make_unique<RawClient>(server_->port()));
            clients.back()->send(std::string(kWatchWorkers) + "\r\n");
        }
        ASSERT_TRUE(soon([&] { return streams() == 50; }));
        run("CREATE WORKER 'a:1' SET ('W' AS NAME)");
        clients.clear();
        run("DROP WORKER w");
        EXPECT_TRUE(soon([&] { return streams() == 0 && open_connections() == 0; }));
    }
    EXPECT_TRUE(soon([&] { return descriptors() <= before + 10; })) << descriptors();
    EXPECT_EQ(desk_->load().visitors, 0U);
}

// ---- the end ------------------------------------------------------------------------------------

TEST_F(ServerTest, StoppingEndsStreamsAndLetsRequestsFinish) {
    make_small_cluster();
    listen();
    RawClient stream(server_->port());
    stream.send(std::string(kWatchWorkers) + "\r\n");
    stream.read_until("\n\n");
    RawClient idle(server_->port());
    const std::string body = R"({"sql": "CREATE QUERY q AS SELECT id FROM readings INTO alerts",
                                 "wait": "running", "timeout_ms": 300})";
    RawClient waiting(server_->port());
    waiting.send(
        "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    ASSERT_TRUE(soon([&] { return desk_->load().standing == 1; }));
    server_->stop(10s);
    EXPECT_NE(waiting.read_all().find(" 504 "), std::string::npos);
    stream.read_all();
    EXPECT_TRUE(stream.ended());
    EXPECT_FALSE(RawClient(server_->port()).connected());
}

TEST_F(ServerTest, WhatDoesNotFinishInTimeIsCancelled) {
    make_small_cluster();
    listen();
    const std::string body = R"({"sql": "CREATE QUERY q AS SELECT id FROM readings INTO alerts",
                                 "wait": "running"})";
    RawClient waiting(server_->port());
    waiting.send(
        "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    ASSERT_TRUE(soon([&] { return desk_->load().standing == 1; }));
    const auto began = std::chrono::steady_clock::now();
    server_->stop(100ms);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

}  // namespace
}  // namespace baton::http
