// Runner runs what the client of one connection asks for: it performs the effects of a
// pgwire::Connection that concern a session, and returns the events that answer them.
//
// Input:   effects, one after the other. Output: events, in the order that the connection demands.
//
// Rules:
//   - Everything happens on the connection's strand, which it is called on and posts to. Work that
//     reads the catalog runs on the desk; a result that comes back after its run is over is
//     dropped.
//   - A text is run statement by statement: consecutive ones for the session are given to it
//     together, so that it sees a whole transaction; a WATCH is given alone, since it has no end.
//   - From another coordinator each text is a forwarded bundle
//     (coordinator/routing/forwarded_bundle.h), answered with one row.
//   - Rows leave in portions, and none while the connection wants none. A watch is asked for more
//     only when its last rows are sent.
// It ends with end(); it is held by shared_ptr because work under way keeps it alive until then.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "doors/desk/desk.h"
#include "doors/desk/metrics.h"
#include "doors/pg/catalog/pg_catalog.h"
#include "doors/pg/server/copy_reader.h"
#include "doors/pg/server/settings.h"
#include "doors/pg/server/statements.h"
#include "doors/pg/server/stream.h"
#include "doors/pg/wire/connection_events.h"

namespace baton::pgserver {

struct RunnerOptions {
    desk::Desk* desk = nullptr;
    std::function<void(std::function<void()>)> post;      // onto the strand; from any thread
    std::function<void(pgwire::connection::Event)> tell;  // on the strand
    std::uint32_t process = 0;
    std::string version;                   // of Baton
    desk::DoorAnswers* answers = nullptr;  // outlives it
};

class Runner : public std::enable_shared_from_this<Runner> {
public:
    explicit Runner(RunnerOptions options);

    void open(const pgwire::connection::OpenSession& session, desk::Principal who);
    void end();
    void run(const pgwire::connection::RunSimple& effect);
    void prepare(pgwire::connection::Prepare effect);
    void bind(pgwire::connection::BindPortal effect);
    void run(const pgwire::connection::RunPortal& effect);
    void give(const pgwire::connection::GiveCopied& effect);
    void end_copied(const pgwire::connection::EndCopied& effect);
    void close(const pgwire::connection::ClosePrepared& effect);
    void close(const pgwire::connection::ClosePortal& effect);
    void end_series(const pgwire::connection::EndSeries& effect);
    void interrupt();
    void pause_rows() { paused_ = true; }
    void resume_rows();

    // Whether something runs that will come to an end by itself, and not only waits for one.
    [[nodiscard]] bool works() const;
    // For how long a transaction may be open while nothing runs; none: it is not so, or for ever.
    [[nodiscard]] std::optional<Duration> idle_in_transaction() const;

private:
    struct PreparedText {
        std::string text;                    // as the client gave it
        std::optional<Statement> statement;  // none: it is empty
        std::optional<std::vector<pgwire::Column>> columns;
    };
    struct Portal {
        std::shared_ptr<const PreparedText> prepared;
        std::vector<pgwire::Value> parameters;
        std::vector<pgwire::Format> formats;
        std::optional<Stream> stream;  // where it was suspended
    };
    struct Cursor {
        Stream stream;
        bool holds = false;  // beyond its transaction
    };
    // The text or portal that runs.
    struct Run {
        std::string text;
        std::vector<Statement> statements;
        std::size_t next = 0;  // of them
        std::vector<pgwire::Value> parameters;
        std::optional<pgwire::PortalId> portal;
        std::size_t rows_max = 0;
        std::vector<coordinator::StatementResult> results;  // of the session, to be delivered
        std::size_t delivered = 0;                          // of them
        std::optional<pgwire::Report> failure;              // after them
        std::optional<Stream> stream;                       // of the present statement
        std::size_t rows = 0;                               // given in this run
        std::optional<CopyFormat> copy;      // how the rows of the session are wanted
        bool asked = false;                  // the desk has not answered
        std::shared_ptr<CopyReader> copied;  // rows that come from the client
        std::string insert;                  // that adds them
        struct Fetch {
            std::string name;
            bool holds = false;
            bool moves = false;
        };
        std::optional<DeclareCursor> declares;  // a cursor for the rows of the present statement
        std::optional<Fetch> fetch;             // its stream is that of a cursor
        std::string_view kind;                  // in the metrics
        Instant since{};
        std::optional<Instant> streams_since;  // rows without an end have begun to come
    };

    // ---- the run ----
    void begin(Run run);
    void advance();
    void carry_out(const std::string& order);
    void answer(const Statement& statement);
    [[nodiscard]] bool is_for_session(const Statement& statement) const;
    void ask_session();
    void ask_catalog(const Statement& statement);
    void session_answered(std::size_t at, const std::shared_ptr<coordinator::Execution>& execution);
    void end_transaction(bool commit);
    void copy_in(const Statement& statement);
    void send_to_session(std::string text, std::size_t at);
    void declare_cursor(const Statement& statement);
    void keep_cursor(Stream stream);
    void fetch(const FetchCursor& statement);
    void end_fetch();
    void close_cursor(const CloseCursor& statement);
    void end_cursors_of_transaction();
    void set_parameter(const SetParameter& statement);
    void forget(const Forget& statement);
    void show_parameter(const ShowParameter& shown, const Statement& statement);
    void deliver(coordinator::StatementResult result);
    void give_rows(std::vector<pgwire::Column> columns, std::vector<SqlRow> rows, std::string tag,
                   const std::optional<CopyFormat>& copy);
    void follow(std::shared_ptr<coordinator::Watch> watch, const std::optional<CopyFormat>& copy);
    void follow(std::shared_ptr<coordinator::RowStream> feed,
                const std::optional<CopyFormat>& copy);
    // To be called, by any thread, when a stream may have more.
    [[nodiscard]] std::function<void()> pump_on(std::shared_ptr<std::atomic<bool>> news);
    void poll_feed();
    void begin_stream(Stream stream);
    void pump();
    void poll();
    void complete(const std::string& tag);
    void fail(pgwire::Report report);
    void fail_transaction(std::function<void(std::shared_ptr<coordinator::Execution>)> then);
    void finish(pgwire::connection::Event last);
    void count(const pgwire::connection::Event& last);
    [[nodiscard]] Instant now() const { return options_.desk->coordinator().clock().now(); }
    // True: it differs from the last one that the client got.
    [[nodiscard]] bool note_role();

    // ---- preparing ----
    void describe(const pgwire::connection::Prepare& effect,
                  const std::shared_ptr<PreparedText>& prepared);
    void prepared(pgwire::PreparedId id, const std::shared_ptr<PreparedText>& text,
                  std::vector<pgwire::TypeId> types);
    void could_not(pgwire::Report report);

    // `then` is called on the strand, with the result of a thread of the desk, if it is still
    // wanted.
    template <class T>
    std::function<void(T)> back(std::function<void(T)> then);
    // `work` runs on the desk, then `then` on the strand.
    template <class T>
    void on_desk(std::function<Result<T>()> work, std::function<void(Result<T>)> then);
    [[nodiscard]] std::function<Result<pg::Rows>()> question(std::string text,
                                                             std::vector<SqlValue> parameters);
    void take_status(desk::Visitor::Transaction transaction);
    [[nodiscard]] bool has_failed() const { return status_ == pgwire::TransactionStatus::failed; }

    const RunnerOptions options_;
    std::shared_ptr<desk::Visitor> visitor_;  // none: not open, or ended
    std::string database_;
    Settings settings_;
    bool stands_by_ = false;  // as the client knows it
    pgwire::TransactionStatus status_ = pgwire::TransactionStatus::idle;
    pgwire::TransactionStatus status_before_ = pgwire::TransactionStatus::idle;  // the last answer
    std::map<pgwire::PreparedId, std::shared_ptr<const PreparedText>> prepared_;
    std::map<pgwire::PortalId, Portal> portals_;
    std::map<std::string, Cursor> cursors_;
    std::optional<Run> run_;
    std::uint64_t turn_ = 0;  // counts what was begun: answers to an older one are dropped
    bool paused_ = false;
    std::optional<Instant> preparing_since_;
    std::shared_ptr<std::atomic<bool>> halt_;  // of the last question
};

}  // namespace baton::pgserver
