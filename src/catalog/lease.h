// Leases is the lock service: named locks that are held for a time, under an epoch.
//
// The rules that carry the correctness:
//   - Only the database's clock decides whether a lease has ended.
//   - The epoch of a lock grows with every term, and never on renewal. It grows by one, unless the
//     taker asks for more.
//   - A lock is taken only when its lease has ended, and only one of several owners that try at
//     once gets it. Only the owner and epoch that hold a lock renew and release it, and renew it
//     only before its lease has ended.
//   - Taking a lock moves its fence in the same transaction, and waits for transactions that hold
//     the fence.
//   - A transaction that writes under a lock holds its fence to its end (hold_fence). A look at the
//     epoch without a lock on its row fences nothing: the row may change before the commit.
//   - A lock that is not ACTIVE cannot be taken or renewed. One that is DELETABLE can be removed
//     when its lease has ended. A lock that does not exist is made when it is first taken.
// An owner is a text that no other process ever uses, not even the same one after a restart.
//
// Errors are those of ports/sql.h. Every call but acquire, create and remove is one statement
// outside a transaction. The number of rows that the port reports counts the rows that matched,
// also those in which nothing changed. Not thread-safe: give it a connection of its own, which no
// work of the leader uses.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "catalog/lease_schema.h"
#include "model/lock.h"
#include "ports/sql.h"

namespace baton::catalog {

struct LeaseState {
    std::string owner;
    Epoch epoch;
    Duration remaining{};  // by the database's clock; none left: it has ended
    LockStatus status = LockStatus::active;
};

namespace lease {
struct Taken {
    Epoch epoch;
};
struct Refused {
    LeaseState held;
};
struct Uncertain {  // whether the lock was taken under this epoch; release it
    Epoch epoch;
    Error error;
};
}  // namespace lease
using LeaseOutcome = std::variant<lease::Taken, lease::Refused, lease::Uncertain>;

class Leases {
public:
    explicit Leases(Sql& sql, LockSpace space = LockSpace::coordinators);

    // The epoch is the next one, or least_epoch if that is higher. Waits for the transactions that
    // hold the fence. An error: nothing was taken.
    [[nodiscard]] Result<LeaseOutcome> acquire(const std::string& key, const std::string& owner,
                                               Duration ttl, Epoch least_epoch = Epoch());
    // False: this owner does not hold the lock under this epoch, and never will again.
    [[nodiscard]] Result<bool> renew(const std::string& key, const std::string& owner, Epoch epoch,
                                     Duration ttl);
    // No effect unless this owner holds the lock under this epoch.
    [[nodiscard]] Result<Done> release(const std::string& key, const std::string& owner,
                                       Epoch epoch);
    [[nodiscard]] Result<std::optional<LeaseState>> watch(const std::string& key);

    // Makes an ACTIVE lock if there is none of this name.
    [[nodiscard]] Result<Done> create(const std::string& key);
    // False: there is no such lock.
    [[nodiscard]] Result<bool> set_status(const std::string& key, LockStatus status);
    // Removes a lock that is DELETABLE and whose lease has ended. A transaction that still writes
    // under it is fenced. False: there is no such lock.
    [[nodiscard]] Result<bool> remove(const std::string& key);

private:
    [[nodiscard]] Result<std::optional<Epoch>> take(const std::string& key,
                                                    const std::string& owner, Duration ttl,
                                                    Epoch least_epoch);
    [[nodiscard]] Result<LeaseOutcome> commit_term(Epoch epoch);
    [[nodiscard]] Result<bool> delete_row(const std::string& key);

    [[nodiscard]] std::string signal() const;

    Sql& sql_;
    const LockSpace space_;
    const std::string lease_;  // the tables
    const std::string fence_;
    std::string acquire_sql_;
    std::string renew_sql_;
    std::string watch_sql_;
    std::string remove_sql_;
};

// The epoch that the fence of a coordinators' lock stands at.
[[nodiscard]] Result<Epoch> epoch_of_fence(Sql& sql, const std::string& key);

// Call this in a write transaction, before it writes: until the transaction ends, no coordinator
// can take the coordinators' lock of this name. Fails with fenced if this epoch no longer holds the
// fence.
[[nodiscard]] Result<Done> hold_fence(Sql& sql, const std::string& key, Epoch epoch);

// The end of an UPDATE that sends the word to listening connections when it is committed; empty
// where the database cannot do so.
[[nodiscard]] std::string with_signal(SqlDialect dialect, std::string_view word);

// The end of a SELECT whose rows must not change before the transaction ends; empty where a write
// transaction excludes all others anyway.
[[nodiscard]] std::string_view share_lock(SqlDialect dialect);
// The database's clock in microseconds, as an expression that moves on during a transaction.
[[nodiscard]] std::string_view now_us(SqlDialect dialect);

}  // namespace baton::catalog
