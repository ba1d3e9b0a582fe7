// Coordinators that share a catalog on a database server, and workers, all of them processes.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/process.h"
#include "testing/servers/database_server.h"
#include "testing/temporary_directory.h"

namespace baton::failover {

// What coordinators do with what only the leader can do. Where they refuse it, leader_of() tells
// who leads.
enum class Writes : std::uint8_t { refused, forwarded };

class Cluster {
public:
    Cluster(testing::ServerKind kind, int ttl_s, std::size_t coordinators, std::size_t workers,
            Writes writes = Writes::refused, std::string settings = {});

    // Starts it, or starts it again.
    void start(std::size_t coordinator);
    void signal(std::size_t coordinator, int number) const;
    // Returns when a signal to leave does not just end it, or when it is over.
    void wait_until_it_can_be_told(std::size_t coordinator) const;
    // It has ended, by itself or by a signal.
    [[nodiscard]] bool is_over(std::size_t coordinator) const;
    // Waits for its end; the exit status as shells have it.
    [[nodiscard]] int wait(std::size_t coordinator);
    [[nodiscard]] std::string log(std::size_t coordinator) const;

    // What `baton shell` says there.
    [[nodiscard]] cli::Ended ask(std::size_t coordinator, const std::string& statements) const;
    // Makes something that is there afterwards on each of these in turn, until one accepts it: that
    // one leads. None: it took too long.
    [[nodiscard]] std::optional<std::size_t> leader_of(const std::vector<std::size_t>& candidates);
    // All names that leader_of was told to be accepted.
    [[nodiscard]] const std::vector<std::string>& accepted() const { return accepted_; }

    // CREATE WORKER for all of them, each with the next one below it: w1, w2, ..
    [[nodiscard]] std::string create_workers() const;
    // A query from the first worker to the last; returns when it runs.
    void run_a_query(std::size_t leader);
    // How many rows have left it, as this coordinator knows.
    [[nodiscard]] std::int64_t rows_out(std::size_t leader) const;

    [[nodiscard]] testing::DatabaseServer& server() { return server_; }
    [[nodiscard]] const std::string& url() const { return url_; }  // of the catalog
    [[nodiscard]] std::string address(std::size_t coordinator) const;
    // Of its door for HTTP.
    [[nodiscard]] std::string http_address(std::size_t coordinator) const;
    // Who leads, by the log of all: the last that said so.
    [[nodiscard]] std::optional<std::size_t> last_to_lead() const;
    [[nodiscard]] std::size_t coordinators() const { return ports_.size(); }
    // With the logs of coordinators, and the data of workers in w1, w2, ..
    [[nodiscard]] std::string directory() const { return directory_.path(); }

private:
    [[nodiscard]] std::string log_path(std::size_t coordinator) const;

    testing::TemporaryDirectory directory_;
    testing::DatabaseServer server_;
    const std::string url_;
    const int ttl_s_;
    const Writes writes_;
    const std::string settings_;  // more of the command line
    std::vector<int> ports_;
    std::vector<int> http_ports_;
    std::vector<int> worker_ports_;
    std::vector<std::unique_ptr<cli::Process>> coordinators_;
    std::vector<std::unique_ptr<cli::Process>> workers_;
    std::vector<std::string> accepted_;
    int next_name_ = 1;
};

}  // namespace baton::failover
