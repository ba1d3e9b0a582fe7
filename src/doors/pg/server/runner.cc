#include "doors/pg/server/runner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "coordinator/routing/forwarded_bundle.h"
#include "coordinator/sessions/answer_text.h"
#include "doors/pg/server/rows.h"
#include "doors/pg/server/runner_desk.h"
#include "doors/pg/wire/sqlstate.h"

namespace baton::pgserver {

using namespace pgwire::connection;  // NOLINT: its events and effects
using pgwire::TransactionStatus;

namespace {

pgwire::Report in_failed_transaction() {
    return {.sqlstate = "25P02",
            .message = "the transaction has failed",
            .hint = "ROLLBACK ends it",
            .code = ErrorCode::transaction_state};
}

pgwire::Report cancelled() {
    return {.sqlstate = "57014",
            .message = "the statement was cancelled",
            .code = ErrorCode::cancelled};
}

}  // namespace

Runner::Runner(RunnerOptions options) : options_(std::move(options)), settings_(options_.version) {}

void Runner::open(const OpenSession& session, desk::Principal who) {
    database_ = session.database;
    for (const auto& [name, value] : session.parameters) {
        // What cannot be had is not had; a client that insists will SET it.
        static_cast<void>(settings_.set(pg::to_lower(name), value));
    }
    visitor_ = options_.desk->visitor(std::move(who));
    (void)note_role();
    options_.tell(SessionOpened{.stands_by = stands_by_});
}

bool Runner::note_role() {
    const bool stands_by = !options_.desk->coordinator().term();
    if (std::exchange(stands_by_, stands_by) == stands_by) return false;
    settings_.set_role(stands_by);
    return true;
}

void Runner::end() {
    if (visitor_) visitor_->cancel();
    if (halt_) *halt_ = true;
    turn_ += 1;
    run_.reset();
    portals_.clear();
    cursors_.clear();
    prepared_.clear();
    visitor_.reset();
}

bool Runner::works() const {
    const bool waits = visitor_ && visitor_->stands_still();
    const bool follows = run_ && ((run_->stream && run_->stream->watch) || run_->copied);
    return preparing_since_ || (run_ && !waits && !follows);
}

std::optional<Duration> Runner::idle_in_transaction() const {
    if (!visitor_ || run_ || preparing_since_ || status_ == TransactionStatus::idle)
        return std::nullopt;
    return settings_.idle_in_transaction();
}

// ---- the run ------------------------------------------------------------------------------------

void Runner::run(const RunSimple& effect) {
    if (visitor_->who().coordinator) return carry_out(effect.text);
    begin({.text = effect.text, .statements = statements_of(effect.text), .kind = "simple"});
}

void Runner::run(const RunPortal& effect) {
    Portal& portal = portals_.at(effect.portal);
    Run run{.text = portal.prepared->text,
            .parameters = portal.parameters,
            .portal = effect.portal,
            .rows_max = effect.rows_max,
            .kind = "extended"};
    if (portal.stream) {
        run.stream = std::exchange(portal.stream, std::nullopt);
    } else if (portal.prepared->statement) {
        run.statements = {*portal.prepared->statement};
    }
    begin(std::move(run));
}

void Runner::begin(Run run) {
    CHECK(!run_ && !preparing_since_);
    turn_ += 1;
    paused_ = false;
    run_ = std::move(run);
    run_->since = now();
    if (run_->stream) return pump();
    advance();
}

void Runner::advance() {
    while (run_ && !run_->asked && !run_->stream && !run_->copied) {
        if (run_->delivered < run_->results.size()) {
            deliver(std::move(run_->results[run_->delivered++]));
        } else if (run_->failure) {
            fail(*run_->failure);
        } else if (run_->next < run_->statements.size()) {
            answer(run_->statements[run_->next]);
        } else {
            finish(Ended{status_});
        }
    }
}

void Runner::carry_out(const std::string& order) {
    CHECK(!run_ && !preparing_since_);
    turn_ += 1;
    paused_ = false;
    run_ = Run{.text = {}, .statements = {}, .asked = true, .kind = "forwarded", .since = now()};
    on_desk<std::string>(
        [&coordinator = options_.desk->coordinator(), order] {
            return Result<std::string>(coordinator::carry_out(coordinator.executor(), order));
        },
        [this](Result<std::string> answer) {
            run_->asked = false;
            if (!answer) return fail(pgwire::report_of(answer.error()));
            give_rows({{"answer"}}, {{*std::move(answer)}}, "SELECT", std::nullopt);
        });
}

void Runner::answer(const Statement& statement) {
    const bool for_session =
        is_for_session(statement) || std::holds_alternative<EndTransaction>(statement.answerer);
    if (has_failed() && !for_session) return fail(in_failed_transaction());
    if (const auto* end = std::get_if<EndTransaction>(&statement.answerer);
        end != nullptr && status_ == TransactionStatus::idle) {
        return end_transaction(end->commit);
    }
    run_->declares.reset();
    if (for_session) return ask_session();
    run_->next += 1;
    std::visit(Overload{
                   [](const ForSession&) {},
                   [](const EndTransaction&) {},
                   [&](const ForCatalog&) { ask_catalog(statement); },
                   [&](const SetParameter& s) { set_parameter(s); },
                   [&](const ShowParameter& s) { show_parameter(s, statement); },
                   [&](const Forget& s) { forget(s); },
                   [&](const CopyIn&) { copy_in(statement); },
                   [&](const DeclareCursor&) { declare_cursor(statement); },
                   [&](const FetchCursor& s) { fetch(s); },
                   [&](const CloseCursor& s) { close_cursor(s); },
                   [&](const Refuse& s) { fail(s.report); },
               },
               statement.answerer);
}

// ---- the session --------------------------------------------------------------------------------

// The statements from here on that can be given together, and their text: each at its place.
void Runner::ask_session() {
    const std::vector<Statement>& statements = run_->statements;
    const std::size_t at = statements[run_->next].at;
    std::string text;
    bool open = status_ != TransactionStatus::idle;
    const std::size_t first = run_->next;
    for (; run_->next < statements.size(); run_->next += 1) {
        const Statement& statement = statements[run_->next];
        const auto* session = std::get_if<ForSession>(&statement.answerer);
        const auto* end = std::get_if<EndTransaction>(&statement.answerer);
        if (!is_for_session(statement) && (end == nullptr || !open)) break;
        const bool alone = statement.copy || (session != nullptr && session->watches);
        if (alone && run_->next > first) break;
        if (run_->next > first) text += ';';
        if (text.size() < statement.at - at) text.resize(statement.at - at, ' ');
        text += statement.text;
        open = end == nullptr && (open || statement.text.starts_with("BEGIN"));
        if (!alone) continue;
        run_->copy = statement.copy;
        run_->next += 1;
        break;
    }
    send_to_session(std::move(text), at);
}

void Runner::send_to_session(std::string text, std::size_t at) {
    desk::Request request{.text = std::move(text)};
    request.wait = settings_.wait();
    for (const pgwire::Value& value : run_->parameters) {
        request.parameters.push_back(literal_of(value));
    }
    run_->asked = true;
    using Answer = std::shared_ptr<coordinator::Execution>;
    auto then =
        back<Answer>([this, at](const Answer& execution) { session_answered(at, execution); });
    visitor_->ask(std::move(request), [then](coordinator::Execution execution) {
        then(std::make_shared<coordinator::Execution>(std::move(execution)));
    });
}

void Runner::session_answered(std::size_t at,
                              const std::shared_ptr<coordinator::Execution>& execution) {
    run_->asked = false;
    run_->results = std::move(execution->results);
    run_->delivered = 0;
    if (execution->error) {
        Error error = *std::move(execution->error);
        if (error.at) error.at->offset += static_cast<std::uint32_t>(at);
        run_->failure = pgwire::report_of(error, run_->text, status_before_);
    }
    advance();
}

void Runner::deliver(coordinator::StatementResult result) {
    if (auto* table = std::get_if<views::Table>(&result.value)) {
        if (table->stale) {
            options_.tell(Noticed{{.severity = pgwire::Severity::warning,
                                   .sqlstate = "01B01",  // of ours: stale rows
                                   .message = table->note,
                                   .code = ErrorCode::catalog_unavailable}});
        }
        return give_rows(columns_of(table->columns), std::move(table->rows), result.tag,
                         std::exchange(run_->copy, std::nullopt));
    }
    if (auto* watch = std::get_if<std::unique_ptr<coordinator::Watch>>(&result.value)) {
        return follow(std::shared_ptr<coordinator::Watch>(std::move(*watch)),
                      std::exchange(run_->copy, std::nullopt));
    }
    if (auto* feed = std::get_if<std::unique_ptr<coordinator::RowStream>>(&result.value)) {
        return follow(std::shared_ptr<coordinator::RowStream>(std::move(*feed)),
                      std::exchange(run_->copy, std::nullopt));
    }
    if (const auto* answer = std::get_if<catalog::Answer>(&result.value)) {
        const bool plain = answer->did == catalog::Did::created ||
                           answer->did == catalog::Did::changed ||
                           (answer->did == catalog::Did::dropped && answer->dropped.size() <= 1);
        if (!plain || answer->id || settings_.tells_all()) {
            options_.tell(Noticed{{.severity = pgwire::Severity::notice,
                                   .sqlstate = "00000",
                                   .message = in_words(result)}});
        }
    }
    if (!result.notice.empty()) {
        options_.tell(Noticed{
            {.severity = pgwire::Severity::notice, .sqlstate = "00000", .message = result.notice}});
    }
    complete(result.tag);
}

// ---- what is PostgreSQL's -----------------------------------------------------------------------

void Runner::ask_catalog(const Statement& statement) {
    std::vector<SqlValue> parameters;
    for (const pgwire::Value& value : run_->parameters) parameters.push_back(sql_value_of(value));
    run_->asked = true;
    on_desk<pg::Rows>(question(statement.text, std::move(parameters)),
                      [this, copy = statement.copy](Result<pg::Rows> rows) {
                          run_->asked = false;
                          if (!rows) return fail(pgwire::report_of(rows.error()));
                          give_rows(std::move(rows->columns), std::move(rows->rows), "SELECT",
                                    copy);
                      });
}

// ---- rows ---------------------------------------------------------------------------------------

void Runner::give_rows(std::vector<pgwire::Column> columns, std::vector<SqlRow> rows,
                       std::string tag, const std::optional<CopyFormat>& copy) {
    begin_stream(
        {.columns = std::move(columns),
         .rows = {std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end())},
         .tag = std::move(tag),
         .copy = copy});
}

void Runner::follow(std::shared_ptr<coordinator::Watch> watch,
                    const std::optional<CopyFormat>& copy) {
    const auto news = std::make_shared<std::atomic<bool>>(false);
    begin_stream({.columns = watched_columns_of(watch->columns()),
                  .tag = "WATCH",
                  .copy = copy,
                  .watch = watch,
                  .news = news});
    if (run_ && run_->stream) watch->wake_with(pump_on(news));
}

void Runner::follow(std::shared_ptr<coordinator::RowStream> feed,
                    const std::optional<CopyFormat>& copy) {
    const auto news = std::make_shared<std::atomic<bool>>(false);
    begin_stream({.columns = columns_of(feed->columns()),
                  .tag = "SELECT",
                  .copy = copy,
                  .feed = feed,
                  .news = news});
    if (run_ && run_->stream) feed->wake_with(pump_on(news));
}

std::function<void()> Runner::pump_on(std::shared_ptr<std::atomic<bool>> news) {
    return [news = std::move(news), self = weak_from_this()] {
        if (news->exchange(true)) return;
        const auto runner = self.lock();
        if (runner) runner->options_.post([runner] { runner->pump(); });
    };
}

void Runner::begin_stream(Stream stream) {
    if (run_->declares) return keep_cursor(std::move(stream));
    if (run_->portal) {
        const Portal& portal = portals_.at(*run_->portal);
        if (portal.prepared->columns) {
            if (portal.prepared->columns->size() != stream.columns.size()) {
                return fail({.sqlstate = "0A000", .message = "the columns have changed"});
            }
            stream.columns = *portal.prepared->columns;
        }
        stream.formats = portal.formats;
    } else if (!stream.copy) {
        options_.tell(RowsBegan{stream.columns});
    }
    if (stream.copy) {
        options_.tell(CopyBegan{.columns = static_cast<std::uint16_t>(stream.columns.size())});
        if (stream.copy->header) {
            options_.tell(CopyCame{{copy_header(*stream.copy, stream.columns)}});
        }
    }
    if (stream.watch || stream.feed) run_->streams_since = now();
    run_->stream = std::move(stream);
    options_.post([self = shared_from_this()] { self->pump(); });
}

void Runner::resume_rows() {
    paused_ = false;
    options_.post([self = shared_from_this()] { self->pump(); });
}

void Runner::pump() {
    if (!run_ || !run_->stream || paused_ || run_->stream->polling) return;
    Stream& stream = *run_->stream;
    if (run_->rows_max != 0 && run_->rows >= run_->rows_max) {
        if (run_->fetch) return end_fetch();
        const std::size_t bytes = stream.bytes();
        portals_.at(*run_->portal).stream = std::move(run_->stream);
        return finish(Suspended{.status = status_, .bytes = bytes});
    }
    if (!stream.rows.empty() && run_->fetch && run_->fetch->moves) {
        const std::size_t left = run_->rows_max == 0 ? SIZE_MAX : run_->rows_max - run_->rows;
        const std::size_t passed = std::min(left, stream.rows.size());
        stream.rows.erase(stream.rows.begin(),
                          stream.rows.begin() + static_cast<std::ptrdiff_t>(passed));
        run_->rows += passed;
        return options_.post([self = shared_from_this()] { self->pump(); });
    }
    if (!stream.rows.empty()) {
        const std::size_t before = stream.given;
        auto portion = stream.take(run_->rows_max == 0 ? SIZE_MAX : run_->rows_max - run_->rows);
        if (!portion) return fail(pgwire::report_of(portion.error()));
        run_->rows += stream.given - before;
        options_.tell(*std::move(portion));
        // Others get their turn, and the connection its say.
        return options_.post([self = shared_from_this()] { self->pump(); });
    }
    if (stream.watch || stream.feed) {
        if (stream.news->exchange(false)) stream.watch ? poll() : poll_feed();
        return;
    }
    if (run_->fetch) return end_fetch();
    // Of a portal that was suspended, those since then.
    const std::string tag = stream.complete_tag(run_->portal ? run_->rows : stream.given);
    run_->stream.reset();
    complete(tag);
    advance();
}

void Runner::poll() {
    using Events = std::vector<coordinator::WatchEvent>;
    run_->stream->polling = true;
    on_desk<Events>([watch = run_->stream->watch] { return watch->poll(); },
                    [this](Result<Events> events) {
                        Stream& stream = *run_->stream;
                        stream.polling = false;
                        if (!events) return fail(pgwire::report_of(events.error()));
                        append_events(stream.rows, *events);
                        // A portion that was not empty may not have been the last.
                        if (!events->empty()) stream.news->store(true);
                        pump();
                    });
}

void Runner::poll_feed() {
    run_->stream->polling = true;
    on_desk<coordinator::FedRows>([feed = run_->stream->feed] { return feed->poll(); },
                                  [this](Result<coordinator::FedRows> fed) {
                                      Stream& stream = *run_->stream;
                                      stream.polling = false;
                                      if (!fed) return fail(pgwire::report_of(fed.error()));
                                      // A portion that was not empty may not have been the last.
                                      if (!fed->rows.empty()) stream.news->store(true);
                                      std::move(fed->rows.begin(), fed->rows.end(),
                                                std::back_inserter(stream.rows));
                                      if (fed->ended) stream.feed.reset();
                                      pump();
                                  });
}

void Runner::complete(const std::string& tag) {
    options_.tell(StatementCompleted{tag});
}

void Runner::fail(pgwire::Report report) {
    if (run_) run_->copied.reset();
    // Of a portal, the connection tells at the end of the series.
    if (!run_->portal && status_ == TransactionStatus::open) {
        return fail_transaction([this, report](const std::shared_ptr<coordinator::Execution>&) {
            finish(Failed{.report = report, .status = status_});
        });
    }
    finish(Failed{.report = std::move(report), .status = status_});
}

// The session has not seen what failed. A second BEGIN fails its transaction.
void Runner::fail_transaction(std::function<void(std::shared_ptr<coordinator::Execution>)> then) {
    if (run_) {
        run_->stream.reset();
        run_->asked = true;
    }
    visitor_->ask({.text = "BEGIN"}, [told = back<std::shared_ptr<coordinator::Execution>>(
                                          std::move(then))](coordinator::Execution execution) {
        told(std::make_shared<coordinator::Execution>(std::move(execution)));
    });
}

void Runner::finish(Event last) {
    count(last);
    run_.reset();
    turn_ += 1;
    if (note_role()) {
        options_.tell(ParameterChanged{"in_hot_standby", stands_by_ ? "on" : "off"});
    }
    options_.tell(std::move(last));
}

void Runner::count(const Event& last) {
    if (!run_ && !preparing_since_) return;
    const auto* failed = std::get_if<Failed>(&last);
    const std::string_view outcome = failed == nullptr ? "00000" : failed->report.sqlstate;
    if (preparing_since_)
        return options_.answers->count("prepare", outcome, now() - *preparing_since_);
    const Instant until = run_->streams_since ? *run_->streams_since : now();
    options_.answers->count(run_->kind, outcome, until - run_->since);
}

void Runner::interrupt() {
    if (!visitor_) return;
    visitor_->cancel();
    if (halt_) *halt_ = true;
    if (run_ && (run_->stream || run_->copied)) fail(cancelled());
}

}  // namespace baton::pgserver
