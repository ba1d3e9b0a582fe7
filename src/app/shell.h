// The shell: statements of the dialect, from a terminal, a file or the command line.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "runtime/coordinator_runtime.h"
#include "runtime/session.h"

namespace baton {

class Shell {
public:
    // Answers go to `out`, errors to `errors`; `width_max` as in render_text. Statements wait for
    // their queries as `wait` says.
    Shell(CoordinatorRuntime& coordinator, std::string principal, std::ostream& out,
          std::ostream& errors, std::size_t width_max, const Wait& wait = {});

    // Runs every statement of the text, showing each answer before the next is run. False as soon
    // as one fails; the rest is not run. Of text that cannot be parsed, nothing is run.
    [[nodiscard]] bool run(std::string_view text);
    // The same for text that is all there is: a transaction left open is a failure, too.
    [[nodiscard]] bool run_all(std::string_view text);
    // Everything that a deployment file (YAML) declares, in one transaction: all of it or nothing.
    [[nodiscard]] bool run_deployment(std::string_view yaml);
    // Reads statements from the terminal until its end. Errors do not end it; Ctrl-C ends a WATCH
    // or the rows of a SELECT, or drops the line being typed.
    void converse();

private:
    [[nodiscard]] bool show(const Execution& execution, std::string_view text);
    [[nodiscard]] bool follow(Watch& watch, sql::OutputFormat format);
    [[nodiscard]] bool follow(RowFeed& rows, sql::OutputFormat format);

    Session session_;
    std::ostream& out_;
    std::ostream& errors_;
    const std::size_t width_max_;
    const Wait wait_;
};

// Whether the text may be written to the history file: no secret is in it, as far as can be known.
[[nodiscard]] bool may_be_kept(std::string_view text);

// Whether the text ends outside of strings, names and comments with a `;`: ready to be run.
[[nodiscard]] bool is_complete(std::string_view text);

}  // namespace baton
