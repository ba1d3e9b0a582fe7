// Workers that two catalogs name, that outlive their catalog, or that claim an epoch that nobody
// can have led under. Each coordinator goes on, says what is wrong with the worker, and takes
// writes.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "hostile/daemon.h"
#include "testing/free_port.h"
#include "testing/servers/database_server.h"

namespace baton::hostile {
namespace {

using namespace std::chrono_literals;

std::string file_text(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::size_t count_in(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        count += 1;
    }
    return count;
}

bool comes_true(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + cli::kPatience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(250ms);  // each look is a login, and a line of the log
    }
    return true;
}

// `baton worker` with a data directory; its log goes to a file.
class LoneWorker {
public:
    LoneWorker() : port_(std::to_string(testing::free_port())) { start(); }

    void start() {
        process_ = std::make_unique<cli::Process>(std::vector<std::string>{
            "/bin/sh", "-c",
            "exec " BATON_PROGRAMS "/baton worker --name W --drain 0 --listen 127.0.0.1:" + port_ +
                " --data-dir " + data() + " 2>>" + (directory_ / "log")});
        const std::size_t before = count_in(log(), "listens on");
        EXPECT_TRUE(comes_true([&] { return count_in(log(), "listens on") > before; })) << log();
    }
    void stop() {
        process_->signal(SIGKILL);
        (void)process_->wait();
    }
    void pause() const { process_->signal(SIGSTOP); }
    void resume() const { process_->signal(SIGCONT); }
    [[nodiscard]] std::string data() const { return directory_ / "w"; }
    [[nodiscard]] std::string log() const { return file_text(directory_ / "log"); }
    [[nodiscard]] cli::Ended release() const {
        return cli::run({BATON_PROGRAMS "/baton", "worker", "release", "--data-dir", data()});
    }
    [[nodiscard]] std::string declaration() const {
        return "CREATE WORKER '127.0.0.1:" + port_ + "' SET ('W' AS NAME)";
    }

private:
    testing::TemporaryDirectory directory_;
    std::string port_;
    std::unique_ptr<cli::Process> process_;
};

// An endless query on W alone.
std::string query_on_w(const std::string& name, const std::string& where = "") {
    return "CREATE QUERY " + name +
           " AS SELECT a FROM Generator('W' AS SOURCE.HOST, SCHEMA(a UINT64 NOT NULL) AS "
           "SOURCE.SCHEMA, 'SEQUENCE UINT64 0 1000000000 1' AS SOURCE.GENERATOR_SCHEMA, "
           "'emit_rate 10' AS SOURCE.GENERATOR_RATE_CONFIG)" +
           where + " INTO Void('W' AS SINK.HOST)";
}

std::string one_value(const Daemon& daemon, const std::string& question) {
    const cli::Ended told = daemon.psql(question);
    return told.status == 0 ? told.out : told.errors;
}
std::string worker_in(const Daemon& daemon) {
    return one_value(daemon, "SELECT STATE, REASON FROM baton.WORKERS WHERE NAME = 'W'");
}
bool is_heard(const Daemon& daemon) {
    return comes_true([&] { return worker_in(daemon) == "ACTIVE|\n"; });
}
bool is_refused(const Daemon& daemon, const std::string& reason) {
    return comes_true([&] {
        const std::string worker = worker_in(daemon);
        return worker.starts_with("UNREACHABLE|") && worker.find(reason) != std::string::npos;
    });
}
bool runs(const Daemon& daemon, const std::string& query) {
    return comes_true([&] {
        return one_value(daemon, "SELECT STATE FROM baton.QUERIES WHERE NAME = '" + query + "'") ==
               "RUNNING\n";
    });
}

// A catalog on a server, whose leader is elected; a catalog in a file is led by its one
// coordinator.
std::string on_server() {
    return testing::DatabaseServer::shared(testing::ServerKind::postgres).new_database();
}

void two_name_one_worker(Daemon& owner, Daemon& other) {
    LoneWorker worker;
    ASSERT_EQ(owner.psql(worker.declaration()).status, 0);
    ASSERT_TRUE(is_heard(owner)) << worker_in(owner);
    ASSERT_EQ(owner.psql(query_on_w("MINE")).status, 0);
    ASSERT_TRUE(runs(owner, "MINE"));
    ASSERT_EQ(other.psql(worker.declaration()).status, 0);
    ASSERT_TRUE(is_refused(other, "the worker belongs to catalog ")) << worker_in(other);
    EXPECT_NE(worker_in(other).find("baton worker release --data-dir DIR"), std::string::npos);
    const std::size_t before = count_in(worker.log(), "calls, epoch");
    const auto end = std::chrono::steady_clock::now() + 12s;
    while (std::chrono::steady_clock::now() < end) {
        EXPECT_EQ(worker_in(owner), "ACTIVE|\n");
        EXPECT_TRUE(other.takes_a_write());
        std::this_thread::sleep_for(1s);
    }
    EXPECT_LE(count_in(worker.log(), "calls, epoch") - before, 8U) << worker.log();
    EXPECT_EQ(one_value(owner, "SELECT STATE, RUN FROM baton.QUERIES"), "RUNNING|1\n");
    for (Daemon* daemon : {&owner, &other}) {
        EXPECT_TRUE(daemon->takes_a_write());
        EXPECT_LE(count_in(daemon->ended_log(), "INFO  leads"), 1U) << daemon->process().errors();
    }
}

TEST(HostileCatalogs, TwoInFilesThatNameOneWorkerDoNotFightForIt) {
    Daemon owner;
    Daemon other;
    two_name_one_worker(owner, other);
}

TEST(HostileCatalogs, TwoOnServersThatNameOneWorkerDoNotFightForIt) {
    Daemon owner({"--catalog", on_server()});
    Daemon other({"--catalog", on_server()});
    two_name_one_worker(owner, other);
}

TEST(HostileCatalogs, AFragmentOfALostCatalogIsNotAdopted) {
    LoneWorker worker;
    {
        Daemon lost;
        ASSERT_EQ(lost.psql(worker.declaration()).status, 0);
        ASSERT_EQ(lost.psql(query_on_w("OLD")).status, 0);
        ASSERT_TRUE(runs(lost, "OLD"));
        lost.process().signal(SIGKILL);
        (void)lost.process().wait();
    }
    Daemon next;  // with the same numbers for everything
    ASSERT_EQ(next.psql(worker.declaration()).status, 0);
    ASSERT_EQ(next.psql(query_on_w("NEW", " WHERE a > 5")).status, 0);
    ASSERT_TRUE(is_refused(next, "the worker belongs to catalog ")) << worker_in(next);
    EXPECT_EQ(one_value(next, "SELECT STATE FROM baton.QUERIES"), "PENDING\n");

    const cli::Ended too_early = worker.release();
    EXPECT_NE(too_early.status, 0);
    EXPECT_NE(too_early.errors.find("a worker runs on it"), std::string::npos) << too_early.errors;
    worker.stop();
    const cli::Ended released = worker.release();
    EXPECT_EQ(released.status, 0) << released.errors;
    EXPECT_NE(released.out.find("is released from catalog"), std::string::npos) << released.out;
    worker.start();
    EXPECT_TRUE(is_heard(next)) << worker_in(next);
    EXPECT_TRUE(runs(next, "NEW"));
    EXPECT_TRUE(next.takes_a_write());
}

// The numbers of queries and fragments come again after a restore; what the worker runs under them
// is another query.
TEST(HostileCatalogs, AFragmentOfAHistoryThatWasUndoneIsNotAdopted) {
    LoneWorker worker;
    Daemon daemon;
    ASSERT_EQ(daemon.psql(worker.declaration()).status, 0);
    ASSERT_TRUE(is_heard(daemon)) << worker_in(daemon);
    const std::string backup = daemon.path("backup");
    ASSERT_EQ(cli::run({BATON_PROGRAMS "/baton", "backup", "--data", daemon.data(), backup}).status,
              0);
    ASSERT_EQ(daemon.psql(query_on_w("UNDONE")).status, 0);
    ASSERT_TRUE(runs(daemon, "UNDONE"));
    const std::string log = worker.log();
    const std::size_t from = log.find("fragment ");
    const std::string fragment = log.substr(from, log.find(" is prepared") - from + 1);
    worker.pause();
    daemon.restart([&] {
        const cli::Ended restored = cli::run(
            {BATON_PROGRAMS "/baton", "restore", "--force", "--data", daemon.data(), backup});
        EXPECT_EQ(restored.status, 0) << restored.errors;
    });
    ASSERT_EQ(daemon.psql(query_on_w("NEXT", " WHERE a > 5")).status, 0);
    worker.resume();
    EXPECT_TRUE(runs(daemon, "NEXT"));
    EXPECT_TRUE(is_heard(daemon)) << "the restored catalog is that of the worker";
    EXPECT_EQ(count_in(worker.log(), fragment + "is prepared"), 2U) << worker.log();
    EXPECT_EQ(count_in(worker.log(), fragment + "is stopped"), 1U) << worker.log();
    EXPECT_TRUE(daemon.takes_a_write());
}

TEST(HostileCatalogs, AnEpochThatCannotBeDoesNotMoveTheLeader) {
    LoneWorker worker;
    Daemon daemon({"--catalog", on_server()});
    ASSERT_EQ(daemon.psql(worker.declaration()).status, 0);
    ASSERT_TRUE(is_heard(daemon)) << worker_in(daemon);
    const std::string kept = file_text(worker.data() + "/epoch");
    const std::string catalog = kept.substr(kept.find(' '));
    for (const std::string poison : {"9223372036854775806", "18446744073709551615"}) {
        worker.stop();
        std::ofstream(worker.data() + "/epoch", std::ios::trunc) << poison << catalog;
        worker.start();
        EXPECT_TRUE(is_refused(daemon, "it claims to have obeyed epoch " + poison))
            << worker_in(daemon);
        EXPECT_TRUE(daemon.takes_a_write());
    }
    worker.stop();
    EXPECT_EQ(worker.release().status, 0);
    worker.start();
    EXPECT_TRUE(is_heard(daemon)) << worker_in(daemon);
    EXPECT_TRUE(daemon.takes_a_write());
    EXPECT_EQ(count_in(daemon.ended_log(), "INFO  leads"), 1U) << daemon.process().errors();
}

// A database restored from a backup leads under a lower epoch than its workers have obeyed.
TEST(HostileCatalogs, AnEpochThatTermsCanHaveReachedIsOvertaken) {
    LoneWorker worker;
    Daemon daemon({"--catalog", on_server()});
    ASSERT_EQ(daemon.psql(worker.declaration()).status, 0);
    ASSERT_TRUE(is_heard(daemon)) << worker_in(daemon);
    const std::string kept = file_text(worker.data() + "/epoch");
    const std::string catalog = kept.substr(kept.find(' '));
    worker.stop();
    std::ofstream(worker.data() + "/epoch", std::ios::trunc) << "5000" << catalog;
    worker.start();
    EXPECT_TRUE(comes_true([&] { return file_text(worker.data() + "/epoch") == "5001" + catalog; }))
        << file_text(worker.data() + "/epoch");
    EXPECT_TRUE(is_heard(daemon)) << worker_in(daemon);
    EXPECT_TRUE(daemon.takes_a_write());
}

// A catalog that was copied, and both are led: both are the worker's, and each leader takes an
// epoch above the other's.
TEST(HostileCatalogs, ACopyThatIsLedAtTheSameTimeDoesNotSpin) {
    LoneWorker worker;
    const std::string here = on_server();
    const std::string there = on_server();
    Daemon original({"--catalog", here});
    ASSERT_EQ(original.psql(worker.declaration()).status, 0);
    ASSERT_TRUE(is_heard(original)) << worker_in(original);
    original.restart([&] {
        const cli::Ended copied = cli::run(
            {BATON_PROGRAMS "/baton", "catalog", "migrate", "--from", here, "--to", there});
        EXPECT_EQ(copied.status, 0) << copied.errors;
    });
    Daemon copy({"--catalog", there});
    const std::size_t before = count_in(worker.log(), "calls, epoch");
    std::this_thread::sleep_for(12s);
    const std::size_t dials = count_in(worker.log(), "calls, epoch") - before;
    EXPECT_GE(dials, 2U) << "they do not fight";
    EXPECT_LE(dials, 60U) << worker.log();
    for (Daemon* daemon : {&original, &copy}) {
        EXPECT_LE(count_in(daemon->ended_log(), "INFO  leads"), 12U) << daemon->process().errors();
    }
}

}  // namespace
}  // namespace baton::hostile
