// Scripts are tests written as a conversation: a command, a rule, and what the code answered.
//
//     at 10s tick
//     ----
//     swap 2/4/7 -> 1/5/0
//
// Run with BATON_REWRITE=1 to write the answers into the file; then read the diff, and commit it
// only if every changed line is understood.
#pragma once

#include <functional>
#include <string>

namespace baton::testing {

// Calls `answer` for each command of the file and reports, as test failures, answers that differ.
void run_script(const std::string& path,
                const std::function<std::string(const std::string&)>& answer);

}  // namespace baton::testing
