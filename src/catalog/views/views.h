// The read-only views of schema BATON: a documented contract (docs/VIEWS.md), the only way in which
// clients see the catalog. SHOW, SELECT .. FROM baton.x and WATCH all go through them.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "catalog/kinds/view.h"

namespace baton::views {

[[nodiscard]] std::span<const kinds::View> views();
[[nodiscard]] const kinds::View& view_of(kinds::Entity entity);
// By its name without the schema, in upper case. Fails with unknown_source, naming the nearest
// view.
[[nodiscard]] Result<const kinds::View*> find_view(std::string_view name);

}  // namespace baton::views
