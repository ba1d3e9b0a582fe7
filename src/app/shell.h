// The shell: statements of the dialect, from a terminal, a file or the command line.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "runtime/coordinator.h"
#include "runtime/session.h"

namespace baton {

class Shell {
public:
    // Answers go to `out`, errors to `errors`; `width_max` as in render_text.
    Shell(Coordinator& coordinator, std::string principal, std::ostream& out, std::ostream& errors,
          std::size_t width_max);

    // Runs every statement of the text. False as soon as one fails; the rest is not run.
    [[nodiscard]] bool run(std::string_view text);
    [[nodiscard]] bool run(const std::vector<sql::Statement>& statements);
    // Reads statements from the terminal until its end. Errors do not end it.
    void converse();

    // Ends a WATCH under way. Safe to call from a signal handler.
    static void interrupt() noexcept;

private:
    [[nodiscard]] bool show(Execution execution, std::string_view text);
    void follow(Watch& watch, sql::OutputFormat format);

    Session session_;
    std::ostream& out_;
    std::ostream& errors_;
    const std::size_t width_max_;
};

// Whether the text ends outside of strings, names and comments with a `;`: ready to be run.
[[nodiscard]] bool is_complete(std::string_view text);

}  // namespace baton
