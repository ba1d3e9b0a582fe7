#include "coordinator/reading/stale_views.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "catalog/reader.h"

namespace baton::coordinator {

namespace {

// They are no part of the catalog's revisions.
bool is_of_locks(const kinds::View& view) {
    return view.name == "LOCKS";
}

bool is_kept(const kinds::View& view) {
    return view.entity || view.live || is_of_locks(view);
}

// What is left of a lease grows less while nobody looks.
std::vector<SqlRow> grown_older(std::vector<SqlRow> locks, const views::ViewQuery& query,
                                Duration age) {
    const auto column = query.view().column("REMAINING_US");
    CHECK(column);
    for (SqlRow& row : locks) {
        auto& left = std::get<std::int64_t>(row.at(*column));
        left = std::max<std::int64_t>(0, left - age.count());
    }
    return locks;
}

std::size_t bytes_of(const SqlRow& row) {
    std::size_t bytes = sizeof(row) + row.size() * sizeof(SqlValue);
    for (const SqlValue& value : row) {
        if (const auto* text = std::get_if<std::string>(&value)) bytes += text->capacity();
    }
    return bytes;
}

}  // namespace

StaleViews::StaleViews(SqlDatabase& database, const Clock& clock, const StaleViewsOptions& options)
    : database_(database), clock_(clock), options_(options), thread_([this] { run(); }) {}

StaleViews::~StaleViews() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    ended_.notify_one();
    thread_.join();
}

void StaleViews::run() {
    bool reached = true;
    for (;;) {
        const auto looked = look();  // tried again after the pause; meanwhile the copy grows older
        if (reached != looked.has_value() && options_.on_change) options_.on_change(looked);
        reached = looked.has_value();
        const Duration pause = std::max(options_.interval, took_ * options_.rest);
        std::unique_lock lock(mutex_);
        if (ended_.wait_for(lock, pause, [&] { return over_; })) return;
    }
}

Result<Done> StaleViews::look() {
    took_ = Duration::zero();
    if (!sql_) {
        TRY_ASSIGN(sql, database_.connect(Access::read));
        sql_ = std::move(sql);
    }
    TRY(sql_->begin(Access::read));
    const auto done = [&]() -> Result<Done> {
        const Instant now = clock_.now();
        TRY_ASSIGN(revision, catalog::Reader(*sql_).revision());
        const auto copy = [&] {
            const std::lock_guard lock(mutex_);
            return copy_;
        }();
        if (copy && copy->revision == revision) return confirm(*copy, now);
        return take_copy(revision);
    }();
    sql_->rollback();
    return done;
}

Result<Done> StaleViews::take_copy(Revision revision) {
    const Instant begun = clock_.now();
    auto copy = std::make_shared<Copy>();
    copy->revision = revision;
    std::size_t bytes = 0;
    for (const kinds::View& view : views::views()) {
        if (!is_kept(view)) continue;
        auto table = views::ViewQuery::everything(view).run(*sql_);
        if (!table && table.error().code == ErrorCode::too_large) bytes = options_.bytes_max + 1;
        if (table) {
            for (const SqlRow& row : table->rows) bytes += bytes_of(row);
        }
        if (bytes > options_.bytes_max) break;
        if (!table) return table.error();
        copy->rows.emplace(view.name,
                           std::make_shared<const std::vector<SqlRow>>(std::move(table->rows)));
    }
    took_ = clock_.now() - begun;
    const std::lock_guard lock(mutex_);
    copy_ = bytes > options_.bytes_max ? nullptr : std::move(copy);
    confirmed_ = begun;
    return Done{};
}

Result<Done> StaleViews::confirm(const Copy& copy, Instant now) {
    auto confirmed = std::make_shared<Copy>(copy);
    for (const kinds::View& view : views::views()) {
        if (!is_of_locks(view)) continue;
        TRY_ASSIGN(table, views::ViewQuery::everything(view).run(*sql_));
        confirmed->rows[view.name] =
            std::make_shared<const std::vector<SqlRow>>(std::move(table.rows));
    }
    const std::lock_guard lock(mutex_);
    copy_ = std::move(confirmed);
    confirmed_ = now;
    return Done{};
}

std::optional<views::Table> StaleViews::ask(const views::ViewQuery& query) const {
    std::shared_ptr<const Copy> copy;
    Instant confirmed;
    {
        const std::lock_guard lock(mutex_);
        copy = copy_;
        confirmed = confirmed_;
    }
    if (!copy) return std::nullopt;
    const auto rows = copy->rows.find(query.view().name);
    if (rows == copy->rows.end()) return std::nullopt;
    const Duration age = clock_.now() - confirmed;
    views::Table table = is_of_locks(query.view())
                             ? query.over(grown_older(*rows->second, query, age))
                             : query.over(*rows->second);
    table.stale = views::Stale{.revision = copy->revision, .age = age};
    table.note = in_words(*table.stale);
    return table;
}

}  // namespace baton::coordinator
