// Commands that ask a coordinator something, or tell it to do something, and end. Each returns the
// exit status: 0 only if all went well. Answers go to the standard output, errors to the standard
// error.
#pragma once

#include <cstdint>
#include <string>

#include "app/counterparts.h"

namespace baton::app {

struct CtlCommand {
    Reach reach;
    std::string format = "text";  // of rows: text, json, csv
    Wait wait;
};

// How everything is, in a few lines. 3: something is not as it should be.
[[nodiscard]] int run_status(const CtlCommand& command);

// Runs statements that the command stands for, such as SHOW WORKERS.
[[nodiscard]] int run_for(const CtlCommand& command, const std::string& statements);
// The same for changes: also names the coordinator, on the standard error.
[[nodiscard]] int run_change(const CtlCommand& command, const std::string& statements);

// The history of a query and its parts since it was created. `which` is its name or number; one
// that is gone is known by its number only. `follow`: then its changes, until Ctrl-C.
[[nodiscard]] int run_query_logs(const CtlCommand& command, const std::string& which, bool follow);

// All of a file, or nothing: statements, or a deployment if it ends in .yaml or .yml; - is the
// standard input. `dry_run`: plans it and shows the changes without making them.
[[nodiscard]] int run_apply(const CtlCommand& command, const std::string& file, bool dry_run);

// Queries and workers with their rates, again and again. `once`: two looks, and the second is
// shown.
[[nodiscard]] int run_top(const CtlCommand& command, double interval_s, bool once);

// A query in a statement, as it was given on the command line: a number, or a name.
[[nodiscard]] std::string query_in_statement(const std::string& given);

}  // namespace baton::app
