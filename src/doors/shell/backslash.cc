#include "doors/shell/backslash.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "doors/shell/script.h"

namespace baton::shell {

namespace {

struct Shorthand {
    std::string_view command;
    std::string_view statement;
};
constexpr std::array kShorthands = {
    Shorthand{"\\dq", "SHOW QUERIES"},         Shorthand{"\\df", "SHOW FRAGMENTS"},
    Shorthand{"\\dw", "SHOW WORKERS"},         Shorthand{"\\dl", "SHOW LINKS"},
    Shorthand{"\\ds", "SHOW LOGICAL SOURCES"}, Shorthand{"\\dp", "SHOW PHYSICAL SOURCES"},
    Shorthand{"\\dk", "SHOW SINKS"},           Shorthand{"\\dc", "SHOW COUNTERS"},
    Shorthand{"\\ls", "SHOW STATEMENTS"},
};
// Everything that was made, in short.
constexpr std::string_view kOverview =
    "SHOW LOGICAL SOURCES; SHOW SINKS; SHOW QUERIES; SHOW WORKERS";

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
    "Commands of the shell:\n"
    "  \\d [NAME]    an overview; everything about one name\n"
    "  \\dq \\df \\dc  queries, fragments, counters     \\dw \\dl  workers, links\n"
    "  \\ds \\dp \\dk  logical and physical sources, sinks     \\ls  the log of statements\n"
    "  \\text \\json \\csv  how rows are shown from now on     \\timing  how long things take\n"
    "  \\i FILE      run the statements of a file\n"
    "\\q or Ctrl-D leaves, \\? shows this. Tab completes words and names.\n";

// Without spaces around it and without `;` behind it.
std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kAround = " \t\r\n;";
    const std::size_t start = std::min(text.find_first_not_of(kAround), text.size());
    return text.substr(start, text.find_last_not_of(kAround) + 1 - start);
}

Error unknown(std::string_view word) {
    std::vector<std::string> known = {"\\q",    "\\?",    "\\d",   "\\i",
                                      "\\text", "\\json", "\\csv", "\\timing"};
    for (const Shorthand& one : kShorthands) known.emplace_back(one.command);
    const std::string nearest = did_you_mean(std::string(word), known);
    return {.code = ErrorCode::syntax,
            .message = "unknown command " + in_quotes(word),
            .hint = nearest.empty() ? "\\? lists them" : nearest};
}

}  // namespace

std::string_view help_text() {
    return kHelp;
}

Result<std::optional<Backslash>> backslash_of(std::string_view line) {
    const std::string_view all = trimmed(line);
    if (equal_ignoring_case(all, "quit") || equal_ignoring_case(all, "exit")) return {Leave{}};
    if (equal_ignoring_case(all, "help")) return {Help{}};
    if (!all.starts_with('\\')) return std::optional<Backslash>();
    const std::size_t space = std::min(all.find_first_of(" \t"), all.size());
    const std::string_view word = all.substr(0, space);
    const std::string_view rest = trimmed(all.substr(space));
    if (word == "\\q") return {Leave{}};
    if (word == "\\?" || word == "\\h") return {Help{}};
    if (word == "\\timing") return {ToggleTiming{}};
    if (word == "\\d" && rest.empty()) return {RunStatement{std::string(kOverview)}};
    if (word == "\\d") return {Describe{name_as_typed(rest)}};
    if (word == "\\i" && !rest.empty()) return {RunFile{std::string(rest)}};
    if (word == "\\i") {
        return Error{.code = ErrorCode::syntax, .message = "\\i needs the path of a file"};
    }
    if (const auto format = format_of(word.substr(1))) return {SetFormat{*format}};
    for (const Shorthand& one : kShorthands) {
        if (word == one.command) return {RunStatement{std::string(one.statement)}};
    }
    return unknown(word);
}

}  // namespace baton::shell
