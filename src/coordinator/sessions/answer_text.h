// The outcome of a statement, in a line for people.
#pragma once

#include <string>

#include "coordinator/sessions/session.h"

namespace baton::coordinator {

// "CREATE QUERY Q7 (id 12)" and the like.
[[nodiscard]] std::string in_words(const StatementResult& result);

}  // namespace baton::coordinator
