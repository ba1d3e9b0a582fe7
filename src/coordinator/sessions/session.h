// Session is one client's conversation with the coordinator: statements in, answers out, with at
// most one transaction open.
//
// In a transaction, changes are collected and happen together at COMMIT; each is tried out when it
// is given, so that errors come early and later statements see earlier ones. A SHOW before the
// first change reads one snapshot, kept until the end. The rows that were read are checked at
// COMMIT: if they have changed, the answer is `conflict` and nothing happened. After an error only
// ROLLBACK helps.
//
// execute() waits on the thread that calls it. Callers whose threads are few use begin() and
// go_on(): where a statement would wait for a query or for another coordinator, it pauses, and the
// thread is free. Used by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "coordinator/commit/interrupt.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/questions/questions.h"
#include "coordinator/rows/row_stream.h"
#include "coordinator/sessions/query_wait.h"
#include "sql/ast.h"
#include "sql/parser.h"
#include "threads/later.h"

namespace baton::coordinator {

// The outcome of one statement that succeeded.
struct StatementResult {
    std::string tag;  // "CREATE SINK"
    // Nothing; the changes; rows; or a watch, or a stream of rows, for the caller to follow.
    std::variant<std::monostate, catalog::Answer, views::Table, std::unique_ptr<Watch>,
                 std::unique_ptr<RowStream>>
        value;
    std::optional<sql::OutputFormat> format;  // that was asked for
    std::optional<Revision> revision;         // of the catalog after a change
    std::string notice = {};                  // about it, for people; empty: none
};

struct Execution {
    // Of the statements before the error. If that is wait_timed_out, the last of them has happened
    // and was waited for.
    std::vector<StatementResult> results;
    std::optional<Error> error;
};

// The parts of a text.
struct Described {
    struct Statement {
        std::string tag;
        std::optional<std::vector<views::TableColumn>> columns;  // none: it gives no rows
        bool watches = false;                                    // its rows are events of a Watch
        bool streams = false;                                    // its rows come from a RowStream
        // Of $1, $2, ..; none: any will do, and so for those beyond.
        std::vector<std::optional<SqlType>> parameters = {};
    };
    std::size_t parameters = 0;
    std::vector<Statement> statements;
};

// The reason why a statement is paused.
enum class Pause : std::uint8_t {
    query,   // to be in a state that it waits for
    work,    // that other threads do for it: a question, an addition to a table
    leader,  // only who leads can do it: go on where a thread may wait for another machine
};
// For what a thread may wait, beside the disk.
enum class Patience : std::uint8_t { none, leader };

// Why a client may not run a statement; none: every client may run everything.
using Permit = std::function<Result<Done>(const sql::Statement&)>;

// The state of an open transaction.
struct Transaction {
    std::vector<Step> steps;
    std::unique_ptr<TransactionView> view;     // none: it has read nothing but its own changes
    std::unique_ptr<Rehearsal> rehearsal;      // none: it is short, and tried out on the catalog
    std::size_t bytes = 0;                     // of the texts of the steps
    std::optional<tables::Addition> addition;  // rows for one table
    SeenBefore seen;
    bool failed = false;
};

class Session {
public:
    // `permit` is asked before anything of a text is run.
    Session(CoordinatorRuntime& coordinator, std::string principal, Permit permit = nullptr);
    // An open transaction is rolled back.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Runs the statements of the text in order and stops at the first error. Text that cannot be
    // parsed runs not even in part. Waits after each change, or transaction of changes.
    [[nodiscard]] Execution execute(std::string_view text, const Wait& wait = {},
                                    std::span<const sql::Literal> parameters = {});
    [[nodiscard]] Execution execute(const std::vector<sql::Statement>& statements,
                                    const Wait& wait = {});

    // The same without waiting: begin(), then go_on() until it gives the execution. While it gives
    // none, paused() has the reason; a wait for a query goes on when it wakes, and no later than
    // until().
    void begin(std::string text, const Wait& wait = {}, std::vector<sql::Literal> parameters = {});
    // The same for rows that did not come in a text: `text` is an INSERT of constants, of which
    // these take the place. Each is as long as the columns that it names.
    using InsertedRows = std::vector<std::vector<sql::Literal>>;
    void begin_insert(std::string text, InsertedRows rows);
    [[nodiscard]] std::optional<Execution> go_on(Patience patience = Patience::none);
    [[nodiscard]] Pause paused() const { return *paused_; }
    [[nodiscard]] std::optional<Instant> until() const;
    // Called by any thread, also at once, when the paused statement may go on; it must not block.
    // After null no call is under way.
    void wake_with(std::function<void()> wake);
    // Ends the paused statement; changes that it has made stay.
    [[nodiscard]] Execution give_up(const std::string& why);

    [[nodiscard]] bool in_transaction() const { return transaction_.has_value(); }
    [[nodiscard]] bool transaction_failed() const { return transaction_ && transaction_->failed; }

    // The parts of a text, without running it; parameters count as given.
    [[nodiscard]] Result<Described> describe(std::string_view text);

    // Its reads have connections that others leave free: for health, which is asked under load.
    void set_urgent() { urgency_ = Readers::Urgency::urgent; }

    // Raised by any thread, it ends the wait of a statement with `cancelled`; changes of the
    // statement stay. The caller that raises it clears it before the next statement.
    [[nodiscard]] Interrupt& interrupt() { return interrupt_; }

private:
    struct Touched {
        QueryId query;
        bool ends = false;  // it was stopped or dropped, not created
    };
    // The text that is being run.
    struct Running {
        std::string text;  // empty: statements were given without one
        std::vector<sql::Literal> parameters;
        std::vector<sql::Statement> statements;
        Wait wait;
        std::size_t next = 0;  // of them
        bool resumes = false;  // the next one stood still before
        Execution execution;
        std::size_t answered = 0;  // bytes of rows, about
        // Of the statement before, until it is over.
        std::size_t waited = 0;  // of the queries that it touched
        Instant waits_since;
        std::unique_ptr<QueryWait> waits;
        // Other threads do it for the present one.
        std::shared_ptr<threads::Awaited> work;
        threads::SharedHalt halt;
        // Of CREATE TABLE, which goes step by step.
        struct Creation {
            std::string token;                         // its folder is named after it
            std::optional<sql::CreateTable> declared;  // its log is there, with these columns
            std::optional<catalog::Answer> answer;     // of the catalog
        };
        Creation creation;
    };

    [[nodiscard]] Execution run_to_the_end();
    // Runs the next statement, or transaction; false: it stands still, or it failed.
    [[nodiscard]] bool run_next();
    // Waits for the queries that were changed; false: as above.
    [[nodiscard]] bool wait_for_touched();
    [[nodiscard]] Execution finish();
    [[nodiscard]] Error pause(Pause what);

    [[nodiscard]] Result<Done> check_permitted(const std::vector<sql::Statement>& statements);
    [[nodiscard]] Result<Described::Statement> describe(const sql::Statement& statement);
    // Of an INSERT of constants in the text.
    void describe_inserted(std::string_view text, Described& described) const;
    [[nodiscard]] Result<StatementResult> run(const sql::Statement& statement);
    [[nodiscard]] Result<StatementResult> run_other(const sql::Statement& statement);
    [[nodiscard]] Result<StatementResult> run_change(const sql::Statement& statement);
    [[nodiscard]] Result<StatementResult> run_show(const sql::Statement& statement,
                                                   const sql::Show& show);
    [[nodiscard]] Result<StatementResult> run_view(const sql::Statement& statement,
                                                   const views::ViewQuery& query, std::string tag);
    [[nodiscard]] Result<StatementResult> run_select(const sql::Statement& statement,
                                                     const sql::SelectOnce& select);
    // session_tables.cc
    // Starts the work when it is called first; an error, and a pause, until the value is there.
    template <class T>
    [[nodiscard]] Result<T> awaited(
        const std::function<std::shared_ptr<threads::Later<Result<T>>>(threads::SharedHalt)>&
            start);
    [[nodiscard]] AskedQuestion asked(std::string text, std::optional<Error> otherwise) const;
    [[nodiscard]] Result<Questions*> questions() const;
    // Whether a SELECT that streams could have is a question.
    [[nodiscard]] Result<bool> is_question(const sql::SelectOnce& select) const;
    [[nodiscard]] Result<Done> check_questions(const std::vector<sql::Statement>& statements);
    [[nodiscard]] Result<StatementResult> run_create_table(const sql::Statement& statement,
                                                           const sql::CreateTable& create);
    [[nodiscard]] Result<sql::CreateTable> make_log(const sql::CreateTable& create);
    [[nodiscard]] Result<std::uint64_t> fill(const sql::CreateTable& create);
    [[nodiscard]] Result<std::optional<Table>> find_table(const std::string& name) const;
    [[nodiscard]] Result<Table> table_to_write(const std::string& name) const;
    [[nodiscard]] Result<tables::Addition> addition_of(const Table& table,
                                                       const sql::Insert& insert);
    [[nodiscard]] Result<StatementResult> insert_later(tables::Addition addition);
    [[nodiscard]] Result<Done> commit_additions();
    [[nodiscard]] sql::Questions takes_questions() const;
    // The error of a question's text, at its place in the text of the client.
    [[nodiscard]] Error placed(Error error, const std::string& question) const;
    [[nodiscard]] Result<StatementResult> run_question(std::string text,
                                                       std::optional<Error> otherwise);
    [[nodiscard]] Result<StatementResult> run_insert(const sql::Insert& insert);
    [[nodiscard]] Result<StatementResult> run_vacuum(const sql::Vacuum& vacuum);
    [[nodiscard]] Result<StatementResult> run_watch(const sql::Watch& watch);
    [[nodiscard]] Result<StatementResult> run_wait(const sql::WaitForQuery& wait);
    [[nodiscard]] Result<StatementResult> run_explain(const sql::Explain& explain);
    [[nodiscard]] Result<StatementResult> run_lock(const sql::Statement& statement,
                                                   const sql::LockStatement& lock);
    [[nodiscard]] Result<StatementResult> run_begin();
    [[nodiscard]] Result<StatementResult> run_commit();
    [[nodiscard]] Result<StatementResult> run_rollback();
    // Outside of transactions: from the stale copy if the database is away.
    [[nodiscard]] Result<views::Table> look_at(const views::ViewQuery& query);
    // The reads of the open transaction, to be checked at COMMIT.
    void note_read(const views::ViewQuery& query, Revision at);
    [[nodiscard]] Result<Done> outside_transaction(std::string_view what) const;

    // Runs BEGIN .. COMMIT if it is given at once: true, and `at` stands at the COMMIT.
    [[nodiscard]] Result<bool> run_script_transaction(const std::vector<sql::Statement>& statements,
                                                      std::size_t& at, Execution& execution);
    [[nodiscard]] Result<Step> step_of(const sql::Statement& statement) const;
    [[nodiscard]] Bundle bundle_of(std::vector<Step> steps);
    // The step after those of the open transaction, undone again.
    [[nodiscard]] Outcome try_out(Step step);
    [[nodiscard]] Outcome rehearse(Step step);
    // Makes the changes, and notes the queries that they are about.
    [[nodiscard]] Outcome keep(std::vector<Step> steps);
    [[nodiscard]] Outcome perform(Bundle bundle);
    // Of a statement that was not begun: neither is kept as it is, since it may hold secrets.
    void log_rejected(std::string_view text, Error error) const;
    // The text as written, if another coordinator may have to parse it.
    [[nodiscard]] std::shared_ptr<const StepSource> source_of(const sql::Statement& statement,
                                                              std::string token = {}) const;

    CoordinatorRuntime& coordinator_;
    const std::string principal_;
    const Permit permit_;
    std::optional<Transaction> transaction_;
    std::vector<Touched> touched_;  // by the changes since the last wait
    Interrupt interrupt_;
    std::optional<Running> running_;
    Patience patience_ = Patience::none;
    Readers::Urgency urgency_ = Readers::Urgency::ordinary;
    std::optional<Pause> paused_;
    std::optional<Interrupt::Listening> listening_;
    WallTime received_;
    Instant started_;
};

}  // namespace baton::coordinator
