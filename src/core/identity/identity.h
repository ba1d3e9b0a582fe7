// The process of a cluster at the other end of a connection, and its rights there.
//
// A certificate of the cluster carries one mark, a URI among its alternative names:
//     baton://CLUSTER/coordinator/NAME        baton://CLUSTER/worker/NAME
// NAME is written with percent signs where a URI needs them. Coordinators command workers and fetch
// rows; a worker sends rows to workers, under its own name, and does nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"

namespace baton::identity {

enum class ProcessRole : std::uint8_t { coordinator, worker };

struct Identity {
    ProcessRole role = ProcessRole::worker;
    std::string cluster;
    std::string name;

    friend bool operator==(const Identity&, const Identity&) = default;
};

[[nodiscard]] std::string to_string(const Identity& identity);  // worker "edge"
[[nodiscard]] std::string uri_of(const Identity& identity);
// None: it is no mark. Fails with not_permitted for one that is broken.
[[nodiscard]] Result<std::optional<Identity>> identity_in(std::string_view uri);
// The only mark among the names of a certificate; fails with not_permitted if there are several.
[[nodiscard]] Result<std::optional<Identity>> identity_among(std::span<const std::string> uris);

// The name by which the certificate of a process is checked when it is dialled: workers move
// between addresses, their names do not.
[[nodiscard]] std::string host_name_of(const Identity& identity);

// Knows the secret of the user whose process this is, so it is that user's as well.
struct SameUser {};
// Showed a certificate of the right issuer that has no mark, and that is good enough here.
struct Unmarked {};
using Peer = std::variant<SameUser, Identity, Unmarked>;

// Fail with not_permitted.
[[nodiscard]] Result<Done> check_commands(const Peer& peer);  // and fetches rows
[[nodiscard]] Result<Done> check_sends_as(const Peer& peer, const std::string& worker);
// That the worker of this name was reached, and no other process.
[[nodiscard]] Result<Done> check_is_worker(const Peer& peer, const std::string& worker);

// Whether an address with this host is reached from this machine alone: a name or number of its
// loopback, with or without brackets.
[[nodiscard]] bool is_loopback(std::string_view host);

// A proof is made for one call. It is taken for a short while, and never if it is older than the
// process that is shown it: a false one may have been shown it before, at the same address.
[[nodiscard]] bool is_fresh(WallTime made, WallTime now, WallTime started);

}  // namespace baton::identity
