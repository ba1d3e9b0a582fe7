// What the catalog knows of who belongs to the cluster: the issuer of its certificates, the tokens
// that were used, and the certificates that workers have. No view shows any of it. It goes with the
// catalog wherever that is copied: the workers of the copy are the same.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "ports/sql.h"

namespace baton {

struct ClusterAuthority {
    std::string cluster;      // its name in certificates
    std::string certificate;  // PEM, both
    std::string key;
    std::string address;  // where workers join, host:port; empty: nowhere
};

// The certificate that a worker was given last, by its serial number.
struct WorkerCertificate {
    std::string serial;
    std::string predecessor;  // that the worker showed for it; empty: it had a token
    WallTime given_at;        // from when on it is good
};

// None: no coordinator was started on this catalog yet.
[[nodiscard]] Result<std::optional<ClusterAuthority>> find_authority(Sql& sql);
// The authority; `proposed` becomes it if there is none yet. Its address becomes that of `proposed`
// unless that is empty.
[[nodiscard]] Result<ClusterAuthority> cluster_authority(Sql& sql,
                                                         const ClusterAuthority& proposed);

// False: it was used before. Those that are over are forgotten.
[[nodiscard]] Result<bool> use_join_token(Sql& sql, const std::string& digest, WallTime expires,
                                          WallTime now);

// Names of workers are compared in any case. DROP WORKER ends its certificate.
[[nodiscard]] Result<Done> keep_worker_certificate(Sql& sql, const std::string& worker,
                                                   const WorkerCertificate& last);
[[nodiscard]] Result<std::optional<WorkerCertificate>> worker_certificate(
    Sql& sql, const std::string& worker);
// In capital letters.
[[nodiscard]] Result<std::set<std::string>> workers_with_certificates(Sql& sql);
[[nodiscard]] Result<bool> has_worker(Sql& sql, const std::string& worker);

}  // namespace baton
