// The coordinator at the other end of a connection as a counterpart of the shell.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "doors/remote/coordinator_connection.h"
#include "doors/shell/counterpart.h"
#include "model/wait.h"

namespace baton::remote {

// `address` as CoordinatorConnection::open has it; statements wait for their queries as `wait`
// says.
[[nodiscard]] Result<std::unique_ptr<shell::Counterpart>> remote(const std::string& address,
                                                                 const Wait& wait,
                                                                 const AskPassword& ask_password);

}  // namespace baton::remote
