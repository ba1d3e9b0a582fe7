// What is counted, as Prometheus itself takes it.
#include <fstream>

#include "adapters/system/digest.h"
#include "cli/process.h"
#include "http/server_test.h"
#include "testing/free_port.h"
#include "testing/temporary_directory.h"

namespace baton::http {
namespace {

using nlohmann::json;

class PrometheusTest : public ServerTest {
protected:
    void SetUp() override {
        access_ = desk::Access({},
                               {{.name = "scraper",
                                 .role = desk::Role::reader,
                                 .sha256 = system::sha256_hex("secret")}},
                               system::sha256_hex);
        ServerTest::SetUp();
        make_small_cluster();
        run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
        listen();
    }
    [[nodiscard]] std::vector<std::string> prometheus(int port) const {
        const std::string file = directory_ / "prometheus.yml";
        std::ofstream(file) << "global: {scrape_interval: 100ms, scrape_timeout: 100ms}\n"
                            << "scrape_configs:\n"
                            << "  - job_name: baton\n"
                            << "    authorization: {credentials: secret}\n"
                            << "    static_configs: [{targets: ['127.0.0.1:" << server_->port()
                            << "']}]\n";
        return {"/usr/bin/prometheus", "--config.file=" + file,
                "--storage.tsdb.path=" + (directory_ / "data"),
                "--web.listen-address=127.0.0.1:" + std::to_string(port), "--log.level=warn"};
    }
    // The value of the one series that the query gives; empty: there is none yet.
    static std::string value_of(int port, const std::string& query) {
        const std::string told =
            shell("curl -s --max-time 5 --data-urlencode 'query=" + query +
                  "' http://127.0.0.1:" + std::to_string(port) + "/api/v1/query");
        const json answer = json::parse(told, nullptr, false);
        if (!answer.is_object() || answer["status"] != "success") return {};
        const json& result = answer["data"]["result"];
        return result.size() == 1 ? result[0]["value"][1].get<std::string>() : std::string();
    }

    const testing::TemporaryDirectory directory_;
};

TEST_F(PrometheusTest, ScrapesWhatIsCounted) {
    const int port = testing::free_port();
    cli::Process scraper(prometheus(port));
    const auto becomes = [&](const std::string& query, const std::string& value) {
        return soon([&] { return value_of(port, query) == value; });
    };
    EXPECT_TRUE(becomes("up", "1")) << value_of(port, "up");
    EXPECT_TRUE(becomes("baton_workers{state=\"ACTIVE\"}", "2"));
    EXPECT_TRUE(becomes("baton_queries{state=\"PENDING\"}", "1"));
    // Histograms and counters are such that can be asked for rates.
    EXPECT_TRUE(soon([&] {
        const std::string rate = value_of(
            port, "sum(rate(baton_requests_total{kind=\"metrics\",outcome=\"200\"}[10s]))");
        return !rate.empty() && rate != "0";
    }));
    EXPECT_TRUE(soon([&] {
        const std::string p99 = value_of(port,
                                         "histogram_quantile(0.99, sum by (le) "
                                         "(rate(baton_request_seconds_bucket[10s])))");
        return !p99.empty() && p99 != "NaN";
    }));
    run("DROP QUERY q");
    EXPECT_TRUE(becomes("baton_queries{state=\"PENDING\"}", "0"));
}

TEST_F(PrometheusTest, FindsNothingToCorrect) {
    (void)curl("", "/v1/workers");
    const cli::Ended checked = cli::run({"/usr/bin/promtool", "check", "metrics"},
                                        curl("-H 'Authorization: Bearer secret'", "/metrics"));
    EXPECT_EQ(checked.status, 0) << checked.out << checked.errors;
    EXPECT_EQ(checked.errors, "");
}

}  // namespace
}  // namespace baton::http
