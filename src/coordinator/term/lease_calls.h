// The calls of an election, made on one connection: in the words of the lock service and back.
#pragma once

#include <string>
#include <variant>

#include "base/time.h"
#include "core/election/election.h"
#include "ports/sql.h"

namespace baton::coordinator {

using LeaseCall =
    std::variant<election::Watch, election::Acquire, election::Renew, election::Release>;

struct LeaseClaim {
    std::string key;    // of the lock
    std::string owner;  // of this process alone
    Duration ttl{};
};

[[nodiscard]] election::Call number_of(const LeaseCall& call);

// Waits for the database, and always returns an answer; after Failed and Uncertain the connection
// must not be used again.
[[nodiscard]] election::Event make_lease_call(Sql& sql, const LeaseClaim& claim,
                                              const LeaseCall& call);

}  // namespace baton::coordinator
