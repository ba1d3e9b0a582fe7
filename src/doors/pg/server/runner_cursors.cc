// Cursors of a Runner: DECLARE, FETCH, MOVE and CLOSE. A cursor is a Stream that waits, and holds
// no thread meanwhile. The rest is in runner.cc.
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "doors/pg/server/runner.h"
#include "doors/pg/server/runner_desk.h"

namespace baton::pgserver {

using namespace pgwire::connection;  // NOLINT: its events and effects
using pgwire::TransactionStatus;

namespace {

constexpr std::size_t kCursorsMax = 16;

pgwire::Report unknown_cursor(const std::string& name) {
    return {.sqlstate = "34000",
            .message = "unknown cursor " + in_quotes(name),
            .hint = "a cursor without WITH HOLD ends with its transaction",
            .code = ErrorCode::unknown_cursor};
}

}  // namespace

void Runner::declare_cursor(const Statement& statement) {
    const auto& declared = std::get<DeclareCursor>(statement.answerer);
    if (!declared.holds && status_ == TransactionStatus::idle) {
        return fail({.sqlstate = "25P01",
                     .message = "DECLARE CURSOR needs a transaction",
                     .hint = "BEGIN one, or declare the cursor WITH HOLD",
                     .code = ErrorCode::transaction_state});
    }
    if (cursors_.contains(declared.name)) {
        return fail({.sqlstate = "42P03",
                     .message = "there is a cursor " + in_quotes(declared.name) + " already",
                     .hint = "CLOSE it first",
                     .code = ErrorCode::cursor_exists});
    }
    if (cursors_.size() >= kCursorsMax) {
        return fail({.sqlstate = "53400",
                     .message = "a session has at most " + std::to_string(kCursorsMax) + " cursors",
                     .hint = "CLOSE those that are done",
                     .code = ErrorCode::too_large});
    }
    run_->declares = declared;
    const Statement inner{
        .text = statement.text,
        .at = statement.at,
        .answerer = declared.catalog ? Answerer(*declared.catalog) : Answerer(ForSession{}),
        .copy = {}};
    if (is_for_session(inner)) return send_to_session(inner.text, inner.at);
    ask_catalog(inner);
}

void Runner::keep_cursor(Stream stream) {
    const DeclareCursor declared = *std::exchange(run_->declares, std::nullopt);
    cursors_.insert_or_assign(declared.name,
                              Cursor{.stream = std::move(stream), .holds = declared.holds});
    complete("DECLARE CURSOR");
    advance();
}

void Runner::fetch(const FetchCursor& statement) {
    const auto found = cursors_.find(statement.name);
    if (found == cursors_.end()) return fail(unknown_cursor(statement.name));
    const bool described = !run_->portal || portals_.at(*run_->portal).prepared->columns;
    if (!described && !statement.moves) {
        return fail({.sqlstate = "0A000",
                     .message = "FETCH was prepared before its cursor was declared",
                     .hint = "prepare it again",
                     .code = ErrorCode::not_supported});
    }
    Cursor cursor = std::move(found->second);
    cursors_.erase(found);
    run_->fetch =
        Run::Fetch{.name = statement.name, .holds = cursor.holds, .moves = statement.moves};
    const bool portal_limits = run_->portal && run_->rows_max != 0 &&
                               (statement.rows == 0 || run_->rows_max < statement.rows);
    if (!portal_limits) run_->rows_max = statement.rows;
    run_->rows = 0;
    cursor.stream.formats.clear();
    const auto news = cursor.stream.news;
    const auto watch = cursor.stream.watch;
    const auto feed = cursor.stream.feed;
    if (statement.moves) {
        run_->stream = std::move(cursor.stream);
        options_.post([self = shared_from_this()] { self->pump(); });
    } else {
        begin_stream(std::move(cursor.stream));
    }
    if (!news) return;
    news->store(false);
    if (watch) watch->wake_with(pump_on(news));
    if (feed) feed->wake_with(pump_on(news));
    if (!news->exchange(true)) options_.post([self = shared_from_this()] { self->pump(); });
}

// All that were wanted have come, or there are no more.
void Runner::end_fetch() {
    const Run::Fetch fetch = *std::exchange(run_->fetch, std::nullopt);
    Stream stream = *std::exchange(run_->stream, std::nullopt);
    const std::size_t count = run_->rows;
    run_->rows = 0;
    run_->rows_max = 0;
    cursors_.insert_or_assign(fetch.name,
                              Cursor{.stream = std::move(stream), .holds = fetch.holds});
    complete((fetch.moves ? "MOVE " : "FETCH ") + std::to_string(count));
    advance();
}

void Runner::close_cursor(const CloseCursor& statement) {
    if (!statement.name) {
        cursors_.clear();
        return complete("CLOSE CURSOR ALL");
    }
    if (cursors_.erase(*statement.name) == 0) return fail(unknown_cursor(*statement.name));
    complete("CLOSE CURSOR");
}

void Runner::end_cursors_of_transaction() {
    std::erase_if(cursors_, [](const auto& entry) { return !entry.second.holds; });
}

}  // namespace baton::pgserver
