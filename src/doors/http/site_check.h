// The site check refuses requests that a web page may have sent: a browser on this machine runs the
// pages of strangers, and reaches addresses that only this machine may reach.
//
// A page of another site is known by Origin and Sec-Fetch-Site. A page whose name was pointed at
// this machine after it was loaded (DNS rebinding) looks like one of ours, except for its name: so
// where clients need no proof, only names that no stranger can own are served.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doors/http/message.h"

namespace baton::http {

// The hosts that requests may name.
struct SitePolicy {
    std::vector<std::string> hosts = {};  // beside the names of this machine
    bool any_address = false;             // the door is meant to be open beyond this machine
};

// The answer to a request that is refused. Without `open`, clients prove who they are, and may name
// any host.
[[nodiscard]] std::optional<Response> refused_site(const Request& head, const SitePolicy* open);

}  // namespace baton::http
