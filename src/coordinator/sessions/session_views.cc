// What a session answers about the catalog: SHOW, SELECT from a view, WATCH.
#include <utility>

#include "coordinator/sessions/session.h"
#include "coordinator/sessions/session_parts.h"
#include "coordinator/sessions/version.h"

namespace baton::coordinator {

Result<StatementResult> Session::run_show(const sql::Statement& statement, const sql::Show& show) {
    if (views::is_static(show.what)) {
        TRY_ASSIGN(table, views::show_static(show, std::string(kVersion)));
        return StatementResult{
            .tag = "SHOW", .value = std::move(table), .format = show.format, .revision = {}};
    }
    TRY_ASSIGN(query, views::ViewQuery::from(show));
    TRY_ASSIGN(result, run_view(statement, query, "SHOW"));
    result.format = show.format;
    return result;
}

Result<StatementResult> Session::run_view(const sql::Statement& statement,
                                          const views::ViewQuery& query, std::string tag) {
    const auto shown = [&](views::Table table) {
        return StatementResult{
            .tag = std::move(tag), .value = std::move(table), .format = {}, .revision = {}};
    };
    // What is live belongs to no revision, and so to no transaction.
    if (!transaction_ || query.view().live) {
        TRY_ASSIGN(table, look_at(query));
        return shown(std::move(table));
    }
    if (!transaction_->steps.empty()) {
        Outcome outcome = try_out({.what = query, .statement = {}, .source = source_of(statement)});
        if (auto* refused = std::get_if<Refused>(&outcome)) return std::move(refused->error);
        auto& accepted = std::get<Accepted>(outcome);
        note_read(query, accepted.revision);
        return shown(std::get<views::Table>(std::move(accepted.answers.back())));
    }
    if (!transaction_->view) {
        TRY_ASSIGN(view, coordinator_.transaction_views().begin());
        transaction_->view = std::move(view);
    }
    TRY_ASSIGN(table, transaction_->view->read(query));
    note_read(query, transaction_->view->revision());
    return shown(std::move(table));
}

Result<views::Table> Session::look_at(const views::ViewQuery& query) {
    const bool asks_leader = query.view().live && coordinator_.forwards() && !coordinator_.term();
    if (asks_leader && patience_ != Patience::leader) return pause(Pause::leader);
    auto table = [&]() -> Result<views::Table> {
        TRY_ASSIGN(snapshot, coordinator_.snapshot(urgency_));
        const views::LiveCounts live =
            query.view().live ? coordinator_.live_counts() : views::LiveCounts{};
        return query.run(snapshot.sql(), live);
    }();
    if (table || transaction_ || table.error().code != ErrorCode::catalog_unavailable) {
        return table;
    }
    auto stale = coordinator_.ask_stale(query);
    return stale ? *std::move(stale) : table;
}

void Session::note_read(const views::ViewQuery& query, Revision at) {
    SeenBefore& seen = transaction_->seen;
    seen.at = seen.entities.none() ? at : std::min(seen.at, at);
    if (const auto entity = query.view().entity) {
        seen.entities.set(static_cast<std::size_t>(*entity));
    } else {
        seen.entities.set();  // a view over several kinds
    }
}

Result<StatementResult> Session::run_watch(const sql::Watch& statement) {
    const auto* show = std::get_if<sql::Show>(&statement.source);
    if (show != nullptr && views::is_static(show->what)) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "a view that never changes cannot be watched"};
    }
    TRY_ASSIGN(query, show != nullptr
                          ? views::ViewQuery::from(*show)
                          : views::ViewQuery::from(std::get<sql::Query>(statement.source)));
    std::optional<Revision> since;
    if (statement.since) since = Revision(*statement.since);
    TRY_ASSIGN(watch, coordinator_.watch(query, since));
    StatementResult result{.tag = "WATCH", .value = std::move(watch), .format = {}, .revision = {}};
    if (show != nullptr) result.format = show->format;
    return result;
}

}  // namespace baton::coordinator
