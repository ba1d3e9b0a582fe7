// Rules for the names of new entities. Existing names are not judged: they can be used and dropped
// as they are.
#pragma once

#include <string_view>

#include "base/result.h"

namespace baton::coordinator {

// Fails with invalid_configuration if the name begins or ends with a blank, or has a control
// character: two names that look the same would be two things. `what`: "the name of the lock".
[[nodiscard]] Result<Done> check_new_name(std::string_view what, std::string_view name);

}  // namespace baton::coordinator
