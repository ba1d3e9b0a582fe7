// A Change is one line of the catalog's history: what it was about, and how it looked before and
// after. It is written in the same transaction as what it tells of.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/id.h"
#include "base/time.h"
#include "catalog/kinds/entity.h"
#include "model/states.h"
#include "ports/sql.h"

namespace baton::catalog {

struct Change {
    Revision revision;
    std::uint32_t ordinal = 0;  // its place among the changes of the revision, from 0
    WallTime at;
    kinds::Entity entity = kinds::Entity::worker;
    std::string key;
    ChangeOp op = ChangeOp::create;
    std::shared_ptr<const SqlRow> row;  // own columns of the entity's view; none for a drop
    std::shared_ptr<const SqlRow> old;  // none for a create
};

}  // namespace baton::catalog
