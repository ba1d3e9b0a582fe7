// A conversation at the terminal: a line editor with history and completion in front of a shell.
#pragma once

#include <iosfwd>

#include "doors/shell/counterpart.h"
#include "doors/shell/shell.h"

namespace baton::app {

// Reads statements and commands of the shell until the end of the input or \q. Errors do not end
// it; Ctrl-C ends what runs, or drops the line being typed. The counterpart is the shell's.
void converse(shell::Shell& shell, shell::Counterpart& counterpart, std::ostream& out,
              std::ostream& errors);

}  // namespace baton::app
