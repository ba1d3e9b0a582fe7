// The identity of a cluster, as its catalog keeps it: the issuer of its certificates, the tokens
// that were used, and the certificates that workers have. No view shows any of it. A copy of the
// catalog has the same identity, because it has the same workers.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "ports/sql.h"

namespace baton::catalog {

struct ClusterAuthority {
    std::string cluster;      // its name in certificates
    std::string certificate;  // PEM, both
    std::string key;
    std::string address;  // where workers join, host:port; empty: nowhere
};

// The newest certificate of a worker, by its serial number.
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

// False: the token was used before. Tokens that have expired are forgotten.
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

}  // namespace baton::catalog
