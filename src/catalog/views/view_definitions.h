// What the views are: their columns, and what these mean in terms of the tables.
#pragma once

#include <vector>

#include "catalog/views/views.h"

namespace baton {

// All of them; first those of the entities, in their order.
[[nodiscard]] std::vector<View> make_views();

}  // namespace baton
