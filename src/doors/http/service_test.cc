#include "doors/http/service_test.h"

#include "adapters/system/digest.h"

namespace baton::http {
namespace {

using nlohmann::json;

// ---- /v1/sql ------------------------------------------------------------------------------------

TEST_F(ServiceTest, StatementsAreAnsweredOneByOne) {
    const Response response =
        sql("CREATE WORKER 'a:1' SET ('W' AS NAME, 4 AS CAPACITY);"
            "SELECT name, capacity, draining FROM baton.workers");
    EXPECT_EQ(response.status, 200U);
    EXPECT_EQ(json_of(response), json::parse(R"({"results": [
        {"tag": "CREATE WORKER", "name": "W", "changed": true, "revision": 1},
        {"tag": "SELECT", "columns": [{"name": "NAME", "type": "text"},
                                      {"name": "CAPACITY", "type": "integer"},
                                      {"name": "DRAINING", "type": "boolean"}],
         "rows": [["W", 4, false]]}]})"))
        << response.body;
}

TEST_F(ServiceTest, PlainTextIsSqlToo) {
    const Response response =
        ask("POST", "/v1/sql?wait=accepted", "", {{"content-type", "text/plain; charset=utf-8"}});
    EXPECT_EQ(response.body, R"({"results":[]})");
}

TEST_F(ServiceTest, ParametersAreConstants) {
    const Response response =
        ask("POST", "/v1/sql",
            R"_({"sql": "CREATE WORKER 'a:1' SET ($1 AS NAME)", "parameters": ["x'); DROP"]})_");
    EXPECT_EQ(json_of(response)["results"][0]["name"], "x'); DROP") << response.body;
}

TEST_F(ServiceTest, AnErrorComesWithWhatHappenedBeforeIt) {
    const Response response = sql("CREATE LOGICAL SOURCE a (x INT8); DROP SINK none");
    EXPECT_EQ(response.status, 404U);
    EXPECT_EQ(response.content_type, "application/problem+json");
    const json told = json_of(response);
    EXPECT_EQ(told["code"], 2033);
    EXPECT_EQ(told["position"]["column"], 35);
    EXPECT_EQ(told["results"][0]["tag"], "CREATE LOGICAL SOURCE");
}

TEST_F(ServiceTest, TheStatementsOfABodyMayBeATransaction) {
    EXPECT_EQ(sql("BEGIN; CREATE LOGICAL SOURCE a (x INT8); DROP SINK none; COMMIT").status, 404U);
    EXPECT_EQ(rows("SHOW LOGICAL SOURCES"), "");
    EXPECT_EQ(sql("BEGIN; CREATE LOGICAL SOURCE a (x INT8); COMMIT").status, 200U);
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources"), "A\n");
}

TEST_F(ServiceTest, BodiesThatMisfitAreRefused) {
    EXPECT_EQ(ask("POST", "/v1/sql", "[1]").status, 400U);
    EXPECT_EQ(ask("POST", "/v1/sql", "{\"sql\": 1}").status, 400U);
    EXPECT_EQ(ask("POST", "/v1/sql", R"({"sql": "SHOW QUERIES", "wiat": "x"})").status, 400U);
    EXPECT_EQ(ask("POST", "/v1/sql", R"({"sql": "SHOW QUERIES", "wait": "x"})").status, 400U);
    EXPECT_EQ(ask("POST", "/v1/sql", "x", {{"content-type", "image/png"}}).status, 415U);
    EXPECT_EQ(sql("WATCH SHOW QUERIES").status, 400U);
}

TEST_F(ServiceTest, AWaitThatIsOverIsATimeout) {
    make_small_cluster();
    const Response response =
        ask("POST", "/v1/queries?wait=running&timeout_ms=1",
            R"({"sql": "CREATE QUERY q AS SELECT id FROM readings INTO alerts"})");
    EXPECT_EQ(response.status, 504U);
    EXPECT_EQ(json_of(response)["result"]["name"], "Q") << response.body;
    EXPECT_EQ(rows("SELECT name FROM baton.queries"), "Q\n");
}

// ---- entities -----------------------------------------------------------------------------------

TEST_F(ServiceTest, AQueryIsCreatedReadStoppedAndDropped) {
    make_small_cluster();
    const Response made =
        ask("POST", "/v1/queries",
            R"({"sql": "CREATE QUERY q AS SELECT id FROM readings INTO alerts"})");
    EXPECT_EQ(made.status, 201U) << made.body;
    const Response read = ask("GET", header_of(made, "Location"));
    EXPECT_EQ(json_of(read)["name"], "Q");
    EXPECT_EQ(ask("GET", "/v1/queries/Q").body, read.body);
    EXPECT_EQ(ask("POST", "/v1/queries/Q/stop?mode=forceful").status, 200U);
    EXPECT_EQ(ask("DELETE", "/v1/queries/Q").status, 200U);
    EXPECT_EQ(ask("GET", "/v1/queries/Q").status, 404U);
    EXPECT_EQ(ask("DELETE", "/v1/queries/Q").status, 404U);
    EXPECT_EQ(ask("POST", "/v1/queries", R"({"sql": "SHOW QUERIES"})").status, 400U);
}

TEST_F(ServiceTest, ListsAreFilteredAndComeInPages) {
    for (const char* name : {"A", "B", "C", "D", "E"}) {
        run("CREATE WORKER '" + std::string(name) + ":1' SET ('" + name + "' AS NAME)");
    }
    const json first = json_of(ask("GET", "/v1/workers?limit=2&state=ACTIVE"));
    ASSERT_EQ(first["items"].size(), 2U);
    EXPECT_EQ(first["items"][1]["name"], "B");
    EXPECT_EQ(first["next"], "/v1/workers?state=ACTIVE&limit=2&after=B");
    const json second = json_of(ask("GET", first["next"]));
    EXPECT_EQ(second["items"][0]["name"], "C");
    const json third = json_of(ask("GET", second["next"]));
    EXPECT_EQ(third["items"].size(), 1U);
    EXPECT_FALSE(third.contains("next"));
    EXPECT_EQ(json_of(ask("GET", "/v1/workers?draining=true"))["items"].size(), 0U);
    EXPECT_EQ(ask("GET", "/v1/workers?nmae=x").status, 400U);
    EXPECT_EQ(ask("GET", "/v1/workers?capacity=x").status, 400U);
    EXPECT_EQ(ask("GET", "/v1/workers?limit=0").status, 400U);
}

TEST_F(ServiceTest, KeysOfSeveralPartsHavePagesToo) {
    make_small_cluster();
    run("CREATE WORKER 'c:1' SET ('C' AS NAME, 'HUB' AS DOWNSTREAM)");
    const json first = json_of(ask("GET", "/v1/links?limit=1"));
    const json second = json_of(ask("GET", first["next"]));
    EXPECT_EQ(first["items"][0]["upstream"], "C");
    EXPECT_EQ(second["items"][0]["upstream"], "EDGE");
    EXPECT_FALSE(second.contains("next"));
    EXPECT_EQ(ask("GET", "/v1/links/EDGE/HUB").status, 200U);
    EXPECT_EQ(ask("GET", "/v1/links/HUB/EDGE").status, 404U);
    std::size_t seen = 0;
    for (std::string at = "/v1/changes?limit=2"; !at.empty();) {
        const json page = json_of(ask("GET", at));
        seen += page["items"].size();
        at = page.value("next", "");
    }
    const auto changes = run("SELECT key FROM baton.changes");
    EXPECT_EQ(seen, std::get<views::Table>(changes.front().value).rows.size());
}

TEST_F(ServiceTest, EveryCollectionCanBeListed) {
    make_small_cluster();
    for (const Collection& collection : collections()) {
        const Response response = ask("GET", "/v1/" + collection.path);
        EXPECT_EQ(response.status, 200U) << collection.path << response.body;
        EXPECT_TRUE(json_of(response)["items"].is_array()) << collection.path;
    }
}

TEST_F(ServiceTest, NamesAreNeverReadAsSql) {
    const std::string name = "x'; DROP WORKER \"W\" --";
    run("CREATE WORKER 'a:1' SET ('W' AS NAME)");
    const std::string path = "/v1/workers/x%27%3B%20DROP%20WORKER%20%22W%22%20--";
    EXPECT_EQ(ask("GET", path).status, 404U);
    EXPECT_EQ(ask("DELETE", path).status, 404U);
    EXPECT_EQ(ask("POST", path + "/drain").status, 404U);
    EXPECT_EQ(ask("GET", "/v1/workers?name=%27%20OR%20%27%27%3D%27").status, 200U);
    EXPECT_EQ(
        ask("POST", "/v1/sql",
            json{{"sql", "CREATE WORKER 'b:1' SET ($1 AS NAME)"}, {"parameters", {name}}}.dump())
            .status,
        200U);
    EXPECT_EQ(json_of(ask("GET", path))["name"], name);
    EXPECT_EQ(ask("POST", path + "/drain").status, 200U);
    EXPECT_EQ(ask("DELETE", path).status, 200U);
    EXPECT_EQ(rows("SELECT name FROM baton.workers"), "W\n");
}

TEST_F(ServiceTest, WhatHasNotChangedIsNotSentAgain) {
    make_small_cluster();
    const std::string tag = header_of(ask("GET", "/v1/workers/HUB"), "ETag");
    EXPECT_FALSE(tag.empty());
    EXPECT_EQ(ask("GET", "/v1/workers/HUB", "", {{"if-none-match", tag}}).status, 304U);
    ask("POST", "/v1/workers/HUB/drain");
    EXPECT_EQ(ask("GET", "/v1/workers/HUB", "", {{"if-none-match", tag}}).status, 200U);
}

// A slot more in use changes what is shown, though not the worker.
TEST_F(ServiceTest, WhatIsComputedFromOtherRowsChangesTheTag) {
    make_small_cluster();
    const std::string tag = header_of(ask("GET", "/v1/workers/HUB"), "ETag");
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    EXPECT_NE(header_of(ask("GET", "/v1/workers/HUB"), "ETag"), tag);
    EXPECT_EQ(ask("POST", "/v1/workers/HUB/drain", "", {{"if-match", tag}}).status, 200U);
}

TEST_F(ServiceTest, AChangeMayDependOnTheRevision) {
    make_small_cluster();
    const std::string old = header_of(ask("GET", "/v1/workers/HUB"), "ETag");
    ask("POST", "/v1/workers/HUB/drain");
    const Response late = ask("POST", "/v1/workers/HUB/resume", "", {{"if-match", old}});
    EXPECT_EQ(late.status, 412U);
    EXPECT_EQ(json_of(late)["code"], 5001);
    const std::string now = header_of(ask("GET", "/v1/workers/HUB"), "ETag");
    EXPECT_EQ(ask("POST", "/v1/workers/HUB/resume", "", {{"if-match", old + ", " + now}}).status,
              200U);
    EXPECT_EQ(ask("DELETE", "/v1/workers/NONE", "", {{"if-match", "*"}}).status, 412U);
    EXPECT_EQ(ask("DELETE", "/v1/workers/HUB", "", {{"if-match", "rubbish"}}).status, 400U);
}

// ---- keys ---------------------------------------------------------------------------------------

TEST_F(ServiceTest, TheSameKeyIsAnsweredTheSameAndDoneOnce) {
    const Headers key = {{"idempotency-key", "k1"}};
    const std::string body = R"_({"sql": "CREATE WORKER 'a:1' SET ('W' AS NAME)"})_";
    const Response first = ask("POST", "/v1/sql", body, key);
    const Response second = ask("POST", "/v1/sql", body, key);
    EXPECT_EQ(first.status, 200U);
    EXPECT_EQ(second.body, first.body);
    EXPECT_EQ(header_of(second, "Idempotency-Replayed"), "true");
    EXPECT_EQ(ask("POST", "/v1/sql", body).status, 409U);
    EXPECT_EQ(ask("POST", "/v1/sql", R"({"sql": "SHOW QUERIES"})", key).status, 422U);
}

// ---- who and where ------------------------------------------------------------------------------

TEST_F(ServiceTest, WhatIsNotThereAndWhatIsNotDone) {
    EXPECT_EQ(ask("GET", "/v2/queries").status, 404U);
    EXPECT_EQ(ask("GET", "queries").status, 400U);
    EXPECT_EQ(ask("GET", "/v1/workers/%zz").status, 400U);
    EXPECT_EQ(ask("GET", "/v1/workers/%00").status, 400U);
    const Response other = ask("PUT", "/v1/queries");
    EXPECT_EQ(other.status, 405U);
    EXPECT_EQ(header_of(other, "Allow"), "POST, GET");
}

TEST_F(ServiceTest, PagesOfOtherSitesAreRefused) {
    const Headers elsewhere = {{"host", "localhost:80"}, {"origin", "http://evil.example"}};
    EXPECT_EQ(ask("POST", "/v1/sql", R"({"sql": "SHOW QUERIES"})", elsewhere).status, 403U);
    const Headers here = {{"host", "localhost:80"}, {"origin", "http://localhost:80"}};
    EXPECT_EQ(ask("POST", "/v1/sql", R"({"sql": "SHOW QUERIES"})", here).status, 200U);
}

class TokenTest : public ServiceTest {
protected:
    void SetUp() override {
        // SHA-256 of "secret"
        access_ = desk::Access(
            {},
            {{.name = "ann",
              .role = desk::Role::reader,
              .sha256 = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"}},
            system::sha256_hex);
        ServiceTest::SetUp();
    }
};

TEST_F(TokenTest, WhoShowsNoTokenIsNotServed) {
    const Response response = sql("SHOW QUERIES");
    EXPECT_EQ(response.status, 401U);
    EXPECT_EQ(header_of(response, "WWW-Authenticate"), "Bearer");
    EXPECT_EQ(ask("GET", "/v1/workers", "", {{"authorization", "Bearer wrong"}}).status, 401U);
    EXPECT_EQ(ask("GET", "/metrics").status, 401U);
    EXPECT_EQ(ask("GET", "/healthz").status, 200U);
    EXPECT_EQ(ask("GET", "/readyz").status, 200U);
}

TEST_F(TokenTest, ARoleAllowsWhatItAllows) {
    const Headers token = {{"authorization", "bearer secret"}};
    EXPECT_EQ(ask("GET", "/v1/workers", "", token).status, 200U);
    EXPECT_EQ(ask("GET", "/metrics", "", token).status, 200U);
    const Response refused = ask("DELETE", "/v1/sinks/S", "", token);
    EXPECT_EQ(refused.status, 403U);
    EXPECT_EQ(json_of(refused)["code"], 5003);
}

TEST_F(ServiceTest, WhoeverIsClosingIsNotReady) {
    EXPECT_EQ(ask("GET", "/readyz").status, 200U);
    service_->begin_to_close();
    EXPECT_EQ(ask("GET", "/readyz").status, 503U);
    EXPECT_EQ(ask("GET", "/healthz").status, 200U);
}

TEST_F(ServiceTest, MetricsTellOfRequestsAndOfTheCatalog) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    run("CREATE TASK LIST l PARTITIONS 3");
    (void)sql("SHOW QUERIES");
    const Response page = ask("GET", "/metrics");
    EXPECT_EQ(page.content_type, "text/plain; version=0.0.4; charset=utf-8");
    for (const char* line :
         {"baton_requests_total{door=\"http\",kind=\"sql\",outcome=\"200\"} 1\n",
          "baton_workers{state=\"ACTIVE\"} 2\n", "baton_workers{state=\"UNREACHABLE\"} 0\n",
          "baton_queries{state=\"PENDING\"} 1\n", "baton_build_info{version=\"baton 0.1.0\"} 1\n",
          "baton_rows_in_total{query=\"Q\",worker=\"HUB\"} 0\n", "process_open_fds ",
          "baton_leading 1\n", "baton_partitions{list=\"L\"} 3\n",
          "baton_partitions_owned{list=\"L\"} "}) {
        EXPECT_NE(page.body.find(line), std::string::npos) << line << "\n" << page.body;
    }
}

}  // namespace
}  // namespace baton::http
