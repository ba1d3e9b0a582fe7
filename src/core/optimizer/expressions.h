// Questions that the rules ask about expressions, and rewrites.
//
// Pure. Rewriting keeps the type and the nullability of every node that stays.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "model/expression.h"
#include "model/schema.h"

namespace baton::optimizer {

[[nodiscard]] Expression column_of(const Schema& schema, std::size_t index);
[[nodiscard]] Expression true_constant();
[[nodiscard]] bool is_constant(const Expression& expression);
[[nodiscard]] bool is_column(const Expression& expression);

// The columns it reads.
[[nodiscard]] std::set<std::size_t> columns_in(const Expression& expression);
void collect_columns(const Expression& expression, std::set<std::size_t>& into);

// The same over rows whose columns have moved.
[[nodiscard]] Expression moved(Expression expression,
                               const std::function<std::size_t(std::size_t)>& position);

// The same with each column replaced by the expression that computes it.
[[nodiscard]] Expression substituted(Expression expression, std::span<const Expression> columns);

// Whether substituting would give an expression of more nodes than are worth it. Each step down
// may double what it moves; without a bound a short query could ask for a huge plan.
inline constexpr std::size_t kSubstitutedMax = 300;
[[nodiscard]] bool grows_too_large(const Expression& expression,
                                   std::span<const Expression> columns);

// Whether giving each branch of a union its own copy would. A large predicate over a large union
// asked for gigabytes.
inline constexpr std::size_t kCopiedMax = 100'000;  // nodes of all copies
[[nodiscard]] bool copies_grow_too_large(const Expression& expression, std::size_t copies);
// The same for the expressions of a projection, which may just be many columns.
[[nodiscard]] bool copies_grow_too_large(std::span<const Expression> expressions,
                                         std::size_t copies);

// The parts of an AND, with those of the ANDs in it; the expression itself if it is none.
[[nodiscard]] std::vector<Expression> conjuncts_of(const Expression& predicate);
// TRUE if there are none.
[[nodiscard]] Expression conjunction_of(std::vector<Expression> conjuncts);

// Whether computing it could end the query with an error, on some row. Such an expression is never
// computed on rows on which it would not have been computed as the query was written.
[[nodiscard]] bool can_fail(const Expression& expression);

}  // namespace baton::optimizer
