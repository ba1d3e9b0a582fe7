// The way to the leader over its door for PostgreSQL's clients, by libpq: a connection as the user
// that only coordinators are, on which each text is an order.
//
// Both ends prove that they know the secret of their catalog (SCRAM-SHA-256); a server that does
// not ask for the proof is told nothing. Connections are kept for the next order, as long as the
// leader is the same.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/libpq/link.h"
#include "ports/leader_line.h"

namespace baton::libpq {

struct LeaderLineOptions {
    std::string user;
    std::string password;
    std::string sslmode = "prefer";  // as libpq has it
    std::string ca = {};             // PEM, for verify-full
    Duration connect_timeout = std::chrono::seconds(2);
    std::size_t idle_max = 64;
};

class PgLeaderLine final : public LeaderLine {
public:
    explicit PgLeaderLine(LeaderLineOptions options) : options_(std::move(options)) {}

    [[nodiscard]] LineAnswer ask(const std::string& address, const std::string& order,
                                 Duration patience, const std::function<bool()>& given_up) override;

private:
    using Connection = std::unique_ptr<pg_conn, ConnFinish>;
    class Attempt;

    // One that was kept and is well; null: there is none.
    [[nodiscard]] Connection kept(const std::string& address);
    void keep(const std::string& address, Connection connection);

    const LeaderLineOptions options_;
    std::mutex mutex_;
    std::string address_;  // of those that are kept
    std::vector<Connection> idle_;
};

}  // namespace baton::libpq
