#include "coordinator/locks.h"

#include <algorithm>
#include <chrono>

#include "base/overload.h"
#include "base/text.h"
#include "catalog/lease_schema.h"
#include "coordinator/commit/database_retry.h"
#include "coordinator/statements/bind.h"
#include "coordinator/statements/names.h"

namespace baton::coordinator {

namespace {

constexpr std::size_t kTextMax = 255;  // of a name or an owner, as the tables have it
constexpr Duration kTtlMin = std::chrono::milliseconds(100);
constexpr Duration kTtlMax = std::chrono::hours(24);

Error invalid(std::string message, std::string hint) {
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = std::move(message),
                 .hint = std::move(hint)};
}

Result<Done> check_text(std::string_view what, const std::string& text) {
    if (!text.empty() && text.size() <= kTextMax) return Done{};
    return invalid(std::string(what) + " has " + std::to_string(text.size()) + " bytes",
                   "give it 1 to " + std::to_string(kTextMax));
}

Result<Done> check_name(const std::string& name) {
    TRY(check_text("the name of the lock", name));
    if (!equal_ignoring_case(name, catalog::kLeaderLock)) return Done{};
    return invalid("lock " + in_quotes(name) + " is the coordinators' own", "give another name");
}

Result<Duration> checked(const sql::TimeSpan& ttl) {
    const Duration duration = duration_of(ttl);
    if (duration >= kTtlMin && duration <= kTtlMax) return duration;
    return invalid("the TTL of a lock is from 100 ms to 24 hours",
                   "for example TTL 30 SEC, and RENEW LOCK every 10 seconds");
}

Error unknown(const std::string& name) {
    return Error{.code = ErrorCode::unknown_lock,
                 .message = "unknown lock " + in_quotes(name),
                 .hint = "SHOW LOCKS lists them; ACQUIRE LOCK makes one"};
}

std::string in_seconds(Duration left) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                        std::max(left, Duration::zero()))  // it has ended since it was asked for
                        .count();
    std::string thousandths = std::to_string(ms % 1000);
    thousandths.insert(0, 3 - thousandths.size(), '0');
    return std::to_string(ms / 1000) + "." + thousandths + " s";
}

Error held_by(const std::string& name, const catalog::LeaseState& held) {
    return Error{.code = ErrorCode::lock_held,
                 .message = "lock " + in_quotes(name) + " is held by " + in_quotes(held.owner) +
                            " under epoch " + std::to_string(held.epoch.value()) + " for another " +
                            in_seconds(held.remaining),
                 .hint = "try again when that is over, or when it is released"};
}

Error not_active(const std::string& name, LockStatus status) {
    return Error{.code = ErrorCode::lock_not_active,
                 .message = "lock " + in_quotes(name) + " is " + std::string(to_string(status)),
                 .hint = status == LockStatus::inactive
                             ? "ENABLE LOCK lets it be taken again"
                             : "DROP LOCK removes it when it is no longer held"};
}

Error lost(const std::string& name, const std::string& owner, std::uint64_t epoch) {
    return Error{.code = ErrorCode::lock_lost,
                 .message = "lock " + in_quotes(name) + " is not held by " + in_quotes(owner) +
                            " under epoch " + std::to_string(epoch),
                 .hint = "stop what was done under it, and ACQUIRE LOCK again"};
}

std::vector<views::TableColumn> row_columns() {
    return {{.name = "NAME", .type = kinds::ViewType::text},
            {.name = "OWNER", .type = kinds::ViewType::text},
            {.name = "EPOCH", .type = kinds::ViewType::integer},
            {.name = "TTL_US", .type = kinds::ViewType::integer}};
}

views::Table row(const std::string& name, const std::string& owner, Epoch epoch, Duration ttl) {
    return {.columns = row_columns(),
            .rows = {{name, owner, static_cast<std::int64_t>(epoch.value()),
                      static_cast<std::int64_t>(ttl.count())}}};
}

// The acts, on one connection.
class Acts {
public:
    using Row = std::optional<views::Table>;
    Acts(Sql& sql, const std::string& name)
        : leases_(sql, catalog::LockSpace::clients), name_(name) {}

    Result<Row> operator()(const sql::lock::Acquire& act) {
        TRY(check_new_name("the name of the lock", name_));
        TRY(check_text("the owner of the lock", act.owner));
        TRY_ASSIGN(ttl, checked(act.ttl));
        TRY_ASSIGN(outcome, leases_.acquire(name_, act.owner, ttl));
        if (const auto* refused = std::get_if<catalog::lease::Refused>(&outcome)) {
            if (refused->held.status != LockStatus::active) {
                return not_active(name_, refused->held.status);
            }
            return held_by(name_, refused->held);
        }
        if (auto* uncertain = std::get_if<catalog::lease::Uncertain>(&outcome)) {
            Error error = std::move(uncertain->error);
            error.code = ErrorCode::unknown_outcome;
            error.hint = "look at SHOW LOCKS: it may be held under epoch " +
                         std::to_string(uncertain->epoch.value()) + ", which RELEASE LOCK ends";
            return error;
        }
        return Row(row(name_, act.owner, std::get<catalog::lease::Taken>(outcome).epoch, ttl));
    }

    Result<Row> operator()(const sql::lock::Renew& act) {
        TRY_ASSIGN(ttl, checked(act.ttl));
        TRY_ASSIGN(renewed, leases_.renew(name_, act.owner, Epoch(act.epoch), ttl));
        if (renewed) return Row(row(name_, act.owner, Epoch(act.epoch), ttl));
        TRY_ASSIGN(held, watched());
        if (held.status != LockStatus::active) return not_active(name_, held.status);
        return lost(name_, act.owner, act.epoch);
    }

    // Nothing to release is no error: it may be the second try of one whose answer was lost.
    Result<Row> operator()(const sql::lock::Release& act) {
        TRY(watched());
        TRY(leases_.release(name_, act.owner, Epoch(act.epoch)));
        return Row();
    }

    Result<Row> operator()(sql::lock::Enable /*act*/) { return set(LockStatus::active); }
    Result<Row> operator()(sql::lock::Disable /*act*/) { return set(LockStatus::inactive); }

    Result<Row> operator()(sql::lock::Drop /*act*/) {
        TRY(set(LockStatus::deletable));
        TRY_ASSIGN(removed, leases_.remove(name_));
        if (removed) return Row();
        TRY_ASSIGN(held, leases_.watch(name_));
        if (!held) return Row();  // by somebody else, meanwhile
        Error error = held_by(name_, *held);
        error.hint = "it can no longer be renewed: DROP LOCK again when that is over";
        return error;
    }

private:
    Result<catalog::LeaseState> watched() {
        TRY_ASSIGN(held, leases_.watch(name_));
        if (!held) return unknown(name_);
        return *std::move(held);
    }

    Result<Row> set(LockStatus status) {
        TRY_ASSIGN(there, leases_.set_status(name_, status));
        if (!there) return unknown(name_);
        return Row();
    }

    catalog::Leases leases_;
    const std::string& name_;
};

// Whether the connection may be at fault.
bool ends_connection(const Error& error) {
    return error.code == ErrorCode::catalog_unavailable || error.code == ErrorCode::unknown_outcome;
}

}  // namespace

Result<std::optional<views::Table>> Locks::run(const sql::LockStatement& statement) {
    TRY(check_name(statement.name));
    TRY_ASSIGN(sql, connections_.take());
    auto done = std::visit(Acts(*sql, statement.name), statement.act);
    for (int i = 1; i < kDatabaseAttemptsMax && !done && may_be_tried_again(*sql, done.error());
         ++i) {
        done = std::visit(Acts(*sql, statement.name), statement.act);
    }
    if (!done && ends_connection(done.error())) sql.reset();
    connections_.give_back(std::move(sql));
    return done;
}

std::optional<std::vector<views::TableColumn>> Locks::columns(const sql::LockStatement& statement) {
    const bool has_row = std::holds_alternative<sql::lock::Acquire>(statement.act) ||
                         std::holds_alternative<sql::lock::Renew>(statement.act);
    if (!has_row) return std::nullopt;
    return row_columns();
}

}  // namespace baton::coordinator
