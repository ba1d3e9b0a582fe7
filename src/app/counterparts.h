// Whom the commands of `baton` talk to: a coordinator over a connection, or one in this process.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "adapters/system/certificate_files.h"
#include "app/members.h"
#include "app/table_parts.h"
#include "coordinator/coordinator_runtime.h"
#include "doors/shell/counterpart.h"
#include "doors/shell/shell.h"
#include "model/wait.h"
#include "ports/clock.h"
#include "worker/node/embedded_worker.h"

namespace baton::app {

// A coordinator in this process, with a worker unless it is offline. The worker ends last.
struct Embedded {
    std::unique_ptr<TableParts> tables;              // none: offline
    std::unique_ptr<worker::EmbeddedWorker> worker;  // none: offline
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator;
    std::unique_ptr<Members> members;  // none: offline, or it has certificates of its own
};
// Makes the catalog if it is not there, and says so. Plans cannot reach `data`.
// Fails with catalog_in_use and the like.
[[nodiscard]] Result<Embedded> open_embedded(const std::string& data, bool offline,
                                             const system::TlsFiles& tls,
                                             const worker::Permits& permits, const Clock& clock);

// Where a command line says that the coordinator is.
struct Reach {
    std::string connect;  // a URL, or host:port
    std::string data;     // a data directory that is not in use; wins over `connect`
};
inline constexpr const char* kDefaultAddress = "127.0.0.1:5433";

// The counterpart with its parts. `data` is opened offline, and must exist.
struct Reached {
    std::optional<Embedded> embedded;
    std::unique_ptr<shell::Counterpart> counterpart;
};
[[nodiscard]] Result<Reached> reach(const Reach& where, const Wait& wait, const Clock& clock);

// Asks at the terminal for the password, if there is one, and hides it.
[[nodiscard]] Result<std::unique_ptr<shell::Counterpart>> connect(const std::string& address,
                                                                  const Wait& wait);

[[nodiscard]] std::string user_name();
// Colours and widths as the terminal, if it is one, has them; NO_COLOR is obeyed.
[[nodiscard]] shell::ShellOptions options_for_screen();

// Says it on the standard error; the exit status.
[[nodiscard]] int fail(const Error& error);

}  // namespace baton::app
