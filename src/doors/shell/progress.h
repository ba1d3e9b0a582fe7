// The progress that a user sees while waiting for queries.
#pragma once

#include <string>

#include "doors/shell/counterpart.h"

namespace baton::shell {

// "HOT: DEPLOYING, 3 of 5 fragments run, waiting for w2 (no answer); 2 more queries", or nothing if
// no query is on its way to somewhere. Looks at the counterpart; unknown parts are left out.
[[nodiscard]] std::string progress_of(Counterpart& counterpart);

}  // namespace baton::shell
