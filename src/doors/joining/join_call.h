// The worker's side of joining (join_door.h). The coordinator shows a certificate of its cluster;
// the worker knows the issuer, from its token or from when it joined, and says nothing to a process
// that shows no such certificate.
#pragma once

#include <optional>
#include <string>

#include "adapters/system/certificate_files.h"
#include "base/result.h"

namespace baton::joining {

struct JoinCall {
    std::string address;      // of the coordinator, host:port
    std::string server_name;  // that its certificate must have
    std::string ca;           // PEM
    // The worker's own, to renew it; none: it joins.
    std::optional<system::TlsTexts> shown;
    std::string token;    // to join
    std::string request;  // for a certificate
};

// The certificate. Waits for ten seconds at most. Fails with cannot_connect, and with
// not_authenticated and not_permitted if the coordinator refuses.
[[nodiscard]] Result<std::string> ask_for_certificate(const JoinCall& call);

}  // namespace baton::joining
