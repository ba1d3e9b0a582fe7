// Clients that vanish while rows of streams, or of a watch, are on their way to them: no query of
// theirs is left, nor anything else.
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "doors/pg/server/server.h"
#include "pgwire/footprint.h"
#include "pgwire/raw_client.h"
#include "slt/cluster.h"

namespace baton {
namespace {

using namespace std::chrono_literals;

class Vanishing : public ::testing::Test {
protected:
    void SetUp() override {
        auto cluster = slt::TestCluster::start(clock_, std::nullopt, {.rows_for_clients = true});
        ASSERT_TRUE(cluster) << to_string(cluster.error());
        cluster_ = *std::move(cluster);
        desk_.emplace(cluster_->coordinator(), desk::DeskOptions{.threads = 4});
        pgserver::ServerOptions options;
        options.port = 0;
        options.output_bytes_max = 10'000;
        auto server = pgserver::Server::open(*desk_, desk::Access(), metrics_, options);
        ASSERT_TRUE(server) << to_string(server.error());
        server_ = *std::move(server);
        session_.emplace(cluster_->coordinator(), "test");
        ASSERT_FALSE(session_->execute("CREATE LOGICAL SOURCE s (a INT8)").error);
    }

    // Numbers without an end, as quickly as they are read or slowly.
    static std::string numbers(const std::string& rate) {
        return "SELECT a FROM Generator(SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA, "
               "'SEQUENCE UINT64 0 1000000000000 1' AS SOURCE.GENERATOR_SCHEMA, 'emit_rate " +
               rate + "' AS SOURCE.GENERATOR_RATE_CONFIG)";
    }
    static std::string row(const std::string& value) {
        std::string body = {0, 1, 0, 0, 0, static_cast<char>(value.size())};
        return said::frame('D', body + value);
    }
    static bool eventually(const std::function<bool()>& holds) {
        for (int i = 0; i < 2000; ++i) {
            if (holds()) return true;
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }
    std::size_t queries() {
        const coordinator::Execution execution =
            session_->execute("SELECT name, state FROM baton.queries");
        return std::get<views::Table>(execution.results.at(0).value).rows.size();
    }

    // One client after the other: some leave at once, some when rows have come, some when they
    // have not read for a while; some say goodbye and some are killed.
    void visit(const std::string& saying, const std::string& until, int times) const {
        for (int i = 0; i < times; ++i) {
            RawClient client(server_->port());
            client.say(said::startup());
            ASSERT_NE(client.hear(kReady).find(kReady), std::string::npos);
            client.say(saying);
            if (i % 3 == 1) {
                ASSERT_NE(client.hear(until).find(until), std::string::npos);
            }
            if (i % 3 == 2) std::this_thread::sleep_for(50ms);
            if (i % 2 == 0) client.vanish();
        }
    }
    void expect_nothing_left_of(const std::string& saying, const std::string& until) {
        ASSERT_NO_FATAL_FAILURE(visit(saying, until, 6));
        ASSERT_TRUE(is_quiet());
        const Footprint before = Footprint::now();
        ASSERT_NO_FATAL_FAILURE(visit(saying, until, 30));
        ASSERT_TRUE(is_quiet()) << queries() << " queries, " << server_->load().connections
                                << " connections, " << desk_->load().visitors << " visitors";
        Footprint now;
        EXPECT_TRUE(eventually([&] {
            now = Footprint::now();
            return now.descriptors <= before.descriptors + kReaderDescriptors &&
                   now.threads <= before.threads;
        })) << to_string(now)
            << ", and " << to_string(before) << " before";
        if (kMemoryIsWatched) return;
        EXPECT_LE(now.resident_bytes, before.resident_bytes + (std::size_t{64} << 20U))
            << to_string(now) << ", and " << to_string(before) << " before";
    }
    bool is_quiet() {
        return eventually([&] {
            return queries() == 0 && server_->load().connections == 0 &&
                   desk_->load().visitors == 0;
        });
    }

    system::SystemClock clock_;
    std::unique_ptr<slt::TestCluster> cluster_;
    std::optional<desk::Desk> desk_;
    desk::Metrics metrics_;
    std::unique_ptr<pgserver::Server> server_;
    std::optional<coordinator::Session> session_;
};

TEST_F(Vanishing, LeavesNothingOfALiveSelect) {
    expect_nothing_left_of(said::query(numbers("100000000")), row("42"));
}

TEST_F(Vanishing, LeavesNothingOfALiveSelectThatIsSlow) {
    expect_nothing_left_of(said::query(numbers("10")), row("2"));
}

TEST_F(Vanishing, LeavesNothingOfACopyOfStreams) {
    expect_nothing_left_of(said::query("COPY (" + numbers("100000000") + ") TO STDOUT"),
                           said::frame('d', "42\n"));
}

TEST_F(Vanishing, LeavesNothingOfAWatch) {
    expect_nothing_left_of(said::query("WATCH SHOW LOGICAL SOURCES"), "snapshot");
}

TEST_F(Vanishing, LeavesNothingOfACopyOfAWatch) {
    expect_nothing_left_of(said::query("COPY (WATCH SHOW LOGICAL SOURCES) TO STDOUT"), "snapshot");
}

TEST_F(Vanishing, LeavesNothingOfASuspendedPortal) {
    const std::string series = said::parse("", numbers("100000000")) + said::bound("", "") +
                               said::execute("", 10) + said::flush();
    expect_nothing_left_of(series, said::frame('s'));
}

}  // namespace
}  // namespace baton
