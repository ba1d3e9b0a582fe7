#include "app/shell.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <ostream>

#include <editline/readline.h>

#include "adapters/yaml/deployment.h"
#include "app/render.h"
#include "base/text.h"
#include "runtime/bind.h"
#include "sql/parser.h"
#include "sql/printer.h"

namespace baton {

namespace {

std::atomic<bool> g_interrupted = false;  // NOLINT: a signal handler reaches nothing else

// A signal handler cannot wake a condition variable, so the flag is looked at now and then.
constexpr std::chrono::milliseconds kGlance{100};

constexpr std::string_view kHelp =
    "Statements end with `;`. Some to try:\n"
    "  CREATE LOGICAL SOURCE readings (id UINT64 NOT NULL, ts UINT64 NOT NULL, value FLOAT64);\n"
    "  CREATE PHYSICAL SOURCE FOR readings TYPE File SET ('in.csv' AS SOURCE.FILE_PATH);\n"
    "  CREATE SINK alerts (id UINT64 NOT NULL, value FLOAT64) TYPE Print;\n"
    "  CREATE QUERY hot AS SELECT id, value FROM readings WHERE value > 30.0 INTO alerts;\n"
    "  SHOW QUERIES;  SHOW WORKERS;  SHOW SOURCE TYPES;  SHOW STATEMENTS;\n"
    "  SELECT name, state FROM baton.queries WHERE state <> 'RUNNING';\n"
    "  SELECT id, value FROM readings LIMIT 10;   rows as they come (Ctrl-C ends it)\n"
    "  WATCH SHOW QUERIES;                (Ctrl-C ends it)\n"
    "  BEGIN; ... COMMIT;                 all of it or none of it\n"
    "\\q or Ctrl-D leaves, \\? shows this.\n";

// While it lives, Ctrl-C does not end the process but is noticed here.
class Interrupts {
public:
    Interrupts() {
        g_interrupted = false;
        struct sigaction action {};
        action.sa_handler = [](int) { g_interrupted = true; };
        ::sigaction(SIGINT, &action, &before_);
    }
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    ~Interrupts() { ::sigaction(SIGINT, &before_, nullptr); }

    [[nodiscard]] static bool seen() { return g_interrupted; }

private:
    struct sigaction before_ {};
};

// What is executed together: BEGIN to COMMIT, or one statement. From `at`; ends before the result.
std::size_t end_of_group(const std::vector<sql::Statement>& statements, std::size_t at) {
    if (!std::holds_alternative<sql::Begin>(statements[at].node)) return at + 1;
    for (std::size_t i = at + 1; i < statements.size(); ++i) {
        if (std::holds_alternative<sql::Commit>(statements[i].node)) return i + 1;
        if (!changes_catalog(statements[i])) break;
    }
    return at + 1;
}

// The lines typed at the prompt, kept from one conversation to the next.
class History {
public:
    explicit History(std::string file) : file_(std::move(file)) {
        using_history();
        load();
    }
    History(const History&) = delete;
    History& operator=(const History&) = delete;
    ~History() {
        if (file_.empty()) return;
        constexpr int kKeptMax = 1'000;
        clear_history();
        load();  // another shell may have added to it
        for (const std::string& text : harmless_) add_history(text.c_str());
        stifle_history(kKeptMax);
        (void)write_history(file_.c_str());
    }

    void add(const std::string& text) {
        add_history(text.c_str());
        if (may_be_kept(text)) harmless_.push_back(text);
    }

private:
    void load() const {
        if (!file_.empty()) (void)read_history(file_.c_str());
    }

    const std::string file_;
    std::vector<std::string> harmless_;
};

// A command of the shell as it was typed, without spaces around it and without `;`.
std::string_view command_in(std::string_view typed) {
    constexpr std::string_view kAround = " \t;";
    const std::size_t start = std::min(typed.find_first_not_of(kAround), typed.size());
    return typed.substr(start, typed.find_last_not_of(kAround) + 1 - start);
}

std::string home_file(const char* name) {
    const char* home = std::getenv("HOME");
    return home == nullptr ? std::string() : std::string(home) + "/" + name;
}

}  // namespace

bool may_be_kept(std::string_view text) {
    const auto statements = sql::parse(text);
    if (!statements) return sql::without_strings(text) == text;
    return std::all_of(statements->begin(), statements->end(),
                       [](const sql::Statement& s) { return without_secrets(s) == sql::print(s); });
}

bool is_complete(std::string_view text) {
    char inside = 0;  // the quote we are in, '-' or '*' for a comment
    int depth = 0;    // of /* */
    bool ended = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        if (inside == '-') {
            if (c == '\n') inside = 0;
        } else if (inside == '*') {
            if (c == '*' && next == '/') {
                ++i;
                if (--depth == 0) inside = 0;
            } else if (c == '/' && next == '*') {
                ++i;
                ++depth;
            }
        } else if (inside != 0) {
            if (c == '\\' && inside == '\'') ++i;
            if (c == inside) inside = 0;
        } else if (c == '-' && next == '-') {
            inside = '-';
        } else if (c == '/' && next == '*') {
            inside = '*';
            depth = 1;
            ++i;
        } else if (c == '\'' || c == '"' || c == '`') {
            inside = c;
            ended = false;
        } else if (c == ';') {
            ended = true;
        } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            ended = false;
        }
    }
    return ended && (inside == 0 || inside == '-');
}

Shell::Shell(CoordinatorRuntime& coordinator, std::string principal, std::ostream& out,
             std::ostream& errors, std::size_t width_max, const Wait& wait)
    : session_(coordinator, std::move(principal)),
      out_(out),
      errors_(errors),
      width_max_(width_max),
      wait_(wait) {}

bool Shell::run(std::string_view text) {
    auto statements = sql::parse(text);
    if (!statements) return show(session_.execute(text), text);  // which logs it, too
    for (std::size_t at = 0; at < statements->size();) {
        const std::size_t end = end_of_group(*statements, at);
        const auto first = statements->begin();
        const std::vector<sql::Statement> group(
            std::make_move_iterator(first + static_cast<std::ptrdiff_t>(at)),
            std::make_move_iterator(first + static_cast<std::ptrdiff_t>(end)));
        if (!show(session_.execute(group, wait_), text)) return false;
        at = end;
    }
    return true;
}

bool Shell::run_all(std::string_view text) {
    if (!run(text)) return false;
    if (!session_.in_transaction()) return true;
    errors_ << "the transaction was not committed: it is rolled back, nothing of it happened\n";
    return false;
}

bool Shell::run_deployment(std::string_view yaml) {
    auto deployment = yaml::read_deployment(yaml);
    if (!deployment) {
        errors_ << render_error(deployment.error(), yaml);
        return false;
    }
    std::vector<sql::Statement> bundle = {{.node = sql::Begin{}, .at = {}}};
    std::move(deployment->statements.begin(), deployment->statements.end(),
              std::back_inserter(bundle));
    bundle.push_back({.node = sql::Commit{}, .at = {}});
    Execution execution = session_.execute(bundle, wait_);
    // Statements have their place in the file; places within a query are those of its own text.
    const bool in_file =
        execution.error && execution.error->at &&
        std::any_of(bundle.begin(), bundle.end(), [&](const sql::Statement& statement) {
            return statement.at.offset == execution.error->at->offset;
        });
    if (execution.error && !in_file) execution.error->at.reset();
    return show(execution, yaml);
}

bool Shell::show(const Execution& execution, std::string_view text) {
    for (const StatementResult& result : execution.results) {
        const auto format = result.format.value_or(sql::OutputFormat::text);
        if (const auto* table = std::get_if<Table>(&result.value)) {
            out_ << (format == sql::OutputFormat::json ? render_json(*table)
                                                       : render_text(*table, width_max_));
        } else if (const auto* watch = std::get_if<std::unique_ptr<Watch>>(&result.value)) {
            if (!follow(**watch, format)) return false;
        } else if (const auto* rows = std::get_if<std::unique_ptr<RowFeed>>(&result.value)) {
            if (!follow(**rows, format)) return false;
        } else {
            out_ << render_answer(result);
        }
    }
    out_.flush();
    if (!execution.error) return true;
    errors_ << render_error(*execution.error, text);
    errors_.flush();
    return false;
}

bool Shell::follow(RowFeed& rows, sql::OutputFormat format) {
    const Interrupts interrupts;
    RowLines lines(rows.columns(), format, width_max_);
    bool ended = false;
    while (!ended && !Interrupts::seen()) {
        auto fed = rows.next(kGlance);
        if (!fed) {
            errors_ << to_string(fed.error()) << "\n";
            return false;
        }
        out_ << lines.next(fed->rows);
        out_.flush();
        ended = fed->ended;
    }
    if (!ended && width_max_ > 0) out_ << "\n";  // after the ^C that the terminal shows
    out_ << lines.end();
    return true;
}

bool Shell::follow(Watch& watch, sql::OutputFormat format) {
    const Interrupts interrupts;
    while (!Interrupts::seen()) {
        auto events = watch.next(kGlance);
        if (!events) {
            errors_ << to_string(events.error()) << "\n";
            return false;
        }
        for (const WatchEvent& event : *events) {
            out_ << render_event(event, watch.columns(), format, width_max_);
        }
        out_.flush();
    }
    if (format == sql::OutputFormat::text) {
        if (width_max_ > 0) out_ << "\n";  // after the ^C that the terminal shows
        out_ << "-- ended at revision " << to_string(watch.revision()) << "\n";
    }
    return true;
}

void Shell::converse() {
    History history(home_file(".baton_history"));
    std::string text;
    for (;;) {
        const char* prompt = !text.empty()               ? "    -> "
                             : session_.in_transaction() ? "baton*> "
                                                         : "baton> ";
        std::unique_ptr<char, decltype(&std::free)> line(nullptr, &std::free);
        bool interrupted = false;
        {
            const Interrupts interrupts;
            line.reset(readline(prompt));
            interrupted = Interrupts::seen();
        }
        if (interrupted) {
            text.clear();
            out_ << "\n" << std::flush;
            continue;
        }
        if (!line) break;
        std::string_view command = command_in(line.get());
        if (!text.empty() && !command.starts_with('\\')) command = {};
        if (command == "\\q" || equal_ignoring_case(command, "quit") ||
            equal_ignoring_case(command, "exit")) {
            return;
        }
        if (command == "\\?" || equal_ignoring_case(command, "help")) {
            out_ << kHelp << std::flush;
            continue;
        }
        text += std::string(line.get()) + "\n";
        if (!is_complete(text)) {
            if (text.find_first_not_of(" \n\t") == std::string::npos) text.clear();
            continue;
        }
        history.add(text.substr(0, text.size() - 1));
        (void)run(text);
        text.clear();
    }
    out_ << "\n";
}

}  // namespace baton
