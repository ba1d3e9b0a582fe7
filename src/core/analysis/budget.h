// A Budget bounds how much larger than its text a plan may become: the columns of `*`, names of the
// SELECT list and subjects of predicates are copied where they are used, so that a short statement
// could ask for a tree without end.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "model/expression.h"

namespace baton::analysis {

class Budget {
public:
    // Fails with too_large if that many more are too many.
    [[nodiscard]] Result<Done> spend(std::size_t nodes, Position at);
    // For a copy of the expression.
    [[nodiscard]] Result<Done> spend(const Expression& copied, Position at);

private:
    std::size_t left_ = 1'000'000;
};

}  // namespace baton::analysis
