#include "catalog/cluster_identity.h"

#include "base/text.h"

namespace baton::catalog {

namespace {

std::string text_at(const SqlRow& row, std::size_t column) {
    return std::get<std::string>(row.at(column));
}

std::int64_t micros(WallTime time) {
    return time.time_since_epoch().count();
}

}  // namespace

Result<std::optional<ClusterAuthority>> find_authority(Sql& sql) {
    TRY_ASSIGN(rows, sql.query("SELECT cluster, certificate, private_key, address FROM "
                               "cluster_authority WHERE id = 1"));
    if (rows.empty()) return std::optional<ClusterAuthority>();
    const SqlRow& row = rows.front();
    return std::optional(ClusterAuthority{.cluster = text_at(row, 0),
                                          .certificate = text_at(row, 1),
                                          .key = text_at(row, 2),
                                          .address = text_at(row, 3)});
}

Result<ClusterAuthority> cluster_authority(Sql& sql, const ClusterAuthority& proposed) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        TRY_ASSIGN(found, find_authority(sql));
        if (found && (proposed.address.empty() || proposed.address == found->address)) {
            return *std::move(found);
        }
        if (found) {
            TRY(sql.execute("UPDATE cluster_authority SET address = ? WHERE id = 1",
                            {proposed.address}));
            found->address = proposed.address;
            return *std::move(found);
        }
        auto made = sql.execute(
            "INSERT INTO cluster_authority (id, cluster, certificate, private_key, address) "
            "VALUES (1, ?, ?, ?, ?)",
            {proposed.cluster, proposed.certificate, proposed.key, proposed.address});
        // Another coordinator was faster: its authority counts.
        if (!made && made.error().code != ErrorCode::unique_violation) return made.error();
    }
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "the catalog does not keep the issuer of its certificates"};
}

Result<bool> use_join_token(Sql& sql, const std::string& digest, WallTime expires, WallTime now) {
    TRY(sql.execute("DELETE FROM join_token WHERE expires_at < ?", {micros(now)}));
    auto made = sql.execute("INSERT INTO join_token (digest, expires_at) VALUES (?, ?)",
                            {digest, micros(expires)});
    if (made) return true;
    if (made.error().code == ErrorCode::unique_violation) return false;
    return made.error();
}

Result<Done> keep_worker_certificate(Sql& sql, const std::string& worker,
                                     const WorkerCertificate& last) {
    const std::string name = to_upper(worker);
    for (int attempt = 0; attempt < 2; ++attempt) {
        TRY_ASSIGN(there, worker_certificate(sql, worker));
        if (there) {
            TRY(sql.execute(
                "UPDATE worker_certificate SET serial = ?, predecessor = ?, given_at = ? WHERE "
                "worker = ?",
                {last.serial, last.predecessor, micros(last.given_at), name}));
            return Done{};
        }
        auto made = sql.execute(
            "INSERT INTO worker_certificate (worker, serial, predecessor, given_at) VALUES (?, ?, "
            "?, ?)",
            {name, last.serial, last.predecessor, micros(last.given_at)});
        if (made) return Done{};
        if (made.error().code != ErrorCode::unique_violation) return made.error();
    }
    return Error{.code = ErrorCode::conflict,
                 .message = "worker " + in_quotes(worker) + " gets two certificates at once"};
}

Result<std::optional<WorkerCertificate>> worker_certificate(Sql& sql, const std::string& worker) {
    TRY_ASSIGN(rows, sql.query("SELECT serial, predecessor, given_at FROM worker_certificate WHERE "
                               "worker = ?",
                               {to_upper(worker)}));
    if (rows.empty()) return std::optional<WorkerCertificate>();
    return std::optional(WorkerCertificate{
        .serial = text_at(rows.front(), 0),
        .predecessor = text_at(rows.front(), 1),
        .given_at = WallTime(Duration(std::get<std::int64_t>(rows.front().at(2))))});
}

Result<std::set<std::string>> workers_with_certificates(Sql& sql) {
    TRY_ASSIGN(rows, sql.query("SELECT worker FROM worker_certificate"));
    std::set<std::string> workers;
    for (const SqlRow& row : rows) workers.insert(text_at(row, 0));
    return workers;
}

Result<bool> has_worker(Sql& sql, const std::string& worker) {
    TRY_ASSIGN(rows, sql.query("SELECT name FROM worker"));
    for (const SqlRow& row : rows) {
        if (equal_ignoring_case(text_at(row, 0), worker)) return true;
    }
    return false;
}

}  // namespace baton::catalog
