#include "core/analysis/budget.h"

namespace baton::analysis {

namespace {

std::size_t size_of(const Expression& expression) {
    std::size_t size = 1;
    if (const auto* call = std::get_if<Call>(&expression.node)) {
        for (const Expression& argument : call->arguments) size += size_of(argument);
    }
    return size;
}

}  // namespace

Result<Done> Budget::spend(std::size_t nodes, Position at) {
    if (nodes > left_) {
        return Error{.code = ErrorCode::too_large,
                     .message = "the plan of this query would be too large",
                     .at = at,
                     .hint = "name fewer columns, and nest predicates less deeply"};
    }
    left_ -= nodes;
    return Done{};
}

Result<Done> Budget::spend(const Expression& copied, Position at) {
    return spend(size_of(copied), at);
}

}  // namespace baton::analysis
