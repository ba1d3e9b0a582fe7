// Columns of an answer that the client did not name get the names that PostgreSQL would give them:
// `count`, not `count_star()`; `?column?` for a sum of two columns. Drivers read columns by them.
#pragma once

#include "core/json/json.h"

namespace baton::questions {

// Gives aliases to the outermost SELECT of the tree; the first one, of several that are united. A
// column alone keeps its name, and so does *.
void name_columns(json::Value& tree);

}  // namespace baton::questions
