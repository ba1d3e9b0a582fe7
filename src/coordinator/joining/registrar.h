// Registrar is the coordinator's side of joining: it makes tokens good, gives certificates to
// workers and knows which of them have one.
//
// Rules:
//   - A token is good once, in its time, for the worker that it names; the catalog remembers its
//     digest alone.
//   - A worker has one certificate at a time: only the last that it was given is renewed, and only
//     while the catalog has the worker. The one that it showed for the last is renewed as well,
//     since the answer may have been lost, and so is a later one, since the catalog may have been
//     restored.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "catalog/cluster_identity.h"
#include "core/identity/join_token.h"
#include "ports/certificates.h"
#include "ports/clock.h"
#include "ports/sql.h"

namespace baton::coordinator {

// The authority of the catalog; it is made if there is none. Workers join at `address`.
[[nodiscard]] Result<catalog::ClusterAuthority> open_authority(Sql& sql, CertificateMaker& maker,
                                                               const std::string& cluster,
                                                               const std::string& address,
                                                               WallTime now);

// A certificate of a coordinator, for as long as the authority's own.
[[nodiscard]] Result<KeyAndCertificate> coordinator_certificate(
    const catalog::ClusterAuthority& authority, CertificateMaker& maker, WallTime now);

// Of a token, by one that knows the key of the authority. `hmac` is that of a key and a text.
using Hmac = std::string (*)(std::string_view key, std::string_view text);
[[nodiscard]] std::string mac_of(const identity::JoinToken& token,
                                 const catalog::ClusterAuthority& authority, Hmac hmac);

struct RegistrarOptions {
    catalog::ClusterAuthority authority;
    Duration life = std::chrono::hours(24 * 30);  // of certificates
    Hmac hmac = nullptr;
    std::string (*digest)(std::string_view text) = nullptr;
};

class Registrar {
public:
    // All of them outlive it.
    Registrar(RegistrarOptions options, SqlDatabase& database, CertificateMaker& maker,
              const Clock& clock);

    // The certificate; `text` is a token. From any thread; they wait for the database. Fail with
    // not_authenticated, not_permitted, malformed_message and errors of the database.
    [[nodiscard]] Result<std::string> join(const std::string& text, const std::string& request);
    [[nodiscard]] Result<std::string> renew(const std::string& certificate,
                                            const std::string& request);

    // Looks into the catalog again.
    [[nodiscard]] Result<Done> refresh(Sql& sql);
    // As of the last look.
    [[nodiscard]] bool has_joined(const std::string& worker) const;

private:
    // `predecessor` is the serial number of the certificate that was shown; empty: a token was.
    [[nodiscard]] Result<std::string> give(Sql& sql, const std::string& worker,
                                           const std::string& request,
                                           const std::string& predecessor);

    const RegistrarOptions options_;
    SqlDatabase& database_;
    CertificateMaker& maker_;
    const Clock& clock_;
    mutable std::mutex mutex_;
    std::set<std::string> joined_;  // in capital letters
};

}  // namespace baton::coordinator
