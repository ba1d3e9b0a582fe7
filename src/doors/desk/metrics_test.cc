#include "doors/desk/metrics.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace baton::desk {
namespace {

using namespace std::chrono_literals;

TEST(Metrics, WhatIsCountedIsOnThePage) {
    Metrics metrics;
    metrics.counter("baton_connections_refused_total", {{"door", "http"}}).add(2);
    metrics.gauge("baton_streams", {{"door", "http"}}).set(3);
    EXPECT_EQ(
        metrics.text({{.family = "baton_queries", .labels = {{"state", "RUNNING"}}, .value = 7}}),
        "# HELP baton_connections_refused_total connections beyond the limit\n"
        "# TYPE baton_connections_refused_total counter\n"
        "baton_connections_refused_total{door=\"http\"} 2\n"
        "# HELP baton_streams streams of events that are followed\n"
        "# TYPE baton_streams gauge\n"
        "baton_streams{door=\"http\"} 3\n"
        "# HELP baton_queries queries in each state\n"
        "# TYPE baton_queries gauge\n"
        "baton_queries{state=\"RUNNING\"} 7\n");
}

TEST(Metrics, AHistogramCountsWhatIsNotAboveItsBounds) {
    Metrics metrics;
    DoorAnswers answers(metrics, "http");
    answers.count("sql", "200", 1ms);
    answers.count("sql", "200", 1001us);
    answers.count("sql", "200", 31s);
    const std::string page = metrics.text({});
    EXPECT_NE(page.find("le=\"0.001\"} 1\n"), std::string::npos) << page;
    EXPECT_NE(page.find("le=\"0.0025\"} 2\n"), std::string::npos) << page;
    EXPECT_NE(page.find("le=\"+Inf\"} 3\n"), std::string::npos) << page;
    EXPECT_NE(page.find("_sum{door=\"http\",kind=\"sql\"} 31.002001\n"), std::string::npos) << page;
    EXPECT_NE(page.find("_count{door=\"http\",kind=\"sql\"} 3\n"), std::string::npos) << page;
    EXPECT_NE(page.find("outcome=\"200\"} 3\n"), std::string::npos) << page;
}

TEST(Metrics, ADoorCountsItsAnswersByKindAndOutcome) {
    Metrics metrics;
    DoorAnswers answers(metrics, "pg");
    answers.count("simple", "00000", 1ms);
    answers.count("simple", "42601", 1ms);
    answers.count("simple", "00000", 3ms);
    answers.count("extended", "00000", 1ms);
    const std::string page = metrics.text({});
    EXPECT_NE(page.find("{door=\"pg\",kind=\"simple\",outcome=\"00000\"} 2\n"), std::string::npos)
        << page;
    EXPECT_NE(page.find("{door=\"pg\",kind=\"simple\",outcome=\"42601\"} 1\n"), std::string::npos)
        << page;
    EXPECT_NE(page.find("_count{door=\"pg\",kind=\"simple\"} 3\n"), std::string::npos) << page;
    EXPECT_NE(page.find("_count{door=\"pg\",kind=\"extended\"} 1\n"), std::string::npos) << page;
}

TEST(Metrics, ValuesOfLabelsAreEscaped) {
    const Metrics metrics;
    const std::string page = metrics.text(
        {{.family = "baton_workers", .labels = {{"state", "a\"b\\c\nd"}}, .value = 1}});
    EXPECT_NE(page.find("{state=\"a\\\"b\\\\c\\nd\"} 1\n"), std::string::npos) << page;
}

// | `name` | kind | labels | meaning |
TEST(Metrics, TheManualHasEveryFamilyAndNoOther) {
    const std::filesystem::path here(BATON_TESTDATA);  // src/doors/desk/testdata: not there
    std::ifstream file((here / "../../../../docs/METRICS.md").lexically_normal());
    ASSERT_TRUE(file);
    std::set<std::string> written;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("| `")) written.insert(line);
    }
    std::set<std::string> known;
    for (const MetricFamily& family : metric_families()) {
        const std::string_view kind = family.kind == MetricKind::counter ? "counter"
                                      : family.kind == MetricKind::gauge ? "gauge"
                                                                         : "histogram";
        std::ostringstream line;
        line << "| `" << family.name << "` | " << kind << " | " << family.labels << " | "
             << family.help << " |";
        known.insert(line.str());
    }
    EXPECT_EQ(written, known);
}

}  // namespace
}  // namespace baton::desk
