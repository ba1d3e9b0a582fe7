// Topology answers questions about the links between workers: may data get from here to there, and
// would a new worker close a circle?
//
// Pure, and deterministic: among equal paths the one through the alphabetically first workers wins.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/entities.h"

namespace baton::topology {

class Topology {
public:
    Topology() = default;
    explicit Topology(std::span<const NetworkLink> links);

    // The workers on a shortest path, both ends included; none if data cannot get there.
    // A worker reaches itself.
    [[nodiscard]] std::optional<std::vector<std::string>> path(const std::string& from,
                                                               const std::string& to) const;

    // Where data may go from here, and come from, in one step.
    [[nodiscard]] const std::set<std::string>& downstream_of(const std::string& worker) const;
    [[nodiscard]] const std::set<std::string>& upstream_of(const std::string& worker) const;

    // Every worker on some path from one of these to another, themselves included.
    [[nodiscard]] std::set<std::string> between(const std::set<std::string>& workers) const;

    // The workers of a circle, in its order, the first one repeated at the end; none if there is
    // none.
    [[nodiscard]] std::optional<std::vector<std::string>> cycle() const;

    // The circle that `worker` would close if it were linked like this; none if it would not.
    [[nodiscard]] std::optional<std::vector<std::string>> cycle_with(
        const std::string& worker, const std::set<std::string>& upstream,
        const std::set<std::string>& downstream) const;

private:
    std::map<std::string, std::set<std::string>> downstream_of_;
    std::map<std::string, std::set<std::string>> upstream_of_;
};

// Reads "host:port" ("[::1]:port" for an IPv6 address). The host is a name of letters, digits,
// dots, hyphens and underscores, or an address; the port is from 1 to 65535.
// Fails with invalid_address, saying what is wrong with it.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

}  // namespace baton::topology
