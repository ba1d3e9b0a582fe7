#include "coordinator/joining/registrar.h"

#include <utility>

#include "base/text.h"

namespace baton::coordinator {

namespace {

constexpr Duration kAuthorityLife = std::chrono::hours(24 * 365 * 20);

Error no_member(const std::string& message) {
    return {.code = ErrorCode::not_permitted,
            .message = message,
            .at = {},
            .hint = "`baton token worker NAME` prints a token to join with again"};
}

// All of it, durably, or nothing.
template <class Act>
Result<std::string> in_transaction(Sql& sql, const Act& act) {
    TRY(sql.begin(Access::write));
    Result<std::string> done = act();
    if (!done) {
        sql.rollback();
        return done;
    }
    TRY(sql.commit());
    return done;
}

KeyAndCertificate keys_of(const catalog::ClusterAuthority& authority) {
    return {.key = authority.key, .certificate = authority.certificate};
}

CertificateWish wish_of(const identity::Identity& identity, WallTime from, WallTime until) {
    return {.uris = {identity::uri_of(identity)},
            .hosts = {identity::host_name_of(identity)},
            .from = from,
            .until = until};
}

}  // namespace

Result<catalog::ClusterAuthority> open_authority(Sql& sql, CertificateMaker& maker,
                                                 const std::string& cluster,
                                                 const std::string& address, WallTime now) {
    TRY_ASSIGN(found, catalog::find_authority(sql));
    catalog::ClusterAuthority proposed{
        .cluster = cluster, .certificate = {}, .key = {}, .address = address};
    if (!found) {
        TRY_ASSIGN(made, maker.make_authority("baton " + cluster, now - identity::kClocksDifferMax,
                                              now + kAuthorityLife));
        proposed.certificate = std::move(made.certificate);
        proposed.key = std::move(made.key);
    }
    return catalog::cluster_authority(sql, proposed);
}

Result<KeyAndCertificate> coordinator_certificate(const catalog::ClusterAuthority& authority,
                                                  CertificateMaker& maker, WallTime now) {
    TRY_ASSIGN(facts, maker.look_at(authority.certificate));
    return maker.make(keys_of(authority), wish_of(identity::coordinator_of(authority.cluster),
                                                  now - identity::kClocksDifferMax, facts.until));
}

std::string mac_of(const identity::JoinToken& token, const catalog::ClusterAuthority& authority,
                   Hmac hmac) {
    return hmac(hmac(authority.key, "join tokens"), identity::signed_part(token));
}

Registrar::Registrar(RegistrarOptions options, SqlDatabase& database, CertificateMaker& maker,
                     const Clock& clock)
    : options_(std::move(options)), database_(database), maker_(maker), clock_(clock) {}

Result<std::string> Registrar::join(const std::string& text, const std::string& request) {
    TRY_ASSIGN(token, identity::join_token_in(text));
    const WallTime now = clock_.wall_now();
    // Digests are compared, so that the time this takes tells nothing of the MAC.
    if (options_.digest(token.mac) !=
        options_.digest(mac_of(token, options_.authority, options_.hmac))) {
        return Error{.code = ErrorCode::not_authenticated,
                     .message = "the token is not one of this cluster"};
    }
    TRY(identity::check_in_time(token, options_.authority.cluster, now));
    TRY_ASSIGN(sql, database_.connect(Access::write));
    TRY_ASSIGN(certificate, in_transaction(*sql, [&]() -> Result<std::string> {
                   TRY_ASSIGN(first, catalog::use_join_token(*sql, options_.digest(text),
                                                             token.expires, now));
                   if (first) return give(*sql, token.worker, request, {});
                   return Error{.code = ErrorCode::not_authenticated,
                                .message = "the token was used before",
                                .at = {},
                                .hint = "`baton token worker NAME` prints another"};
               }));
    const std::lock_guard lock(mutex_);
    joined_.insert(to_upper(token.worker));
    return certificate;
}

Result<std::string> Registrar::renew(const std::string& certificate, const std::string& request) {
    TRY_ASSIGN(facts, maker_.look_at(certificate));
    TRY_ASSIGN(identity, identity::identity_among(facts.uris));
    if (!identity || identity->role != identity::ProcessRole::worker ||
        identity->cluster != options_.authority.cluster) {
        return no_member("only workers of this cluster renew their certificates here");
    }
    TRY_ASSIGN(sql, database_.connect(Access::write));
    return in_transaction(*sql, [&]() -> Result<std::string> {
        TRY_ASSIGN(there, catalog::has_worker(*sql, identity->name));
        if (!there) return no_member("the catalog has no worker " + in_quotes(identity->name));
        TRY_ASSIGN(last, catalog::worker_certificate(*sql, identity->name));
        if (!last) {
            return no_member("worker " + in_quotes(identity->name) +
                             " was dropped, or has not joined this catalog");
        }
        // The answer may have been lost that brought the last one. One that is later than the last
        // is from before the catalog was restored.
        if (last->serial == facts.serial || last->predecessor == facts.serial ||
            last->given_at < facts.from) {
            return give(*sql, identity->name, request, facts.serial);
        }
        return no_member("worker " + in_quotes(identity->name) +
                         " was given another certificate since; is a copy of its data directory "
                         "in use?");
    });
}

Result<std::string> Registrar::give(Sql& sql, const std::string& worker, const std::string& request,
                                    const std::string& predecessor) {
    const WallTime now = clock_.wall_now();
    const identity::Identity identity{.role = identity::ProcessRole::worker,
                                      .cluster = options_.authority.cluster,
                                      .name = worker};
    TRY_ASSIGN(certificate, maker_.sign(keys_of(options_.authority), request,
                                        wish_of(identity, now - identity::kClocksDifferMax,
                                                now + options_.life)));
    TRY_ASSIGN(facts, maker_.look_at(certificate));
    TRY(catalog::keep_worker_certificate(
        sql, worker, {.serial = facts.serial, .predecessor = predecessor, .given_at = facts.from}));
    return certificate;
}

Result<Done> Registrar::refresh(Sql& sql) {
    TRY_ASSIGN(workers, catalog::workers_with_certificates(sql));
    const std::lock_guard lock(mutex_);
    joined_ = std::move(workers);
    return Done{};
}

bool Registrar::has_joined(const std::string& worker) const {
    const std::lock_guard lock(mutex_);
    return joined_.contains(to_upper(worker));
}

}  // namespace baton::coordinator
