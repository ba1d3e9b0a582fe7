// The secret that the processes of one user on one machine share: processes that know it belong to
// that user. It is made by the process that first needs it.
//
// The file is the one that BATON_USER_SECRET names, else ~/.local/state/baton/secret (below
// $XDG_STATE_HOME if that is set), else, for users without a home, /tmp/baton-UID/secret.
#pragma once

#include <string>

#include "base/result.h"

namespace baton::system {

[[nodiscard]] std::string user_secret_path();

// Fails with unreadable_configuration.
[[nodiscard]] Result<std::string> user_secret(const std::string& path);

}  // namespace baton::system
