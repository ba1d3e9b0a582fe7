// crowd: how long a small read takes at the desk while many others wait, and what the statements of
// a long transaction cost.
//
//   waits       statements that wait for a query that does not run
//   idle        transactions that have read something and stand open
//   forwards    changes at a coordinator that follows, while the leader does not answer
//
//     bench_crowd [--tiny]
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness.h"
#include "catalog/schema.h"
#include "coordinator/sessions/session.h"
#include "doors/desk/desk.h"
#include "testing/servers/database_server.h"

namespace baton::bench {
namespace {

coordinator::Execution ask(desk::Visitor& visitor, desk::Request request) {
    std::promise<coordinator::Execution> answer;
    visitor.ask(std::move(request),
                [&](coordinator::Execution e) { answer.set_value(std::move(e)); });
    return answer.get_future().get();
}

Latencies reads(desk::Desk& desk, int count) {
    const auto visitor = desk.visitor({.name = "reader", .role = desk::Role::reader});
    Latencies took;
    for (int i = 0; i < count; ++i) {
        const auto begun = Clock::now();
        const coordinator::Execution read =
            ask(*visitor, {.text = "SELECT name FROM baton.workers"});
        if (read.error) give_up(to_string(*read.error));
        took.add(Seconds(Clock::now() - begun).count() * 1e6);
    }
    return took;
}

void print(const char* beside, Latencies took) {
    std::printf("%-42s %8.0f %8.0f %8.0f us\n", beside, took.percentile(50), took.percentile(99),
                took.percentile(100));
}

using Visitors = std::vector<std::shared_ptr<desk::Visitor>>;

void leader(const std::string& path, int crowd, int count) {
    const auto catalog = open_catalog(path);
    run_all(*catalog->coordinator,
            "CREATE WORKER 'w:1' SET ('w' AS NAME); CREATE LOGICAL SOURCE s (a INT64);"
            "CREATE PHYSICAL SOURCE FOR s TYPE Generator SET ('w' AS SOURCE.HOST, "
            "'SEQUENCE INT64 0 9 1' AS SOURCE.GENERATOR_SCHEMA);"
            "CREATE SINK t (a INT64) TYPE Void SET ('w' AS SINK.HOST);"
            "CREATE QUERY q AS SELECT a FROM s INTO t");
    desk::Desk desk(*catalog->coordinator);
    print("nobody", reads(desk, count));
    Visitors waiting;
    std::atomic<int> answered = 0;
    for (int i = 0; i < crowd; ++i) {
        waiting.push_back(desk.visitor({.name = "waiter", .role = desk::Role::reader}));
        waiting.back()->ask({.text = "WAIT FOR QUERY q"},
                            [&](const coordinator::Execution&) { ++answered; });
    }
    while (desk.load().standing < static_cast<std::size_t>(crowd)) std::this_thread::yield();
    const std::string many = std::to_string(crowd);
    print((many + " waits").c_str(), reads(desk, count));
    Visitors idle;
    for (int i = 0; i < crowd; ++i) {
        idle.push_back(desk.visitor({.name = "idler", .role = desk::Role::reader}));
        if (ask(*idle.back(), {.text = "BEGIN; SHOW WORKERS"}).error) give_up("no transaction");
    }
    print((many + " waits, " + many + " idle transactions").c_str(), reads(desk, count));
    run_all(*catalog->coordinator, "DROP QUERY q");
    while (answered < crowd) std::this_thread::yield();
}

// A leader that takes what it is sent and says nothing.
class SilentLine final : public LeaderLine {
public:
    LineAnswer ask(const std::string&, const std::string&, Duration patience,
                   const std::function<bool()>& given_up) override {
        const auto until = Clock::now() + patience;
        while (Clock::now() < until && !given_up()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return AnswerLost{{.code = ErrorCode::unknown_outcome, .message = "silence"}};
    }
};

void follower(int crowd, int count) {
    system::SystemClock clock;
    SilentLine line;
    coordinator::CoordinatorOptions options;
    options.follows = true;
    options.line = &line;
    testing::DatabaseServer server(testing::ServerKind::postgres);
    const auto coordinator = must(coordinator::CoordinatorRuntime::open(
        must(open_server_database(server.kind(), server.new_database(), catalog::migrate)), clock,
        options));
    coordinator->leader().set_leader(Leader{.address = "silent:1", .epoch = Epoch(1)});
    desk::Desk desk(*coordinator);
    print("nobody, at a follower", reads(desk, count));
    Visitors forwarding;
    std::atomic<int> answered = 0;
    for (int i = 0; i < crowd; ++i) {
        forwarding.push_back(desk.visitor({.name = "writer", .role = desk::Role::admin}));
        forwarding.back()->ask({.text = "CREATE LOGICAL SOURCE x (a INT8)"},
                               [&](const coordinator::Execution&) { ++answered; });
    }
    while (desk.load().waiting > 0) std::this_thread::yield();
    print((std::to_string(crowd) + " waiting forwards").c_str(), reads(desk, count));
    for (const auto& visitor : forwarding) visitor->cancel();
    while (answered < crowd) std::this_thread::yield();
}

void long_transactions(const std::string& path, const std::vector<int>& lengths) {
    system::SystemClock clock;
    coordinator::CoordinatorOptions options;
    options.scratch = sqlite::temporary_sqlites(catalog::migrate);
    sqlite::SqliteOptions file;
    file.path = path;
    file.create = true;
    file.initialise = catalog::migrate;
    const auto coordinator = must(
        coordinator::CoordinatorRuntime::open(must(sqlite::open_sqlite(file)), clock, options));
    std::printf("\ninteractive transaction of    seconds    us a statement\n");
    for (const int length : lengths) {
        coordinator::Session session(*coordinator, "ann");
        const auto begun = Clock::now();
        if (session.execute("BEGIN").error) give_up("no transaction");
        for (int i = 0; i < length; ++i) {
            const std::string name = "t" + std::to_string(length) + "_" + std::to_string(i);
            const coordinator::Execution made =
                session.execute("CREATE LOGICAL SOURCE " + name + " (a INT8)");
            if (made.error) give_up(to_string(*made.error));
        }
        if (const auto done = session.execute("COMMIT"); done.error)
            give_up(to_string(*done.error));
        const double took = Seconds(Clock::now() - begun).count();
        std::printf("%8d statements %16.3f %12.0f\n", length, took, took * 1e6 / length);
    }
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    using namespace baton::bench;  // NOLINT
    const Arguments arguments = arguments_of(count, values);
    const Scratch scratch(arguments);
    const int crowd = arguments.tiny ? 50 : 1'000;
    const int reads = arguments.tiny ? 20 : 5'000;
    std::printf("a small read beside                             p50      p99      max\n");
    leader(scratch / "catalog.db", crowd, reads);
    follower(crowd, reads);
    long_transactions(scratch / "long.db",
                      arguments.tiny ? std::vector{10, 50} : std::vector{30, 300, 3'000});
    return 0;
}
