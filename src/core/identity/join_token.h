// A token with which a worker joins a cluster: its name there, the end of the token, the address of
// the coordinator, and the certificate by which it is known. The coordinator's MAC makes it
// genuine; the coordinator makes sure that it is used once.
//
// The contents of certificates and the time of their renewal are decided here as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/identity/identity.h"

namespace baton::identity {

struct JoinToken {
    std::string worker;
    WallTime expires;
    std::string nonce;    // so that no two are the same
    std::string address;  // of the coordinator, host:port
    std::string cluster;
    std::string authority;  // the certificate by which the coordinator is known (PEM)
    std::string mac;

    friend bool operator==(const JoinToken&, const JoinToken&) = default;
};

// The text under the MAC.
[[nodiscard]] std::string signed_part(const JoinToken& token);
// One word, of letters, digits, hyphens, underscores and dots.
[[nodiscard]] std::string to_string(const JoinToken& token);
// Fails with invalid_configuration.
[[nodiscard]] Result<JoinToken> join_token_in(std::string_view text);
// Fails with not_authenticated: it is over, or for another cluster.
[[nodiscard]] Result<Done> check_in_time(const JoinToken& token, const std::string& cluster,
                                         WallTime now);

// A certificate is valid from a while ago, so that clocks may differ.
inline constexpr Duration kClocksDifferMax = std::chrono::minutes(5);
// With a third of its life left there is time for coordinators to come back.
[[nodiscard]] WallTime renew_at(WallTime from, WallTime until);

// The coordinators of a cluster have one name in it.
[[nodiscard]] Identity coordinator_of(const std::string& cluster);

}  // namespace baton::identity
