// The change feed as it is kept in the catalog.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "catalog/change.h"
#include "ports/sql.h"

namespace baton::catalog {

// The changes after `cursor`, in order, of one kind or of all: whole revisions, at least `most`
// changes if there are as many.
struct ChangesAfter {
    std::vector<Change> changes;
    bool complete = false;  // nothing follows
};
[[nodiscard]] Result<ChangesAfter> changes_after(Sql& sql, Revision cursor,
                                                 std::optional<kinds::Entity> entity,
                                                 std::size_t most);

// The newest revision whose changes are no longer kept: a watch can resume from here or later.
[[nodiscard]] Result<Revision> feed_floor(Sql& sql);

}  // namespace baton::catalog
