// Whether a request may be the work of a web page: a browser on this machine runs the pages of
// strangers, and reaches what only this machine may reach.
//
// A page of another site is known by Origin and Sec-Fetch-Site. A page whose name was pointed at
// this machine after it was loaded (DNS rebinding) looks like one of ours, but for its name: so
// where nobody has to say who they are, only names that no stranger can own are served.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/http/message.h"

namespace baton::http {

struct SitePolicy {
    bool any_host = true;                 // clients prove who they are: the name does not matter
    std::vector<std::string> hosts = {};  // names that are served beside those of this machine
    bool any_address = false;             // it listens beyond this machine, and is meant to
};

// The answer to one that is refused.
[[nodiscard]] std::optional<Response> refused_site(const Request& head, const SitePolicy& policy);

}  // namespace baton::http
