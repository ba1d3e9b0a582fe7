// Rows of streams over HTTP: a real worker in this process, real sockets, clients that misbehave.
#include "adapters/system/digest.h"
#include "http/server_test.h"
#include "worker/node/embedded_worker.h"

namespace baton::http {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

std::string numbers(std::uint64_t count) {
    return "SELECT a, a * 2 AS b FROM Generator('SEQUENCE UINT64 0 " + std::to_string(count) +
           " 1' AS SOURCE.GENERATOR_SCHEMA, 'emit_rate 1000000' AS SOURCE.GENERATOR_RATE_CONFIG, "
           "SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA)";
}
const std::string kEndless = numbers(1'000'000'000'000'000);

class RowsTest : public ServerTest {
protected:
    coordinator::CoordinatorOptions coordinator_options() override {
        auto started = worker::EmbeddedWorker::start(clock_);
        EXPECT_TRUE(started) << to_string(started.error());
        worker_ = *std::move(started);
        coordinator::CoordinatorOptions options;
        options.transport = &worker_->transport();
        options.results = &worker_->results();
        return options;
    }
    void TearDown() override {
        ServerTest::TearDown();
        session_.reset();
        coordinator_.reset();
        worker_.reset();
    }
    static std::string post(const std::string& sql, const std::string& headers = kEvents) {
        const std::string body = json{{"sql", sql}}.dump();
        return "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
               headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    std::string queries() { return rows("SELECT name, state FROM baton.queries"); }
    // Nothing is left of any client.
    void expect_nothing_left() {
        EXPECT_TRUE(soon([&] { return queries().empty(); })) << queries();
        EXPECT_TRUE(soon([&] { return streams() == 0 && open_connections() == 0; }));
        EXPECT_TRUE(soon([&] { return desk_->load().visitors == 0; }));
    }

    static const std::string kEvents;
    std::unique_ptr<worker::EmbeddedWorker> worker_;
};

const std::string RowsTest::kEvents = "Accept: text/event-stream\r\n";

TEST_F(RowsTest, ComeAsEventsUpToTheLimit) {
    listen();
    RawClient client(server_->port());
    client.send(post(numbers(1'000'000) + " LIMIT 3"));
    const std::string seen = client.read_all();
    EXPECT_TRUE(client.ended());
    const std::string events = seen.substr(seen.find("\r\n\r\n") + 4);
    EXPECT_EQ(
        events,
        "event: columns\n"
        "data: [{\"name\":\"A\",\"type\":\"unsigned\"},{\"name\":\"B\",\"type\":\"unsigned\"}]"
        "\n\n"
        "event: rows\ndata: [[0,0],[1,2],[2,4]]\n\n"
        "event: end\ndata: {\"rows\":3}\n\n");
    EXPECT_NE(seen.find("Content-Type: text/event-stream\r\n"), std::string::npos);
    expect_nothing_left();
}

TEST_F(RowsTest, EndWithTheirSources) {
    listen();
    const std::string seen = curl(
        "-N -H 'Accept: application/json;q=0.1, text/event-stream' -H 'Content-Type: "
        "text/plain' --data-binary \"" +
            numbers(30'000) + "\"",
        "/v1/sql");
    EXPECT_NE(seen.find("[29999,59998]"), std::string::npos);
    EXPECT_NE(seen.find("event: end\ndata: {\"rows\":30000}\n\n"), std::string::npos);
    expect_nothing_left();
}

TEST_F(RowsTest, ThatAreAllThereAreEventsToo) {
    run("CREATE WORKER 'a:1' SET ('W' AS NAME)");
    listen();
    RawClient client(server_->port());
    client.send(post("SELECT name FROM baton.workers WHERE name = 'W'"));
    const std::string seen = client.read_all();
    EXPECT_NE(seen.find("event: rows\ndata: [[\"W\"]]\n\nevent: end\ndata: {\"rows\":1}\n\n"),
              std::string::npos)
        << seen;
}

TEST_F(RowsTest, AreRefusedWithWhatToDoIfEventsAreNotAccepted) {
    listen();
    RawClient client(server_->port());
    client.send(post(kEndless, ""));
    const std::string told = client.read_until("\"results\":[]}");
    EXPECT_NE(told.find(" 400 "), std::string::npos) << told;
    EXPECT_NE(told.find("with Accept: text/event-stream"), std::string::npos) << told;
    client.end();
    expect_nothing_left();
}

TEST_F(RowsTest, OnlyOneSelectOrWatchCanBeEvents) {
    listen();
    for (const std::string text : {"SHOW QUERIES; SHOW WORKERS", "SHOW QUERIES", "SELECT", ""}) {
        RawClient client(server_->port());
        client.send(post(text));
        EXPECT_NE(client.read_until("\r\n").find(" 400 "), std::string::npos) << text;
    }
    RawClient watch(server_->port());
    watch.send(post("WATCH SHOW SINKS"));
    EXPECT_NE(watch.read_until("\"rows\":[]}\n\n").find("event: snapshot"), std::string::npos);
}

TEST_F(RowsTest, ThatSomebodyTakesAwayEndWithTheReason) {
    listen();
    RawClient client(server_->port());
    client.send(post(kEndless));
    client.read_until("event: rows");
    std::string name = rows("SELECT name FROM baton.queries");
    name.pop_back();
    run("DROP QUERY \"" + name + "\" MODE FORCEFUL");
    std::string seen;
    for (int i = 0; i < 10 && !client.ended(); ++i) seen += client.read_until("event: error");
    const std::string data = seen.substr(seen.rfind("data: ") + 6);
    const json problem = json::parse(data, nullptr, false);
    ASSERT_TRUE(problem.is_object()) << data;
    EXPECT_EQ(problem["name"], "cancelled") << data;
    EXPECT_NE(problem["detail"].get<std::string>().find(name), std::string::npos) << data;
    expect_nothing_left();
}

// ---- clients that misbehave ---------------------------------------------------------------------

TEST_F(RowsTest, AQueryEndsWithItsClient) {
    listen();
    std::size_t before = 0;
    for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<RawClient>> clients;
        for (int i = 0; i < 8; ++i) {
            clients.push_back(std::make_unique<RawClient>(server_->port(), 4'096));
            clients.back()->send(post(kEndless));
            if (i % 2 == 0) clients.back()->read_until("event: rows");
        }
        if (round == 1) {
            ASSERT_TRUE(soon([&] { return streams() == 8; }));
        }
        clients.clear();  // some before anything was said
        expect_nothing_left();
        if (round == 0) before = descriptors();  // with the files that readers of the catalog keep
    }
    EXPECT_TRUE(soon([&] { return descriptors() <= before + 10; })) << descriptors();
}

TEST_F(RowsTest, WhoDoesNotReadHoldsItsQueryBack) {
    listen();
    RawClient client(server_->port(), 4'096);
    client.send(post(kEndless));
    client.read_until("event: rows");
    const auto count = [&] { return rows("SELECT rows_in FROM baton.counters"); };
    // Counts come with the beats of the worker: the same for a while is rest.
    std::string last = count();
    int same = 0;
    ASSERT_TRUE(soon([&] {
        same = last == count() && last.size() > 2 ? same + 1 : 0;
        last = count();
        return same > 250;
    })) << last;
    // What is under way is bounded: buffers of sockets, two portions, what the streams hold.
    EXPECT_LT(std::stoull(last), 2'000'000U);
    // And it goes on.
    const std::string seen = client.read_until("[200000,400000]", 20'000);
    EXPECT_NE(seen.find("[200000,400000]"), std::string::npos);
    client.end();
    expect_nothing_left();
}

TEST_F(RowsTest, EndWhenTheServerStops) {
    listen();
    RawClient reading(server_->port());
    RawClient idle(server_->port(), 4'096);
    reading.send(post(kEndless));
    idle.send(post(kEndless));
    reading.read_until("event: rows");
    idle.read_until("event: rows");
    const auto began = std::chrono::steady_clock::now();
    server_->stop(2s);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
    EXPECT_TRUE(soon([&] { return queries().empty(); })) << queries();
}

class RowsOfReadersTest : public RowsTest {
protected:
    void SetUp() override {
        access_ = desk::Access(
            {},
            {{.name = "ann", .role = desk::Role::reader, .sha256 = system::sha256_hex("secret")}},
            system::sha256_hex);
        RowsTest::SetUp();
    }
};

TEST_F(RowsOfReadersTest, ARoleAllowsWhatItAllows) {
    listen();
    RawClient nobody(server_->port());
    nobody.send(post("SELECT name FROM baton.workers"));
    EXPECT_NE(nobody.read_until("\r\n").find(" 401 "), std::string::npos);
    const std::string token = kEvents + "Authorization: Bearer secret\r\n";
    RawClient reader(server_->port());
    reader.send(post("SELECT name FROM baton.workers", token));
    EXPECT_NE(reader.read_until("event: end").find("200 OK"), std::string::npos);
    RawClient writer(server_->port());
    writer.send(post(numbers(3), token));  // a source that it brings along
    EXPECT_NE(writer.read_until("\r\n").find(" 403 "), std::string::npos);
}

}  // namespace
}  // namespace baton::http
