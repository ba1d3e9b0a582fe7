// `baton worker` as processes, and a coordinator of this process that looks after them.
#include "cli/process.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/grpc/grpc_result_streams.h"
#include "adapters/grpc/grpc_transport.h"
#include "coordinator/sessions/row_feed.h"
#include "testing/coordinator/coordinator_test_base.h"
#include "testing/temporary_directory.h"

namespace baton {
namespace {

using namespace std::chrono_literals;
using cli::Process;

class WorkerProcesses : public testing::CoordinatorTest {
protected:
    void SetUp() override {
        transport_ = std::make_unique<rpc::GrpcTransport>();
        results_ = std::make_unique<rpc::GrpcResultStreams>();
        coordinator::CoordinatorOptions options;
        options.transport = transport_.get();
        options.results = results_.get();
        options.control.membership.beat_every = 100ms;
        options.control.membership.timeout_base = 50ms;
        options.control.membership.timeout_min = 300ms;
        options.control.membership.probe_first = 100ms;
        options.control.membership.probe_max = 300ms;
        open(options);
    }
    void TearDown() override {
        session_.reset();
        coordinator_.reset();
        results_.reset();
        transport_.reset();
    }

    // Starts one and waits until it listens. Its standard error goes to a file.
    std::unique_ptr<Process> start(const std::string& name, int port,
                                   const std::string& more = "") {
        const std::string log = directory_ / (name + std::to_string(++started_) + ".log");
        auto process = std::make_unique<Process>(std::vector<std::string>{
            "/bin/sh", "-c",
            "exec " BATON_PROGRAMS "/baton worker --name " + name +
                " --listen 127.0.0.1:" + std::to_string(port) + " --data-dir " +
                (directory_ / name) + " " + more + " 2>" + log});
        EXPECT_TRUE(eventually([&] {
            return text_of(log).find("listens on") != std::string::npos;
        })) << text_of(log);
        last_log_ = log;
        return process;
    }
    static std::string text_of(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    // The port that the last one was given.
    [[nodiscard]] int last_port() const {
        const std::string text = text_of(last_log_);
        const std::string mark = "listens on 127.0.0.1:";
        return std::stoi(text.substr(text.find(mark) + mark.size()));
    }
    static bool eventually(const std::function<bool()>& holds) {
        const auto deadline = std::chrono::steady_clock::now() + 30s;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(10ms);
        }
        return true;
    }
    std::string state_of(const std::string& worker) {
        return rows("SELECT STATE FROM baton.WORKERS WHERE NAME = '" + worker + "'");
    }
    std::string incarnation_of(const std::string& worker) {
        return rows("SELECT INCARNATION FROM baton.WORKERS WHERE NAME = '" + worker + "'");
    }
    bool comes_to(const std::string& worker, const std::string& state) {
        const bool came = eventually([&] { return state_of(worker) == state + "\n"; });
        if (!came) ADD_FAILURE() << rows("SELECT NAME, STATE, REASON FROM baton.WORKERS");
        return came;
    }
    bool is_heard_from(const std::string& worker) {
        return eventually(
            [&] { return incarnation_of(worker) != "NULL\n" && incarnation_of(worker) != "\n"; });
    }
    // On EDGE alone, after its name.
    static std::string endless_query() {
        return " AS SELECT a FROM Generator('EDGE' AS SOURCE.HOST, SCHEMA(a UINT64 NOT NULL) AS "
               "SOURCE.SCHEMA, 'SEQUENCE UINT64 0 10000000 1' AS SOURCE.GENERATOR_SCHEMA) INTO "
               "Void('EDGE' AS SINK.HOST)";
    }
    void create(const std::string& name, int port) {
        run("CREATE WORKER '127.0.0.1:" + std::to_string(port) + "' SET ('" + name + "' AS NAME)");
    }

    testing::TemporaryDirectory directory_;
    std::unique_ptr<rpc::GrpcTransport> transport_;
    std::unique_ptr<rpc::GrpcResultStreams> results_;
    std::string last_log_;
    int started_ = 0;
};

// Says in a file when it begins and, asked to end, that it has.
class PartitionProgram : public WorkerProcesses {
protected:
    std::string program(const std::string& worker) {
        const std::string script = directory_ / "program.sh";
        std::ofstream(script) << "trap 'echo \"end $BATON_PARTITION $1 $$\" >> " << trace()
                              << "; exit 0' TERM\necho \"begin $BATON_PARTITION $1 $$\" >> "
                              << trace() << "\nwhile :; do sleep 0.02; done\n";
        return "--partition-program 'exec sh " + script + " " + worker + "'";
    }
    [[nodiscard]] std::string trace() const { return directory_ / "trace"; }
    struct Line {  // "begin 0 EDGE 4711"
        std::string what;
        int partition = 0;
        std::string worker;
        pid_t process = 0;
    };
    std::vector<Line> lines() const {
        std::vector<Line> all;
        std::ifstream in(trace());
        for (Line line; in >> line.what >> line.partition >> line.worker >> line.process;) {
            all.push_back(line);
        }
        return all;
    }
    std::size_t count(const std::string& what, const std::string& worker) const {
        std::size_t number = 0;
        for (const Line& line : lines()) number += line.what == what && line.worker == worker;
        return number;
    }
};

TEST_F(PartitionProgram, RunsForEachPartitionAndNeverTwiceAtATime) {
    auto edge = start("EDGE", 0, program("EDGE"));
    create("EDGE", last_port());
    run("CREATE TASK LIST l PARTITIONS 4");
    ASSERT_TRUE(eventually([&] { return count("begin", "EDGE") == 4; })) << text_of(trace());
    auto hub = start("HUB", 0, program("HUB"));
    create("HUB", last_port());
    ASSERT_TRUE(eventually([&] { return count("begin", "HUB") == 2; })) << text_of(trace());
    run("DRAIN WORKER EDGE");
    ASSERT_TRUE(eventually([&] { return count("begin", "HUB") == 4; })) << text_of(trace());
    std::map<int, std::string> running;
    std::vector<pid_t> of_hub;
    for (const Line& line : lines()) {
        if (line.what == "begin") {
            EXPECT_EQ(running[line.partition], "") << text_of(trace());
            running[line.partition] = line.worker;
            if (line.worker == "HUB") of_hub.push_back(line.process);
        } else {
            EXPECT_EQ(running[line.partition], line.worker) << text_of(trace());
            running[line.partition] = "";
        }
    }
    // They do not outlive their worker, however it ends.
    hub->signal(SIGKILL);
    EXPECT_TRUE(eventually([&] {
        return std::all_of(of_hub.begin(), of_hub.end(), [](pid_t process) {
            return text_of("/proc/" + std::to_string(process) + "/cmdline").empty();
        });
    }));
}

TEST_F(PartitionProgram, IsReleasedByAWorkerThatLeavesBeforeItHasLeft) {
    auto edge = start("EDGE", 0, program("EDGE"));
    create("EDGE", last_port());
    run("CREATE TASK LIST l PARTITIONS 16");
    ASSERT_TRUE(eventually([&] { return count("begin", "EDGE") == 16; })) << text_of(trace());
    edge->signal(SIGTERM);
    EXPECT_EQ(edge->wait(), 0);
    const auto left = std::chrono::steady_clock::now();
    EXPECT_TRUE(eventually(
        [&] { return rows("SELECT NUMBER FROM baton.partitions WHERE OWNER = 'EDGE'").empty(); }));
    EXPECT_LT(std::chrono::steady_clock::now() - left, 10s) << "not by the end of its lease";
}

TEST_F(WorkerProcesses, TheyAreFoundLostAndFoundAgain) {
    auto edge = start("EDGE", 0);
    const int edge_port = last_port();
    auto hub = start("HUB", 0);
    create("EDGE", edge_port);
    create("HUB", last_port());
    ASSERT_TRUE(is_heard_from("EDGE"));
    ASSERT_TRUE(is_heard_from("HUB"));
    ASSERT_TRUE(comes_to("EDGE", "ACTIVE"));
    const std::string first = incarnation_of("EDGE");

    // A coordinator judges nobody right after its own start.
    std::this_thread::sleep_for(2s);
    // Its stream ends at once and nobody answers the next dial.
    const auto killed = std::chrono::steady_clock::now();
    edge->signal(SIGKILL);
    ASSERT_TRUE(comes_to("EDGE", "UNREACHABLE"));
    const auto took = (std::chrono::steady_clock::now() - killed) / 1ms;
    RecordProperty("lost_after_ms", static_cast<int>(took));
    EXPECT_LT(took, 1000);
    EXPECT_EQ(state_of("HUB"), "ACTIVE\n");

    edge = start("EDGE", edge_port);
    ASSERT_TRUE(comes_to("EDGE", "ACTIVE"));
    EXPECT_NE(incarnation_of("EDGE"), first);
    const std::string second = incarnation_of("EDGE");

    // Silence is found by beats alone.
    edge->signal(SIGSTOP);
    ASSERT_TRUE(comes_to("EDGE", "UNREACHABLE"));
    edge->signal(SIGCONT);
    ASSERT_TRUE(comes_to("EDGE", "ACTIVE"));
    EXPECT_EQ(incarnation_of("EDGE"), second);

    hub->signal(SIGTERM);
    EXPECT_EQ(hub->wait(), 0);
    ASSERT_TRUE(comes_to("HUB", "UNREACHABLE"));
    edge->signal(SIGKILL);
}

TEST_F(WorkerProcesses, OneThatIsToldToEndTakesNothingNewUntilItIsStartedAgain) {
    const std::string query = endless_query();
    const auto leaving = [&] { return rows("SELECT LEAVING FROM baton.WORKERS"); };
    auto edge = start("EDGE", 0);
    const int port = last_port();
    create("EDGE", port);
    ASSERT_TRUE(is_heard_from("EDGE"));
    run("CREATE QUERY q" + query + "; WAIT FOR QUERY q STATE RUNNING");
    edge->signal(SIGTERM);  // it waits for what runs
    ASSERT_TRUE(eventually([&] { return leaving() == "true\n"; })) << leaving();
    EXPECT_EQ(state_of("EDGE"), "ACTIVE\n");
    EXPECT_EQ(error_of("CREATE QUERY r" + query).code, ErrorCode::placement);
    run("STOP QUERY q MODE FORCEFUL; WAIT FOR QUERY q STATE STOPPED");
    EXPECT_EQ(edge->wait(), 0);
    ASSERT_TRUE(comes_to("EDGE", "UNREACHABLE"));
    edge = start("EDGE", port);
    ASSERT_TRUE(comes_to("EDGE", "ACTIVE"));
    ASSERT_TRUE(eventually([&] { return leaving() == "false\n"; }));
    run("CREATE QUERY r" + query + "; WAIT FOR QUERY r STATE RUNNING; DROP QUERY r");
    edge->signal(SIGKILL);
}

TEST_F(WorkerProcesses, WhatFragmentsCountIsShownWhileTheyRun) {
    auto edge = start("EDGE", 0);
    create("EDGE", last_port());
    ASSERT_TRUE(is_heard_from("EDGE"));
    run("CREATE QUERY q" + endless_query() + "; WAIT FOR QUERY q STATE RUNNING");
    const std::string question =
        "SELECT query_name, worker, state FROM baton.counters WHERE rows_out > 0";
    EXPECT_TRUE(eventually([&] { return rows(question) == "Q|EDGE|RUNNING\n"; }));
    EXPECT_NE(rows("SHOW COUNTERS").find("Q|EDGE|RUNNING|"), std::string::npos);
    edge->signal(SIGKILL);
    ASSERT_TRUE(comes_to("EDGE", "UNREACHABLE"));
    EXPECT_EQ(rows(question), "");  // nobody knows
}

TEST_F(WorkerProcesses, AWorkerOfAnotherNameIsNotTakenForOne) {
    auto edge = start("EDGE", 0);
    create("OTHER", last_port());
    ASSERT_TRUE(comes_to("OTHER", "UNREACHABLE"));
    EXPECT_NE(rows("SELECT REASON FROM baton.WORKERS").find("this is worker \"EDGE\""),
              std::string::npos);
    edge->signal(SIGINT);
    EXPECT_EQ(edge->wait(), 0);
}

TEST_F(WorkerProcesses, TheEpochOutlivesTheProcess) {
    coordinator_.reset();
    std::mutex mutex;
    std::vector<transport::Event> told;
    transport_->listen([&](transport::Event event) {
        const std::lock_guard lock(mutex);
        told.push_back(std::move(event));
    });
    const auto dial = [&](int port, Epoch epoch) {
        const std::size_t before = told.size();
        transport_->dial("EDGE", Address{"127.0.0.1", static_cast<std::uint16_t>(port)}, before + 1,
                         {.epoch = epoch, .worker = "EDGE", .catalog = "4a1f"});
        EXPECT_TRUE(eventually([&] {
            const std::lock_guard lock(mutex);
            return told.size() > before;
        }));
        const std::lock_guard lock(mutex);
        return told.back();
    };
    auto edge = start("EDGE", 0);
    EXPECT_TRUE(std::holds_alternative<transport::Dialled>(dial(last_port(), Epoch(7))));
    EXPECT_EQ(text_of(directory_ / "EDGE/epoch"), "7 4a1f\n");
    transport_->hang_up("EDGE", 1);
    edge->signal(SIGKILL);
    (void)edge->wait();

    edge = start("EDGE", 0);
    const auto refused = dial(last_port(), Epoch(6));
    ASSERT_TRUE(std::holds_alternative<transport::DialFailed>(refused));
    EXPECT_EQ(std::get<transport::DialFailed>(refused).highest, Epoch(7));
    EXPECT_TRUE(std::holds_alternative<transport::Dialled>(dial(last_port(), Epoch(7))));
    transport_->listen(nullptr);
    edge->signal(SIGTERM);
    EXPECT_EQ(edge->wait(), 0);
}

TEST_F(WorkerProcesses, AnAddressThatIsTakenIsSaid) {
    auto edge = start("EDGE", 0);
    const std::string address = "127.0.0.1:" + std::to_string(last_port());
    const auto second =
        cli::run({BATON_PROGRAMS "/baton", "worker", "--name", "X", "--listen", address});
    EXPECT_EQ(second.status, 1);
    EXPECT_NE(second.errors.find("cannot listen on \"" + address + "\""), std::string::npos)
        << second.errors;
    edge->signal(SIGTERM);
    EXPECT_EQ(edge->wait(), 0);
}

// ---- rows for clients ---------------------------------------------------------------------------

// EDGE -> HUB, and a SELECT of numbers from one or both.
class RowsOfWorkers : public WorkerProcesses {
protected:
    void SetUp() override {
        WorkerProcesses::SetUp();
        hub_ = start("HUB", 0);
        create("HUB", last_port());
        edge_ = start("EDGE", 0);
        run("CREATE WORKER '127.0.0.1:" + std::to_string(last_port()) +
            "' SET ('EDGE' AS NAME, 'HUB' AS DOWNSTREAM)");
        ASSERT_TRUE(is_heard_from("EDGE"));
        ASSERT_TRUE(is_heard_from("HUB"));
    }
    void TearDown() override {
        for (const auto* process : {hub_.get(), edge_.get()}) process->signal(SIGKILL);
        WorkerProcesses::TearDown();
    }

    static std::string numbers(const std::string& worker, const std::string& last) {
        return "SELECT a FROM Generator('" + worker +
               "' AS SOURCE.HOST, SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA, 'SEQUENCE UINT64 0 " +
               last +
               " 1' AS SOURCE.GENERATOR_SCHEMA, 'emit_rate 100000000' AS "
               "SOURCE.GENERATOR_RATE_CONFIG)";
    }
    std::unique_ptr<coordinator::RowStream> select(const std::string& sql) {
        auto results = run(sql);
        return std::move(std::get<std::unique_ptr<coordinator::RowStream>>(results.back().value));
    }
    // How many rows come until the end.
    static Result<std::size_t> count(coordinator::RowStream& feed) {
        std::size_t rows = 0;
        for (;;) {
            TRY_ASSIGN(fed, feed.next(30s));
            rows += fed.rows.size();
            if (fed.ended) return rows;
        }
    }
    bool no_query_is_left() {
        return eventually([&] { return rows("SELECT name, state FROM baton.queries").empty(); });
    }

    std::unique_ptr<Process> hub_;
    std::unique_ptr<Process> edge_;
};

TEST_F(RowsOfWorkers, AllOfThemComeFromAllWorkersAndThenTheEnd) {
    const auto feed = select(numbers("EDGE", "20000") + " UNION " + numbers("HUB", "10000"));
    const auto came = count(*feed);
    ASSERT_TRUE(came) << to_string(came.error());
    EXPECT_EQ(*came, 30'000U);
    EXPECT_TRUE(no_query_is_left());
    const auto limited = select(numbers("EDGE", "1000000000") + " LIMIT 12345");
    EXPECT_EQ(*count(*limited), 12'345U);
    EXPECT_TRUE(no_query_is_left());
}

TEST_F(RowsOfWorkers, AClientThatLeavesTakesItsQueryWithIt) {
    auto feed = select(numbers("EDGE", "1000000000") + " UNION " + numbers("HUB", "1000000000"));
    ASSERT_FALSE(feed->next(30s)->rows.empty());
    feed.reset();
    EXPECT_TRUE(no_query_is_left());
    EXPECT_EQ(rows("SELECT worker, state FROM baton.fragments"), "");
}

TEST_F(RowsOfWorkers, WhoDoesNotReadHoldsTheSourceBackInBoundedMemory) {
    const auto feed = select(numbers("EDGE", "1000000000"));
    ASSERT_FALSE(feed->next(30s)->rows.empty());
    const auto made = [&] { return rows("SELECT rows_in FROM baton.counters WHERE rows_in > 0"); };
    ASSERT_TRUE(eventually([&] { return !made().empty(); }));
    std::string before;
    EXPECT_TRUE(eventually([&] {
        before = made();
        std::this_thread::sleep_for(1s);  // counters come with beats, ten of them
        return made() == before;
    }));
    EXPECT_LT(std::stoull(before) * 8, 24U << 20U) << "bytes of rows under way";
    ASSERT_FALSE(feed->next(30s)->rows.empty());  // and it goes on
}

TEST_F(RowsOfWorkers, AWorkerThatIsKilledIsTheReasonThatAClientGets) {
    // A coordinator judges nobody right after its own start.
    std::this_thread::sleep_for(2s);
    const auto of_edge = select(numbers("EDGE", "1000000000"));
    // Its sink is on HUB, which lives on.
    const auto of_both = select(numbers("EDGE", "1000000000") + " UNION " + numbers("HUB", "10"));
    ASSERT_FALSE(of_edge->next(30s)->rows.empty());
    ASSERT_FALSE(of_both->next(30s)->rows.empty());
    const auto& feed_of_both = dynamic_cast<const coordinator::RowFeed&>(*of_both);
    run("WAIT FOR QUERY \"" + feed_of_both.query_name() + "\" STATE RUNNING TIMEOUT 30 SEC");
    ASSERT_TRUE(of_both->poll(1));
    edge_->signal(SIGKILL);
    for (coordinator::RowStream* feed : {of_edge.get(), of_both.get()}) {
        const auto came = count(*feed);
        ASSERT_FALSE(came);
        EXPECT_EQ(came.error().code, ErrorCode::worker_unreachable) << to_string(came.error());
        EXPECT_NE(came.error().message.find("EDGE"), std::string::npos) << to_string(came.error());
    }
}

}  // namespace
}  // namespace baton
