// The way to the leader over its door for PostgreSQL's clients: a connection as the user that only
// coordinators have, on which each text is a forwarded request.
//
// Both ends prove (SCRAM-SHA-256) that they know a password that follows from the secret of their
// catalog and the address that the leader advertises. So an impostor at that address learns nothing
// from which the secret follows, and nothing that helps elsewhere: a proof for one address is none
// at another. A server that asks in any other way gets nothing. Connections are kept for the next
// request, as long as the leader is the same.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/leader_line/talk.h"
#include "ports/leader_line.h"

namespace baton::leader_line {

struct LeaderLineOptions {
    std::string user;
    std::function<std::string(const std::string& address)> password;
    Tls tls = Tls::if_offered;
    std::string ca = {};  // PEM; empty: certificates are not checked
    Duration connect_timeout = std::chrono::seconds(2);
    std::size_t idle_max = 64;
};

class PgLeaderLine final : public LeaderLine {
public:
    explicit PgLeaderLine(LeaderLineOptions options) : options_(std::move(options)) {}

    [[nodiscard]] LineAnswer ask(const std::string& address, const std::string& order,
                                 Duration patience, const std::function<bool()>& given_up) override;

private:
    // One that was kept and is well; null: there is none.
    [[nodiscard]] std::unique_ptr<Talk> kept(const std::string& address);
    void keep(const std::string& address, std::unique_ptr<Talk> talk);

    const LeaderLineOptions options_;
    std::mutex mutex_;
    std::string address_;  // of those that are kept
    std::vector<std::unique_ptr<Talk>> idle_;
};

}  // namespace baton::leader_line
