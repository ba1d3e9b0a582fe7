// Shell runs texts of statements and shows their results. Where the texts come from, a terminal, a
// file or the command line, is its caller's affair.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

#include "doors/shell/counterpart.h"
#include "doors/shell/render.h"

namespace baton::shell {

enum class OnError : std::uint8_t { stop, go_on };

struct ShellOptions {
    Look look;                         // of answers
    bool colours_of_errors = false;    // where those are written
    OnError on_error = OnError::stop;  // of a text with several statements
    bool interruptible = false;        // Ctrl-C ends what runs, not the process
    bool shows_progress = false;       // while a statement takes its time, below the answers
};

class Shell {
public:
    // Answers go to `out`, errors and progress to `errors`. All of them outlive it.
    Shell(Counterpart& counterpart, std::ostream& out, std::ostream& errors,
          const ShellOptions& options = {});

    // Runs every statement of the text, showing each answer before the next is run. False if one
    // has failed; then the rest is run only if that is wanted. Of text that cannot be parsed,
    // nothing is run, or, if the rest is wanted, all that can be.
    [[nodiscard]] bool run(std::string_view text);
    // The same for text that is all there is: a transaction left open is a failure, too.
    [[nodiscard]] bool run_all(std::string_view text);
    // Everything of a bundle, statements or a deployment file (YAML), in one transaction: all of it
    // or nothing. `commit` false: it is only tried out, and its outcome is shown.
    [[nodiscard]] bool apply(std::string_view text, bool is_yaml, bool commit);

    // Shows the entities of this name, of any kind; false if there is none.
    [[nodiscard]] bool describe(std::string_view name);
    void set_format(Format format) { options_.look.format = format; }
    [[nodiscard]] bool in_transaction() const { return counterpart_.in_transaction(); }

private:
    // Runs what is in `text` from `begin` to `end`.
    [[nodiscard]] bool run_part(std::string_view text, std::size_t begin, std::size_t end);
    [[nodiscard]] Replies execute(std::string_view text);
    // `part` of `text` was executed; errors have their places in the whole.
    [[nodiscard]] bool show(Replies replies, std::string_view part, std::string_view text);
    [[nodiscard]] bool show(Reply reply);
    [[nodiscard]] bool follow(ComingEvents& events, const Look& look);
    [[nodiscard]] bool follow(ComingRows& rows, const Look& look);
    void complain(const Error& error, std::string_view text);

    Counterpart& counterpart_;
    std::ostream& out_;
    std::ostream& errors_;
    ShellOptions options_;
};

}  // namespace baton::shell
