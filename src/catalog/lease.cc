#include "catalog/lease.h"

#include "base/check.h"
#include "base/epoch.h"
#include "base/text.h"
#include "catalog/kinds/row_cursor.h"
#include "ports/sql_signals.h"

namespace baton::catalog {

namespace {

constexpr int kTriesMax = 4;  // of an acquisition: the second finds the lock that was made

}  // namespace

std::string_view now_us(SqlDialect dialect) {
    switch (dialect) {
        case SqlDialect::sqlite:
            return "(CAST(ROUND((julianday('now')-2440587.5)*86400000.0) AS INTEGER)*1000)";
        case SqlDialect::postgres:
            return "((extract(epoch from clock_timestamp())*1000000)::bigint)";
        case SqlDialect::mariadb:
            return "(CAST(UNIX_TIMESTAMP(NOW(6))*1000000 AS SIGNED))";
    }
    CHECK(false && "an unknown database");
}

std::string_view share_lock(SqlDialect dialect) {
    switch (dialect) {
        case SqlDialect::sqlite:
            return "";
        case SqlDialect::postgres:
            return " FOR SHARE";
        case SqlDialect::mariadb:
            return " LOCK IN SHARE MODE";
    }
    CHECK(false && "an unknown database");
}

std::string with_signal(SqlDialect dialect, std::string_view word) {
    if (dialect != SqlDialect::postgres) return "";
    return " RETURNING pg_notify('" + std::string(kSignalChannel) + "', '" + std::string(word) +
           "')";
}

Leases::Leases(Sql& sql, LockSpace space)
    : sql_(sql), space_(space), lease_(lease_table(space)), fence_(fence_table(space)) {
    const std::string now(now_us(sql.dialect()));
    acquire_sql_ = "UPDATE " + lease_ +
                   " SET owner = ?, epoch = CASE WHEN epoch + 1 < ? THEN ? ELSE epoch + 1 END, "
                   "taken_at = " +
                   now + ", expires_at = " + now +
                   " + ? WHERE lock_key = ? AND status = 'ACTIVE' AND expires_at <= " + now +
                   signal();
    renew_sql_ = "UPDATE " + lease_ + " SET expires_at = " + now +
                 " + ? WHERE lock_key = ? AND owner = ? AND epoch = ? AND status = 'ACTIVE' AND "
                 "expires_at > " +
                 now;
    watch_sql_ = "SELECT owner, epoch, expires_at - " + now + ", status FROM " + lease_ +
                 " WHERE lock_key = ?";
    remove_sql_ = "DELETE FROM " + lease_ +
                  " WHERE lock_key = ? AND status = 'DELETABLE' AND expires_at <= " + now;
}

// Only who leads is of interest to those who stand by.
std::string Leases::signal() const {
    return space_ == LockSpace::coordinators ? with_signal(sql_.dialect(), kLeaseSignal) : "";
}

// ---- terms --------------------------------------------------------------------------------------

// All of an acquisition but its commit. None: it is not free, or not there.
Result<std::optional<Epoch>> Leases::take(const std::string& key, const std::string& owner,
                                          Duration ttl, Epoch least_epoch) {
    const SqlValue least = kinds::value_of(least_epoch.value());
    TRY_ASSIGN(taken,
               sql_.execute(acquire_sql_, {owner, least, least, std::int64_t{ttl.count()}, key}));
    if (taken != 1) return std::optional<Epoch>();
    TRY_ASSIGN(rows, sql_.query("SELECT epoch FROM " + lease_ + " WHERE lock_key = ? AND owner = ?",
                                {key, owner}));
    if (rows.size() != 1) {
        return Error{.code = ErrorCode::defect,
                     .message = "the lock " + in_quotes(key) + " was taken and is not there"};
    }
    const Epoch epoch{kinds::RowCursor(rows[0]).number()};
    if (epoch > kEpochMax) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "the lock " + in_quotes(key) +
                                " cannot be taken: its epoch would "
                                "be " +
                                to_string(epoch) + ", and none above " + to_string(kEpochMax) +
                                " is believed",
                     .hint = "restore the catalog from a backup with `baton restore`"};
    }
    TRY_ASSIGN(fenced, sql_.execute("UPDATE " + fence_ + " SET epoch = ? WHERE lock_key = ?",
                                    {kinds::value_of(epoch.value()), key}));
    if (fenced != 1) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "the lock " + in_quotes(key) + " has lost its fence",
                     .hint = "restore the catalog from a backup with `baton restore`"};
    }
    return std::optional<Epoch>(epoch);
}

Result<LeaseOutcome> Leases::acquire(const std::string& key, const std::string& owner, Duration ttl,
                                     Epoch least_epoch) {
    CHECK(!owner.empty() && ttl > Duration::zero());
    for (int attempt = 1; attempt <= kTriesMax; ++attempt) {
        TRY(sql_.begin(Access::write));
        const auto epoch = take(key, owner, ttl, least_epoch);
        if (epoch && *epoch) return commit_term(**epoch);
        sql_.rollback();
        if (!epoch) return epoch.error();
        TRY_ASSIGN(held, watch(key));
        if (!held) {
            TRY(create(key));
        } else if (held->remaining > Duration::zero() || held->status != LockStatus::active) {
            return LeaseOutcome(lease::Refused{*held});
        }  // else it was given up, or just made, since it was tried
    }
    return Error{.code = ErrorCode::conflict,
                 .message = "the lock " + in_quotes(key) + " changed hands while it was asked for",
                 .hint = "try again"};
}

Result<LeaseOutcome> Leases::commit_term(Epoch epoch) {
    const auto done = sql_.commit();
    if (done) return LeaseOutcome(lease::Taken{epoch});
    sql_.rollback();
    if (done.error().code != ErrorCode::unknown_outcome) return done.error();
    return LeaseOutcome(lease::Uncertain{.epoch = epoch, .error = done.error()});
}

Result<bool> Leases::renew(const std::string& key, const std::string& owner, Epoch epoch,
                           Duration ttl) {
    TRY_ASSIGN(renewed, sql_.execute(renew_sql_, {std::int64_t{ttl.count()}, key, owner,
                                                  kinds::value_of(epoch.value())}));
    return renewed == 1;
}

Result<Done> Leases::release(const std::string& key, const std::string& owner, Epoch epoch) {
    TRY(sql_.execute("UPDATE " + lease_ +
                         " SET expires_at = 0 WHERE lock_key = ? AND owner = ? AND epoch = ?" +
                         signal(),
                     {key, owner, kinds::value_of(epoch.value())}));
    return Done{};
}

Result<std::optional<LeaseState>> Leases::watch(const std::string& key) {
    TRY_ASSIGN(rows, sql_.query(watch_sql_, {key}));
    if (rows.empty()) return std::optional<LeaseState>();
    kinds::RowCursor cursor(rows[0]);
    LeaseState state;
    state.owner = cursor.text();
    state.epoch = Epoch(cursor.number());
    state.remaining = Duration(cursor.integer());
    state.status = cursor.state<LockStatus>();
    return std::optional<LeaseState>(std::move(state));
}

Result<Epoch> epoch_of_fence(Sql& sql, const std::string& key) {
    TRY_ASSIGN(rows, sql.query("SELECT epoch FROM fence WHERE lock_key = ?", {key}));
    if (rows.size() == 1) return Epoch(kinds::RowCursor(rows[0]).number());
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "the lock " + in_quotes(key) + " has lost its fence"};
}

Result<Done> hold_fence(Sql& sql, const std::string& key, Epoch epoch) {
    const std::string lock(share_lock(sql.dialect()));
    TRY_ASSIGN(rows, sql.query("SELECT epoch FROM fence WHERE lock_key = ?" + lock, {key}));
    const std::string who =
        "this process writes as epoch " + to_string(epoch) + " of the lock " + in_quotes(key);
    if (rows.size() != 1) {
        return Error{.code = ErrorCode::fenced, .message = who + ", which is not there"};
    }
    const Epoch current{kinds::RowCursor(rows[0]).number()};
    if (current == epoch) return Done{};
    return Error{.code = ErrorCode::fenced,
                 .message = who + ", but epoch " + to_string(current) + " holds it now"};
}

// ---- locks --------------------------------------------------------------------------------------

// Two statements that may be interrupted anywhere, and made by several at once: rows that wait for
// each other in a transaction would make a deadlock of that.
Result<Done> Leases::create(const std::string& key) {
    const bool ignores = sql_.dialect() == SqlDialect::mariadb;
    const std::string insert = ignores ? "INSERT IGNORE INTO " : "INSERT INTO ";
    const std::string unless_there = ignores ? "" : " ON CONFLICT DO NOTHING";
    TRY(sql_.execute(insert + fence_ + " VALUES (?, 0)" + unless_there, {key}));
    TRY(sql_.execute(insert + lease_ +
                         " (lock_key, owner, epoch, expires_at, status, taken_at) SELECT lock_key, "
                         "'', epoch, 0, 'ACTIVE', 0 FROM " +
                         fence_ + " WHERE lock_key = ?" + unless_there,
                     {key}));
    return Done{};
}

Result<bool> Leases::set_status(const std::string& key, LockStatus status) {
    TRY_ASSIGN(changed, sql_.execute("UPDATE " + lease_ + " SET status = ? WHERE lock_key = ?",
                                     {std::string(to_string(status)), key}));
    return changed == 1;
}

Result<bool> Leases::delete_row(const std::string& key) {
    TRY_ASSIGN(removed, sql_.execute(remove_sql_, {key}));
    if (removed != 1) return false;
    // The epoch of the last holder must not pass the fence any more.
    TRY(sql_.execute("UPDATE " + fence_ + " SET epoch = epoch + 1 WHERE lock_key = ?", {key}));
    return true;
}

Result<bool> Leases::remove(const std::string& key) {
    TRY(sql_.begin(Access::write));
    auto removed = delete_row(key);
    if (!removed || !*removed) {
        sql_.rollback();
        return removed;
    }
    auto done = sql_.commit();
    if (done) return true;
    sql_.rollback();
    return done.error();
}

}  // namespace baton::catalog
