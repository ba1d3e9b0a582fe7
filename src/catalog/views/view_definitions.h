// The list of views: those of the kinds, and those that no kind has.
#pragma once

#include <vector>

#include "catalog/kinds/view.h"

namespace baton::views {

// First those of the kinds, in the order of Entity.
[[nodiscard]] std::vector<kinds::View> make_views();

}  // namespace baton::views
