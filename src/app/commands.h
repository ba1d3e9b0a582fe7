// The commands of `baton`, as main() calls them. Each returns the exit status: 0 only if all went
// well. Messages go to the standard output and errors to the standard error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/system/certificate_files.h"
#include "model/wait.h"
#include "worker/node/permits.h"

namespace baton::app {

struct ShellCommand {
    std::string data;
    bool offline = false;                // no worker, and none is dialled: queries stay PENDING
    std::optional<std::string> connect;  // a coordinator elsewhere; nothing of the above counts
    system::TlsFiles tls;                // for the network to workers; all of them, or none
    worker::Permits permits;             // what plans of its own worker may reach outside
    Wait wait;                           // of each statement for its queries
    // Statements before all others, whose answers are not shown; workers may be there already.
    std::vector<std::string> first;
    std::optional<std::string> statements;  // -c
    // -f: statements, or a deployment if it ends in .yaml or .yml; "-" is the standard input
    std::optional<std::string> file;
    std::string format = "text";    // of rows: text, json, csv
    std::string on_error = "stop";  // stop, continue
};
// "accepted", "running" or "ended"; 0 seconds: for ever.
[[nodiscard]] Wait wait_of(const std::string& until, std::uint64_t timeout_s);
[[nodiscard]] int run_shell(const ShellCommand& command);

[[nodiscard]] int run_backup(const std::string& data, const std::string& file);
// Refuses to replace a catalog unless `force`; then the old one is kept beside it.
[[nodiscard]] int run_restore(const std::string& data, const std::string& file, bool force);
// `what` is a data directory or a file.
[[nodiscard]] int run_check(const std::string& what);

}  // namespace baton::app
