// WriteTransaction is one transaction of the catalog's only writer. It carries any number of
// bundles, so that many requests share one commit; each bundle happens whole or not at all.
//
//     begin -> { begin_bundle -> apply.. -> keep_bundle | undo_bundle } .. -> commit | ~
//
// Rules that carry the correctness:
//   - A bundle that changed anything raises the revision by one; every row it wrote carries that
//     revision, and the change feed gets its changes in the same transaction.
//   - Each request looks before it writes, for the good message; the constraints are the net below.
//   - After a failed apply the bundle must be undone, because the request may be half done.
//   - The epoch is compared with the fence at the start; a deposed writer changes nothing.
// Not thread-safe. Destroying it without commit rolls everything back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "catalog/change.h"
#include "catalog/reader.h"
#include "catalog/requests.h"
#include "ports/sql.h"
#include "ports/sql_later.h"

namespace baton::catalog {

// How far back history is kept.
struct HistoryLimits {
    std::uint64_t changes_max = 100'000;  // revisions that a watch can resume from
    std::uint64_t statements_max = 100'000;
    Duration statements_age_max = std::chrono::hours(24 * 30);
};

inline constexpr std::size_t kStatementMax = 10'000;  // bytes of a statement in the log

// A line of the statement log. Its texts may be any bytes: the log keeps as much of them as can be
// stored, up to a bound.
struct StatementRecord {
    WallTime received;
    std::string principal;
    std::string statement;  // secrets masked
    std::optional<Error> error;
    Duration took{};
    std::optional<Revision> revision;
};

// When a bundle can be undone by itself. The savepoint for it costs a copy of every page that the
// bundle writes to.
enum class Undo : std::uint8_t {
    always,
    until_written,  // as long as no request of it wrote anything; most failures are found before
};

// When what is written is sent to a database server.
enum class Sending : std::uint8_t {
    at_once,  // so that an error is that of the request
    later,    // with the next read, or the commit, where the database can; an error then costs the
              // whole transaction, and it is not known which request caused it
};

class WriteTransaction {
public:
    // Fails with fenced if another epoch writes now, and with errors of the database.
    [[nodiscard]] static Result<std::unique_ptr<WriteTransaction>> begin(
        Sql& sql, Epoch epoch, Sending sending = Sending::at_once);
    ~WriteTransaction();
    WriteTransaction(const WriteTransaction&) = delete;
    WriteTransaction& operator=(const WriteTransaction&) = delete;

    [[nodiscard]] Result<Done> begin_bundle(WallTime now, Undo undo = Undo::always);
    // Does the request, or fails with its errors. CreateQuery without a plan, or with one made for
    // a catalog that has changed since, fails with conflict and leaves the view to plan with; it
    // has changed nothing then and may be applied again with another plan.
    [[nodiscard]] Result<Answer> apply(const Request& request);
    // The view that the last apply asked to be planned with; none if it did not.
    [[nodiscard]] std::optional<planning::PlanningView> take_wanted_view();
    // Ends the bundle and returns the revision after it, which is the one before it if the bundle
    // changed nothing.
    [[nodiscard]] Result<Revision> keep_bundle();
    // False: only the whole transaction can be rolled back.
    [[nodiscard]] bool can_undo() const { return undo_ == Undo::always || !touched_; }
    [[nodiscard]] Result<Done> undo_bundle();

    // Statements are logged outside bundles, so that the log of a failure survives its undoing.
    [[nodiscard]] Result<Done> log(const StatementRecord& record);
    // Deletes the history that is beyond the limits; bounded work per call.
    [[nodiscard]] Result<Done> trim(const HistoryLimits& limits, WallTime now);

    // Durable when it returns. unknown_outcome: it may have happened.
    [[nodiscard]] Result<Done> commit();

    // The changes of the bundles kept so far, in order; valid to publish only after commit.
    [[nodiscard]] const std::vector<Change>& changes() const { return state_.changes; }
    [[nodiscard]] std::vector<Change> take_changes() { return std::move(state_.changes); }
    [[nodiscard]] Revision revision() const { return state_.revision; }
    [[nodiscard]] Sql& sql() { return sql_; }

private:
    friend class Application;  // what the requests do, in apply_*.cc

    // All that must be taken back when a bundle is undone.
    struct State {
        Revision revision;
        std::uint64_t next_id = 0;
        std::uint64_t next_statement = 0;
        Revision cluster_revision;
        std::uint64_t feed_floor = 0;
        std::vector<Change> changes;
    };

    explicit WriteTransaction(Sql& sql) : sql_(sql), reader_(sql) {}
    [[nodiscard]] Result<Done> write_meta();
    [[nodiscard]] Result<Done> write(std::string_view sql, std::span<const SqlValue> parameters);

    Sql& sql_;
    SqlLater* later_ = nullptr;  // null: at once
    Reader reader_;
    State state_;
    bool dirty_ = false;  // meta differs from the database
    bool open_ = false;   // between begin and commit
    // Of the bundle under way:
    bool in_bundle_ = false;
    Undo undo_ = Undo::always;
    bool touched_ = false;  // something was written, or was tried to be
    std::uint64_t before_next_id_ = 0;
    Revision before_cluster_revision_;
    std::size_t before_changes_ = 0;
    WallTime now_;
    std::optional<planning::PlanningView> wanted_view_;
};

}  // namespace baton::catalog
