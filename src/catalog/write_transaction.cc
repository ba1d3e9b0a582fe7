#include "catalog/write_transaction.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "catalog/application.h"
#include "catalog/kinds/row_cursor.h"
#include "catalog/lease.h"
#include "catalog/views/views.h"
#include "ports/sql_signals.h"
#include "ports/sql_values.h"

namespace baton::catalog {

namespace {

// Rows removed by one call of trim, so that a commit never waits long for housekeeping.
constexpr std::int64_t kTrimMost = 2'000;

constexpr std::size_t kPrincipalMax = 255;
constexpr std::size_t kMessageMax = 4'000;

}  // namespace

Result<std::unique_ptr<WriteTransaction>> WriteTransaction::begin(Sql& sql, Epoch epoch,
                                                                  Sending sending) {
    std::unique_ptr<WriteTransaction> tx(new WriteTransaction(sql));
    if (sending == Sending::later) tx->later_ = later_of(sql);
    TRY(tx->later_ != nullptr ? tx->later_->begin_later() : sql.begin(Access::write));
    tx->open_ = true;
    // Until the transaction ends nobody else can raise the epoch: without the lock, one who was
    // paused after the look would still write.
    TRY_ASSIGN(rows,
               sql.query("SELECT m.revision, m.next_id, m.next_statement, m.cluster_revision, "
                         "m.feed_floor, f.epoch FROM meta m, fence f "
                         "WHERE m.id = 1 AND f.lock_key = 'leader'" +
                         std::string(share_lock(sql.dialect()))));
    if (rows.size() != 1) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "the catalog has lost its meta row",
                     .hint = "restore it from a backup with `baton restore`"};
    }
    kinds::RowCursor cursor(rows[0]);
    tx->state_.revision = cursor.revision();
    tx->state_.next_id = cursor.number();
    tx->state_.next_statement = cursor.number();
    tx->state_.cluster_revision = cursor.revision();
    tx->state_.feed_floor = cursor.number();
    const Epoch current(cursor.number());
    if (current != epoch) {
        return Error{.code = ErrorCode::fenced,
                     .message = "this coordinator writes as epoch " + to_string(epoch) +
                                ", but epoch " + to_string(current) + " leads now"};
    }
    return tx;
}

WriteTransaction::~WriteTransaction() {
    if (open_) sql_.rollback();
}

Result<Done> WriteTransaction::begin_bundle(WallTime now, Undo undo) {
    CHECK(!in_bundle_);
    if (undo == Undo::always) TRY(sql_.set_savepoint());
    undo_ = undo;
    touched_ = false;
    in_bundle_ = true;
    now_ = now;
    before_next_id_ = state_.next_id;
    before_cluster_revision_ = state_.cluster_revision;
    before_changes_ = state_.changes.size();
    wanted_view_.reset();
    return Done{};
}

Result<Answer> WriteTransaction::apply(const Request& request) {
    CHECK(in_bundle_);
    return std::visit([&](const auto& r) { return Application(*this).on(r); }, request);
}

std::optional<planning::PlanningView> WriteTransaction::take_wanted_view() {
    return std::exchange(wanted_view_, std::nullopt);
}

Result<Revision> WriteTransaction::keep_bundle() {
    CHECK(in_bundle_);
    if (undo_ == Undo::always) TRY(sql_.release_savepoint());
    in_bundle_ = false;
    if (state_.changes.size() > before_changes_) {
        state_.revision = state_.revision.next();
        dirty_ = true;
    }
    return state_.revision;
}

Result<Done> WriteTransaction::undo_bundle() {
    CHECK(in_bundle_ && can_undo());
    in_bundle_ = false;
    state_.next_id = before_next_id_;
    state_.cluster_revision = before_cluster_revision_;
    state_.changes.resize(before_changes_);
    if (undo_ == Undo::always) TRY(sql_.roll_back_to_savepoint());
    return Done{};
}

Result<Done> WriteTransaction::log(const StatementRecord& record) {
    CHECK(!in_bundle_);
    const bool ok = !record.error;
    const std::array<SqlValue, 9> values = {
        kinds::value_of(state_.next_statement),
        to_string(record.received),
        storable_text(record.principal, kPrincipalMax),
        storable_text(record.statement, kStatementMax),
        std::string(ok ? "OK" : "ERROR"),
        ok ? SqlValue() : kinds::value_of(number(record.error->code)),
        ok ? SqlValue() : SqlValue(storable_text(to_string(*record.error), kMessageMax)),
        std::int64_t{record.took.count()},
        record.revision ? kinds::value_of(record.revision->value()) : SqlValue()};
    TRY(write("INSERT INTO statement_log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values));
    state_.next_statement += 1;
    dirty_ = true;
    return Done{};
}

Result<Done> WriteTransaction::trim(const HistoryLimits& limits, WallTime now) {
    const std::uint64_t revision = state_.revision.value();
    if (revision > limits.changes_max && state_.feed_floor < revision - limits.changes_max) {
        const std::uint64_t floor =
            std::min(revision - limits.changes_max, state_.feed_floor + std::uint64_t{kTrimMost});
        TRY(sql_.execute("DELETE FROM change_feed WHERE revision <= ?", {kinds::value_of(floor)}));
        state_.feed_floor = floor;
        dirty_ = true;
    }
    const std::uint64_t next = state_.next_statement;
    const std::uint64_t oldest = next > limits.statements_max ? next - limits.statements_max : 0;
    TRY_ASSIGN(first, sql_.query("SELECT MIN(id) FROM statement_log"));
    const std::uint64_t least = kinds::RowCursor(first.at(0)).number();
    const std::uint64_t reach = least + std::uint64_t{kTrimMost};
    TRY(sql_.execute("DELETE FROM statement_log WHERE id < ? AND (id < ? OR received < ?)",
                     {kinds::value_of(std::min(reach, next)), kinds::value_of(oldest),
                      to_string(now - limits.statements_age_max)}));
    return Done{};
}

Result<Done> WriteTransaction::write(std::string_view sql, std::span<const SqlValue> parameters) {
    if (later_ != nullptr) return later_->run_later(sql, parameters);
    TRY(sql_.run(sql, parameters, nullptr));
    return Done{};
}

Result<Done> WriteTransaction::write_meta() {
    const std::array<SqlValue, 5> values = {
        kinds::value_of(state_.revision.value()), kinds::value_of(state_.next_id),
        kinds::value_of(state_.next_statement), kinds::value_of(state_.cluster_revision.value()),
        kinds::value_of(state_.feed_floor)};
    const std::string signal =
        state_.changes.empty() ? "" : with_signal(sql_.dialect(), kCommitSignal);
    return write(
        "UPDATE meta SET revision = ?, next_id = ?, next_statement = ?, cluster_revision = ?, "
        "feed_floor = ? WHERE id = 1" +
            signal,
        values);
}

Result<Done> WriteTransaction::commit() {
    CHECK(!in_bundle_);
    if (dirty_) TRY(write_meta());
    open_ = false;
    auto done = sql_.commit();
    if (!done) sql_.rollback();
    return done;
}

Result<Done> Application::write(std::string_view sql, std::span<const SqlValue> parameters) {
    tx_.touched_ = true;
    return tx_.write(sql, parameters);
}

Result<Done> Application::record(kinds::Entity entity, ChangeOp op, std::optional<SqlRow> row,
                                 std::optional<SqlRow> old) {
    const kinds::View& view = views::view_of(entity);
    const std::string key = kinds::key_of(view, row ? *row : *old);
    const auto json = [&](const std::optional<SqlRow>& r) {
        return r ? SqlValue(kinds::row_to_json(view, *r)) : SqlValue();
    };
    const std::size_t ordinal = tx_.state_.changes.size() - tx_.before_changes_;
    TRY(write(
        "INSERT INTO change_feed VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        {kinds::value_of(revision().value()), static_cast<std::int64_t>(ordinal), to_string(now()),
         std::string(to_string(entity)), key, std::string(to_string(op)), json(row), json(old)}));
    const auto shared = [](std::optional<SqlRow> r) {
        return r ? std::make_shared<const SqlRow>(*std::move(r)) : nullptr;
    };
    tx_.state_.changes.push_back({.revision = revision(),
                                  .ordinal = static_cast<std::uint32_t>(ordinal),
                                  .at = now(),
                                  .entity = entity,
                                  .key = key,
                                  .op = op,
                                  .row = shared(std::move(row)),
                                  .old = shared(std::move(old))});
    return Done{};
}

Result<bool> Application::finds(std::string_view sql, const std::string& name) {
    bool found = false;
    const SqlValue parameter = name;
    TRY(sql_.run(sql, {&parameter, 1}, [&](const SqlRow&) { found = true; }));
    return found;
}

Result<std::vector<std::string>> Application::names(std::string_view sql,
                                                    std::initializer_list<SqlValue> parameters) {
    std::vector<std::string> found;
    TRY(sql_.run(sql, {parameters.begin(), parameters.size()},
                 [&](const SqlRow& row) { found.push_back(kinds::RowCursor(row).text()); }));
    return found;
}

}  // namespace baton::catalog
