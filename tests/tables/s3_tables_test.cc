// Tables in a real S3 store behind the real program: shared by daemons, through kill -9, and
// without permission.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/process.h"
#include "testing/free_port.h"
#include "testing/s3/rados_gateway.h"
#include "testing/temporary_directory.h"

namespace baton::testing {
namespace {

using Steady = std::chrono::steady_clock;

// baton serve with a catalog of its own, with the keys of a store in its environment.
class Serve {
public:
    explicit Serve(s3::Keys keys) : keys_(std::move(keys)) { start(); }

    void start() {
        process_ = std::make_unique<cli::Process>(std::vector<std::string>{
            "/usr/bin/env", "AWS_ACCESS_KEY_ID=" + keys_.id,
            "AWS_SECRET_ACCESS_KEY=" + keys_.secret, BATON_PROGRAMS "/baton", "serve", "--data",
            directory_ / "d", "--pg", "127.0.0.1:" + pg_, "--http", "127.0.0.1:" + http_,
            "--connect-to", "127.0.0.1"});
        const auto deadline = Steady::now() + cli::kPatience;
        while (Steady::now() < deadline && process_->state() != 'Z') {
            const std::string url = "http://127.0.0.1:" + http_ + "/readyz";
            if (cli::run({"/usr/bin/curl", "-sf", url}).status == 0) return;
            ::usleep(20'000);
        }
        process_->signal(SIGKILL);
        (void)process_->wait();
        ADD_FAILURE() << "the daemon is not ready: " << process_->errors();
    }
    void kill() {
        process_->signal(SIGKILL);
        EXPECT_EQ(process_->wait(), 128 + SIGKILL);
    }

    [[nodiscard]] cli::Ended psql(const std::string& statement) const {
        return cli::run({"/usr/bin/psql", "-X", "-A", "-t", "-q", "-h", "127.0.0.1", "-p", pg_,
                         "-U", "ann", "-d", "baton", "-v", "ON_ERROR_STOP=1"},
                        statement + ";\n");
    }
    // Rows, or the error.
    [[nodiscard]] std::string ask(const std::string& statement) const {
        const cli::Ended ended = psql(statement);
        return ended.status == 0 ? ended.out : ended.errors;
    }

private:
    const s3::Keys keys_;
    TemporaryDirectory directory_;
    const std::string pg_ = std::to_string(free_port());
    const std::string http_ = std::to_string(free_port());
    std::unique_ptr<cli::Process> process_;
};

// CREATE TABLE t at the bucket.
std::string create_in(const s3::S3Settings& bucket) {
    std::string url = "s3://" + bucket.bucket + "/t?endpoint=" + bucket.endpoint;
    if (!bucket.region.empty()) url += "&region=" + bucket.region;
    return "CREATE TABLE t (n BIGINT, s VARCHAR) SET ('" + url + "' AS TABLE.LOCATION)";
}

TEST(S3Tables, DaemonsShareATable) {
    const s3::S3Settings bucket = RadosGateway::shared().new_bucket();
    const Serve one(RadosGateway::keys());
    const Serve two(RadosGateway::keys());
    EXPECT_EQ(one.ask(create_in(bucket)), "");
    EXPECT_EQ(two.ask(create_in(bucket)), "");
    EXPECT_EQ(one.ask("INSERT INTO t VALUES (1, 'a'), (2, 'b')"), "");
    EXPECT_EQ(two.ask("SELECT n, s FROM t ORDER BY n"), "1|a\n2|b\n");
    EXPECT_EQ(two.ask("INSERT INTO t SELECT n + 10, s FROM t"), "");
    EXPECT_EQ(one.ask("SELECT count(*), sum(n) FROM t"), "4|26\n");
    std::vector<std::thread> writers;
    for (int i = 0; i < 2; ++i) {
        writers.emplace_back([&, i] {
            const Serve& mine = i == 0 ? one : two;
            for (int n = 0; n < 10; ++n) {
                const std::string row = std::to_string(100 + 10 * i + n);
                EXPECT_EQ(mine.ask("INSERT INTO t VALUES (" + row + ", 'w')"), "");
            }
        });
    }
    for (std::thread& writer : writers) writer.join();
    for (const Serve* each : {&one, &two}) {
        EXPECT_EQ(each->ask("SELECT count(*), count(DISTINCT n) FROM t WHERE s = 'w'"), "20|20\n");
    }
}

TEST(S3Tables, EveryAcknowledgedRowIsThereOnceAfterKills) {
    const s3::S3Settings bucket = RadosGateway::shared().new_bucket();
    Serve serve(RadosGateway::keys());
    ASSERT_EQ(serve.ask(create_in(bucket)), "");
    constexpr int kWriters = 3;
    constexpr int kRounds = 3;
    constexpr std::size_t kEachRound = 12;
    std::set<int> acknowledged;
    int tried = 0;
    for (int round = 0; round < kRounds; ++round) {
        std::atomic<bool> over = false;
        std::mutex mutex;
        const std::size_t goal = acknowledged.size() + kEachRound;
        std::vector<std::thread> writers;
        for (int i = 0; i < kWriters; ++i) {
            writers.emplace_back([&] {
                while (!over) {
                    int n = 0;
                    {
                        const std::lock_guard lock(mutex);
                        n = tried++;
                    }
                    const std::string row = "(" + std::to_string(n) + ", 'x')";
                    if (serve.psql("INSERT INTO t VALUES " + row).status != 0) continue;
                    const std::lock_guard lock(mutex);
                    acknowledged.insert(n);
                }
            });
        }
        const auto deadline = Steady::now() + cli::kPatience;
        for (bool enough = false; !enough && Steady::now() < deadline; ::usleep(1'000)) {
            const std::lock_guard lock(mutex);
            enough = acknowledged.size() >= goal;
        }
        serve.kill();
        over = true;
        for (std::thread& writer : writers) writer.join();
        EXPECT_GE(acknowledged.size(), goal);
        serve.start();
    }
    const std::string all = serve.ask("SELECT n FROM t ORDER BY n");
    std::map<int, int> there;
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find('\n', at), all.size());
        there[std::stoi(all.substr(at, end - at))] += 1;
        at = end + 1;
    }
    for (const int n : acknowledged) EXPECT_EQ(there[n], 1) << n;
    for (const auto& [n, times] : there) EXPECT_LE(times, 1) << n;
    EXPECT_EQ(serve.ask("INSERT INTO t VALUES (-1, 'after')"), "");
}

TEST(S3Tables, WithoutPermissionTheErrorSaysSo) {
    const s3::S3Settings bucket = RadosGateway::shared().new_bucket();
    const s3::Keys stranger = RadosGateway::keys_of_stranger();
    const Serve serve(stranger);
    const std::string refused = serve.ask(create_in(bucket));
    EXPECT_NE(refused.find("ERROR"), std::string::npos) << refused;
    EXPECT_NE(refused.find(bucket.bucket), std::string::npos) << refused;
    EXPECT_EQ(refused.find(stranger.secret), std::string::npos) << refused;
    EXPECT_EQ(serve.ask("SHOW TABLES"), "");
    const std::string hinted = serve.ask(
        "CREATE TABLE u (n BIGINT) SET "
        "('s3://b/p?access_key_id=a&secret_access_key=hush' AS TABLE.LOCATION)");
    EXPECT_NE(hinted.find("AWS_ACCESS_KEY_ID"), std::string::npos) << hinted;
    EXPECT_EQ(hinted.find("hush"), std::string::npos) << hinted;
    const std::string host = serve.ask(
        "CREATE TABLE u (n BIGINT) SET "
        "('s3://b/p?endpoint=http://192.0.2.1:80' AS TABLE.LOCATION)");
    EXPECT_NE(host.find("connect-to"), std::string::npos) << host;
}

}  // namespace
}  // namespace baton::testing
