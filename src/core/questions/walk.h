// Walk goes through a tree by the shapes of its nodes and meets every node once, in one order. It
// refuses each shape that it does not know, so that a visitor sees all there is.
//
// CTEs hide tables of their names: a visitor gets a table as a mention only where no CTE is meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/json/json.h"
#include "core/questions/shapes.h"

namespace baton::questions {

class Visitor {
public:
    virtual ~Visitor() = default;

    // Before its parts. It may change the node, or replace it.
    virtual Result<Done> expression(json::Value& /*node*/) { return Done{}; }
    virtual Result<Done> table(json::Value& /*node*/) { return Done{}; }
    // A base table that is no CTE.
    virtual Result<Done> relation(json::Value& /*node*/) { return Done{}; }
    virtual Result<Done> query(json::Value& /*node*/) { return Done{}; }
    virtual Result<Done> modifier(json::Value& /*node*/) { return Done{}; }
    // The name of a CTE.
    virtual Result<Done> cte(const std::string& /*name*/) { return Done{}; }
};

// Fails with not_supported, naming the node, and with the errors of the visitor. A CTE_NODE, which
// holds the query of a materialized CTE a second time, becomes its child.
[[nodiscard]] Result<Done> walk(json::Value& tree, Visitor& visitor);

}  // namespace baton::questions
