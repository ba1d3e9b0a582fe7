// However large or deep the text is, the answer is a tree or an error, never a crash.
#include <chrono>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <pthread.h>

#include "sql/parser.h"
#include "sql/printer.h"

namespace baton::sql {
namespace {

std::string repeated(std::string_view part, std::size_t times) {
    std::string text;
    text.reserve(part.size() * times);
    for (std::size_t i = 0; i < times; ++i) text += part;
    return text;
}

ErrorCode code_of(const std::string& text, const Limits& limits = {}) {
    const Result<std::vector<Statement>> statements = parse(text, limits);
    EXPECT_FALSE(statements.has_value()) << text.substr(0, 100);
    return statements ? ErrorCode::defect : statements.error().code;
}

// Also compares, prints and destroys what was parsed.
void expect_parsed(const std::string& text, const Limits& limits = {}) {
    const Result<Statement> statement = parse_one(text, limits);
    ASSERT_TRUE(statement.has_value()) << to_string(statement.error());
    const Result<Statement> again = parse_one(print(*statement), limits);
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_EQ(*again, *statement);
}

// Runs on a thread with half the stack that threads have by default.
void on_small_stack(std::function<void()> work) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{4} << 20U), 0);
    const auto run = [](void* argument) -> void* {
        (*static_cast<std::function<void()>*>(argument))();
        return nullptr;
    };
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    ASSERT_EQ(pthread_attr_destroy(&attributes), 0);
}

struct Deep {
    const char* name;
    std::function<std::string(std::size_t)> text;  // of that many levels, or a few more
};

const std::vector<Deep>& deep_texts() {
    static const std::vector<Deep> kTexts = {
        {"parentheses",
         [](std::size_t n) {
             return "SHOW QUERIES WHERE " + repeated("(", n) + "a" + repeated(")", n);
         }},
        {"sums", [](std::size_t n) { return "SHOW QUERIES WHERE a" + repeated(" + a", n); }},
        {"sums to the right",
         [](std::size_t n) {
             return "SHOW QUERIES WHERE " + repeated("a + (", n) + "a" + repeated(")", n);
         }},
        {"comparisons", [](std::size_t n) { return "SHOW QUERIES WHERE a" + repeated(" = a", n); }},
        {"tests", [](std::size_t n) { return "SHOW QUERIES WHERE a" + repeated(" IS NULL", n); }},
        {"ranges",
         [](std::size_t n) { return "SHOW QUERIES WHERE a" + repeated(" BETWEEN 1 AND 2", n); }},
        {"lists", [](std::size_t n) { return "SHOW QUERIES WHERE a" + repeated(" IN (1)", n); }},
        {"negations",
         [](std::size_t n) { return "SHOW QUERIES WHERE " + repeated("NOT ", n) + "a"; }},
        {"signs", [](std::size_t n) { return "SHOW QUERIES WHERE " + repeated("- ", n) + "a"; }},
        {"alternations",
         [](std::size_t n) {
             return "SHOW QUERIES WHERE " + repeated("a AND (b OR (", n / 2) + "c" +
                    repeated("))", n / 2);
         }},
        {"calls",
         [](std::size_t n) {
             return "SHOW QUERIES WHERE " + repeated("F(", n) + "a" + repeated(")", n);
         }},
        {"casts",
         [](std::size_t n) {
             return "SHOW QUERIES WHERE " + repeated("CAST(", n) + "a" + repeated(" AS INT8)", n);
         }},
        {"sums in parentheses",
         [](std::size_t n) {
             return "SHOW QUERIES WHERE " + repeated("(", n / 2) + "a" + repeated(" + a)", n / 2) +
                    repeated(" + a", n / 2);
         }},
        {"joins",
         [](std::size_t n) {
             return "SELECT * FROM s" + repeated(" JOIN t ON TRUE WINDOW TUMBLING(SIZE 1 SEC)", n);
         }},
        {"queries within queries",
         [](std::size_t n) {
             return "SELECT * FROM " + repeated("(SELECT * FROM ", n) + "s" + repeated(")", n);
         }},
        {"queries in parentheses",
         [](std::size_t n) {
             return repeated("(", n) + "SELECT * FROM s" + repeated(")", n) +
                    repeated(" UNION SELECT * FROM s", 1);
         }},
        {"unions to the right",
         [](std::size_t n) {
             return repeated("SELECT * FROM s UNION (", n) + "SELECT * FROM s" + repeated(")", n);
         }},
    };
    return kTexts;
}

TEST(Limits, RefuseTreesAndNestingThatAreTooDeep) {
    const Limits limits;
    on_small_stack([&] {
        for (const Deep& deep : deep_texts()) {
            EXPECT_EQ(code_of(deep.text(limits.depth_max + 2)), ErrorCode::too_large) << deep.name;
            EXPECT_EQ(code_of(deep.text(20'000)), ErrorCode::too_large) << deep.name;
        }
    });
}

TEST(Limits, AllowWhatIsAlmostTooDeep) {
    const Limits limits;
    on_small_stack([&] {
        for (const Deep& deep : deep_texts()) {
            SCOPED_TRACE(deep.name);
            expect_parsed(deep.text(limits.depth_max / 2 - 10));
        }
    });
}

TEST(Limits, AllowExactlyTheDepthThatTheySay) {
    const Limits limits;
    on_small_stack([&] {
        expect_parsed("SHOW QUERIES WHERE a" + repeated(" + a", limits.depth_max - 1));
        expect_parsed("SHOW QUERIES WHERE " + repeated("NOT ", limits.depth_max - 1) + "a");
        expect_parsed("SHOW QUERIES WHERE " + repeated("- ", limits.depth_max - 1) + "a");
    });
    EXPECT_EQ(code_of("SHOW QUERIES WHERE a" + repeated(" + a", limits.depth_max)),
              ErrorCode::too_large);
    EXPECT_EQ(code_of("SHOW QUERIES WHERE " + repeated("NOT ", limits.depth_max) + "a"),
              ErrorCode::too_large);
}

TEST(Limits, AddTheHeightsOfPartsThatAreShallowEach) {
    std::string text = "a";
    for (int i = 0; i < 100; ++i) text = "(" + text + repeated(" + a", 100) + ")";
    EXPECT_EQ(code_of("SHOW QUERIES WHERE " + text), ErrorCode::too_large);
}

TEST(Limits, AreThoseOfTheCaller) {
    const Limits limits{.bytes_max = 40, .depth_max = 3};
    expect_parsed("SHOW QUERIES WHERE a + a", limits);
    EXPECT_EQ(code_of("SHOW QUERIES WHERE a + a + a + a", limits), ErrorCode::too_large);
    EXPECT_EQ(code_of(repeated(" ", 41), limits), ErrorCode::too_large);
}

TEST(Limits, AllowWideTrees) {
    expect_parsed("SHOW QUERIES WHERE a" + repeated(" AND a", 20'000));
    expect_parsed("SHOW QUERIES WHERE a IN (a" + repeated(", a", 20'000) + ")");
    expect_parsed("SELECT a" + repeated(", a", 1'599) + " FROM s");
    expect_parsed("SELECT * FROM s" + repeated(" UNION SELECT * FROM s", 5'000));
    expect_parsed("CREATE LOGICAL SOURCE s (a INT8" + repeated(", a INT8", 1'599) + ")");
    EXPECT_EQ(parse(repeated("BEGIN;", 10'000))->size(), 10'000U);
}

TEST(Limits, AreNamedWhereATextIsTooWide) {
    const std::string name(256, 'x');
    const std::vector<std::pair<std::string, std::string>> texts = {
        {"SHOW QUERIES WHERE a" + repeated(" OR a", 100'000), "32000"},
        {"SHOW QUERIES WHERE a IN (a" + repeated(", a", 40'000) + ")", "32000"},
        {"SELECT * FROM s" + repeated(" UNION SELECT * FROM s", 20'000), "32000"},
        {"CREATE SINK s (a INT8) TYPE File SET (1 AS x" + repeated(", 1 AS x", 40'000) + ")",
         "32000"},
        {"CREATE SINK s (a INT8) TYPE File SET (1 AS x" + repeated(".x", 40'000) + ")", "32000"},
        {"SELECT a" + repeated(", a", 1'600) + " FROM s", "1600"},
        {"SELECT *" + repeated(", *", 1'600) + " FROM s", "1600"},
        {"SELECT a FROM s GROUP BY a" + repeated(", a", 1'600), "1600"},
        {"CREATE LOGICAL SOURCE s (a INT8" + repeated(", a INT8", 1'600) + ")", "1600"},
        {repeated("BEGIN;", 10'001), "10000"},
        {"SHOW QUERIES WHERE " + name, "255"},
        {"SHOW QUERIES WHERE \"" + name + "\"", "255"},
        {"ACQUIRE LOCK '" + name + "'", "255"},
        {"CREATE SINK s (" + name.substr(128) + "." + name.substr(128) + " INT8) TYPE Print",
         "255"},
    };
    for (const auto& [text, limit] : texts) {
        const auto parsed = parse(text);
        ASSERT_FALSE(parsed.has_value()) << text.substr(0, 60);
        EXPECT_EQ(parsed.error().code, ErrorCode::too_large) << to_string(parsed.error());
        EXPECT_NE(parsed.error().message.find(limit), std::string::npos) << parsed.error().message;
        EXPECT_FALSE(parsed.error().hint.empty());
        EXPECT_LT(parsed.error().message.size(), 200U);
    }
    expect_parsed("SHOW QUERIES WHERE " + name.substr(1));
    expect_parsed("SHOW QUERIES WHERE \"" + name.substr(1) + "\"");
}

// A parameter of a reader, used 30,000 times, took 450 GB.
TEST(Limits, CountAParameterWhereverItIsUsed) {
    const std::vector<Literal> parameters = {std::string(1 << 20, 'x'), std::string(40 << 20, 'y')};
    const auto uses = [&](int times) {
        return parse("SHOW QUERIES WHERE a IN ($1" + repeated(", $1", times - 1) + ")", {},
                     parameters);
    };
    EXPECT_TRUE(uses(16));
    const auto refused = uses(17);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::too_large);
    EXPECT_NE(refused.error().message.find("16 MB"), std::string::npos);
    EXPECT_EQ(parse(repeated("SHOW QUERIES WHERE a = $1;", 17), {}, parameters).error().code,
              ErrorCode::too_large);
    EXPECT_FALSE(parse("SHOW QUERIES WHERE a = $2", {}, parameters));
}

TEST(UsedParameters, AreThoseThatTheTextNames) {
    const std::vector<Literal> parameters = {std::string("a"), std::string("b"), std::string("c"),
                                             std::string("d")};
    const auto used =
        used_parameters("SHOW QUERIES WHERE x = $3 OR x = $1 OR '$2' = $9", parameters);
    EXPECT_EQ(used, (std::vector<Literal>{std::string("a"), Null{}, std::string("c")}));
    EXPECT_TRUE(used_parameters("SHOW QUERIES WHERE x = '$1' -- $2", parameters).empty());
    EXPECT_EQ(used_parameters("$2 \xff $1", parameters).size(), 2U);
}

TEST(Limits, CountEachStatementByItself) {
    const std::string one = "SHOW QUERIES WHERE a" + repeated(" OR a", 20'000) + ";";
    EXPECT_EQ(parse(repeated(one, 3))->size(), 3U);
}

TEST(Limits, RefuseLargeTextAtOnce) {
    EXPECT_EQ(code_of(repeated("SHOW QUERIES;", 1'000'000)), ErrorCode::too_large);
}

TEST(Limits, AnswerQuicklyWhateverTheTextIs) {
    const std::size_t bytes = Limits{}.bytes_max;
    using Clock = std::chrono::steady_clock;
    for (const std::string_view part :
         {"(",       "a",  "'",      "\"", "/*",      "--",
          ";",       "a ", "1",      "1.", "- ",      "NOT ",
          "SELECT ", "a,", "a AND ", "a+", "(a AND ", "SELECT a FROM s UNION ",
          "''",      "\\", "\n",     "a.", "x IN ("}) {
        const std::string text =
            "SHOW QUERIES WHERE " + repeated(part, (bytes - 100) / part.size());
        const Clock::time_point start = Clock::now();
        (void)parse(text);
        (void)without_strings(text);
        EXPECT_LT(Clock::now() - start, std::chrono::seconds(10)) << part;
    }
}

}  // namespace
}  // namespace baton::sql
