// Requests and statements that are as large, wide or deep as they can be: each takes a bounded
// amount of memory, is refused with the limit that it exceeds, and leaves nothing behind.
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "hostile/daemon.h"

namespace baton::hostile {
namespace {

constexpr std::size_t kBodyMax = std::size_t{16} << 20U;
constexpr std::size_t kTextMax = std::size_t{1} << 20U;
constexpr std::size_t kPeakMax = 200;  // MB above the start
constexpr std::size_t kLeftMax = 64;
constexpr auto kSettles = std::chrono::seconds(30);

// `before`, `part` as often as there is room, `after`.
std::string filled_up(std::size_t bytes, const std::string& before, const std::string& part,
                      const std::string& after) {
    std::string text;
    text.reserve(bytes);
    text += before;
    while (text.size() + part.size() + after.size() <= bytes) text += part;
    return text + after;
}

struct LargeInput {
    std::string name;
    std::string text;
};

std::vector<LargeInput> large_bodies() {
    const auto body = [](const std::string& before, const std::string& part,
                         const std::string& after) {
        return filled_up(kBodyMax, before, part, after);
    };
    const std::string head = R"({"sql":"SHOW QUERIES","parameters":[)";
    std::string members = "{";
    for (int i = 0; members.size() < kBodyMax - 20; ++i) {
        members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
    }
    std::string parameters = R"({"sql":"SHOW QUERIES WHERE NAME = $1","parameters":["a")";
    for (int i = 0; i < 65'000; ++i) parameters += ",\"" + std::string(200, 'x') + "\"";
    return {
        {"numbers", body(head + "0", ",0", "]}")},
        {"empty arrays", body(head + "[]", ",[]", "]}")},
        {"empty strings", body(head + "\"\"", ",\"\"", "]}")},
        {"objects", body(R"({"sql":"SHOW QUERIES","x":[{})", ",{}", "]}")},
        {"nested arrays", body(head, "[", "")},
        {"nested from the start", body("", "[", "")},
        {"nested objects", body("", R"({"a":)", "")},
        {"members", members + "}"},
        {"one member", body("{\"", "a", "\":0}")},
        {"a long statement", body(R"({"sql":")", "a", "\"}")},
        {"escapes", body(R"({"sql":")", "\\u00e9", "\"}")},
        {"a long number", body(head, "1", "]}")},
        {"large parameters", parameters + "]}"},
        {"no JSON at all", body("", "\xff", "")},
    };
}

std::vector<LargeInput> large_statements() {
    const auto text = [](const std::string& before, const std::string& part,
                         const std::string& after = {}) {
        return filled_up(kTextMax, before, part, after);
    };
    return {
        {"OR", text("SHOW QUERIES WHERE NAME = ''", " OR NAME=''")},
        {"AND", text("SHOW QUERIES WHERE NAME", " AND A")},
        {"IN", text("SHOW QUERIES WHERE NAME IN (''", ",''", ")")},
        {"sums", text("SHOW QUERIES WHERE A", "+A")},
        {"parentheses", text("SHOW QUERIES WHERE ", "(")},
        {"negations", text("SHOW QUERIES WHERE ", "NOT ")},
        {"columns of a source", text("CREATE LOGICAL SOURCE W (A INT8", ",B INT8", ")")},
        {"columns of a query", text("SELECT A", ",A", " FROM S INTO K")},
        {"columns of a view", text("SELECT NAME", ",NAME", " FROM baton.queries")},
        {"groups", text("SELECT A FROM S GROUP BY A", ",A")},
        {"unions", text("SELECT * FROM S", " UNION SELECT * FROM S")},
        {"joins", text("SELECT * FROM S", " JOIN T ON TRUE WINDOW TUMBLING(SIZE 1 SEC)")},
        {"queries in queries", text("SELECT * FROM ", "(SELECT * FROM ")},
        {"settings", text("CREATE SINK K (A INT8) TYPE File SET ('a' AS A", ",'a' AS A", ")")},
        {"keys", text("CREATE SINK K (A INT8) TYPE File SET ('a' AS A", ".A", ")")},
        {"statements", text("", "BEGIN;")},
        {"answers", text("", "SHOW WORKERS;")},
        {"a long string", text("SHOW QUERIES WHERE NAME = '", "x", "'")},
        {"a long word", text("SHOW QUERIES WHERE ", "x")},
        {"a long name", text("CREATE LOGICAL SOURCE \"", "x", "\" (A INT8)")},
        {"CTEs", text("WITH A AS (SELECT 1)", ", A AS (SELECT 1)", " SELECT 1")},
        {"parameters", text("SHOW QUERIES WHERE A IN ($1", ",$9", ")")},
        {"questions of PostgreSQL",
         text("SELECT 1 FROM pg_class WHERE relname=''", " OR relname=''")},
        {"semicolons", text("", ";")},
        {"comments", text("SHOW QUERIES ", "/*")},
    };
}

class HostileMemory : public ::testing::Test {
protected:
    HostileMemory() : at_first_(daemon_.memory_mb()) {}

    // `say` sends it and returns what was answered.
    template <class Say>
    void expect_bounded(const LargeInput& bad, Say say) {
        daemon_.forget_peak();
        const std::string answer = say(bad.text);
        EXPECT_FALSE(answer.empty()) << bad.name;
        EXPECT_EQ(answer.find("defect"), std::string::npos) << bad.name << ": " << answer;
        EXPECT_LE(daemon_.peak_mb(), at_first_ + kPeakMax) << bad.name;
    }

    std::string post(const std::string& body) {
        std::ofstream(daemon_.path("body"), std::ios::binary) << body;
        return daemon_
            .curl("/v1/sql", {"-H", "Content-Type: application/json", "-H",
                              "Expect:", "--data-binary", "@" + daemon_.path("body")})
            .out;
    }

    std::string ask_pg(const std::string& statement) const {
        const Socket socket(daemon_.pg_port());
        const std::string ready("Z\0\0\0\5I", 6);
        (void)socket.send(std::string("\0\0\0\x12\0\3\0\0user\0ann\0\0", 18));
        (void)socket.read_until(ready, cli::kPatience);
        const std::size_t size = statement.size() + 5;
        std::string message = "Q";
        for (int shift = 24; shift >= 0; shift -= 8) {
            message += static_cast<char>(size >> static_cast<unsigned>(shift) & 0xffU);
        }
        (void)socket.send(message + statement + std::string(1, '\0'));
        return socket.read_until(ready, cli::kPatience);
    }

    void expect_as_before() {
        const auto deadline = std::chrono::steady_clock::now() + kSettles;
        while (daemon_.memory_mb() > at_first_ + kLeftMax &&
               std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        EXPECT_LE(daemon_.memory_mb(), at_first_ + kLeftMax);
        EXPECT_TRUE(daemon_.takes_a_write());
    }

    Daemon daemon_;
    const std::size_t at_first_;
};

TEST_F(HostileMemory, LargeBodiesTakeLittleAndLeaveNothing) {
    for (const LargeInput& bad : large_bodies()) {
        expect_bounded(bad, [&](const std::string& text) { return post(text); });
    }
    expect_as_before();
}

TEST_F(HostileMemory, LargeStatementsTakeLittleAndLeaveNothing) {
    for (const LargeInput& bad : large_statements()) {
        expect_bounded(bad, [&](const std::string& text) { return daemon_.post_sql(text).out; });
        expect_bounded(bad, [&](const std::string& text) { return ask_pg(text); });
    }
    expect_as_before();
}

// A short text whose answers together would take gigabytes.
TEST_F(HostileMemory, ManyLargeAnswersAreRefused) {
    for (int part = 0; part < 5; ++part) {
        std::string sources;
        for (int i = 0; i < 1'000; ++i) {
            sources += "CREATE LOGICAL SOURCE S" + std::to_string(part * 1'000 + i) +
                       " (A INT8, B VARSIZED, C FLOAT64);";
        }
        ASSERT_TRUE(daemon_.post_sql(sources).out.ends_with("\n200\n"));
    }
    const std::string shows = filled_up(200'000, "", "SHOW LOGICAL SOURCES;", "");
    expect_bounded({"answers over HTTP", shows}, [&](const std::string& text) {
        const std::string answer = daemon_.post_sql(text).out;
        EXPECT_TRUE(answer.ends_with("\n413\n"));
        return answer.substr(answer.size() - 5);
    });
    expect_bounded({"answers to psql", shows}, [&](const std::string& text) {
        const std::string answer = ask_pg(text);
        EXPECT_NE(answer.find("54000"), std::string::npos);
        return answer.substr(answer.size() - 5);
    });
    expect_as_before();
}

TEST_F(HostileMemory, ALongChainIsAnsweredOrRefusedWithItsLimit) {
    const cli::Ended most =
        daemon_.post_sql(filled_up(100'000, "SHOW QUERIES WHERE NAME = ''", " OR NAME = ''", ""));
    EXPECT_TRUE(most.out.ends_with("\n200\n")) << most.out;
    const cli::Ended more =
        daemon_.post_sql(filled_up(kTextMax, "SHOW QUERIES WHERE NAME = ''", " OR NAME = ''", ""));
    EXPECT_TRUE(more.out.ends_with("\n413\n")) << more.out;
    EXPECT_NE(more.out.find("32000"), std::string::npos) << more.out;
    const cli::Ended in =
        daemon_.post_sql(filled_up(120'000, "SHOW QUERIES WHERE NAME IN (''", ",''", ")"));
    EXPECT_TRUE(in.out.ends_with("\n413\n")) << in.out;
    std::string nested = "NAME = ''";
    for (int i = 0; i < 120; ++i) nested = "NOT (NAME = '' OR " + nested + ")";
    const cli::Ended deep = daemon_.post_sql("SHOW QUERIES WHERE " + nested);
    EXPECT_EQ(deep.out.find("defect"), std::string::npos) << deep.out;
}

}  // namespace
}  // namespace baton::hostile
