#include "app/shell.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <ostream>

#include <editline/readline.h>

#include "app/render.h"
#include "base/text.h"

namespace baton {

namespace {

std::atomic<bool> g_interrupted = false;  // NOLINT: a signal handler reaches nothing else

constexpr std::string_view kHelp =
    "Statements end with `;`. Some to try:\n"
    "  CREATE LOGICAL SOURCE readings (id UINT64 NOT NULL, ts UINT64 NOT NULL, value FLOAT64);\n"
    "  CREATE PHYSICAL SOURCE FOR readings TYPE File SET ('in.csv' AS SOURCE.FILE_PATH);\n"
    "  CREATE SINK alerts (id UINT64 NOT NULL, value FLOAT64) TYPE Print;\n"
    "  CREATE QUERY hot AS SELECT id, value FROM readings WHERE value > 30.0 INTO alerts;\n"
    "  SHOW QUERIES;  SHOW WORKERS;  SHOW SOURCE TYPES;  SHOW STATEMENTS;\n"
    "  SELECT name, state FROM baton.queries WHERE state <> 'RUNNING';\n"
    "  WATCH SHOW QUERIES;                (Ctrl-C ends it)\n"
    "  BEGIN; ... COMMIT;                 all of it or none of it\n"
    "\\q or Ctrl-D leaves, \\? shows this.\n";

std::string home_file(const char* name) {
    const char* home = std::getenv("HOME");
    return home == nullptr ? std::string() : std::string(home) + "/" + name;
}

}  // namespace

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

Shell::Shell(Coordinator& coordinator, std::string principal, std::ostream& out,
             std::ostream& errors, std::size_t width_max)
    : session_(coordinator, std::move(principal)),
      out_(out),
      errors_(errors),
      width_max_(width_max) {}

void Shell::interrupt() noexcept {
    g_interrupted = true;
}

bool Shell::run(std::string_view text) {
    return show(session_.execute(text), text);
}

bool Shell::run(const std::vector<sql::Statement>& statements) {
    return show(session_.execute(statements), {});
}

bool Shell::show(Execution execution, std::string_view text) {
    for (const StatementResult& result : execution.results) {
        const auto format = result.format.value_or(sql::OutputFormat::text);
        if (const auto* table = std::get_if<Table>(&result.value)) {
            out_ << (format == sql::OutputFormat::json ? render_json(*table)
                                                       : render_text(*table, width_max_));
        } else if (const auto* watch = std::get_if<std::unique_ptr<Watch>>(&result.value)) {
            follow(**watch, format);
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

void Shell::follow(Watch& watch, sql::OutputFormat format) {
    g_interrupted = false;
    // A signal handler cannot wake a condition variable, so the flag is looked at now and then.
    constexpr std::chrono::milliseconds kGlance{100};
    while (!g_interrupted) {
        auto events = watch.next(kGlance);
        if (!events) {
            errors_ << to_string(events.error()) << "\n";
            return;
        }
        for (const WatchEvent& event : *events) {
            out_ << render_event(event, watch.columns(), format, width_max_);
        }
        out_.flush();
    }
    out_ << "-- ended at revision " << to_string(watch.revision()) << "\n";
}

void Shell::converse() {
    const std::string history = home_file(".baton_history");
    using_history();
    if (!history.empty()) (void)read_history(history.c_str());
    std::string text;
    for (;;) {
        const char* prompt = !text.empty()               ? "    -> "
                             : session_.in_transaction() ? "baton*> "
                                                         : "baton> ";
        const std::unique_ptr<char, decltype(&std::free)> line(readline(prompt), &std::free);
        if (!line) break;
        const std::string_view typed = line.get();
        if (text.empty() && (typed == "\\q" || equal_ignoring_case(typed, "quit") ||
                             equal_ignoring_case(typed, "exit"))) {
            break;
        }
        if (text.empty() && (typed == "\\?" || equal_ignoring_case(typed, "help"))) {
            out_ << kHelp << std::flush;
            continue;
        }
        text += std::string(typed) + "\n";
        if (!is_complete(text)) {
            if (text.find_first_not_of(" \n\t") == std::string::npos) text.clear();
            continue;
        }
        add_history(text.substr(0, text.size() - 1).c_str());
        (void)run(text);
        text.clear();
    }
    if (!history.empty()) (void)write_history(history.c_str());
    out_ << "\n";
}

}  // namespace baton
